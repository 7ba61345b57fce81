"""The measures of one reading, each with the sentence that says what it found.

A reading says what these numbers mean for this input and this model, and no more than that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.explanations.attributions import (
    ATTENTION,
    CONTRAST,
    CONTRAST_GRADIENT,
    LEFT_OUT,
    METHODS,
    NORM,
    ZEROING,
    Attributions,
    attributions,
    random_attribution,
    second_likeliest,
)
from regard.explanations.attributions import GRADIENT as GRADIENTS
from regard.explanations.context_parts import shares
from regard.explanations.faithfulness import Faithfulness, erasing_readings, faithfulness
from regard.explanations.model_readings import Reading, Weighed
from regard.explanations.model_work import GRADIENT, ModelWork, pieces
from regard.measures.explanation_measures import (
    Adversarial,
    adversarial_attention,
    evenly,
    kendall_tau,
    permuted,
    total_variation,
)
from regard.records.record import Array, Explanation

DRAWS = 20  # orders of the weights that are tried
RESTARTS, STEPS = 5, 250  # of the search for other weights
FEWEST_RESTARTS, FEWEST_STEPS = 2, 100  # of a search that is cut short
MOST_WORK = 6e11  # multiplications of its steps forwards: some 10 seconds of a small machine
SAME = 0.01  # TVD of answers that count as the same
RANDOM, RANDOM_DRAWS = "random", 3  # orders of the tokens that attributions are compared with
TITLES = {
    "attention": "attention",
    "norm": "the norm of what is taken",
    "value-zeroing": "value zeroing",
    "gradient": "gradient × input",
    "leave-one-out": "leaving one out",
    "contrast": "the contrast with the next answer",
    "contrast-gradient": "the gradient of the contrast",
    "random": "chance",
}
ORDERS = "(1: the same order, 0: no relation, −1: the reverse)"


@dataclass(frozen=True)
class Contrast:
    """Other answers that the model might have given, for “why this and not that”."""

    against: Tensor | None = None  # (Q,); None: of each answer the second likeliest
    row: int | None = None  # the answer that somebody asked about
    answer: Callable[[int], str] = str  # what an answer is called
    keys: Sequence[str] = ()  # what the keys are called


def measure(reading: Reading, of: str, contrast: Contrast | None = None) -> tuple[Explanation, ...]:
    """All that can be said of the map named `of`; without attention, what does not need it."""
    contrast = contrast or Contrast()
    against = contrast.against
    against = second_likeliest(reading) if against is None else against
    methods = [name for name in METHODS if name != CONTRAST_GRADIENT]
    if reading.steerable and zeroing_work(reading) > MOST_WORK:
        methods.remove(ZEROING)
    given = attributions(reading, methods, against=against)
    loss = _erased(reading, given)
    found = [gradient_beside(given[GRADIENTS], reading.weighed, of, loss.get(GRADIENTS))]
    found.append(leave_one_out(given[LEFT_OUT], reading.weighed, of, loss.get(LEFT_OUT)))
    for name, told in ((NORM, norm_based), (ZEROING, values_zeroed)):
        if name in given:
            found.append(told(given[name], reading.weighed, of, loss.get(name)))
    found.append(
        why_not(
            reading, given[CONTRAST], replace(contrast, against=against), of, loss.get(CONTRAST)
        )
    )
    found.append(taking_out(loss, of))
    if reading.weighed is not None and reading.steerable:
        found += [
            take(reading, reading.weighed, of)
            for take in (even_attention, other_orders, other_attention)
        ]
    return tuple(found)


def zeroing_work(reading: Reading) -> float:
    return len(reading.said) * (reading.seen.shape[-1] + 1) * reading.work


def _erased(reading: Reading, given: Attributions) -> dict[str, Faithfulness]:
    """Of all attributions and of RANDOM ones; nothing where it is too much work."""
    drawn = {f"{RANDOM} {n}": random_attribution(reading, seed=n) for n in range(RANDOM_DRAWS)}
    answers, keys = reading.seen.shape
    if erasing_readings(keys, answers, len(given) + RANDOM_DRAWS) * reading.whole > MOST_WORK:
        return {}
    found = faithfulness(reading, {**given, **drawn})
    every = [found.pop(name) for name in drawn]
    mean = Faithfulness(*(torch.stack(each).mean(0) for each in zip(*every, strict=True)))
    return {**found, RANDOM: mean}


def gradient_beside(
    gradients: Tensor, weighed: Weighed | None, of: str, lost: Faithfulness | None = None
) -> Explanation:
    """|Σ_d x_d · ∂ log p(y) / ∂ x_d| (Q, K) as rows that sum to 1, and their τ with the weights"""
    taus, said = _agreement(weighed, gradients.abs(), "by gradient × input")
    return _card("gradient", "Gradient × input", said, of, shares(gradients.abs()), taus, lost)


def leave_one_out(
    losses: Tensor, weighed: Weighed | None, of: str, lost: Faithfulness | None = None
) -> Explanation:
    """p(y) - p(y without x_j), and the τ of its size with the weights"""
    taus, said = _agreement(weighed, losses.abs(), "by what an answer loses without them")
    most = (
        f" The most that one token gives to an answer is {float(losses.max()):.2f} of probability."
    )
    return _card(LEFT_OUT, "Leave one out", said + most, of, losses, taus, lost, signed=True)


def norm_based(
    norms: Tensor, weighed: Weighed | None, of: str, lost: Faithfulness | None = None
) -> Explanation:
    """‖α_j v_j‖ as rows that sum to 1 — Kobayashi et al. 2020, https://arxiv.org/abs/2004.10102"""
    taus, said = _agreement(weighed, norms, "by the size of what is taken of each")
    more = " A weight says how much is taken, this also how much there is to take."
    return _card(NORM, "Norm of what is taken", said + more, of, shares(norms), taus, lost)


