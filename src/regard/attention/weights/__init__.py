"""What may be asked about weights instead of all of them, and how it is computed, some rows at a time."""
