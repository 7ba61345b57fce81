"""Text to text: pairs of a source and a target."""
