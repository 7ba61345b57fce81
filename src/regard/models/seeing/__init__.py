"""Models that look at pictures: glimpses, windows, warps, captions."""
