"""Models that say what is in a picture."""
