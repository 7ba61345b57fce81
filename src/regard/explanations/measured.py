"""The measures of one reading, each with the sentence that says what it found.

A reading says what these numbers mean for this input and this model, and no more than that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from regard.explanations.model_readings import Reading, Weighed
from regard.explanations.model_work import GRADIENT, ModelWork, pieces
from regard.measures.explanation_measures import (
    Adversarial,
    adversarial_attention,
    evenly,
    kendall_tau,
    permuted,
    rollout,
    total_variation,
)
from regard.records.record import Array, Explanation

DRAWS = 20  # orders of the weights that are tried
RESTARTS, STEPS = 5, 250  # of the search for other weights
FEWEST_RESTARTS, FEWEST_STEPS = 2, 100  # of a search that is cut short
MOST_WORK = 6e11  # multiplications of its steps forwards: some 10 seconds of a small machine
SAME = 0.01  # TVD of answers that count as the same
ORDERS = "(1: the same order, 0: no relation, −1: the reverse)"


def measure(reading: Reading, of: str) -> tuple[Explanation, ...]:
    """All that can be said of the map named `of`; without attention, what does not need it."""
    found = [gradient(reading, of), leave_one_out(reading, of)]
    if reading.weighed is not None:
        found += [
            take(reading, reading.weighed, of)
            for take in (even_attention, other_orders, other_attention)
        ]
    return tuple(found)


def gradient(reading: Reading, of: str) -> Explanation:
    """|Σ_d x_d · ∂ log p(y) / ∂ x_d|, and its τ with the weights"""
    return gradient_beside(reading.gradients(), reading.weighed, of)


def gradient_beside(gradients: Tensor, weighed: Weighed | None, of: str) -> Explanation:
    """The size of gradients × inputs (Q, K) as rows that sum to 1, and their τ with the weights"""
    shares = gradients.abs()
    shares = shares / shares.sum(-1, keepdim=True).clamp(min=torch.finfo(shares.dtype).tiny)
    taus, said = _agreement(weighed, shares, "by gradient × input")
    return Explanation(
        "gradient", "Gradient × input", said, of, _numbers(shares), rows=_rows({"τ": taus})
    )


def leave_one_out(reading: Reading, of: str) -> Explanation:
    """p(y) - p(y without x_j), and the τ of its size with the weights"""
    had = reading.answers.gather(-1, reading.said[:, None])
    losses = had - reading.without_each()
    taus, said = _agreement(reading.weighed, losses.abs(), "by what an answer loses without them")
    most = (
        f" The most that one token gives to an answer is {float(losses.max()):.2f} of probability."
    )
    return Explanation(
        "leave-one-out",
        "Leave one out",
        said + most,
        of,
        _numbers(losses),
        rows=_rows({"τ": taus}),
        signed=True,
    )


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
    """Of all measures of a map; each: of one answer with other weights."""
    restarts, steps = searches_within(each * answers) or (0, 0)
    copies = GRADIENT * answers + keys  # of the whole input: for gradients, and without each token
    tries = 1 + DRAWS + GRADIENT * restarts * steps
    return copies * model.reading(keys, answers) + tries * answers * each


def stack_rollout(layers: Sequence[Tensor], of: str) -> Explanation:
    """Rollout of the layers (H, L, L) of a stack of self-attention"""
    rolled = rollout(layers)
    own = _mean(rolled.diagonal())
    said = (
        f"Through all {len(layers)} layers a position has {own:.2f} of itself on average, heads averaged and "
        "residual paths counted as half; this follows self-attention alone, so it does not reach from "
        "an encoder through its decoder to a target."
    )
    return Explanation("rollout", "Attention rollout", said, of, _numbers(rolled))


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
