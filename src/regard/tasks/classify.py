"""Classification as a task: text in, one of some labels out.

Legend: B texts, S source positions, K labels. A label is a target of one token, number 4 + k of its
vocabulary: the four special tokens are no labels, and are never predicted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.data.batch import pad
from regard.data.tokenizer import BOS, SPECIALS, Tokenizer, Tokens
from regard.layers.contracts import Translator
from regard.tasks.length_batches import batches_by_length
from regard.tasks.prediction import plain_tokens
from regard.tasks.text_task import BATCH, Loss, TextTask

FIRST = len(SPECIALS)  # the token of the first label


@dataclass(frozen=True)
class Classification:
    """The label of a text, and how probable each one was found.

    attention: the weight of each token, then of EOS, in the vector that was judged; None if it was
    not asked for or the model does not pool by attention.
    """

    text: str
    label: str
    log_probs: Mapping[str, float]  # of every label
    tokens: Tokens  # those that were read: a longer text is cut
    attention: Tensor | None = None  # (S,)

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
        return {
            "text": self.text,
            "label": self.label,
            "probabilities": self.probabilities,
            "tokens": plain_tokens(self.tokens),
            "attention": None if weights is None else [round(w, 6) for w in weights],
        }


class Classify(TextTask):
    """A model whose decoder answers with one token, the label.

    label_smoothing: this share of the probability is wanted evenly over all labels. max_length: the
    first tokens of a text that are read; the rest is cut off.
    """

    model: Translator

    def __init__(
        self,
        model: nn.Module,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        *,
        label_smoothing: float = 0.0,
        max_length: int | None = None,
    ) -> None:
        super().__init__(model, source_tokenizer, target_tokenizer)
        self.label_smoothing, self.max_length = label_smoothing, max_length

    @property
    def labels(self) -> list[str]:
        return self.target_tokenizer.labels

    def forward(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor
    ) -> Loss:
        """source (B, S), target (B, 3) = BOS label EOS: only the label is scored."""
        logits, _ = self._judge(source, source_mask)
        wanted = target[:, 1] - FIRST
        total = F.cross_entropy(
            logits, wanted, reduction="sum", label_smoothing=self.label_smoothing
        )
        return Loss(total, target_mask[:, 1].sum())

    def classify(
        self, texts: Sequence[str], *, attention: bool = False, batch: int = BATCH
    ) -> list[Classification]:
        """The label of every text, in their order."""
        read = [self._cut(tokens) for tokens in self.source_tokenizer.encode_many(texts)]
        found: dict[int, Classification] = {}
        with self.answering():
            for rows in batches_by_length([len(tokens) for tokens in read], batch):
                source, mask = (x.to(self.device) for x in pad([read[i].ids for i in rows]))
                logits, weights = self._judge(source, mask, weights=attention)
                log_probs = logits.cpu().double().log_softmax(-1)
                best = log_probs.argmax(-1).tolist()
                for place, i in enumerate(rows):
                    found[i] = Classification(
                        text=texts[i],
                        label=self.labels[best[place]],
                        log_probs=dict(zip(self.labels, log_probs[place].tolist(), strict=True)),
                        tokens=read[i],
                        attention=None if weights is None else weights[place][: len(read[i]) + 1],
                    )
        return [found[i] for i in range(len(texts))]

    def _judge(
        self, source: Tensor, mask: Tensor, *, weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """logits (B, K) in float32 or wider, and the weights (B, S) of the pooling if it attends."""
        encoded = self.model.encode(source, mask)
        start = torch.full_like(source[:, :1], BOS)
        decoded = self.model.decoder.forward(start, encoded, weights=weights)
        logits = self.model.decoder.project(decoded.outputs[:, 0])[:, FIRST:]
        logits = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
        attended = None if decoded.attended is None else decoded.attended.weights
        return logits, None if attended is None else attended[:, 0].float().cpu()

    def _cut(self, tokens: Tokens) -> Tokens:
        end = self.max_length
        return Tokens(tokens.ids[:end], tokens.pieces[:end], tokens.offsets[:end])
