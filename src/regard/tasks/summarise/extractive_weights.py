"""The weights of extractive features, tuned on a dev set as in MERT: search, choose weights, search again.

Legend: E examples, K candidates of each, f the features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.tokenizer import Tokens
from regard.layers.contracts import Encoded
from regard.measures.measure import Measure
from regard.recipe.recipe import Recipe
from regard.search import Search
from regard.tasks.prediction import Prediction
from regard.tasks.search_settings import search_settings
from regard.tasks.summarise.summarise_module import Summarise

Array = NDArray[np.float64]

ROUNDS = 3  # searches with new weights
STARTS = 8  # of each ascent: the weights so far, and others drawn
GRID = np.arange(-2.0, 6.01, 0.25)  # values tried for one weight, the others kept
EXAMPLES = 500  # of the dev set: enough for four numbers


class NbestLists(NamedTuple):
    """Summaries that a search found: of each its log-probability, features, length and measure."""

    log_probs: Array  # (E, K), -inf: there is none
    features: Array  # (E, K, f), summed over its tokens
    lengths: Array  # (E, K)
    merits: Array  # (E, K)

    def merit(self, alpha: Array, settings: Search) -> float:
        """The measure of what is chosen with these weights: the mean over the examples."""
        added = self.features @ alpha - np.clip(alpha, 0, None).sum() * self.lengths
        scores = (self.log_probs + added) / settings.penalty(1.0 * self.lengths)  # type: ignore[type-var]
        best = scores.argmax(1)[:, None]
        return float(np.take_along_axis(self.merits, best, 1).mean())


def tune_extractive(
    module: Summarise, examples: Sequence[Any], measure: Measure, recipe: Recipe, batch: int
) -> Array:
    """Set α of the decoder to what gives the best summaries of these examples, and return it.

    After Och 2003 (MERT), https://aclanthology.org/P03-1021: an n-best list is made with the weights so far,
    the weights that choose best from all lists are found by ascent, coordinate by coordinate, and so on. In
    the end those are kept whose own search was best, which may be 0. The recipe's seed decides what is drawn.
    """
    examples = examples[:EXAMPLES]
    sources, wanted = ([each[name] for each in examples] for name in ("source", "target"))
    settings = search_settings(recipe, nbest=recipe.search.beam)
    alpha = module.model.decoder.extractive.alpha  # type: ignore[attr-defined]
    chosen, draw = np.zeros(len(alpha)), np.random.default_rng(recipe.seed)
    pools: list[dict[tuple[int, ...], Prediction]] = [{} for _ in examples]
    tried: list[tuple[float, Array]] = []
    for number in range(ROUNDS + 1):
        alpha.copy_(torch.from_numpy(chosen))
        found = module.predict(sources, settings, batch=batch)
        tried.append((measure.of(wanted, [one.text for one in found]), chosen))
        for pool, one in zip(pools, found, strict=True):
            pool.update({tuple(each.ids): each for each in (one, *one.alternatives)})
        if number < ROUNDS:
            judged = _judged_lists(module, sources, wanted, pools, measure)
            chosen = _ascended(lambda a, j=judged: j.merit(a, settings), chosen, draw)  # type: ignore[misc]
    best = max(tried, key=lambda pair: pair[0])[1]
    alpha.copy_(torch.from_numpy(best))
    return best


def _ascended(merit: Callable[[Array], float], first: Array, draw: np.random.Generator) -> Array:
    """The weights of the highest merit that is reached by changing one at a time, from several starts."""
    best, most = first, merit(first)
    for start in [first, *draw.uniform(-1, 4, (STARTS - 1, len(first)))]:
        here, height = start, merit(start)
        while True:
            changes = [_changed(here, i, value) for i in range(len(here)) for value in GRID]
            heights = [merit(change) for change in changes]
            top = int(np.argmax(heights))
            if heights[top] <= height:
                break
            here, height = changes[top], heights[top]
        if height > most:
            best, most = here, height
    return best


def _changed(alpha: Array, place: int, value: float) -> Array:
    changed = alpha.copy()
    changed[place] = value
    return changed


def _judged_lists(
    module: Summarise,
    sources: Sequence[str],
    wanted: Sequence[str],
    pools: Sequence[dict[tuple[int, ...], Prediction]],
    measure: Measure,
) -> NbestLists:
    """What was found so far; what was cut off at the length limit only where nothing else was."""
    lists = [[p for p in pool.values() if p.finished] or [*pool.values()] for pool in pools]
    shape = len(lists), max(map(len, lists))
    log_probs, lengths = np.full(shape, -np.inf), np.ones(shape)
    merits, features = np.zeros(shape), np.zeros((*shape, 4))
    read = module.read(sources)
    for row, several in enumerate(lists):
        for column, one in enumerate(several):
            log_probs[row, column] = one.log_prob
            lengths[row, column] = len(one.ids)
            merits[row, column] = measure.of([wanted[row]], [one.text])
        features[row, : len(several)] = _features(module, read[row], several)
    return NbestLists(log_probs, features, lengths, merits)


def _features(module: Summarise, source: Tokens, several: Sequence[Prediction]) -> Array:
    """(K, f), summed over the tokens of each"""
    with module.inference():
        target, real = module.padded([one.tokens.ids for one in several], bos=True)
        every: Encoded = module.encode([source] * len(several))
        decoder: Any = module.model.decoder
        found = decoder.features(target[:, :-1], target[:, 1:], every)
        summed = found.masked_fill(~real[:, 1:, None], 0.0).sum(1)
    return summed.double().cpu().numpy()