def values_zeroed(
    turned: Tensor, weighed: Weighed | None, of: str, lost: Faithfulness | None = None
) -> Explanation:
    """1 - cos(o, o if a value were 0) as rows that sum to 1 — Mohebbi et al. 2023"""
    by = "by how far what the answer is read from turns if their value is 0"
    taus, said = _agreement(weighed, turned, by)
    return _card(ZEROING, "Value zeroing", said, of, shares(turned), taus, lost)


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
    title = "Why this answer and not the next one"
    said = (
        f"Against the second likeliest an answer is ahead by {_signed(_mean(lead))} nats on average; "
        "positive: without the token the lead would be smaller."
    )
    if contrast.row is not None:
        one, other = (contrast.answer(int(token)) for token in both[contrast.row])
        title = f"Why “{one}” and not “{other}”"
        said = (
            f"“{one}” is ahead of “{other}” by {_signed(float(lead[contrast.row]))} nats there; in the other "
            f"rows an answer is beside the second likeliest.{_strongest(leads[contrast.row], contrast)}"
        )
    made = _card(CONTRAST, title, said, of, leads, None, lost, signed=True)
    return replace(made, rows={"lead": lead.tolist(), **made.rows})


def _strongest(leads: Tensor, contrast: Contrast) -> str:
    """Which token speaks most for the answer, and which for the other."""
    if len(contrast.keys) != len(leads):
        return ""
    said, most, least = "", int(leads.argmax()), int(leads.argmin())
    if leads[most] > 0:
        said += f" Most of that is by {contrast.keys[most]}: {_signed(float(leads[most]))} nats."
    if leads[least] < 0:
        size = _signed(float(leads[least]))
        said += f" {contrast.keys[least]} speaks for the other: {size} nats."
    return said


def taking_out(lost: Mapping[str, Faithfulness], of: str) -> Explanation:
    """Comprehensiveness and sufficiency of the weights, beside those of random tokens and of the best"""
    title = "Taking out what is named"
    if not lost:
        why = "Left out: the model would have to read too many parts of a text of this size."
        return Explanation("erasure", title, why, of)
    means = {name: [float(part.nanmean()) for part in each] for name, each in lost.items()}
    chance = means.pop(RANDOM)
    if any(math.isnan(number) for number in chance):
        return Explanation("erasure", title, "Left out: there is no token to take out.", of)
    best = max(means, key=lambda name: means[name][0])
    own = ATTENTION if ATTENTION in means else best
    rows = {"comprehensiveness": lost[own][0], "sufficiency": lost[own][1]}
    said = (
        f"Without the tokens that {TITLES[own]} names first an answer loses {_signed(means[own][0])} of "
        f"probability on average, without random ones {_signed(chance[0])}; with these alone it loses "
        f"{_signed(means[own][1])}, with random ones alone {_signed(chance[1])}."
    )
    if best != own:
        said += f" Most is lost without those of {TITLES[best]}: {_signed(means[best][0])}."
    return Explanation("erasure", title, said, of, rows=_rows(rows))


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
    return Explanation(name, title, said, of, _numbers(matrix), rows=_rows(numbers), signed=signed)


def even_attention(reading: Reading, weighed: Weighed, of: str) -> Explanation:
    """TVD of each answer when its weights are all equal"""
    weights = evenly(weighed.weights, weighed.allowed)[None]
    parts = pieces(len(reading.said), reading.work)
    even = torch.cat([reading.steered(weights[:, rows], rows)[0] for rows in parts])
    changes = total_variation(even, reading.answers)
    others = int((even.argmax(-1) != reading.answers.argmax(-1)).sum())
    said = (
        f"With even attention{_everywhere(weighed)} the answers move by a TVD of {_mean(changes):.2f} on "
        f"average (0: the weights do not matter, 1: nothing is left of the answer), and "
        f"{others} of {len(changes)} would be another."
    )
    return Explanation("uniform", "Even attention", said, of, rows=_rows({"TVD": changes}))


