"""Looking at a model while it works: from a trained run and a question to an `AttentionRecord`."""
