"""What a model answers to one sentence, with all that a reader or the viewer may ask about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from regard.data.tokenizer import Tokens


@dataclass(frozen=True)
class Prediction:
    """One translation. attention: a row for each target token, then EOS if it ended; a column for
    each source token, then EOS; None if it was not asked for or the model has none.
    """

    source: str
    text: str
    score: float  # what it was ranked by
    log_prob: float  # Σ log_probs
    log_probs: tuple[float, ...]  # of each token, EOS included
    source_tokens: Tokens
    tokens: Tokens  # without EOS; offsets into `text`
    finished: bool  # it ended with EOS, not at the length limit
    attention: Tensor | None = None  # (T, S)
    alternatives: tuple[Prediction, ...] = ()  # the n-best after this one

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; attention in six digits."""
        return {
            "source": self.source,
            "text": self.text,
            "score": self.score,
            "log_prob": self.log_prob,
            "log_probs": list(self.log_probs),
            "finished": self.finished,
            "source_tokens": plain_tokens(self.source_tokens),
            "tokens": plain_tokens(self.tokens),
            "attention": None if self.attention is None else _digits(self.attention),
            "alternatives": [p.to_dict() for p in self.alternatives],
        }


def plain_tokens(tokens: Tokens) -> dict[str, Any]:
    return {
        "ids": list(tokens.ids),
        "pieces": list(tokens.pieces),
        "offsets": [list(pair) for pair in tokens.offsets],
    }


def _digits(weights: Tensor) -> list[list[float]]:
    return [[round(w, 6) for w in row] for row in weights.tolist()]
