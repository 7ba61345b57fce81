"""Visits to the next place."""
