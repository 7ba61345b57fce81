"""Seeds are added where the decision is open, and only there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from made_scores import made_counts

from regard.compare import experiment
from regard.compare.experiment import UntilDecided
from regard.compare.judged_run import Cost, JudgedRun
from regard.compare.variants import plan
from regard.measures.accuracy import Accuracy

MOST = 9


class MadeJudge:
    """Judges runs that were never trained: a variant scores as its level says."""

    measure = Accuracy()

    def __init__(self, levels: dict[str, float]) -> None:
        self.made = {
            name: made_counts(level, seeds=MOST, items=300, noise=0.05, seed=place)
            for place, (name, level) in enumerate(levels.items())
        }
        self.judged: dict[str, dict[int, JudgedRun]] = {}
        self.values: dict = {}

    def judge(self, variant: str, path: Path) -> float:
        seed = int(path.name.removeprefix("seed-"))
        counts = {"accuracy": self.made[variant][seed]}
        self.judged.setdefault(variant, {})[seed] = JudgedRun(path, seed, "", counts, (), Cost(1))
        return 0.0


@pytest.fixture
def work(monkeypatch, tmp_path):
    """work(levels, in_time): what is done for variants of these levels; trained: what was asked for."""

    def made(levels: dict[str, float], trainings: int | None = None):
        trained: list[tuple[str, int]] = []

        def train_all(runs, **_):
            for one in runs:
                if (one.variant, one.recipe.seed) not in trained:
                    if trainings is not None and len(trained) >= trainings:
                        continue
                    trained.append((one.variant, one.recipe.seed))
                one.done = True
                yield one

        monkeypatch.setattr(experiment, "train_all", train_all)
        clips = ",".join(str(float(n + 1)) for n in range(len(levels)))
        given = plan("mr", ["trainer.accelerator=cpu"], vary=[f"training.clip={clips}"])
        variants = dict(zip(levels, given.variants, strict=True))
        variants = {
            name: SimpleNamespace(**vars(v) | {"name": name, "folder": name})
            for name, v in variants.items()
        }
        silent = SimpleNamespace(show=lambda *_: None, ended=lambda *_: None)
        doing = experiment._Work(variants, 1, tmp_path, MadeJudge(levels), silent, 1)
        return doing, trained

    return made


def test_what_is_clear_gets_no_more_seeds(work):
    doing, trained = work({"good": 1.5, "bad": -1.0})
    found = doing.until_decided(3, UntilDecided(MOST))
    assert found.pair("good", "bad").winner == "good"
    assert found.looks.seeds[0] == 3
    assert len(trained) == 2 * len(found.by_name["good"].seeds)
    assert len(found.by_name["good"].seeds) < MOST


def test_seeds_go_where_the_decision_is_open(work):
    doing, _ = work({"far below": -2.0, "one": 1.0, "other": 1.12})
    found = doing.until_decided(3, UntilDecided(MOST))
    seeds = {name: len(variant.seeds) for name, variant in found.by_name.items()}
    assert seeds["one"] == seeds["other"] >= seeds["far below"]
    assert all(verdict.closed for verdict in found.verdicts.values())
    assert found.pair("one", "far below").winner == "one"


def test_it_stops_at_the_most_seeds(work):
    doing, _ = work({"a": 0.5, "b": 0.5})
    found = doing.until_decided(3, UntilDecided(MOST))
    assert max(len(variant.seeds) for variant in found.variants) <= MOST
    assert not found.pair("a", "b").shown


def test_when_the_time_is_over_what_there_is_is_told(work):
    doing, trained = work({"a": 1.0, "b": 1.1}, trainings=7)
    found = doing.until_decided(3, UntilDecided(MOST, hours=1.0))
    assert len(trained) <= 7
    assert all(verdict.closed for verdict in found.verdicts.values())
    assert len(found.by_name["a"].seeds) == len(found.by_name["b"].seeds) == 3


def test_run_again_it_decides_the_same(work):
    levels = {"low": 0.0, "one": 1.0, "other": 1.15}
    first = work(levels)[0].until_decided(3, UntilDecided(MOST))
    again = work(levels)[0].until_decided(3, UntilDecided(MOST))
    assert first.verdicts == again.verdicts
