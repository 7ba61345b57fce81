"""Texts, documents and sequences of vectors to one answer."""