def other_orders(reading: Reading, weighed: Weighed, of: str) -> Explanation:
    """The median TVD of each answer over random orders of its weights"""

    def _change(rows: slice) -> Tensor:
        orders = permuted(weighed.weights[rows], weighed.allowed[rows], DRAWS, seed=rows.start)
        tried = reading.steered(orders, rows)
        return total_variation(tried, reading.answers[rows]).median(0).values

    changes = torch.cat([_change(rows) for rows in pieces(len(reading.said), DRAWS * reading.work)])
    said = (
        f"With the same weights in another order{_everywhere(weighed)} ({DRAWS} draws, their median) the "
        f"answers move by a TVD of {_mean(changes):.2f} on average: the smaller, the less it matters which "
        "token has which weight."
    )
    return Explanation(
        "permuted", "Weights in other orders", said, of, rows=_rows({"TVD": changes})
    )


def other_attention(reading: Reading, weighed: Weighed, of: str) -> Explanation:
    """The weights furthest from the model's own that give the same answer"""
    title = "Other attention, same answer"
    if bool((weighed.weights < 0).any()):
        why = "Left out: weights below 0 are no distribution, and a JSD is between distributions."
        return Explanation("adversarial", title, why, of)
    searches = searches_within(reading.work * len(reading.said))
    if searches is None:
        why = "Left out: the search for other weights takes too long with a model and a text of this size."
        return Explanation("adversarial", title, why, of)
    restarts, steps = searches
    parts = pieces(len(reading.said), GRADIENT * restarts * reading.work)
    searched = [_search(reading, weighed, rows, restarts, steps) for rows in parts]
    found = Adversarial(*map(torch.cat, zip(*(each[0] for each in searched), strict=True)))
    median, most = float(found.divergence.median()), math.log(2)
    far = int((found.divergence > most / 2).sum())
    said = (
        f"Other weights{_everywhere(weighed)} give the same answers (TVD at most {SAME}) up to a JSD of "
        f"{median:.2f} in the median row, where {most:.2f} is the most there is; in {far} of "
        f"{len(found.divergence)} rows they are further away than half of that."
    )
    if restarts < RESTARTS:
        said += f" A short search, {restarts} starts of {steps} steps: there may be others."
    return Explanation(
        "adversarial",
        title,
        said,
        of,
        _numbers(torch.cat([reported for _, reported in searched])),
        rows=_rows({"JSD": found.divergence, "TVD": found.change}),
    )


def _search(
    reading: Reading, weighed: Weighed, rows: slice, restarts: int, steps: int
) -> tuple[Adversarial, Tensor]:
    """Other weights of these answers, and what the model would report of them."""
    found = adversarial_attention(
        lambda weights: reading.steered(weights, rows),
        weighed.weights[rows],
        weighed.allowed[rows],
        tolerance=SAME,
        restarts=restarts,
        steps=steps,
        seed=rows.start,
    )
    return found, reading.reported(found.weights, rows)


def searches_within(work: float) -> tuple[int, int] | None:
    """Starts and steps of a search, fewer where a step is much work; None: even these take too long."""
    if work * RESTARTS * STEPS <= MOST_WORK:
        return RESTARTS, STEPS
    steps = min(STEPS, int(MOST_WORK / (work * FEWEST_RESTARTS)))
    return (FEWEST_RESTARTS, steps) if steps >= FEWEST_STEPS else None


def measuring_work(model: ModelWork, keys: int, answers: int, each: float) -> float:
    """Of all measures of a map; each: of one answer with other weights, inf: there is none."""
    restarts, steps = searches_within(each * answers) or (0, 0)
    copies = GRADIENT * answers + keys  # of the whole input: for gradients, and without each token
    erased = erasing_readings(keys, answers, len(METHODS) - 1 + RANDOM_DRAWS)
    if erased * model.reading(keys, answers) <= MOST_WORK:
        copies += erased
    if math.isinf(each):
        return (copies + keys) * model.reading(keys, answers)
    tries = 1 + DRAWS + GRADIENT * restarts * steps
    if answers * (keys + 1) * each <= MOST_WORK:
        tries += keys + 1
    return copies * model.reading(keys, answers) + tries * answers * each


def _agreement(weighed: Weighed | None, importance: Tensor, by: str) -> tuple[Tensor | None, str]:
    if weighed is None:
        return None, "There is no attention to compare this with; nothing else could be measured."
    taus = kendall_tau(weighed.reported, importance, weighed.allowed.any(1))
    defined, ordered = taus[~taus.isnan()], f"Tokens ordered {by}"
    if not len(defined):
        return taus, f"{ordered} cannot be compared with attention, which orders nothing here."
    rows = "in the one row" if len(taus) == 1 else f"on average over {len(defined)} rows"
    return taus, f"{ordered} agree with attention at τ = {_signed(_mean(defined))} {rows} {ORDERS}."


def _everywhere(weighed: Weighed) -> str:
    rows = weighed.weights.shape[1]
    return f" in all {rows} heads at once" if rows > 1 else ""


def _mean(numbers: Tensor) -> float:
    return float(numbers.mean())


def _rows(named: dict[str, Tensor | None]) -> dict[str, list[float]]:
    return {name: numbers.tolist() for name, numbers in named.items() if numbers is not None}


def _numbers(matrix: Tensor) -> Array:
    numbers: Array = matrix.float().cpu().numpy()
    return numbers


def _signed(number: float) -> str:
    """In two digits, with the minus that the page writes."""
    return f"{number:.2f}".replace("-", "−")
