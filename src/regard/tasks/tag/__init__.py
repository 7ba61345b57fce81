"""Words to labels, one for each."""
