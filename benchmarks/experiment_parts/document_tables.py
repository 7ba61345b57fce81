"""The tables of documents: BLEU by length, whole or sentence by sentence, from the folders of the runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiment_parts.document_runs import EXPERIMENTS, ROWS, SEEDS
from regard.data.sentences import sentence_places
from regard.measures import bleu, by_length
from regard.measures.bleu_by_length import buckets
from regard.runs.loaded_run import LoadedRun, load
from regard.tasks.translate.translate_evaluation import bleu_tokenizer, length_unit
from run_folders import each_of, head, interval_of, json_of, mean_of, row

JOINED = 3  # sentences of a document of Tatoeba, as in the recipe
KEPT = "documents.json"  # in a run: what it made of the test documents


def tables(folder: Path) -> Iterator[str]:
    """Markdown, one experiment after the other. Runs are asked once; their answers are kept beside them."""
    for experiment, (_, edges) in EXPERIMENTS.items():
        labels = [bucket.label for bucket in buckets(edges)[1:]]
        yield from (f"## {experiment}", "", *head("BLEU", "all", "each seed", *labels))
        for name, one in ROWS.items():
            runs = [folder / f"{experiment}-{name}-{seed}" for seed in SEEDS]
            found = [_bleu(run, whole=one.whole, edges=edges) for run in runs if _ended(run)]
            every = [scores["all"] for scores in found]
            lengths = [[scores[label] for scores in found if label in scores] for label in labels]
            cells = (mean_of(values, 1) for values in lengths)
            yield row(one.name, interval_of(every), each_of(every), *cells)
        yield ""


def _ended(run: Path) -> bool:
    return (run / "scores.json").is_file()


def _bleu(run: Path, *, whole: bool, edges: Sequence[int]) -> dict[str, float]:
    """By length, and of all."""
    kept = run / KEPT
    if (scores := json_of(kept)) is None:
        scores = _scores(load(run), whole=whole, edges=edges)
        kept.write_text(json.dumps(scores), encoding="utf-8")
    return dict(scores)


def _scores(run: LoadedRun, *, whole: bool, edges: Sequence[int]) -> dict[str, float]:
    recipe = run.recipe
    # what is trained on sentences is asked for the documents that the others are asked for
    examples = run.task.examples(recipe.data.test, join=JOINED if recipe.name == "documents" else 1)
    sources, references = ([each[side] for each in examples] for side in ("source", "target"))
    made = _translated(run, sources) if whole else _by_sentence(run, sources)
    unit, tokenize = length_unit(recipe), bleu_tokenizer(recipe)
    curve = by_length(sources, made, references, unit=unit, tokenize=tokenize, edges=edges)
    every = bleu(made, references, tokenize=tokenize).value
    return {"all": every, **{one.bucket.label: one.bleu for one in curve.rows}}


def _by_sentence(run: LoadedRun, sources: Sequence[str]) -> list[str]:
    """Every sentence by itself, put together again."""
    cut = [[text[start:end] for start, end in sentence_places(text)] for text in sources]
    made = iter(_translated(run, [sentence for sentences in cut for sentence in sentences]))
    return [" ".join(next(made) for _ in sentences) for sentences in cut]


def _translated(run: LoadedRun, texts: Sequence[str]) -> list[str]:
    return [found.text for found in run.translate(texts)]
