"""Texts to vectors of their words."""
