"""How good a run is: on any corpus, and in the scores and the report of its folder."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from regard.data.spec import Spec
from regard.data.text import Pair, read_pairs
from regard.measures import BleuScore, LengthCurve, Likelihood, Score, bleu, by_length, chrf
from regard.tasks.prediction import Prediction
from regard.training.folder import RunFolder
from regard.training.languages import bleu_tokenizer, length_unit
from regard.training.loading import LoadedRun, load
from regard.training.mistakes import RecipeError
from regard.training.model_file import fingerprint
from regard.training.progress import clock
from regard.training.reporting import make_report
from regard.training.writing import write_whole
from regard.view.report import render

NAME_ONE = "--data SOURCE,TARGET names pairs to score by"


@dataclass(frozen=True)
class Evaluation:
    """The scores of a run on one corpus."""

    corpus: str
    pairs: Sequence[Pair]
    predictions: Sequence[Prediction]
    bleu: BleuScore
    chrf: Score
    likelihood: Likelihood
    by_length: LengthCurve
    seconds: float  # of translating

    @property
    def text(self) -> str:
        return (
            f"{self.bleu.text}\n{self.chrf.text}\nperplexity {self.likelihood.perplexity:.2f}, token "
            f"accuracy {100 * self.likelihood.accuracy:.1f} %  ({len(self.pairs):,} sentences of "
            f"{self.corpus}, {self.likelihood.tokens:,} tokens, translated in {clock(self.seconds)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "corpus": self.corpus,
            "sentences": len(self.pairs),
            "bleu": asdict(self.bleu),
            "chrf": asdict(self.chrf),
            "perplexity": self.likelihood.perplexity,
            "loss": self.likelihood.loss,
            "accuracy": self.likelihood.accuracy,
            "tokens": self.likelihood.tokens,
            "by_length": asdict(self.by_length),
            "seconds": self.seconds,
        }


def evaluate(
    run: LoadedRun,
    data: Spec | None = None,
    *,
    join: int | None = None,
    beam: int | None = None,
) -> Evaluation:
    """Translate a corpus and compare: the run's test set, or its dev set, if none is given.

    join: up to so many neighbouring pairs become one; the recipe says it for its own dev and test sets.
    beam: 1 is greedy; the recipe's if not given.
    """
    recipe = run.recipe
    spec = data or recipe.data.test or recipe.data.dev
    if spec is None:
        raise RecipeError("the recipe has neither data.test nor data.dev", NAME_ONE)
    own = spec in (recipe.data.dev, recipe.data.test)
    pairs = list(read_pairs(spec, join=join or (recipe.data.join if own else 1)))
    if not pairs:
        raise RecipeError(f"there is no usable pair in {spec}", NAME_ONE)
    sources, references = [p.source for p in pairs], [p.target for p in pairs]
    start = time.monotonic()
    predictions = run.translate(sources, beam=beam)
    seconds = time.monotonic() - start
    texts, tokenize = [p.text for p in predictions], bleu_tokenizer(recipe)
    return Evaluation(
        corpus=str(spec),
        pairs=pairs,
        predictions=predictions,
        bleu=bleu(texts, references, tokenize=tokenize),
        chrf=chrf(texts, references),
        likelihood=run.translator.likelihood(sources, references, batch=recipe.search.batch),
        by_length=by_length(
            sources, texts, references, unit=length_unit(recipe), tokenize=tokenize
        ),
        seconds=seconds,
    )


def write_report(folder: RunFolder, say: Callable[[str], None]) -> None:
    """Evaluate the run on its dev and test sets, and write scores.json and report.html.

    Nothing is done if they are there and of the same model, data and search.
    """
    recipe = folder.read_recipe()
    made_of = {
        "model": fingerprint(folder),
        "data": recipe.data.model_dump(mode="json"),
        "search": recipe.search.model_dump(mode="json"),
    }
    if folder.report.is_file() and _made_of(folder) == made_of:
        say(f"evaluated already: {folder.report}")
        return
    run = load(folder.path)
    run.recipe = recipe  # the search may have changed since the model was written
    found: dict[str, Evaluation] = {}
    for name, spec in (("dev", recipe.data.dev), ("test", recipe.data.test)):
        if spec is None:
            continue
        if next(read_pairs(spec), None) is None:
            say(f"{name}: no pair in {spec} to score by; name others with data.{name}=…")
            continue
        found[name] = evaluate(run, spec)
        say(f"{name}: {found[name].text}")
    scores = {name: one.to_dict() for name, one in found.items()}
    text = json.dumps({"made_of": made_of, **scores}, ensure_ascii=False, indent=1)
    write_whole(folder.report, render(make_report(run, found)))
    write_whole(folder.scores, text + "\n")
    say(f"wrote {folder.report}")


def _made_of(folder: RunFolder) -> Any:
    try:
        return json.loads(folder.scores.read_text(encoding="utf-8")).get("made_of")
    except (OSError, ValueError):
        return None
