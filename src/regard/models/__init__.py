"""Whole networks: nn.Modules that know nothing of files, trainers or commands."""
