"""A text in fewer words: pairs of a source and its summary."""
