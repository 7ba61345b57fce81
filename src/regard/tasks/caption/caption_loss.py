"""Captions as a task: the loss of a batch of pictures and what is said of them.

Legend: B pictures, T words of a caption, L cells of a picture, M real words, V the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

import torch
from torch import Tensor, nn

from regard.attention.normalizers import HardChoice, Reinforce
from regard.data.length_batches import rounded_length, rounded_rows
from regard.data.padding import widened
from regard.data.tokenizer import Tokenizer
from regard.layers.contracts import Decoded, Encoded, longest_target
from regard.layers.recurrent import unpacked
from regard.tasks.caption.captioner import PROMPTS, PictureCaptioner
from regard.tasks.loss import masked_cross_entropy, smoothed_cross_entropy
from regard.tasks.task_module import Loss

CAPTION = ("caption", "caption_mask")


class CaptionTraining(PictureCaptioner):
    """Called with a batch, it gives the loss to train by: -log p of the captions.

    To it is added, of a model with doubly_stochastic λ, λ Σ_i (1 - Σ_t α_ti)² of each caption; and of a hard
    attention (reinforce) `reinforce_weight` times the loss of `ChosenCells`.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Tokenizer,
        *,
        source: str = "image",
        label_smoothing: float = 0.0,
        reinforce: ChosenCells | None = None,
        reinforce_weight: float = 1.0,
    ) -> None:
        super().__init__(model, tokenizer, source=source)
        self.label_smoothing = label_smoothing
        self.reinforce, self.reinforce_weight = reinforce, reinforce_weight

    def forward(self, caption: Tensor, caption_mask: Tensor, **given: Tensor) -> Loss:
        """caption (B, T + 1) = BOS y1 … EOS PAD …; the mask is True where words are real.

        given: image, or what else is told of, and its mask, prompt and prompt_mask, where there are any.
        Only real words are projected to the vocabulary; all are while `static`.
        """
        scored, wanted = caption_mask[:, 1:], caption[:, 1:]
        evenly = getattr(self.model, "doubly_stochastic", 0.0) if self.training else 0.0
        smoothing = self.label_smoothing if self.training else 0.0
        decoder, encoded = self.model.decoder, self.encode(given)
        decoded: Decoded = decoder(caption[:, :-1], encoded, weights=bool(evenly))
        if self.static:
            logits = decoder.project(decoded.outputs.flatten(0, 1))
            total = masked_cross_entropy(logits, wanted.flatten(), scored.flatten(), smoothing)
        else:
            logits = decoder.project(decoded.outputs[scored])
            total = smoothed_cross_entropy(logits, wanted[scored], smoothing)
        attended = decoded.attended
        if evenly and attended is not None and attended.weights is not None:
            uneven = uneven_looks(attended.weights, scored, encoded.mask)
            total = total + evenly * (uneven * scored.any(1)).sum()
        if self.training and self.reinforce is not None and attended and attended.choice:
            told = wanted.flatten() if self.static else wanted[scored]
            each = logits.detach().float().log_softmax(-1).gather(-1, told[:, None])
            if self.static:
                rewards = each.view(scored.shape).masked_fill(~scored, 0.0)
            else:
                rewards = each.new_zeros(scored.shape).masked_scatter(scored, each)
            total = total + self.reinforce_weight * self.reinforce(attended.choice, rewards, scored)
        return Loss(total, scored.sum())

    def encode(self, batch: Mapping[str, Tensor]) -> Encoded:
        with unpacked() if self.static else nullcontext():
            return super().encode(batch)

    @property
    def why_not_static(self) -> str | None:
        return None if self.source == "image" else super().why_not_static

    def in_few_shapes(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """More rows, of no words and of a picture of one pixel; longer rows, up to a class of lengths.

        Without boxes, which nothing is learnt from.
        """
        rows, longest = len(batch["caption"]), longest_target(self.model.decoder)
        many = rounded_rows(rows)
        long = rounded_length(batch["caption"].shape[1] - 1, longest) + 1
        padded = {name: widened(batch[name], (many, long)) for name in CAPTION}
        for name in PROMPTS:
            if name in batch:
                padded[name] = widened(batch[name], (many, rounded_length(batch[name].shape[1])))
        picture, mask = batch["image"], batch.get("image_mask")
        if mask is None:
            return {**padded, "image": widened(picture, (many, *picture.shape[1:]))}
        sides = [rounded_length(side) for side in mask.shape[1:]]
        # a picture is (C, H, W); vectors of its parts are (L, D)
        shape = (*picture.shape[1:-2], *sides) if len(sides) > 1 else (*sides, picture.shape[-1])
        padded["image"] = widened(picture, (many, *shape))
        padded["image_mask"] = widened(mask, (many, *sides))
        padded["image_mask"][rows:].flatten(1)[:, 0] = True
        return padded


class ChosenCells(nn.Module):
    """-Σ_t (R_t - b_t) log α_t(s_t) - λ_e Σ_t H[α_t], summed over captions: R_t = Σ_(t' ≥ t) log p(y_t')

    A choice is paid for all words that can depend on it, its own and those behind it: so the gradient is that
    of E[log p(y | s)] (Xu et al. 2015, section 4.1). b_t: a moving average of the rewards of choices with as
    many words behind them, which a choice cannot change.
    """

    averages: Tensor
    seen: Tensor

    def __init__(
        self, *, baseline: bool = True, entropy: float = 0.0, decay: float = 0.9, longest: int = 256
    ) -> None:
        super().__init__()
        self.policy = Reinforce(None, entropy=entropy)
        self.baseline, self.decay = baseline, decay
        self.register_buffer("averages", torch.zeros(longest))  # by the words behind a choice
        self.register_buffer("seen", torch.zeros(longest, dtype=torch.bool))

    def forward(self, choice: HardChoice, rewards: Tensor, scored: Tensor) -> Tensor:
        """choice (B, T), rewards (B, T): log p of each word, 0 where none is scored"""
        total = rewards.flip(1).cumsum(1).flip(1)  # of a word and all behind it
        if self.baseline:
            behind = (scored.flip(1).cumsum(1).flip(1) - 1).clamp(0, len(self.averages) - 1)
            total = total - self._expected(total, behind, scored)
        made = choice._replace(index=choice.index.masked_fill(~scored, -1))
        loss: Tensor = self.policy(made, total) * (made.index >= 0).sum()
        return loss

    @torch.no_grad()
    def _expected(self, total: Tensor, behind: Tensor, scored: Tensor) -> Tensor:
        """What was known before this batch, (B, T); then the batch is counted."""
        known = self.averages.to(total)[behind]
        counts = torch.zeros_like(self.averages)
        counts.index_add_(0, behind.flatten(), scored.flatten().to(counts))
        sums = torch.zeros_like(self.averages)
        sums.index_add_(0, behind.flatten(), (total * scored).flatten().to(sums))
        means = sums / counts.clamp(min=1)
        moved = torch.where(self.seen, torch.lerp(means, self.averages, self.decay), means)
        self.averages.copy_(torch.where(counts > 0, moved, self.averages))
        self.seen |= counts > 0
        return known


def uneven_looks(weights: Tensor, scored: Tensor, cells: Tensor) -> Tensor:
    """Σ_i (1 - Σ_t α_ti)²: weights (B, T, L), of the words that are scored (B, T), cells (B, L) -> (B,)"""
    seen = (weights * scored[..., None]).sum(1)
    return (1 - seen).square().masked_fill(~cells, 0.0).sum(-1)
