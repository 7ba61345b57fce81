"""Captions as a task: the loss of a batch of pictures and what is said of them.

Legend: B pictures, T words of a caption, L cells of a picture, M real words, V the vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.attention.normalizers import HardChoice, Reinforce
from regard.data.tokenizer import Tokenizer
from regard.layers.contracts import Decoded
from regard.tasks.caption.captioner import PictureCaptioner
from regard.tasks.loss import smoothed_cross_entropy
from regard.tasks.task_module import Loss


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
        """
        scored, wanted = caption_mask[:, 1:], caption[:, 1:]
        evenly = getattr(self.model, "doubly_stochastic", 0.0) if self.training else 0.0
        decoder, encoded = self.model.decoder, self.encode(given)
        decoded: Decoded = decoder(caption[:, :-1], encoded, weights=bool(evenly))
        logits = decoder.project(decoded.outputs[scored])
        smoothing = self.label_smoothing if self.training else 0.0
        total = smoothed_cross_entropy(logits, wanted[scored], smoothing)
        attended = decoded.attended
        if evenly and attended is not None and attended.weights is not None:
            total = total + evenly * uneven_looks(attended.weights, scored, encoded.mask).sum()
        if self.training and self.reinforce is not None and attended and attended.choice:
            log_probs = logits.detach().float().log_softmax(-1)
            each = log_probs.gather(-1, wanted[scored][:, None])
            rewards = each.new_zeros(scored.shape).masked_scatter(scored, each)
            total = total + self.reinforce_weight * self.reinforce(attended.choice, rewards, scored)
        return Loss(total, scored.sum())


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
        counts.index_add_(0, behind[scored], torch.ones_like(self.averages)[behind[scored]])
        sums = torch.zeros_like(self.averages)
        sums.index_add_(0, behind[scored], total[scored].to(sums))
        means = sums / counts.clamp(min=1)
        moved = torch.where(self.seen, torch.lerp(means, self.averages, self.decay), means)
        self.averages.copy_(torch.where(counts > 0, moved, self.averages))
        self.seen |= counts > 0
        return known


def uneven_looks(weights: Tensor, scored: Tensor, cells: Tensor) -> Tensor:
    """Σ_i (1 - Σ_t α_ti)²: weights (B, T, L), of the words that are scored (B, T), cells (B, L) -> (B,)"""
    seen = (weights * scored[..., None]).sum(1)
    return (1 - seen).square().masked_fill(~cells, 0.0).sum(-1)
