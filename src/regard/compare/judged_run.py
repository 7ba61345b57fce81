"""One run, judged on every item; what was found is kept, and is not looked for twice."""

from __future__ import annotations

import hashlib
import json
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regard.compare.items import digest_of
from regard.data.atomic_files import write_whole
from regard.data.checksums import check_seal, sealed
from regard.data.problems import Problems
from regard.data.spec import Spec
from regard.measures.measure import Counts, Measure
from regard.recipe.mistakes import RecipeError
from regard.runs.loaded_run import LoadedRun
from regard.runs.metrics_file import read_rows
from regard.runs.model_file import fingerprint, read_config
from regard.tasks.task import Task
from regard.tasks.task_module import Unanswerable
from regard.words import t

FORMAT = 1
TIMED, REPEATS = 64, 3  # items that are answered to tell how fast, and how often


@dataclass(frozen=True)
class Cost:
    """What a run costs; None: not known."""

    parameters: int
    seconds: float | None = None  # of training
    memory: int | None = None  # bytes at the peak of training
    speed: float | None = None  # items answered in a second
    seconds_spread: float | None = None  # standard deviation from seed to seed
    speed_spread: float | None = None  # … from time to time

    @classmethod
    def of(cls, run: LoadedRun) -> Cost:
        """What its folder tells."""
        spent = read_config(run.folder).get("spent") or {}
        rows = read_rows(run.folder.metrics)
        seconds = spent.get("seconds", rows[-1].get("seconds") if rows else None)
        parameters = sum(p.numel() for p in run.model.parameters())
        return cls(parameters, seconds, spent.get("memory") or None)

    @classmethod
    def of_several(cls, costs: Sequence[Cost]) -> Cost:
        """Of runs of one variant: the mean of the times, the most of the memory."""
        seconds = [cost.seconds for cost in costs if cost.seconds is not None]
        memory = max((cost.memory for cost in costs if cost.memory is not None), default=None)
        mean = statistics.fmean(seconds) if seconds else None
        spread = statistics.stdev(seconds) if len(seconds) > 1 else None
        return cls(costs[0].parameters, mean, memory, seconds_spread=spread)

    def to_dict(self) -> dict[str, float | None]:
        return dict(vars(self))


@dataclass(frozen=True)
class JudgedRun:
    """What is counted of every item, by the names of the measures."""

    path: Path
    seed: int
    items: str  # digest of what it was judged on
    counts: Mapping[str, Counts]  # (items, K)
    answers: Sequence[Any]  # one for each item, or none
    cost: Cost


def judge(
    run: LoadedRun, spec: Spec, examples: Sequence[Any], kept: Path
) -> tuple[JudgedRun, list[Measure]]:
    """What is in the folder `kept` of the same model, items and search is used again."""
    items = digest_of(run.task, examples)
    made_of = {
        "format": FORMAT,
        "model": fingerprint(run.folder),
        "items": items,
        "search": run.recipe.search.model_dump(mode="json"),
    }
    file = kept / f"{_key(made_of)}.json"
    found = kept_judgement(file, made_of)
    if found is None:
        judged = run.task.judge(run.module, examples)
        counts = {measure.name: _plain(counts) for measure, counts in judged.counts}
        found = {
            "made_of": made_of,
            "measures": [_told(measure) for measure, _ in judged.counts],
            "counts": counts,
            "answers": list(judged.answers),
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps(sealed(file, found, {}), ensure_ascii=False) + "\n")
        measures = [measure for measure, _ in judged.counts]
    else:
        measures = _measures(run, examples)
    arrays = {name: np.asarray(rows, np.float64) for name, rows in found["counts"].items()}
    path, seed = run.folder.path, run.recipe.seed
    return JudgedRun(path, seed, items, arrays, found["answers"], Cost.of(run)), measures


def read_items(run: LoadedRun, spec: Spec, problems: Problems) -> list[Any]:
    """The examples to judge by; RecipeError if there are none."""
    examples = run.task.examples(spec, problems)
    if not examples:
        why = problems.report() or t("it is empty")
        raise RecipeError(
            t(
                "there is no usable {noun} in {spec}: {why}",
                noun=run.task.noun[:-1],
                spec=spec,
                why=why,
            ),
            t("--data SPEC names others to judge by"),
        )
    return examples


def speed_of(run: LoadedRun, examples: Sequence[Any], kept: Path) -> tuple[float, float | None]:
    """Items in a second: the median of several times, after one that is not counted, and their spread; that
    is None where it was not kept.
    """
    step = max(1, len(examples) // TIMED)
    chosen = list(examples[::step][:TIMED])
    made_of = {
        "model": fingerprint(run.folder),
        "items": digest_of(run.task, chosen),
        "device": str(run.module.device),
    }
    file = kept / f"speed-{_key(made_of)}.json"
    found = kept_judgement(file, made_of)
    if found is None:
        times = [_seconds(run, chosen) for _ in range(REPEATS + 1)][1:]
        speeds = [len(chosen) / max(seconds, 1e-9) for seconds in times]
        told = {"speed": statistics.median(speeds), "spread": statistics.stdev(speeds)}
        found = {"made_of": made_of, **told}
        write_whole(file, json.dumps(sealed(file, found, {})) + "\n")
    return float(found["speed"]), found.get("spread")


def _seconds(run: LoadedRun, examples: Sequence[Any]) -> float:
    """An answer to all of them; where there is none to give, as in reading a text, the judgement of them."""
    start = time.perf_counter()
    try:
        if not all(isinstance(example, Mapping) for example in examples):
            raise Unanswerable(t("blocks of a text"), "")
        run.task.predict(run.module, examples, batch=run.task.batch_for(run.module))
    except Unanswerable:
        run.task.judge(run.module, examples)
    return time.perf_counter() - start


def _measures(run: LoadedRun, examples: Sequence[Any]) -> list[Measure]:
    if type(run.task).measured_by is not Task.measured_by:
        return list(run.task.measured_by())
    return [measure for measure, _ in run.task.judge(run.module, examples[:1]).counts]


def _told(measure: Measure) -> dict[str, Any]:
    return {"name": measure.name, "share": measure.share, "error": measure.error}


def _key(made_of: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:24]


def kept_judgement(file: Path, made_of: Mapping[str, Any]) -> Any:
    """None if it is not there, or damaged."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        check_seal(file, found)
        return found if found["made_of"] == made_of else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _plain(counts: Counts) -> list[list[float]]:
    """Whole numbers without a point: there are many of them."""
    return [[int(n) if n == int(n) else float(n) for n in row] for row in counts.tolist()]
