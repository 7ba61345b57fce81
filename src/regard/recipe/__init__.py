"""A recipe: everything that makes a run, typed, checked, read and written. Nothing here needs torch."""
