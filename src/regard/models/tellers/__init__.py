"""Models that tell of one thing, a label, a vector, a picture or a text: one vector, and a decoder."""
