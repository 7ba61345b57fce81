"""What a model is trained for. task.py says what a task is; each has a folder, and a line in registry.py."""
