"""What is added to the scores by position: the public address of the biases."""

from regard.attention.sequences.biases import alibi, forgetting, slopes

__all__ = ["alibi", "forgetting", "slopes"]
