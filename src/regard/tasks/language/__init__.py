"""Text to its next token."""
