"""Scenes: pictures composed of digits, with captions and the places of all that these name."""
