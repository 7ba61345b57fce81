"""What a model answers to one sentence, with all that a reader or the viewer may ask about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from regard.data.tokenizer import EOS, Tokenizer, Tokens
from regard.records.token_sides import label_of
from regard.search import Hypothesis
from regard.tasks.answer import Answer
from regard.tasks.decoded_tokens import spell
from regard.view.samples import Sample


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

    @classmethod
    def of(
        cls,
        found: Hypothesis,
        source: str,
        source_tokens: Tokens,
        tokenizer: Tokenizer,
        *,
        unknown: Mapping[int, str] | None = None,
        attention: Tensor | None = None,
    ) -> Prediction:
        """What a search has found, spelt. unknown: the words that stand for an UNK, by its place."""
        ids = found.tokens[:-1] if found.finished else found.tokens
        text, tokens = spell(tokenizer, ids, unknown)
        return cls(
            source=source,
            text=text,
            score=found.score,
            log_prob=found.log_prob,
            log_probs=tuple(found.log_probs),
            source_tokens=source_tokens,
            tokens=tokens,
            finished=found.finished,
            attention=attention,
        )

    @classmethod
    def best(cls, ranked: Iterable[Prediction]) -> Prediction:
        """The first of them, with the others as its alternatives."""
        first, *others = ranked
        return replace(first, alternatives=tuple(others))

    @property
    def ids(self) -> list[int]:
        """Of its tokens, EOS at the end if it ended."""
        return [*self.tokens.ids, EOS] if self.finished else self.tokens.ids

    @property
    def rows(self) -> list[str]:
        """What the rows of its attention are called."""
        return [*self.tokens.pieces, *(["EOS"] if self.finished else [])]

    @property
    def columns(self) -> list[str]:
        return [*self.source_tokens.pieces, "EOS"]

    @property
    def answer(self) -> Answer:
        """In the form that every task has."""
        answer = Answer(self.source, self.text, self.score)
        if self.attention is None:
            return answer
        return replace(answer, attention=self.attention, rows=self.rows, columns=self.columns)

    def sample(self, reference: str) -> Sample:
        """For a report, beside what was wanted."""
        return Sample(
            source=self.source,
            hypothesis=self.text,
            reference=reference,
            scores={"log p": self.log_prob},
            source_tokens=[*_labels(self.source, self.source_tokens), "EOS"],
            tokens=[*_labels(self.text, self.tokens), *self.rows[len(self.tokens) :]],
            attention=[] if self.attention is None else self.attention.tolist(),
        )

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


def _labels(text: str, tokens: Tokens) -> list[str]:
    """What is shown for each, as the viewer has it."""
    places = zip(tokens.offsets, tokens.ids, strict=True)
    return [label_of(text[slice(*offset)], token) for offset, token in places]


def plain_tokens(tokens: Tokens) -> dict[str, Any]:
    return {
        "ids": list(tokens.ids),
        "pieces": list(tokens.pieces),
        "offsets": [list(pair) for pair in tokens.offsets],
    }


def _digits(weights: Tensor) -> list[list[float]]:
    return [[round(w, 6) for w in row] for row in weights.tolist()]
