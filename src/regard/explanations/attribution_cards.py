"""Attributions as a record shows them: a matrix, numbers for each answer, and what they say in a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.explanations.attributions import ATTENTION, CONTRAST, LEFT_OUT, NORM, ZEROING
from regard.explanations.context_parts import shares
from regard.explanations.faithfulness import Faithfulness
from regard.explanations.model_readings import Reading, Weighed
from regard.measures.explanation_measures import kendall_tau
from regard.records.attention_map import Array
from regard.records.explanation import Explanation
from regard.words import t

RANDOM = "random"  # orders of the tokens that attributions are compared with


@dataclass(frozen=True)
class Contrast:
    """Other answers that the model might have given, for “why this and not that”."""

    against: Tensor | None = None  # (Q,); None: of each answer the second likeliest
    row: int | None = None  # the answer that somebody asked about
    answer: Callable[[int], str] = str  # what an answer is called
    keys: Sequence[str] = ()  # what the keys are called


def gradient_beside(
    gradients: Tensor, weighed: Weighed | None, of: str, lost: Faithfulness | None = None
) -> Explanation:
    """|Σ_d x_d · ∂ log p(y) / ∂ x_d| (Q, K) as rows that sum to 1, and their τ with the weights"""
    taus, said = _agreement(weighed, gradients.abs(), t("Tokens ordered by gradient × input"))
    return _card("gradient", t("Gradient × input"), said, of, shares(gradients.abs()), taus, lost)


def left_out_beside(
    losses: Tensor, weighed: Weighed | None, of: str, lost: Faithfulness | None = None
) -> Explanation:
    """p(y) - p(y without x_j), and the τ of its size with the weights"""
    ordered = t("Tokens ordered by what an answer loses without them")
    taus, said = _agreement(weighed, losses.abs(), ordered)
    said += " " + t(
        "The most that one token gives to an answer is {most} of probability.",
        most=_signed(float(losses.max())),
    )
    return _card(LEFT_OUT, t("Leave one out"), said, of, losses, taus, lost, signed=True)


def norm_based(
    norms: Tensor, weighed: Weighed | None, of: str, lost: Faithfulness | None = None
) -> Explanation:
    """‖α_j v_j‖ as rows that sum to 1 — Kobayashi et al. 2020, https://arxiv.org/abs/2004.10102"""
    ordered = t("Tokens ordered by the size of what is taken of each")
    taus, said = _agreement(weighed, norms, ordered)
    said += " " + t("A weight says how much is taken, this also how much there is to take.")
    return _card(NORM, t("Norm of what is taken"), said, of, shares(norms), taus, lost)


def values_zeroed(
    turned: Tensor, weighed: Weighed | None, of: str, lost: Faithfulness | None = None
) -> Explanation:
    """1 - cos(o, o if a value were 0) as rows that sum to 1 — Mohebbi et al. 2023"""
    ordered = t("Tokens ordered by how far what the answer is read from turns if their value is 0")
    taus, said = _agreement(weighed, turned, ordered)
    return _card(ZEROING, t("Value zeroing"), said, of, shares(turned), taus, lost)


def why_not(
    reading: Reading,
    leads: Tensor,
    contrast: Contrast,
    of: str,
    lost: Faithfulness | None = None,
) -> Explanation:
    """What each token gives to the lead of an answer over another — Yin and Neubig 2022"""
    assert contrast.against is not None
    both = torch.stack([reading.said, contrast.against], -1)
    tiny = torch.finfo(reading.answers.dtype).tiny
    lead = torch.diff(reading.answers.gather(-1, both).clamp(min=tiny).log().flip(-1)).squeeze(-1)
    title = t("Why this answer and not the next one")
    said = t(
        "Against the second likeliest an answer is ahead by {lead} nats on average; positive: without the "
        "token the lead would be smaller.",
        lead=_signed(mean_of(lead)),
    )
    if contrast.row is not None:
        one, other = (contrast.answer(int(token)) for token in both[contrast.row])
        title = t("Why “{one}” and not “{other}”", one=one, other=other)
        said = t(
            "“{one}” is ahead of “{other}” by {lead} nats there; in the other rows an answer is beside the "
            "second likeliest.",
            one=one,
            other=other,
            lead=_signed(float(lead[contrast.row])),
        )
        said = " ".join([said, *_strongest(leads[contrast.row], contrast)])
    made = _card(CONTRAST, title, said, of, leads, None, lost, signed=True)
    return replace(made, rows={"lead": lead.tolist(), **made.rows})


