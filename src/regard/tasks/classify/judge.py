"""A model that reads all of its input and answers once: what labels and numbers have in common.

Legend: B inputs, S positions (of a document: sentences), W words of a sentence, K answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.pooling import AttentionPooling
from regard.data.fields import Document, Field
from regard.layers.contracts import Translator
from regard.layers.special_tokens import BOS
from regard.tasks.longest_first import BATCH
from regard.tasks.task_module import TaskModule
from regard.words import t


class BatchJudgement(NamedTuple):
    """The outputs for a batch, and what they were made of."""

    outputs: Tensor  # (B, K) in float32 or wider
    penalty: Tensor | None  # (B,): what is added to the loss of each
    weights: Tensor | None  # (B, S) in the vector that was judged, if asked for and attended
    words: Tensor | None  # (B, S, W) of the words of each sentence, of a document


class Judgement(NamedTuple):
    """The outputs for one input, and the weight of each position that was read, EOS among them."""

    outputs: Tensor  # (K,) float64
    weights: Tensor | None = (
        None  # (S,); of a document, of its words: that in its sentence times its
    )
    sentences: Tensor | None = None  # (sentences,) of a document


def weighed_sentences(
    field: Field, value: Any, found: Judgement
) -> tuple[tuple[int, int, float], ...]:
    """Of a document: where the words of each sentence start and end among all words, and its weight."""
    if found.sentences is None or not isinstance(field, Document):
        return ()
    ends = list(accumulate(len(each) for each in field.tokens([value])[0]))
    return tuple(zip([0, *ends][:-1], ends, found.sentences.tolist(), strict=True))


class Judge(TaskModule):
    """A model that encodes `given`, and whose decoder's first output is the answer."""

    answered: ClassVar = "label"  # what an answer is
    model: Translator

    def __init__(self, model: nn.Module, given: Field) -> None:
        super().__init__(model)
        self.given = given

    def judge_batch(self, batch: Mapping[str, Tensor], *, weights: bool = False) -> BatchJudgement:
        """batch: NAME (B, S, …) and NAME_mask (B, S) of the field, or (B, S, W) both of a document."""
        source, mask = batch[self.given.name], batch[f"{self.given.name}_mask"]
        encoded = self.model.encode(source, mask)
        start = torch.full((len(mask), 1), BOS, device=mask.device)
        decoded = self.model.decoder.forward(start, encoded, weights=weights)
        outputs = self.model.decoder.project(decoded.outputs[:, 0])
        outputs = outputs.float() if outputs.dtype in (torch.float16, torch.bfloat16) else outputs
        attended = None if decoded.attended is None else decoded.attended.weights
        shares = None if attended is None else attended[:, 0]
        return BatchJudgement(outputs, decoded.penalty, shares, encoded.words)

    @property
    def hops(self) -> int:
        """Attentions that the weights of an input are the mean of."""
        pool = getattr(getattr(self.model.decoder, "summary", None), "pool", None)
        return pool.hops if isinstance(pool, AttentionPooling) else 1

    def said(self, found: Judgement) -> tuple[str, str]:
        """An answer in a word, and the same with how sure it is."""
        raise NotImplementedError(t("{kind} says nothing", kind=type(self).__name__))

    def judge(
        self, values: Sequence[Any], *, attention: bool = False, batch: int = BATCH
    ) -> list[Judgement]:
        """Every value, in their order; those of like lengths side by side."""
        parts = self.given.encode([{self.given.name: value} for value in values])

        def judged(rows: list[int]) -> Iterator[Judgement]:
            tensors = self.given.collate([parts[i] for i in rows])
            tensors = {name: x.to(self.device) for name, x in tensors.items()}
            found = self.judge_batch(tensors, weights=attention)
            return _apart(found, tensors[f"{self.given.name}_mask"])

        return self.in_batches([sum(map(len, each)) for each in parts], batch, judged)


def _apart(judged: BatchJudgement, mask: Tensor) -> Iterator[Judgement]:
    """One for each input, without its padding."""
    outputs, mask = judged.outputs.cpu().double(), mask.cpu()
    weights, words = (
        None if x is None else x.float().cpu() for x in (judged.weights, judged.words)
    )
    for row, output in enumerate(outputs):
        if weights is None:
            yield Judgement(output)
        elif mask.dim() == 2:
            extra = weights.shape[1] - mask.shape[1]  # a token that the model puts first
            yield Judgement(output, weights[row, : int(mask[row].sum()) + extra])
        else:
            real = weights[row][mask[row].any(-1)]
            each = None if words is None else (weights[row][:, None] * words[row])[mask[row]]
            yield Judgement(output, each, real)
