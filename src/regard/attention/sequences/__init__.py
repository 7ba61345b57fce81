"""Regions that each sequence has its own of."""
