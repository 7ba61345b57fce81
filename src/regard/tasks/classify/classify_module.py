"""Classification as a task: text in, one of some labels out.

Legend: B texts, S positions, K labels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from regard.chances import with_chance
from regard.data.fields import Field
from regard.data.tokenizer import Tokens
from regard.tasks.classify.judge import Judge, Judgement, weighed_sentences
from regard.tasks.classify.judged_input import positions_read, shown_text
from regard.tasks.longest_first import BATCH
from regard.tasks.prediction import plain_tokens
from regard.tasks.task_module import Loss, accepted


@dataclass(frozen=True)
class Classification:
    """The label of a text, and how probable each one was found.

    attention: the weight of each token, then of EOS, in the vector that was judged; None if it was
    not asked for or the model does not pool by attention. Of a document it is that of a word in its
    sentence times that of the sentence, there is no EOS, and `sentences` has the tokens of each sentence,
    from start up to end, and what it weighs.
    """

    text: str
    label: str
    log_probs: Mapping[str, float]  # of every label
    tokens: Tokens  # those that were read: a longer text is cut
    attention: Tensor | None = None  # (S,)
    sentences: Sequence[tuple[int, int, float]] = ()  # start, end, weight

    @property
    def probabilities(self) -> dict[str, float]:
        return {label: math.exp(log_prob) for label, log_prob in self.log_probs.items()}

    @property
    def probability(self) -> float:
        """Of the label that was chosen."""
        return math.exp(self.log_probs[self.label])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; attention in six digits."""
        weights = None if self.attention is None else self.attention.tolist()
        plain = {
            "text": self.text,
            "label": self.label,
            "probabilities": self.probabilities,
            "tokens": plain_tokens(self.tokens),
            "attention": None if weights is None else [round(w, 6) for w in weights],
        }
        if self.sentences:
            plain["sentences"] = [[a, b, round(w, 6)] for a, b, w in self.sentences]
        return plain


class Classify(Judge):
    """A model whose decoder answers with one of the labels.

    given: the field of what is read. label_smoothing: this share of the probability is wanted evenly over
    all labels.
    """

    def __init__(
        self,
        model: nn.Module,
        given: Field,
        labels: Sequence[str],
        *,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(model, given)
        self.labels, self.label_smoothing = list(labels), label_smoothing

    def forward(self, label: Tensor, **batch: Tensor) -> Loss:
        """label (B,), and the tensors of what is read."""
        logits, penalty, *_ = self.judge_batch(batch)
        smoothing = self.label_smoothing if self.training else 0.0
        total = F.cross_entropy(logits, label, reduction="sum", label_smoothing=smoothing)
        if penalty is not None and self.training:
            total = total + penalty.sum()
        return Loss(total, label.new_tensor(len(label)))

    def log_probs(self, found: Judgement) -> dict[str, float]:
        """Of every label."""
        return dict(zip(self.labels, found.outputs.log_softmax(-1).tolist(), strict=True))

    def said(self, found: Judgement) -> tuple[str, str]:
        chances = found.outputs.softmax(-1)
        label = self.labels[int(chances.argmax())]
        return label, with_chance(label, float(chances.max()))

    def classify(
        self, given: Sequence[Any], *, attention: bool = False, batch: int = BATCH
    ) -> list[Classification]:
        """The label of everything that is given as a user writes it, in their order."""
        values = [
            accepted(self.given, one, f"example {number}") for number, one in enumerate(given, 1)
        ]
        return self.classify_values(values, attention=attention, batch=batch)

    def classify_values(
        self, values: Sequence[Any], *, attention: bool = False, batch: int = BATCH
    ) -> list[Classification]:
        """The same of values as the field has read them."""
        found = self.judge(values, attention=attention, batch=batch)
        tokens = positions_read(self.given, values)
        return [self._of(*each) for each in zip(values, found, tokens, strict=True)]

    def _of(self, value: Any, found: Judgement, tokens: Tokens) -> Classification:
        return Classification(
            text=shown_text(self.given, value),
            label=self.labels[int(found.outputs.argmax())],
            log_probs=self.log_probs(found),
            tokens=tokens,
            attention=found.weights,
            sentences=weighed_sentences(self.given, value, found),
        )
