"""Text to the name that stood in it, some way back."""
