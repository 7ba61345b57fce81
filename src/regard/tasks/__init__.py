"""What a model is trained for: from a batch to a loss, from text to predictions."""
