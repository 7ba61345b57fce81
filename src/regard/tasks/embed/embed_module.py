"""Word vectors as a task: each word is told from those around it, or they from it, against drawn words.

Legend: B texts, L words of a text, T words of all texts, N of them that are kept, P places around one,
Q questions, S words scored for a question.
— Mikolov et al. 2013, https://arxiv.org/abs/1310.4546
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from regard.data.tokenizer import SPECIALS
from regard.measures.likelihood import Likelihood
from regard.models.embedding.context_bag import sampled_loss
from regard.models.embedding.word_vectors_model import WordVectorsModel
from regard.tasks.task_module import LikelihoodModule, Loss

POWER = 0.75  # of a count, in what is drawn


class Windows(NamedTuple):
    """The words of texts, and those around each."""

    centres: Tensor  # (N,)
    words: Tensor  # (N, P): from the farthest on the left to the farthest on the right
    mask: Tensor  # (N, P): True where there is one


class Embed(LikelihoodModule):
    """counts (V,): how often each word is met in training."""

    model: WordVectorsModel

    def __init__(
        self,
        model: WordVectorsModel,
        counts: NDArray[np.int64],
        *,
        negatives: int = 5,
        subsample: float = 1e-3,
        shrink: bool = False,
    ) -> None:
        super().__init__(model)
        self.negatives, self.shrink = negatives, shrink
        met = torch.from_numpy(counts).double()
        drawn = met.clone()
        drawn[: len(SPECIALS)] = 0.0
        if not drawn.any():
            drawn += 1.0
        self.register_buffer("limits", drawn.pow(POWER).cumsum(0), persistent=False)
        share = met / met.sum().clamp(min=1.0)
        kept = (subsample / share.clamp(min=1e-12)).sqrt() if subsample else torch.ones_like(share)
        self.register_buffer("kept", kept.clamp(max=1.0).float(), persistent=False)

    def forward(self, text: Tensor, text_mask: Tensor) -> Loss:
        """text (B, L), text_mask (B, L): the loss of all questions, and how many places were asked about."""
        row = torch.arange(len(text), device=text.device)[:, None].expand(text.shape)
        words, row = text[text_mask], row[text_mask]  # (T,)
        if self.training:
            stays = torch.rand(words.shape, device=words.device) < self.kept[words]
            words, row = words[stays], row[stays]
        return self.loss_of(self.windows(words, row, shrink=self.shrink and self.training))

    def loss_of(self, found: Windows) -> Loss:
        """Of all questions that these windows ask, against words that are drawn."""
        asked, wanted, place = self.model.questions(*found)
        total = sampled_loss(asked, self.model.outputs, self.scored_words(wanted))
        return Loss(total, torch.tensor(max(_different(place), 1), device=asked.device))

    def windows(self, words: Tensor, row: Tensor, *, shrink: bool = False) -> Windows:
        """words (N,) of texts that stand one behind the other, row (N,): which text each is of."""
        width, device = self.model.options.window, words.device
        offsets = torch.cat([torch.arange(-width, 0), torch.arange(1, width + 1)]).to(device)
        at = torch.arange(len(words), device=device)[:, None] + offsets  # (N, P)
        inside = (at >= 0) & (at < len(words))
        at = at.clamp(0, max(len(words) - 1, 0))
        mask = inside & (row[at] == row[:, None])
        if shrink:
            near = torch.randint(1, width + 1, (len(words), 1), device=device)
            mask &= offsets.abs() <= near
        return Windows(words, words[at], mask)

    def scored_words(self, wanted: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """(Q, S): the word that is wanted, and words that are drawn as often as their count to the ¾."""
        drawn = torch.rand(
            (len(wanted), self.negatives),
            dtype=torch.float64,
            device=wanted.device,
            generator=generator,
        )
        others = torch.searchsorted(self.limits, drawn * self.limits[-1], right=True)
        return torch.cat([wanted[:, None], others.clamp(max=len(self.limits) - 1)], 1)

    def likelihoods(self, texts: Sequence[Tensor]) -> list[Likelihood]:
        """Of each text by itself, all its words: the loss, and how often a word beats all that were drawn.

        What is drawn follows from the text, so that nothing depends on what else is asked.
        """
        with self.inference():
            return [self._likelihood(text.to(self.device)) for text in texts]

    def _likelihood(self, words: Tensor) -> Likelihood:
        found = self.windows(words, torch.zeros_like(words))
        asked, wanted, _ = self.model.questions(*found)
        seed = zlib.crc32(words.cpu().numpy().tobytes())
        generator = torch.Generator(device=words.device).manual_seed(seed)
        scored = self.scored_words(wanted, generator)
        logits = torch.einsum("qsd,qd->qs", self.model.outputs[scored], asked)
        nll = F.softplus(-logits[:, 0]).sum() + F.softplus(logits[:, 1:]).sum()
        right = (logits[:, :1] > logits[:, 1:]).all(-1).sum()
        return Likelihood(float(nll), len(wanted), int(right))


def _different(places: Tensor) -> int:
    return len(places.unique_consecutive())
