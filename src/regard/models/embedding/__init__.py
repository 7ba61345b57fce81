"""Vectors of words, learnt from the words around them."""
