"""Seeing what an attention does: `print(heat_map(weights, queries, keys))`."""

from regard.view.terminal import beside, heat_map

__all__ = ["beside", "heat_map"]
