"""Models of others, as they come from Hugging Face: what they are given, and what is seen of them."""
