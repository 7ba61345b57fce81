"""Joint models: the next word of a translation from the words before it and a source vector."""
