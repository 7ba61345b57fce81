"""A corpus translated and scored by all processes together: the same numbers however it is shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from lightning.fabric import Fabric

from regard.data.text import Pair
from regard.measures import Likelihood, bleu, chrf
from regard.tasks.text_translator import TextTranslator
from regard.training.languages import bleu_tokenizer
from regard.training.recipe import Recipe
from regard.training.searching import search_settings
from regard.training.sharing import add_up, gather


@dataclass(frozen=True)
class Validation:
    loss: float  # nats per target token
    perplexity: float
    accuracy: float
    bleu: float
    chrf: float

    def merit(self, metric: str) -> tuple[float, float]:
        """What the best is best in, larger is better; of equals that with the lower loss."""
        return -self.loss if metric == "loss" else getattr(self, metric), -self.loss


def validate(
    fabric: Fabric,
    task: TextTranslator,
    pairs: Sequence[Pair],
    recipe: Recipe,
    stop: Callable[[], bool] = lambda: False,
) -> Validation | None:
    """Every process works on its share; None if it was asked to `stop` on the way."""
    mine = pairs[fabric.global_rank :: fabric.world_size]
    total, texts = Likelihood(), []
    size = recipe.search.batch
    # whole chunks, so that each is sorted by length, and a signal waits for one at most
    for start in range(0, len(mine), 16 * size):
        if stop():
            return None
        chunk = mine[start : start + 16 * size]
        sources, targets = [p.source for p in chunk], [p.target for p in chunk]
        total += task.likelihood(sources, targets, batch=size)
        settings = search_settings(recipe, beam=recipe.search.validation_beam)
        texts += [p.text for p in task.predict(sources, settings, batch=size)]
    total, texts = _together(fabric, total, texts)
    references = [p.target for p in pairs]
    return Validation(
        loss=total.loss,
        perplexity=total.perplexity,
        accuracy=total.accuracy,
        bleu=bleu(texts, references, tokenize=bleu_tokenizer(recipe)).value,
        chrf=chrf(texts, references).value,
    )


def _together(fabric: Fabric, total: Likelihood, texts: list[str]) -> tuple[Likelihood, list[str]]:
    """The sum of the likelihoods, and the texts of all processes in the order of the pairs."""
    if fabric.world_size == 1:
        return total, texts
    counts = torch.tensor([total.nll, total.tokens, total.correct], dtype=torch.float64)
    nll, tokens, correct = add_up(fabric, counts.to(fabric.device)).tolist()
    shares = gather(fabric, texts)
    order = {
        rank + i * fabric.world_size: text
        for rank, share in enumerate(shares)
        for i, text in enumerate(share)
    }
    return Likelihood(nll, int(tokens), int(correct)), [order[i] for i in sorted(order)]
