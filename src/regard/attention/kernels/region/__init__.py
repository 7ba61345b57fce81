"""Attention over a region of pairs, fused: forward and both gradients, in Triton."""
