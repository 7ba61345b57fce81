"""Models that summarise: a window of words before the next one, and pointing at the source."""
