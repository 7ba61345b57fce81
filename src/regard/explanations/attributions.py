"""What each token gives to each answer, by several methods: the larger, the more it speaks for the answer.

Legend: as in `model_readings`; an attribution is (Q, K).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Generator, Tensor

from regard.explanations.context_parts import cosine_distance
from regard.explanations.model_readings import Reading
from regard.explanations.model_work import pieces
from regard.explanations.work_done import worked

# in the order of tables; those behind the first three run the model more than once
ATTENTION, NORM, ZEROING = "attention", "norm", "value-zeroing"
GRADIENT, LEFT_OUT = "gradient", "leave-one-out"
CONTRAST, CONTRAST_GRADIENT = "contrast", "contrast-gradient"
METHODS = (ATTENTION, NORM, ZEROING, GRADIENT, LEFT_OUT, CONTRAST, CONTRAST_GRADIENT)
ATTENDING = (ATTENTION, NORM, ZEROING)  # which need an attention

States = Callable[[Tensor, slice], Tensor | None]


def attributions(
    reading: Reading, methods: Sequence[str] = METHODS, *, against: Tensor | None = None
) -> dict[str, Tensor]:
    """By these methods, those that the model does not have left out.

    attention          the weights that the model reports
    norm               ‖α_j v_j‖: how large the part is that is taken of a token
    value-zeroing      1 - cos of what the answer is read from, with and without the value of a token
    gradient           Σ_d x_d · ∂ log p(y) / ∂ x_d
    leave-one-out      p(y) - p(y without the token)
    contrast           the same for the lead of y over another answer z, log p(y) - log p(z)
    contrast-gradient  Σ_d x_d · ∂ (log p(y) - log p(z)) / ∂ x_d

    against (Q,): z; the second likeliest answer if not given. Contrasts are of Yin and Neubig 2022,
    https://arxiv.org/abs/2202.10419.
    """
    others = second_likeliest(reading) if against is None else against
    made: dict[str, Callable[[], Tensor | None]] = {
        ATTENTION: lambda: None if reading.weighed is None else reading.weighed.reported,
        NORM: reading.norms,
        ZEROING: reading.zeroed,
        GRADIENT: reading.gradients,
        CONTRAST_GRADIENT: lambda: reading.contrast_gradients(others),
    }
    found = {name: made[name]() for name in methods if name in made}
    if {LEFT_OUT, CONTRAST} & {*methods}:
        found |= _erasing_one(reading, others)
    return {name: found[name] for name in methods if found[name] is not None}  # type: ignore[misc]


def _erasing_one(reading: Reading, others: Tensor) -> dict[str, Tensor]:
    both = torch.stack([reading.said, others])
    had = _log(reading.answers).gather(-1, both.T).T  # (2, Q)
    left = reading.log_probs_without_each(both)  # (2, Q, K)
    lead = (had[0] - had[1])[:, None] - (left[0] - left[1])
    return {LEFT_OUT: had[0].exp()[:, None] - left[0].exp(), CONTRAST: lead}


def second_likeliest(reading: Reading) -> Tensor:
    """The likeliest answer of each row beside what was said: (Q,)"""
    return reading.answers.scatter(-1, reading.said[:, None], -1.0).argmax(-1)


def value_zeroing(reading: Reading, states: States) -> Tensor | None:
    """C_qj = 1 - cos(o_q, o_q if the value of key j were 0 in all rows of weights at once): (Q, K)

    — Mohebbi et al. 2023, https://arxiv.org/abs/2301.12971, for attention to something else: states are
    what the answers are read from. Weights stay as they are, so that a value of 0 is a weight of 0. For
    self-attention, layer by layer, see `self_stacks`.
    """
    if reading.weighed is None:
        return None
    found = []
    for rows in pieces(len(reading.said), (reading.weighed.weights.shape[-1] + 1) * reading.work):
        own = reading.weighed.weights[rows]  # (N, M, K)
        keys = own.shape[-1]
        without = ~torch.eye(keys, dtype=torch.bool, device=own.device)[:, None, None]
        made = states(torch.cat([own[None], own * without]), rows)
        if made is None:
            return None
        found.append(cosine_distance(made[1:], made[:1]).T)
        worked((keys + 1) * len(own) * reading.work)
    return torch.cat(found)


def random_attribution(reading: Reading, *, seed: int = 0) -> Tensor:
    """Any order of the tokens: what an attribution has to be better than."""
    shape = reading.seen.shape
    return torch.rand(shape, generator=Generator().manual_seed(seed)).to(reading.answers)


def agreement(attribution: Tensor, other: Tensor, reading: Reading) -> Tensor:
    """Kendall's τ of the sizes of two attributions over the tokens of the text: (Q,)"""
    from regard.measures.explanation_measures import kendall_tau

    return kendall_tau(attribution.abs(), other.abs(), reading.erasable)


def _log(p: Tensor) -> Tensor:
    return p.clamp(min=torch.finfo(p.dtype).tiny).log()


Attributions = Mapping[str, Tensor]
