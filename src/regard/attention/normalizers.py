"""How do scores become weights?  scores (..., Lq, Lk), allowed (bool, broadcastable) -> weights.

Weights are exactly 0 where not allowed; a row with no allowed key is all 0, with finite gradients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Generator, Tensor

from regard.attention.language import build
from regard.attention.reinforce import MovingAverage, Reinforce
from regard.words import t

__all__ = [
    "NORMALIZERS",
    "Gumbel",
    "Hard",
    "HardChoice",
    "MovingAverage",
    "Normalizer",
    "Raw",
    "Reinforce",
    "Softmax",
    "Sparsemax",
    "Uniform",
    "as_normalizer",
]


COLDEST = torch.finfo(torch.float32).tiny
SMALLEST_TEMPERATURE = 1e-6  # below this, scale / temperature could overflow a fused kernel
LARGEST_TEMPERATURE = 1e6  # above it the scale would be 0, and 0 · -inf is NaN


class HardChoice(NamedTuple):
    """What a hard attention picked. A query with no allowed key picked -1, at log-probability 0."""

    index: Tensor  # type: ignore[assignment]  # (..., Lq); hides tuple.index, which nobody needs here
    log_prob: Tensor  # (..., Lq): log α at the index; carries the gradient of the score function
    entropy: Tensor  # (..., Lq): of the distribution α it was drawn from


class Normalizer:
    """weights, choice = normalizer(scores, allowed, training=..., generator=...)

    What a normaliser can do, it says itself; one that writes a `__call__` and says nothing is asked for
    its weights on the paths that have them, query by query.
    """

    shift_invariant: ClassVar[bool] = False  # adding a number to a whole row changes nothing
    random: ClassVar[bool] = False  # draws when training
    needs_scores: ClassVar[bool] = True
    any_order: ClassVar[bool] = False  # rearranging the keys rearranges the weights alike
    differentiable: ClassVar[bool] = True  # gradients pass through the weights
    signed: ClassVar[bool] = False  # weights may be negative

    @property
    def softmax_temperature(self) -> float | None:
        """τ, if the weights are exp(s / τ) / Σ exp(s / τ): what the fused kernels compute."""
        return None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__call__" in vars(cls) and "softmax_temperature" not in vars(cls):
            cls.softmax_temperature = Normalizer.softmax_temperature  # type: ignore[method-assign]

    def __call__(
        self,
        scores: Tensor,
        allowed: Tensor | None = None,
        *,
        training: bool = False,
        generator: Generator | None = None,
    ) -> tuple[Tensor, HardChoice | None]:
        raise NotImplementedError


@dataclass(frozen=True)
class Softmax(Normalizer):
    """weights = exp(s / τ) / Σ exp(s / τ).  τ → 0: a look-up of the best key; τ → ∞: the mean."""

    temperature: float = 1.0
    shift_invariant: ClassVar[bool] = True
    any_order: ClassVar[bool] = True

    @property
    def softmax_temperature(self) -> float:
        return self.temperature

    def __post_init__(self) -> None:
        _check_temperature(self)

    def __call__(
        self,
        scores: Tensor,
        allowed: Tensor | None = None,
        *,
        training: bool = False,
        generator: Generator | None = None,
    ) -> tuple[Tensor, None]:
        return masked_softmax(tempered(scores, self.temperature, allowed), allowed), None


@dataclass(frozen=True)
class Sparsemax(Normalizer):
    """weights = the point of the simplex nearest to s — Martins and Astudillo 2016,
    https://arxiv.org/abs/1602.02068. Like a softmax that gives exact zeros.
    """

    shift_invariant: ClassVar[bool] = True
    any_order: ClassVar[bool] = True

    def __call__(
        self,
        scores: Tensor,
        allowed: Tensor | None = None,
        *,
        training: bool = False,
        generator: Generator | None = None,
    ) -> tuple[Tensor, None]:
        if scores.shape[-1] == 0:
            return scores, None
        z = _forbid(scores, allowed)
        z = z - z.detach().amax(-1, keepdim=True)
        ordered = z.sort(-1, descending=True).values
        total = ordered.cumsum(-1)
        rank = torch.arange(1, z.shape[-1] + 1, device=z.device, dtype=z.dtype)
        # how many stay above 0; a NaN compares to nothing, and is to go through the threshold
        support = (1 + rank * ordered > total).sum(-1, keepdim=True).clamp(min=1)
        threshold = (total.gather(-1, support - 1) - 1) / support
        return clear((z - threshold).clamp(min=0), allowed), None


@dataclass(frozen=True)
class Raw(Normalizer):
    """weights = s: no normalisation; may be negative, sums to anything."""

    any_order: ClassVar[bool] = True
    signed: ClassVar[bool] = True

    def __call__(
        self,
        scores: Tensor,
        allowed: Tensor | None = None,
        *,
        training: bool = False,
        generator: Generator | None = None,
    ) -> tuple[Tensor, None]:
        return clear(scores, allowed), None


@dataclass(frozen=True)
class Uniform(Normalizer):
    """weights = 1 / (number of allowed keys): the baseline that every explanation should be compared with."""

    shift_invariant: ClassVar[bool] = True
    any_order: ClassVar[bool] = True
    needs_scores: ClassVar[bool] = False

    def __call__(
        self,
        scores: Tensor,
        allowed: Tensor | None = None,
        *,
        training: bool = False,
        generator: Generator | None = None,
    ) -> tuple[Tensor, None]:
        if allowed is None:
            return torch.full_like(scores, 1 / max(scores.shape[-1], 1)), None
        weights = allowed.expand(scores.shape).to(scores.dtype)
        return weights / weights.sum(-1, keepdim=True).clamp(min=1), None


@dataclass(frozen=True)
class Hard(Normalizer):
    """weights = one-hot(a): a ~ softmax(s) when training, a = arg max s in evaluation

    — Xu et al. 2015 (Show, Attend and Tell), https://arxiv.org/abs/1502.03044

    `window` w: weights = softmax of the s_j with |j - a| <= w, soft about a hard place. No gradient
    passes through the place: train by the score function, whose loss is
    `Reinforce(...)(attended.choice, reward)`.
    """

    window: int = 0
    shift_invariant: ClassVar[bool] = True
    random: ClassVar[bool] = True
    differentiable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.window < 0:
            raise ValueError(
                t("the window of Hard is 0 keys or more, not {window}", window=self.window)
            )

    @property
    def any_order(self) -> bool:  # type: ignore[override]
        return not self.window

    def __call__(
        self,
        scores: Tensor,
        allowed: Tensor | None = None,
        *,
        training: bool = False,
        generator: Generator | None = None,
    ) -> tuple[Tensor, HardChoice]:
        logits = _forbid(scores, allowed)
        drawn = logits.detach()
        if training:  # the arg max of logits plus Gumbel noise is a draw from their softmax
            drawn = drawn + gumbel_noise(drawn, generator)
        choice = _choice(logits, drawn, allowed)
        weights = (
            _softmax_about(choice.index, self.window, scores, allowed)
            if self.window
            else _one_hot(choice.index, scores)
        )
        weights = weights.masked_fill(drawn.isnan().any(-1, keepdim=True), torch.nan)
        return clear(weights, allowed), choice


@dataclass(frozen=True)
class Gumbel(Normalizer):
    """weights = softmax((log α + g) / τ), g = -log(-log U), α = softmax(s) — Jang et al. 2017,
    https://arxiv.org/abs/1611.01144; no noise in evaluation.

    `straight_through`: the one-hot of the largest weight forward, the relaxed gradient backward.
    """

    temperature: float = 1.0
    straight_through: bool = False
    shift_invariant: ClassVar[bool] = True
    any_order: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_temperature(self)

    def __call__(
        self,
        scores: Tensor,
        allowed: Tensor | None = None,
        *,
        training: bool = False,
        generator: Generator | None = None,
    ) -> tuple[Tensor, HardChoice | None]:
        noisy = scores + gumbel_noise(scores, generator) if training else scores
        soft = masked_softmax(tempered(noisy, self.temperature, allowed), allowed)
        if not self.straight_through:
            return soft, None
        choice = _choice(_forbid(scores, allowed), _forbid(noisy.detach(), allowed), allowed)
        hard = clear(_one_hot(choice.index, scores), allowed)
        return hard + (soft - soft.detach()), choice


NORMALIZERS: dict[str, type[Normalizer]] = {
    "softmax": Softmax,
    "sparsemax": Sparsemax,
    "raw": Raw,
    "uniform": Uniform,
    "hard": Hard,
    "gumbel": Gumbel,
}


def as_normalizer(given: Normalizer | str | None, **sizes: Any) -> Normalizer:
    """The normaliser that was given, named, or (None) softmax; none needs `sizes`, but all may be asked."""
    if given is None:
        return Softmax()
    if isinstance(given, str):
        return build(given, "normalizer", NORMALIZERS)
    if isinstance(given, Normalizer):
        return given
    raise TypeError(
        t("normalize must be a Normalizer, a name or None, not {given}", given=repr(given))
        + (t(" — call it to make one") if isinstance(given, type) else "")
    )


def usual_softmax(normalize: Normalizer) -> bool:
    """Whether it is a softmax whose temperature a fused kernel can take into its scale."""
    temperature = normalize.softmax_temperature
    return temperature is not None and SMALLEST_TEMPERATURE <= temperature <= LARGEST_TEMPERATURE


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """softmax over the allowed keys; 0 elsewhere and in rows with none.

    The least number instead of -inf: a row with no allowed key stays finite until it is cleared.
    """
    if allowed is None:
        return torch.softmax(scores, -1)
    forbidden = ~allowed
    least = torch.finfo(scores.dtype).min
    return scores.masked_fill(forbidden, least).softmax(-1).masked_fill(forbidden, 0.0)


def tempered(scores: Tensor, temperature: float, allowed: Tensor | None) -> Tensor:
    """scores / temperature, shifted first so that the best stays finite however small it is."""
    if temperature == 1.0 or scores.shape[-1] == 0:
        return scores
    scores = scores if allowed is None else scores.masked_fill(~allowed, -math.inf)
    best = scores.detach().amax(-1, keepdim=True)
    shifted = scores - best.masked_fill(best == -math.inf, 0)
    if allowed is not None:  # -inf / inf would be NaN
        shifted = shifted.masked_fill(~allowed, 0)
    return shifted / temperature


def gumbel_noise(like: Tensor, generator: Generator | None) -> Tensor:
    """-log(-log U) = -log of an exponential draw."""
    draw = torch.empty_like(like, requires_grad=False)
    return -draw.exponential_(generator=generator).clamp(min=torch.finfo(like.dtype).tiny).log()


def _forbid(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """-inf where not allowed; rows with no allowed key become 0, or their gradient would be NaN."""
    if allowed is None:
        return scores
    scores = scores.masked_fill(~allowed, -math.inf)
    return scores.masked_fill(~allowed.any(-1, keepdim=True), 0.0)


def clear(weights: Tensor, allowed: Tensor | None) -> Tensor:
    """0 where not allowed."""
    return weights if allowed is None else weights.masked_fill(~allowed, 0.0)


def _choice(logits: Tensor, drawn: Tensor, allowed: Tensor | None) -> HardChoice:
    if logits.shape[-1] == 0:
        nothing = logits.sum(-1)
        return HardChoice(torch.full_like(nothing, -1, dtype=torch.long), nothing, nothing)
    index = drawn.argmax(-1)
    log_alpha = torch.log_softmax(logits, -1)
    log_prob = log_alpha.gather(-1, index[..., None]).squeeze(-1)
    # p log p = 0 at p = 0, without a NaN on the way back
    finite = log_alpha.masked_fill(log_alpha == -math.inf, 0.0)
    entropy = -(log_alpha.exp() * finite).sum(-1)
    if allowed is not None:
        empty = ~allowed.any(-1).expand(index.shape)
        index = index.masked_fill(empty, -1)
        log_prob, entropy = log_prob.masked_fill(empty, 0.0), entropy.masked_fill(empty, 0.0)
    return HardChoice(index, log_prob, entropy)


def _one_hot(index: Tensor, scores: Tensor) -> Tensor:
    keys = torch.arange(scores.shape[-1], device=scores.device)
    return (index[..., None] == keys).to(scores.dtype)


def _softmax_about(index: Tensor, window: int, scores: Tensor, allowed: Tensor | None) -> Tensor:
    """softmax of the allowed scores at most `window` keys from the index"""
    keys = torch.arange(scores.shape[-1], device=scores.device)
    near = (keys - index[..., None]).abs() <= window
    return masked_softmax(scores, near if allowed is None else near & allowed)


def _check_temperature(normalizer: Any) -> None:
    name, temperature = type(normalizer).__name__, normalizer.temperature
    if not temperature > 0:
        raise ValueError(
            t(
                "the temperature of {name} must be above 0, not {temperature}",
                name=name,
                temperature=temperature,
            )
        )
    if temperature < COLDEST:
        raise ValueError(
            t(
                "the temperature of {name} is {temperature}, below {coldest}, the least that "
                "float32 has: 'hard' looks up the best key",
                name=name,
                temperature=temperature,
                coldest=f"{COLDEST:.2g}",
            )
        )
