"""Pictures to text: what is in them, word by word."""
