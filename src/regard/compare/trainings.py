"""Many trainings in processes of their own, a few at a time, each the same as `regard train` makes it.

A run that is whole is not trained again; one that was killed goes on where it stopped.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from regard.data.atomic_files import write_whole
from regard.data.checksums import Damaged
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import LIMITS, Recipe
from regard.recipe.recipe_files import dump_recipe
from regard.runs.failures import RunEnded
from regard.runs.metrics_file import read_rows
from regard.runs.model_file import is_whole, read_config, recipe_of
from regard.runs.run_folder import RunFolder, check_recipe, flat
from regard.words import t

POLL = 0.2  # seconds
LEAST, KNOWN = (
    0.02,
    0.5,
)  # shares: too little to tell its time by; of a rest that tells less than all
PATIENCE = 60.0  # seconds that a process may take to save and end
# what one training may have otherwise than another and be the same: names, and where it ran
APART = ("name", "description", "trainer.threads", "trainer.devices", "training.checkpoint_every")


class TrainingFailed(RunEnded):
    """A training of a comparison ended with an error."""

    hint = "the other runs are kept: run the same command again to go on"


@dataclass
class PlannedRun:
    """One variant and seed."""

    variant: str
    recipe: Recipe  # with the seed
    folder: RunFolder
    done: bool = False
    began: float | None = None  # by time.monotonic
    seconds: float | None = None  # that it took here
    before: float = 0.0  # the share of it that was done before it began here
    spent: float | None = None  # seconds of a training that is over, from its folder
    failure: str = ""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _said: IO[bytes] | None = field(default=None, repr=False)

    @property
    def running(self) -> bool:
        return self._process is not None

    @property
    def whole(self) -> float | None:
        """Seconds of all of it, by what is known of it alone; None: nothing is yet."""
        if self.done:
            if self.seconds is None or self.before >= KNOWN:
                return self.spent
            return self.seconds / (1 - self.before)
        made = self.share - self.before
        if self.began is None or made < LEAST:
            return None
        return (time.monotonic() - self.began) / made

    @property
    def share(self) -> float:
        """How much of it is done, by the last row of its metrics."""
        if self.done:
            return 1.0
        rows = read_rows(self.folder.metrics)
        if not rows:
            return 0.0
        used = {
            "steps": rows[-1]["step"],
            "epochs": rows[-1].get("epoch", 0.0),
            "minutes": rows[-1].get("seconds", 0.0) / 60,
        }
        limits = self.recipe.training.limits
        return min(1.0, max((used[name] / limit for name, limit in limits.items()), default=0.0))

    def check(self) -> None:
        """Refuse a folder that holds another run; see whether this one is trained already."""
        check_recipe(self.folder, self.recipe)
        if self.folder.recipe.is_file() and self.folder.begun:
            before, now = self.folder.read_recipe().training.limits, self.recipe.training.limits
            if further := [n for n in LIMITS if before.get(n, 0) > now.get(n, 0)]:
                name = further[0]
                raise RecipeError(
                    t(
                        "{path} was trained with training.{name}={before}, further than it is now to "
                        "be: the variants would not have equal budgets",
                        path=self.folder.path,
                        name=name,
                        before=before[name],
                    ),
                    t("--out names another folder"),
                )
        self._see_whether_done()

    def start(self, environment: dict[str, str]) -> None:
        self.folder.path.mkdir(parents=True, exist_ok=True)
        write_whole(self._given, dump_recipe(self.recipe))
        self._said = (self.folder.path.parent / f"{self.folder.path.name}.log").open("wb")
        command = [sys.executable, "-m", "regard", "train", str(self._given), "--quiet"]
        self._process = subprocess.Popen(
            [*command, "--run", str(self.folder.path)],
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=self._said,
            env=environment,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )
        self.began, self.before = time.monotonic(), self.share

    def ended(self) -> bool:
        """Whether it ran and is over now."""
        if self._process is None or self._process.poll() is None:
            return False
        self.seconds = time.monotonic() - (self.began or 0.0)
        status, said = self._process.returncode, self._said
        self._process = None
        if said is not None:
            said.close()
        if status == 0:
            self._see_whether_done()
        if not self.done:
            log = self.folder.path.parent / f"{self.folder.path.name}.log"
            lines = log.read_text("utf-8", errors="replace").strip().splitlines()
            told = next((line for line in lines if line.startswith("error: ")), "")
            self.failure = (
                told.removeprefix("error: ") or f"it ended with status {status}: see {log}"
            )
        return True

    def stop(self) -> None:
        """It saves a checkpoint and ends."""
        if self._process is None:
            return
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _see_whether_done(self) -> None:
        self.done = self._is_whole()
        if self.done:
            self.spent = self._seconds_of_before()

    def _seconds_of_before(self) -> float | None:
        """From the start of its process to its model, by the times of the files; at least its training."""
        trained = (read_config(self.folder).get("spent") or {}).get("seconds")
        with suppress(OSError):
            whole = self.folder.model.stat().st_mtime - self._given.stat().st_mtime
            return max(whole, trained or 0.0)
        return trained

    @property
    def _given(self) -> Path:
        """The recipe that its process was started with."""
        return self.folder.path.parent / f"{self.folder.path.name}.yaml"

    def _is_whole(self) -> bool:
        if not is_whole(self.folder) or not self.folder.scores.is_file():
            return False
        trained = recipe_of(self.folder, read_config(self.folder))
        return trained.training.limits == self.recipe.training.limits


def trained_before(out: Path, recipe: Recipe) -> RunFolder | None:
    """A whole run of this recipe and seed in the folder of a comparison, whatever its variant was called."""
    for path in sorted(out.glob(f"*/seed-{recipe.seed}")):
        with suppress(RecipeError, Damaged, OSError):
            folder = RunFolder(path)
            if is_whole(folder) and _same(recipe_of(folder, read_config(folder)), recipe):
                return folder
    return None


def _same(one: Recipe, other: Recipe) -> bool:
    """Whether the same is learnt by both."""
    first, second = (
        {
            key: value
            for key, value in flat(each.model_dump(mode="json")).items()
            if key not in APART
        }
        for each in (one, other)
    )
    return first == second


def train_all(
    trainings: Sequence[PlannedRun],
    *,
    jobs: int,
    seen: Callable[[], None] = lambda: None,
    until: float | None = None,
) -> Iterator[PlannedRun]:
    """Each training as it ends, those first that were done before; TrainingFailed after the last of them.

    seen: called again and again meanwhile. until: when no further one is started, by time.monotonic.
    """
    for each in trainings:
        each.check()
    waiting = [each for each in trainings if not each.done]
    yield from (each for each in trainings if each.done)
    running: list[PlannedRun] = []
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    if not {"", os.getcwd()} & set(sys.path):  # nor may a training import what lies here
        environment["PYTHONSAFEPATH"] = "1"
    try:
        while waiting or running:
            late = until is not None and time.monotonic() > until
            while waiting and len(running) < jobs and not late:
                running.append(waiting.pop(0))
                running[-1].start(environment)
            for each in [one for one in running if one.ended()]:
                running.remove(each)
                if each.done:
                    yield each
            seen()
            if late and not running:
                break
            time.sleep(POLL)
    finally:
        for each in running:
            each.stop()
    if failed := [each for each in trainings if each.failure]:
        first = failed[0]
        raise TrainingFailed(
            t(
                "{count} of {trainings} trainings failed; {variant}, seed {seed}: {failure}",
                count=len(failed),
                trainings=len(trainings),
                variant=first.variant,
                seed=first.recipe.seed,
                failure=first.failure,
            )
        )


def _prctl() -> Callable[[int, int], int] | None:
    """Found here: a child of a process with threads may open no library before its program starts."""
    with suppress(OSError, AttributeError):
        found: Callable[[int, int], int] = ctypes.CDLL(None).prctl
        return found
    return None


PRCTL, END_WITH_PARENT = _prctl(), 1  # PR_SET_PDEATHSIG


def _die_with_parent() -> None:
    """Before the program of a child starts: end, with a checkpoint, if this process is killed."""
    if PRCTL is not None:
        PRCTL(END_WITH_PARENT, signal.SIGTERM)
