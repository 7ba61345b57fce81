"""Pairs of sentences for a joint model, whose words may be affiliated by an aligner."""
