"""A story and a question to an answer: one of the candidates, or a span of the story."""
