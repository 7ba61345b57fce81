"""Classification as a task: text in, one of some labels out.

Legend: B texts, S positions, K labels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.data.padding import pad
from regard.data.tokenizer import BOS, Tokenizer, Tokens
from regard.layers.contracts import Translator
from regard.tasks.longest_first import batches_by_length
from regard.tasks.prediction import plain_tokens
from regard.tasks.task_module import BATCH, Loss, TaskModule


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


class Classify(TaskModule):
    """A model whose decoder answers with one of the labels.

    label_smoothing: this share of the probability is wanted evenly over all labels. max_length: the
    first tokens of a text that are read; the rest is cut off.
    """

    model: Translator

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Tokenizer,
        labels: Sequence[str],
        *,
        label_smoothing: float = 0.0,
        max_length: int | None = None,
    ) -> None:
        super().__init__(model)
        self.tokenizer, self.labels = tokenizer, list(labels)
        self.label_smoothing, self.max_length = label_smoothing, max_length

    def forward(self, text: Tensor, text_mask: Tensor, label: Tensor) -> Loss:
        """text (B, S) token ids, text_mask (B, S): True where a token is real, label (B,)."""
        logits, _ = self._judge(text, text_mask)
        smoothing = self.label_smoothing if self.training else 0.0
        total = F.cross_entropy(logits, label, reduction="sum", label_smoothing=smoothing)
        return Loss(total, label.new_tensor(len(label)))

    def classify(
        self, texts: Sequence[str], *, attention: bool = False, batch: int = BATCH
    ) -> list[Classification]:
        """The label of every text, in their order."""
        read = [self._cut(tokens) for tokens in self.tokenizer.encode_many(texts)]
        found: dict[int, Classification] = {}
        with self.inference():
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
        logits = self.model.decoder.project(decoded.outputs[:, 0])
        logits = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
        attended = None if decoded.attended is None else decoded.attended.weights
        return logits, None if attended is None else attended[:, 0].float().cpu()

    def _cut(self, tokens: Tokens) -> Tokens:
        end = self.max_length
        return Tokens(tokens.ids[:end], tokens.pieces[:end], tokens.offsets[:end])
