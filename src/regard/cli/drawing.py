"""A translation drawn in the terminal: what each of its words looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.tasks.prediction import Prediction

END = "(end)"  # of the sentence: a position that can be attended, and a token that is written


def alignment(prediction: Prediction) -> str:
    """The heat map of a translation: its tokens below each other, the source's side by side."""
    if prediction.attention is None or not len(prediction.attention):
        return ""

    from regard.view import heat_map

    rows, columns = prediction.attention.shape
    target = [*prediction.tokens.pieces, END][:rows]
    source = [*prediction.source_tokens.pieces, END][:columns]
    return heat_map(prediction.attention, target, source)
