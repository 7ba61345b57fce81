"""Models that judge two texts together."""
