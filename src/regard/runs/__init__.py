"""The run folder: what a training leaves, written whole and loaded again. No trainer is needed to use one."""
