"""A joint model as a task: the loss of a batch of pairs whose words are affiliated.

Legend: B sentences, S source and T target positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from regard.aligners import Lexicon
from regard.data.tokenizer import BOS, EOS, Tokens
from regard.layers.contracts import Encoded
from regard.models.joint.affiliated import Affiliated
from regard.models.joint.joint_decoder import JointDecoder
from regard.tasks.loss import smoothed_cross_entropy
from regard.tasks.task_module import Loss
from regard.tasks.translate.translate_loss import Translate
from regard.words import t


class Joint(Translate):
    """A model and its two tokenisers; lexicon: where tokens come from, for a model that must be told."""

    lexicon: Lexicon | None = None

    def forward(
        self,
        source: Tensor,
        source_mask: Tensor,
        target: Tensor,
        target_mask: Tensor,
        target_places: Tensor | None = None,
    ) -> Loss:
        """target_places (B, T): the place of the source word that each target token translates."""
        if target_places is None:
            return super().forward(source, source_mask, target, target_mask)
        total = self.told_loss(
            source, source_mask, target, target_mask, target_places, self.label_smoothing
        )
        return Loss(total, target_mask[:, 1:].sum())

    def told_loss(
        self,
        source: Tensor,
        source_mask: Tensor,
        target: Tensor,
        target_mask: Tensor,
        target_places: Tensor,
        smoothing: float = 0.0,
    ) -> Tensor:
        """Σ -log p(e_n | …, a_n)"""
        decoder = cast(JointDecoder, self.model.decoder)
        encoded, scored = self.model.encode(source, source_mask), target_mask[:, 1:]
        outputs = decoder.given(target[:, :-1], encoded, target_places)
        logits, wanted = decoder.output(outputs[scored]), target[:, 1:][scored]
        return smoothed_cross_entropy(logits, wanted, smoothing)

    def encode(self, sources: Sequence[Tokens]) -> Encoded:
        encoded = super().encode(sources)
        if self.lexicon is None:
            return encoded
        rows = [self.first_places(tokens.ids) for tokens in sources]
        first = np.stack(rows) if rows else np.zeros((0, self.lexicon.size), np.int64)
        return Affiliated.of(encoded, torch.from_numpy(first).to(self.device))

    def first_places(self, source: Sequence[int]) -> Any:
        """(V,) where every token would come from; the end comes of the end"""
        assert self.lexicon is not None
        first = self.lexicon.first_places(source)
        first[EOS] = len(source)
        return first

    def shares(self, source: Sequence[int], target: Sequence[int]) -> Tensor | None:
        """(T, S) of a target that is known, every token at its own place; EOS is the last, if it ended."""
        decoder = cast(JointDecoder, self.model.decoder)
        places = None
        if self.lexicon is not None:
            ended = [len(source)] if target and target[-1] == EOS else []
            said = target[: len(target) - len(ended)]
            places = torch.tensor(
                [[*self.lexicon.places(source, said), *ended]], device=self.device
            )
        with self.inference():
            encoded = self.model.encode(*self.padded([source]))
            inputs = torch.tensor([[BOS, *target[:-1]]], device=self.device)
            found = decoder.shares(inputs, encoded, places)
        return None if found is None else found[0]

    @property
    def why_not_static(self) -> str | None:
        if self.lexicon is not None:
            return t("places of source words differ from batch to batch")
        return super().why_not_static
