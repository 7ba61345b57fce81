"""Two texts to a label, a number or a rank."""
