"""Text to what is hidden of it."""
