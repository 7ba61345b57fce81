"""Attention as explanation: how far the weights of a map say why a model answered as it did.

Attention shows where a layer read, not why the model answered. Measured here, for one model and one input:
what agrees with the weights (gradients, leaving tokens out), and what other weights would have done.
"""