def _strongest(leads: Tensor, contrast: Contrast) -> Iterator[str]:
    """Which token speaks most for the answer, and which for the other."""
    if len(contrast.keys) != len(leads):
        return
    most, least = int(leads.argmax()), int(leads.argmin())
    if leads[most] > 0:
        size = _signed(float(leads[most]))
        yield t("Most of that is by {token}: {size} nats.", token=contrast.keys[most], size=size)
    if leads[least] < 0:
        size, token = _signed(float(leads[least])), contrast.keys[least]
        yield t("{token} speaks for the other: {size} nats.", token=token, size=size)


def method_titles() -> dict[str, str]:
    """What the methods are called in a sentence."""
    return {
        "attention": t("attention"),
        "norm": t("the norm of what is taken"),
        "value-zeroing": t("value zeroing"),
        "gradient": t("gradient × input"),
        "leave-one-out": t("leaving one out"),
        "contrast": t("the contrast with the next answer"),
        "contrast-gradient": t("the gradient of the contrast"),
    }


def taking_out(lost: Mapping[str, Faithfulness], of: str) -> Explanation:
    """Comprehensiveness and sufficiency of the weights, beside those of random tokens and of the best"""
    title, titles = t("Taking out what is named"), method_titles()
    if not lost:
        why = t("Left out: the model would have to read too many parts of a text of this size.")
        return Explanation("erasure", title, why, of)
    means = {name: [float(part.nanmean()) for part in each] for name, each in lost.items()}
    chance = means.pop(RANDOM)
    if any(math.isnan(number) for number in chance):
        return Explanation("erasure", title, t("Left out: there is no token to take out."), of)
    best = max(means, key=lambda name: means[name][0])
    own = ATTENTION if ATTENTION in means else best
    rows = {"comprehensiveness": lost[own][0], "sufficiency": lost[own][1]}
    said = t(
        "Without the tokens that {method} names first an answer loses {lost} of probability on average, "
        "without random ones {chance}; with these alone it loses {short}, with random ones alone "
        "{chance_alone}.",
        method=titles[own],
        lost=_signed(means[own][0]),
        chance=_signed(chance[0]),
        short=_signed(means[own][1]),
        chance_alone=_signed(chance[1]),
    )
    if best != own:
        most = _signed(means[best][0])
        said += " " + t(
            "Most is lost without those of {method}: {most}.", method=titles[best], most=most
        )
    return Explanation("erasure", title, said, of, rows=rows_of(rows))


def _card(
    name: str,
    title: str,
    said: str,
    of: str,
    matrix: Tensor,
    taus: Tensor | None,
    lost: Faithfulness | None,
    *,
    signed: bool = False,
) -> Explanation:
    numbers = {"τ": taus}
    if lost is not None:
        numbers |= {"comprehensiveness": lost[0], "sufficiency": lost[1]}
    return Explanation(
        name, title, said, of, numbers_of(matrix), rows=rows_of(numbers), signed=signed
    )


def _agreement(
    weighed: Weighed | None, importance: Tensor, ordered: str
) -> tuple[Tensor | None, str]:
    if weighed is None:
        return None, t(
            "There is no attention to compare this with; nothing else could be measured."
        )
    taus = kendall_tau(weighed.reported, importance, weighed.allowed.any(1))
    defined = taus[~taus.isnan()]
    if not len(defined):
        return taus, t(
            "{ordered} cannot be compared with attention, which orders nothing here.",
            ordered=ordered,
        )
    known = {"ordered": ordered, "tau": _signed(mean_of(defined))}
    if len(taus) == 1:
        return taus, t(
            "{ordered} agree with attention at τ = {tau} in the one row (1: the same order, 0: no relation, "
            "−1: the reverse).",
            **known,
        )
    return taus, t(
        "{ordered} agree with attention at τ = {tau} on average over {rows} rows (1: the same order, "
        "0: no relation, −1: the reverse).",
        rows=len(defined),
        **known,
    )


def mean_of(numbers: Tensor) -> float:
    return float(numbers.mean())


def rows_of(named: Mapping[str, Tensor | None]) -> dict[str, list[float]]:
    return {name: numbers.tolist() for name, numbers in named.items() if numbers is not None}


def numbers_of(matrix: Tensor) -> Array:
    numbers: Array = matrix.float().cpu().numpy()
    return numbers


def _signed(number: float) -> str:
    """In two digits, with the minus that the page writes."""
    return f"{number:.2f}".replace("-", "−")
