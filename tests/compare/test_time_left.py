"""How long a comparison will take, from what is known: runs of before, runs of now, shares that are done."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace

import pytest

from regard.compare.progress_table import time_left
from regard.compare.trainings import PlannedRun
from regard.recipe.recipe_files import read_recipe
from regard.runs.run_folder import RunFolder


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """planned(variant, share, **known): a run of which so much is done."""
    shares: dict[int, float] = {}
    monkeypatch.setattr(
        PlannedRun, "share", property(lambda one: 1.0 if one.done else shares.get(id(one), 0.0))
    )
    recipe = read_recipe("mr", ["training.steps=10"])

    def made(variant: str, share: float = 0.0, *, running: float | None = None, **known):
        one = PlannedRun(variant, recipe, RunFolder(tmp_path / variant), **known)
        shares[id(one)] = share
        if running is not None:
            one._process = SimpleNamespace()
            one.began = time.monotonic() - running
        return one

    return made


def test_nothing_is_known_at_first(planned):
    assert time_left([planned("a"), planned("b", running=3.0)]) is None


def test_runs_of_before_tell_how_long_the_others_take(planned):
    done = planned("a", done=True, spent=100.0)
    assert time_left([done, planned("a")]) == pytest.approx(100)
    assert time_left([done, planned("a", 0.25)]) == pytest.approx(75)  # it goes on where it was


def test_each_takes_as_long_as_its_variant(planned):
    runs = [planned("quick", done=True, spent=10.0), planned("slow", done=True, spent=90.0)]
    assert time_left([*runs, planned("quick")]) == pytest.approx(10)
    assert time_left([*runs, planned("slow"), planned("slow")]) == pytest.approx(180)
    assert time_left([*runs, planned("unknown")]) == pytest.approx(50)


def test_what_is_resumed_is_not_taken_for_quick(planned):
    """Half was done before, a quarter since, in 10 s: all of it would be 40 s, and 10 are left."""
    assert time_left([planned("a", 0.75, running=10.0, before=0.5)]) == pytest.approx(10, abs=0.2)


def test_a_rest_tells_of_the_whole_only_if_it_was_large(planned):
    most = planned("a", done=True, seconds=30.0, before=0.25, spent=38.0)
    rest = planned("b", done=True, seconds=5.0, before=0.9, spent=44.0)
    assert most.whole == pytest.approx(40)
    assert rest.whole == 44


def test_those_that_wait_share_the_places(planned):
    running = [planned("a", 0.5, running=10.0), planned("a", 0.5, running=10.0)]
    waiting = [planned("a") for _ in range(3)]
    assert time_left([*running, *waiting]) == pytest.approx(10 + 40, abs=0.5)


def test_one_that_failed_is_not_waited_for(planned):
    done = planned("a", done=True, spent=100.0)
    assert time_left([done, planned("a", failure="it diverged")]) == 0


def test_by_the_clock_where_the_report_takes_longer_than_the_training(planned):
    done = planned("a", done=True, spent=100.0)
    assert time_left([done, planned("a", 1.0, running=30.0)]) == pytest.approx(70, abs=0.5)


def test_the_time_of_a_run_of_before_is_that_of_its_process(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path / "variant" / "seed-1")
    folder.path.mkdir(parents=True)
    one = PlannedRun("a", read_recipe("mr"), folder)
    for file, at in ((one._given, 1000), (folder.model, 1050)):
        file.write_text("")
        os.utime(file, (at, at))
    for told, seconds in (
        (4.0, 50),
        (80.0, 80),
    ):  # of a training in parts, the files tell the last one
        config = {"spent": {"seconds": told}}
        monkeypatch.setattr("regard.compare.trainings.read_config", lambda _, told=config: told)
        assert one._seconds_of_before() == seconds
