"""Text to label."""
