"""The tables of captions in docs/results, from the folders of the runs. What is not there is a dash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiment_parts.caption_runs import ATTENTIONS, NAMES, PICTURES, SEEDS, STYLES
from run_folders import each_of, head, interval_of, json_of, mean_of, row, test_of, updates_of


def tables(folder: Path) -> Iterator[str]:
    """Markdown, one experiment after the other."""
    yield from ("## scenes", "", *scenes_table(folder), "")
    yield from ("## said", "", *said_table(folder), "")
    yield from ("## names", "", *names_table(folder), "")
    yield from ("## questions", "", *questions_table(folder), "")
    yield from ("## small", "", *small_table(folder))


def scenes_table(folder: Path) -> Iterator[str]:
    yield from head("attention", *_measured(), "exact match, each seed", "updates")
    for key, cell in ATTENTIONS.items():
        yield _scored(folder, cell.name, f"scenes-{key}")


def said_table(folder: Path) -> Iterator[str]:
    yield from head("said, attention", *_measured(), "exact match, each seed", "updates")
    for style in STYLES:
        for key in ("soft", "mean"):
            yield _scored(folder, f"{style}, {ATTENTIONS[key].name}", f"said-{style}-{key}")


def names_table(folder: Path) -> Iterator[str]:
    yield from head(
        "pictures", "attention", "exact match, %", "each seed", "BLEU", "test ppl", "updates"
    )
    for pictures in PICTURES:
        for key, cell in NAMES.items():
            runs, tests = _tests(folder, f"{pictures}-{key}")
            right = [100 * test["exact_match"] for test in tests]
            yield row(
                pictures,
                cell.name,
                interval_of(right),
                each_of(right),
                interval_of([test["bleu"] for test in tests]),
                mean_of([test["perplexity"] for test in tests], 2),
                each_of([updates_of(run) for run in runs], 0),
            )


def questions_table(folder: Path) -> Iterator[str]:
    """Rank correlations: of the looks at two questions about one picture, of their saliencies, of both."""
    found = [json_of(folder / f"side-{seed}" / "questions.json") for seed in SEEDS]
    there = [one for one in found if one]
    yield from head("rank correlation of", "mean of the seeds", "each seed")
    names = {
        "attention": "attention, left with right",
        "saliency": "saliency, left with right",
        "both": "attention with saliency, same question",
    }
    for key, name in names.items():
        values = [one[key]["mean"] for one in there]
        yield row(name, interval_of(values, 3), each_of(values, 3))


def small_table(folder: Path) -> Iterator[str]:
    yield from head("attention", *_measured(), "exact match, each seed", "updates")
    for key in ("soft", "mean"):
        yield _scored(folder, ATTENTIONS[key].name, f"small-{key}")


def _measured() -> tuple[str, ...]:
    looked = ("pointing, %", "(chance)", "weight inside, %", "(chance)")
    return "exact match, %", "BLEU", "test ppl", *looked


def _scored(folder: Path, name: str, cell: str) -> str:
    runs, tests = _tests(folder, cell)
    right = _shares(tests, "exact_match")
    return row(
        name,
        interval_of(right),
        interval_of([test["bleu"] for test in tests]),
        mean_of([test["perplexity"] for test in tests], 3),
        interval_of(_shares(tests, "pointing")),
        mean_of(_shares(tests, "pointing_by_chance")),
        interval_of(_shares(tests, "weight_inside")),
        mean_of(_shares(tests, "weight_inside_by_chance")),
        each_of(right),
        each_of([updates_of(run) for run in runs], 0),
    )


def _shares(tests: list[dict[str, Any]], name: str) -> list[float]:
    """In per cent; of a model that does not attend there is none."""
    return [100 * test[name] for test in tests if name in test]


def _tests(folder: Path, cell: str) -> tuple[list[Path], list[dict[str, Any]]]:
    """The runs of a cell that are done, one for each seed, and their scores on the test set."""
    runs = [folder / f"{cell}-{seed}" for seed in SEEDS]
    done = [run for run in runs if test_of(run)]
    return done, [test_of(run) for run in done]
