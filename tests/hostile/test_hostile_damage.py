"""A damaged file in a run: the right answer all the same, or a sentence. Never another answer."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import toy_runs
from forked_commands import Forked, assert_told

PART = "damaged files"


def truncated(path: Path, _: Path, draw: random.Random) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: draw.randrange(len(whole) or 1)])


def emptied(path: Path, _: Path, draw: random.Random) -> None:
    path.write_bytes(b"")


def lengthened(path: Path, _: Path, draw: random.Random) -> None:
    path.write_bytes(path.read_bytes() + draw.randbytes(64))


def flipped(path: Path, _: Path, draw: random.Random) -> None:
    """One bit, anywhere."""
    whole = bytearray(path.read_bytes())
    if whole:
        whole[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
    path.write_bytes(whole)


def zeroed(path: Path, _: Path, draw: random.Random) -> None:
    """As long as before: what a disk leaves of what it had not yet written."""
    path.write_bytes(bytes(path.stat().st_size))


def exchanged(path: Path, other: Path, draw: random.Random) -> None:
    """For the file of the same name of another run, which is whole."""
    shutil.copy(other, path)


def mistaken(path: Path, _: Path, draw: random.Random) -> None:
    """For another file of the same run."""
    others = [p for p in sorted(path.parent.iterdir()) if p.is_file() and p != path]
    shutil.copy(draw.choice(others), path)


def deleted(path: Path, _: Path, draw: random.Random) -> None:
    path.unlink()


def unreadable(path: Path, _: Path, draw: random.Random) -> None:
    """A link to itself: nobody can open it, whatever their rights."""
    path.unlink()
    path.symlink_to(path.name)


def made_a_folder(path: Path, _: Path, draw: random.Random) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: list[Callable[[Path, Path, random.Random], None]] = [
    truncated,
    emptied,
    lengthened,
    flipped,
    flipped,
    zeroed,
    exchanged,
    mistaken,
    deleted,
    unreadable,
    made_a_folder,
]


@dataclass(frozen=True)
class Runs:
    """Of one recipe: at its end, halfway, and another by another seed; and what the first answers."""

    recipe: Path
    whole: Path
    half: Path
    other: Path
    translations: str
    scores: str


@pytest.fixture(scope="module")
def runs(tmp_path_factory, forked: Forked) -> Runs:
    folder = tmp_path_factory.mktemp("damage")
    recipe = toy_runs.write_recipe(folder)
    whole = toy_runs.trained(forked, recipe, folder / "whole")
    half = toy_runs.trained(forked, recipe, folder / "half", "training.epochs=1")
    other = toy_runs.trained(forked, recipe, folder / "other", "seed=2")
    answers = toy_runs.translated(forked, whole), toy_runs.evaluated(forked, whole)
    assert [done.status for done in answers] == [0, 0]
    return Runs(recipe, whole, half, other, *(toy_runs.timeless(done.out) for done in answers))


def check_translate(forked: Forked, run: Path, runs: Runs) -> None:
    done = toy_runs.translated(forked, run)
    if done.status == 0:
        assert toy_runs.timeless(done.out) == runs.translations, "other translations"
    else:
        assert_told(done, None, names=str(run))


def check_evaluate(forked: Forked, run: Path, runs: Runs) -> None:
    done = toy_runs.evaluated(forked, run)
    if done.status == 0:
        assert toy_runs.timeless(done.out) == runs.scores, "other scores"
    else:
        assert_told(done, None, names=str(run))


def check_train(forked: Forked, run: Path, runs: Runs) -> None:
    """Whether it was at its end or halfway: where training says that it is done, it is done well."""
    done = toy_runs.train(forked, runs.recipe, run)
    if done.status:
        assert_told(done, None, names=str(run))
        return
    name = "model.safetensors"
    assert (run / name).is_file(), f"trained, but there is no {name}"
    again = toy_runs.translated(forked, run)
    assert again.status == 0, f"trained, but it cannot be used: {again}"
    if "is the model instead" in done.err or "average of the" in done.err:
        return  # one of the best is lost, and what was made of the others is told
    same = (run / name).read_bytes() == (runs.whole / name).read_bytes()
    assert same, f"trained, but {name} is not what it would have been, and said {done.err!r}"
    assert toy_runs.timeless(again.out) == runs.translations, "trained, but other translations"


CHECKS = {
    "translate": ("whole", check_translate),
    "evaluate": ("whole", check_evaluate),
    "train again": ("whole", check_train),
    "train on": ("half", check_train),
}


@pytest.mark.parametrize("command", CHECKS)
def test_a_damaged_run_answers_rightly_or_says_what_is_wrong(
    trials, tmp_path, runs: Runs, forked: Forked, command
):
    state, check = CHECKS[command]
    intact: Path = getattr(runs, state)
    (tmp_path / "test.tsv").write_bytes((runs.recipe.parent / "test.tsv").read_bytes())
    files = [p.relative_to(intact) for p in sorted(intact.rglob("*")) if p.is_file()]
    plans = [(file, damage) for file in files for damage in DAMAGES]
    with trials(PART, command) as trial:
        for case in trial.cases(len(plans)):
            with case:
                file, damage = plans[case.number]
                case.said = f"{file} {damage.__name__}, {command}"
                run = tmp_path / "run"
                shutil.rmtree(run, ignore_errors=True)
                shutil.copytree(intact, run)
                other = runs.other / file if (runs.other / file).is_file() else runs.recipe
                damage(run / file, other, case.draw)
                check(forked, run, runs)
