"""Models that tell of one thing: a label, a vector, a picture or a text, as one vector that enters a decoder."""
