"""Pictures to labels, by glimpses, windows, warps or convolutions."""
