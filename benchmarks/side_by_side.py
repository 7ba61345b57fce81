"""Trainings side by side on one GPU, until a time is over: each line of a plan is a process.

    python benchmarks/side_by_side.py runs --seconds 500 --at-once 16 < plan

A line of the plan is the minutes that a training may take, a tab, and a shell line, `regard train … --run
FOLDER`; or, of a line `python SCRIPT …` that waits for a training, `after:` and its folder in place of the
minutes. The first lines come first; one that would not end in time gets fewer minutes, or is left out.

Small trainings leave most of a GPU idle, and a processor core each busy. So that these do not do the same
again and again, a process is forked from one that has imported everything, and what the trainings of a corpus
learn from is prepared once and linked into their folders. Where NVIDIA's MPS can be started, kernels of
several processes run at the same time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENDING = 30.0  # seconds from the last update of a training to its scores, at most
WORTH = 0.6  # of its minutes: with fewer a training is not begun
SHARED = ".shared"  # the folder of what several trainings learn from
PRELOADED = "experiment_parts.preloaded"


@dataclass
class Job:
    line: str
    minutes: float | None = None  # None: it waits for `after`
    after: str = ""
    log: Path = Path()
    process: Any = None
    began: float = 0.0
    key: str = ""  # of what it learns from
    recipe: Any = field(default=None, repr=False)

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line)

    @property
    def folder(self) -> Path | None:
        words = self.words
        return Path(words[words.index("--run") + 1]) if "--run" in words else None

    @property
    def name(self) -> str:
        if self.after:
            return f"after {Path(self.after).name}"
        return self.folder.name if self.folder else self.line


def read_plan(lines: Sequence[str], logs: Path) -> list[Job]:
    jobs = []
    for line in filter(None, map(str.strip, lines)):
        how, _, what = line.partition("\t")
        if how.startswith("after:"):
            after = how.removeprefix("after:")
            jobs.append(Job(what, after=after, log=logs / f"{Path(after).name}.after.log"))
        else:
            job = Job(what, float(how))
            job.log = logs / f"{job.name}.log"
            jobs.append(job)
    return jobs


def run_words(words: list[str], log: str, variables: dict[str, str]) -> None:
    """In a process of its own: a command of regard, or a script."""
    os.environ.update(variables)
    with open(log, "ab", 0) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    if words[0] == "regard":
        from regard.cli import main

        main(words[1:])
    sys.argv = words[1:]
    runpy.run_path(words[1], run_name="__main__")


def prepare(recipe: Any, folder: str, log: str) -> None:
    """What trainings by this recipe learn from, in numbers."""
    with open(log, "ab", 0) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    from regard.data.atomic_files import write_whole
    from regard.runs.run_folder import RunFolder
    from regard.tasks.recipe_task import task_of

    run, task = RunFolder(Path(folder)), task_of(recipe)
    run.path.mkdir(parents=True)
    task.learn(recipe.data.train)
    for path, known in run.assets(task).items():
        write_whole(path, known.to_json())
    task.store(recipe.data.train, run.store)


def first_kernel(log: str, variables: dict[str, str]) -> None:
    """Whether a process can use the GPU at all."""
    os.environ.update(variables)
    with open(log, "ab", 0) as file:
        os.dup2(file.fileno(), 2)
    import torch

    torch.zeros(8, device="cuda").sum().item()


def share(prepared: Path, folder: Path) -> None:
    """Link what was prepared into the folder of a training, which then finds it there."""
    for file in prepared.rglob("*"):
        if file.is_file():
            here = folder / file.relative_to(prepared)
            here.parent.mkdir(parents=True, exist_ok=True)
            os.link(file, here)


class Pool:
    """Jobs of a plan, so many at once."""

    def __init__(self, folder: Path, jobs: list[Job], *, end: float, at_once: int) -> None:
        self.folder, self.waiting, self.end, self.at_once = folder, jobs, end, at_once
        self.running: list[Job] = []
        self.preparing: dict[str, Any] = {}
        self.prepared: set[str] = set()
        self.done: set[str] = set()
        self.began = time.monotonic()
        self.variables: dict[str, str] = {}
        self.make = multiprocessing.get_context("forkserver")
        self.make.set_forkserver_preload([PRELOADED])

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.began:5.0f} s] {text}", flush=True)

    def start(self, target: Callable[..., None], *given: Any) -> Any:
        process = self.make.Process(target=target, args=given, daemon=False)
        process.start()
        return process

    def check(self) -> None:
        """With MPS if that works, and forked if that does."""
        log = str(self.folder / "check.log")
        ways = [("forkserver", mps_variables(self.folder)), ("forkserver", {}), ("spawn", {})]
        for how, variables in ways:
            if how == "forkserver" and variables is None:
                continue
            self.make = multiprocessing.get_context(how)
            process = self.start(first_kernel, log, variables or {})
            self._read_recipes()  # meanwhile
            process.join(90)
            if process.exitcode == 0:
                self.variables = dict(variables or {})
                self.say(f"{how}, {'with' if variables else 'without'} MPS")
                return
            process.kill()
            self.say(f"{how}, {'with' if variables else 'without'} MPS: no")
        self.make = multiprocessing.get_context("forkserver")
        self.say("no GPU: everything runs on the CPU")

    def _read_recipes(self) -> None:
        """Which trainings learn from the same corpus."""
        from regard.recipe.recipe_files import read_recipe
        from regard.tasks.recipe_task import task_of

        for job in self.waiting:
            if job.words[:2] == ["regard", "train"] and not job.key:
                job.recipe = read_recipe(job.words[2], [w for w in job.words[3:] if "=" in w])
                job.key = corpus_key(task_of(job.recipe), job.recipe)

    def run(self) -> None:
        while self.waiting or self.running:
            if time.monotonic() > self.end:
                break
            self._reap()
            while len(self.running) < self.at_once and (job := self._next()):
                self._begin(job)
            if not self.running and not self.preparing and not self._next():
                break
            time.sleep(0.1)
        for job in self.running:
            self.say(f"{job.name}: not done in time")
            job.process.terminate()
        stopped = time.monotonic() + 3
        for job in self.running:
            job.process.join(max(0.0, stopped - time.monotonic()))
            job.process.kill()

    def _reap(self) -> None:
        for key, process in list(self.preparing.items()):
            if process.exitcode is not None:
                del self.preparing[key]
                self.prepared.add(key)
                self.say(f"prepared {key}" if process.exitcode == 0 else f"not prepared: {key}")
        for job in list(self.running):
            if job.process.exitcode is None:
                continue
            self.running.remove(job)
            self.done.add(job.name)
            took = time.monotonic() - job.began
            self.say(f"{job.name}: {job.process.exitcode or 'done'} after {took:.0f} s")
            if job.folder is not None:
                for made in ("data", "checkpoints"):
                    shutil.rmtree(job.folder / made, ignore_errors=True)

    def _next(self) -> Job | None:
        """The first that can begin now; those that cannot end in time are left out."""
        left = (self.end - time.monotonic() - ENDING) / 60
        for job in list(self.waiting):
            if job.minutes is not None and left < WORTH * job.minutes:
                self.waiting.remove(job)
                self.say(f"{job.name}: no time is left for it")
            elif job.after:
                if Path(job.after).name in self.done:
                    return job
            elif job.key in self.prepared:
                return job
            elif job.key and job.key not in self.preparing:
                log = str(self.folder / "logs" / f"{job.key}.log")
                place = self.folder / SHARED / job.key
                self.preparing[job.key] = self.start(prepare, job.recipe, str(place), log)
        return None

    def _begin(self, job: Job) -> None:
        self.waiting.remove(job)
        self.running.append(job)
        job.began, words = time.monotonic(), job.words
        if job.minutes is not None:
            left = (self.end - job.began - ENDING) / 60
            words.insert(3, f"training.minutes={min(job.minutes, left):.2f}")
        if job.key:
            share(self.folder / SHARED / job.key, job.folder)
        job.process = self.start(run_words, words, str(job.log), self.variables)


def corpus_key(task: Any, recipe: Any) -> str:
    """The same for trainings that learn from the same numbers."""
    fields = [repr(field) for field in task.fields.values()]
    made_of = [fields, str(recipe.data.train), recipe.tokenizer.model_dump(mode="json")]
    made_of += [type(task).__name__, recipe.data.max_length, recipe.data.join]
    digest = hashlib.blake2b(json.dumps(made_of).encode(), digest_size=3).hexdigest()
    return f"{recipe.task.kind}-{digest}"


def mps_variables(folder: Path) -> dict[str, str] | None:
    """Where the daemon of MPS is reached; None: there is none."""
    if shutil.which("nvidia-cuda-mps-control") is None:
        return None
    pipe, logs = (tempfile.mkdtemp(prefix=f"mps-{what}-") for what in ("pipe", "log"))
    found = {"CUDA_MPS_PIPE_DIRECTORY": pipe, "CUDA_MPS_LOG_DIRECTORY": logs}
    with suppress(OSError, subprocess.SubprocessError):
        command = ["nvidia-cuda-mps-control", "-d"]
        subprocess.run(command, env={**os.environ, **found}, check=True, timeout=20)
        return found
    return None


def end_mps(variables: dict[str, str]) -> None:
    if "CUDA_MPS_PIPE_DIRECTORY" in variables:
        with suppress(OSError, subprocess.SubprocessError):
            command = ["nvidia-cuda-mps-control"]
            env = {**os.environ, **variables}
            subprocess.run(command, input=b"quit\n", env=env, timeout=20, check=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where logs go, and what is shared")
    parser.add_argument("--seconds", type=float, default=500.0)
    parser.add_argument("--at-once", type=int, default=16)
    asked = parser.parse_args()
    (asked.folder / "logs").mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # asking leaves CUDA alone
    end = time.monotonic() + asked.seconds
    jobs = read_plan(list(sys.stdin), asked.folder / "logs")
    pool = Pool(asked.folder, jobs, end=end, at_once=asked.at_once)
    pool.check()
    try:
        pool.run()
    finally:
        end_mps(pool.variables)
        shutil.rmtree(asked.folder / SHARED, ignore_errors=True)
    pool.say("done")


if __name__ == "__main__":
    main()
