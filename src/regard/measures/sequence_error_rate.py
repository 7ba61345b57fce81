"""How many answers have any mistake in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from regard.measures.measure import Mean


class SequenceErrorRate(Mean):
    """The share of items whose answer is not the wanted one, token by token."""

    name: ClassVar = "sequence_error_rate"
    share: ClassVar = True
    error: ClassVar = True

    def score(self, wanted: Sequence[Any], answer: Sequence[Any]) -> float:
        return float(_tokens(wanted) != _tokens(answer))


def _tokens(item: Sequence[Any]) -> list[Any]:
    """Of a text what stands between blanks."""
    return item.split() if isinstance(item, str) else list(item)
