"""What a run's report says."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from regard import __version__
from regard.data.problems import Problems
from regard.data.store import Store
from regard.tasks.prediction import Prediction
from regard.training.loading import LoadedRun
from regard.training.preparing import left_out
from regard.training.progress import clock
from regard.training.reading import dump_recipe
from regard.training.record import Row, read_rows
from regard.view.report import NextStep, Report, Sample

if TYPE_CHECKING:
    from regard.training.evaluating import Evaluation

SAMPLES = 8  # sentences shown with their attention
LONGEST = 30  # tokens of such a sentence: what still fits a page


def make_report(run: LoadedRun, found: Mapping[str, Evaluation]) -> Report:
    """The page of a run, from its folder and from what was found on its dev and test sets."""
    recipe, folder = run.recipe, run.folder
    metrics = read_rows(folder.metrics)
    last = found.get("test") or found.get("dev")
    return Report(
        title=recipe.name,
        verdict=_verdict(found),
        scores=() if last is None else (last.bleu, last.chrf),
        facts=_facts(run, metrics, found),
        command=f"regard train {folder.recipe} --run {folder.path}",
        recipe=dump_recipe(recipe),
        metrics=metrics,
        by_length={name: one.by_length for name, one in found.items()},
        samples=() if last is None else _samples(run, last),
        problems=_problems(run),
        next_steps=_next_steps(run),
        source_language=recipe.data.source,
        target_language=recipe.data.target,
    )


def _verdict(found: Mapping[str, Evaluation]) -> str:
    scores = [
        f"{one.bleu.value:.1f} BLEU on {len(one.pairs):,} {name} sentences"
        for name, one in found.items()
    ]
    return f"{' and '.join(scores)}." if scores else "There were no sentences to score it on."


def _facts(
    run: LoadedRun, metrics: Sequence[Row], found: Mapping[str, Evaluation]
) -> dict[str, str]:
    last = metrics[-1] if metrics else {}
    facts = {
        "model": run.recipe.model.kind,
        "parameters": f"{sum(p.numel() for p in run.model.parameters()):,}",
        "vocabularies": f"{len(run.translator.source_tokenizer):,} source, "
        f"{len(run.translator.target_tokenizer):,} target",
        "steps": f"{last.get('step', 0):,.0f}",
        "training time": clock(last.get("seconds", 0.0)),
        "seed": str(run.recipe.seed),
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads, "
        f"Python {platform.python_version()}, torch {torch.__version__}, regard {__version__}",
    }
    for name, one in found.items():
        facts[f"{name} perplexity"] = f"{one.likelihood.perplexity:.2f}"
        facts[f"{name} token accuracy"] = f"{100 * one.likelihood.accuracy:.1f} %"
    return facts


def _samples(run: LoadedRun, found: Evaluation) -> list[Sample]:
    """Sentences from all over the corpus that are not too long to draw."""
    short = [i for i, p in enumerate(found.predictions) if 0 < len(p.source_tokens) <= LONGEST]
    chosen = short[:: max(1, len(short) // SAMPLES)][:SAMPLES]
    sources = [found.pairs[i].source for i in chosen]
    answers = run.translate(sources, attention=True)
    return [
        _sample(answer, found.pairs[i].target) for i, answer in zip(chosen, answers, strict=True)
    ]


def _sample(answer: Prediction, reference: str) -> Sample:
    attention = [] if answer.attention is None else answer.attention.tolist()
    return Sample(
        source=answer.source,
        hypothesis=answer.text,
        reference=reference,
        scores={"log p": answer.log_prob},
        source_tokens=[*answer.source_tokens.pieces, "EOS"],
        tokens=[*answer.tokens.pieces, *(["EOS"] if answer.finished else [])],
        attention=attention,
    )


def _problems(run: LoadedRun) -> Problems:
    folder, data = run.folder.store, run.recipe.data
    problems = Store.open(folder).problems if folder.is_dir() else Problems()
    for spec in (data.dev, data.test):
        problems.found |= left_out(spec).found
    return problems


def _next_steps(run: LoadedRun) -> list[NextStep]:
    folder, training = run.folder.path, run.recipe.training
    further = " ".join(f"training.{name}=…" for name in training.limits or ("patience",))
    return [
        NextStep(f"regard translate -m {folder}", "Translate sentences of your own, line by line."),
        NextStep(
            f"regard evaluate -m {folder} --data SOURCE,TARGET", "Score it on another test set."
        ),
        NextStep(
            f"regard train {run.folder.recipe} --run {folder} {further}",
            "Train it for longer: it goes on from its last checkpoint.",
        ),
    ]
