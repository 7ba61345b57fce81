"""Texts whose words and sentences are shaded by their weights."""
