"""The run: a recipe in, a run folder out."""
