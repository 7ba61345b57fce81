"""The measures of one reading, each with the sentence that says what it found.

A reading says what these numbers mean for this input and this model, and no more than that.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from regard.explanations.attribution_cards import (
    RANDOM,
    Contrast,
    gradient_beside,
    left_out_beside,
    mean_of,
    norm_based,
    numbers_of,
    rows_of,
    taking_out,
    values_zeroed,
    why_not,
)
from regard.explanations.attributions import (
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
from regard.explanations.faithfulness import Faithfulness, erasing_readings, faithfulness
from regard.explanations.model_readings import Reading, Weighed
from regard.explanations.model_work import GRADIENT, ModelWork, pieces
from regard.measures.explanation_measures import (
    Adversarial,
    adversarial_attention,
    evenly,
    permuted,
    total_variation,
)
from regard.records.explanation import Explanation
from regard.words import t

DRAWS = 20  # orders of the weights that are tried
RESTARTS, STEPS = 5, 250  # of the search for other weights
FEWEST_RESTARTS, FEWEST_STEPS = 2, 100  # of a search that is cut short
MOST_WORK = 6e11  # multiplications of its steps forwards: some 10 seconds of a small machine
SAME = 0.01  # TVD of answers that count as the same
RANDOM_DRAWS = 3  # orders of the tokens that attributions are compared with


def measure(reading: Reading, of: str, contrast: Contrast | None = None) -> tuple[Explanation, ...]:
    """All that can be said of the map named `of`; without attention, what does not need it."""
    contrast = contrast or Contrast()
    against = contrast.against
    against = second_likeliest(reading) if against is None else against
    contrasts = {CONTRAST_GRADIENT} | (set() if reading.other_answers else {CONTRAST})
    methods = [name for name in METHODS if name not in contrasts]
    if reading.steerable and zeroing_work(reading) > MOST_WORK:
        methods.remove(ZEROING)
    given = attributions(reading, methods, against=against)
    loss = _erased(reading, given)
    found = [gradient_beside(given[GRADIENTS], reading.weighed, of, loss.get(GRADIENTS))]
    found.append(left_out_beside(given[LEFT_OUT], reading.weighed, of, loss.get(LEFT_OUT)))
    for name, told in ((NORM, norm_based), (ZEROING, values_zeroed)):
        if name in given:
            found.append(told(given[name], reading.weighed, of, loss.get(name)))
    if CONTRAST in given:
        asked = replace(contrast, against=against)
        found.append(why_not(reading, given[CONTRAST], asked, of, loss.get(CONTRAST)))
    found.append(taking_out(loss, of))
    if reading.weighed is not None and reading.steerable:
        found += [
            take(reading, reading.weighed, of)
            for take in (even_attention, other_orders, other_attention)
        ]
    return tuple(found)


def gradient(reading: Reading, of: str) -> Explanation:
    """|Σ_d x_d · ∂ log p(y) / ∂ x_d|, and its τ with the weights"""
    return gradient_beside(reading.gradients(), reading.weighed, of)


def leave_one_out(reading: Reading, of: str) -> Explanation:
    """p(y) - p(y without x_j), and the τ of its size with the weights"""
    had = reading.answers.gather(-1, reading.said[:, None])
    return left_out_beside(had - reading.without_each(), reading.weighed, of)


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


def even_attention(reading: Reading, weighed: Weighed, of: str) -> Explanation:
    """TVD of each answer when its weights are all equal"""
    weights = evenly(weighed.weights, weighed.allowed)[None]
    parts = pieces(len(reading.said), reading.work)
    even = torch.cat([reading.steered(weights[:, rows], rows)[0] for rows in parts])
    changes = total_variation(even, reading.answers)
    others = int((even.argmax(-1) != reading.answers.argmax(-1)).sum())
    said = t(
        "With even attention{where} the answers move by a TVD of {change} on average (0: the weights do not "
        "matter, 1: nothing is left of the answer), and {others} of {count} would be another.",
        where=_everywhere(weighed),
        change=f"{mean_of(changes):.2f}",
        others=others,
        count=len(changes),
    )
    return Explanation("uniform", t("Even attention"), said, of, rows=rows_of({"TVD": changes}))


def other_orders(reading: Reading, weighed: Weighed, of: str) -> Explanation:
    """The median TVD of each answer over random orders of its weights"""

    def _change(rows: slice) -> Tensor:
        orders = permuted(weighed.weights[rows], weighed.allowed[rows], DRAWS, seed=rows.start)
        tried = reading.steered(orders, rows)
        return total_variation(tried, reading.answers[rows]).median(0).values

    changes = torch.cat([_change(rows) for rows in pieces(len(reading.said), DRAWS * reading.work)])
    said = t(
        "With the same weights in another order{where} ({draws} draws, their median) the answers move by a "
        "TVD of {change} on average: the smaller, the less it matters which token has which weight.",
        where=_everywhere(weighed),
        draws=DRAWS,
        change=f"{mean_of(changes):.2f}",
    )
    return Explanation(
        "permuted", t("Weights in other orders"), said, of, rows=rows_of({"TVD": changes})
    )


def other_attention(reading: Reading, weighed: Weighed, of: str) -> Explanation:
    """The weights furthest from the model's own that give the same answer"""
    title = t("Other attention, same answer")
    if bool((weighed.weights < 0).any()):
        why = t(
            "Left out: weights below 0 are no distribution, and a JSD is between distributions."
        )
        return Explanation("adversarial", title, why, of)
    searches = searches_within(reading.work * len(reading.said))
    if searches is None:
        why = t(
            "Left out: the search for other weights takes too long with a model and a text of this size."
        )
        return Explanation("adversarial", title, why, of)
    restarts, steps = searches
    parts = pieces(len(reading.said), GRADIENT * restarts * reading.work)
    searched = [_search(reading, weighed, rows, restarts, steps) for rows in parts]
    found = Adversarial(*map(torch.cat, zip(*(each[0] for each in searched), strict=True)))
    median, most = float(found.divergence.median()), math.log(2)
    far = int((found.divergence > most / 2).sum())
    said = t(
        "Other weights{where} give the same answers (TVD at most {same}) up to a JSD of {median} in the "
        "median row, where {most} is the most there is; in {far} of {count} rows they are further away than "
        "half of that.",
        where=_everywhere(weighed),
        same=SAME,
        median=f"{median:.2f}",
        most=f"{most:.2f}",
        far=far,
        count=len(found.divergence),
    )
    if restarts < RESTARTS:
        said += " " + t(
            "A short search, {restarts} starts of {steps} steps: there may be others.",
            restarts=restarts,
            steps=steps,
        )
    return Explanation(
        "adversarial",
        title,
        said,
        of,
        numbers_of(torch.cat([reported for _, reported in searched])),
        rows=rows_of({"JSD": found.divergence, "TVD": found.change}),
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


def _everywhere(weighed: Weighed) -> str:
    rows = weighed.weights.shape[1]
    return t(" in all {rows} heads at once", rows=rows) if rows > 1 else ""
