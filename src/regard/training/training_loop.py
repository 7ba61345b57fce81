"""The loop: updates, validations and checkpoints, until the recipe's end.

All that the next update depends on is in `State`, the weights and the optimiser: the data's order is
a function of (seed, epoch), chance of (seed, batch, rank). So a run that was killed anywhere and goes
on from its last checkpoint makes the same updates again, to the last bit on a CPU.
"""

from __future__ import annotations

import hashlib
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from itertools import islice
from typing import Any, NoReturn

from lightning.fabric import Fabric

from regard.clock import clock
from regard.data.batch import Batch, Loader
from regard.data.checksums import Damaged
from regard.recipe.recipe import Recipe
from regard.runs.failures import Diverged, Interrupted, OtherRecipe
from regard.runs.metrics_file import MetricsFile
from regard.runs.run_folder import LEARN_ANEW, refuse_other
from regard.tasks.task import Task, Validation
from regard.tasks.task_module import TaskModule
from regard.training.checkpoints import Checkpoints
from regard.training.graphed_update import PAYS, make_updater
from regard.training.optimizers import learning_rate
from regard.training.peak_memory import peak_memory
from regard.training.progress_display import Reporter
from regard.training.signals import Signals
from regard.training.state import RunState
from regard.training.validation_pass import validate
from regard.training.weight_averages import MovingWeights
from regard.training.weight_update import Updated
from regard.words import say, t

FORMAT = 2  # of a checkpoint
ROW_EVERY = 50  # updates between rows of metrics.csv


class Fit:
    """One process's part of a training run."""

    def __init__(
        self,
        recipe: Recipe,
        fabric: Fabric,
        task: Task,
        module: TaskModule,
        loader: Loader,
        dev: Sequence[Any],
        checkpoints: Checkpoints,
        reporter: Reporter,
        began: float | None = None,  # the monotonic time of the start; None: now
    ) -> None:
        self.recipe, self.training, self.fabric = recipe, recipe.training, fabric
        self.task, self.module, self.loader, self.dev = task, module, loader, dev
        self.checkpoints, self.reporter = checkpoints, reporter
        self.updater = make_updater(recipe, fabric, module, loader.store.line, reporter.warn)
        self.mean = MovingWeights(module, self.training.ema) if self.training.ema else None
        self.state, self.signals = RunState(), Signals()
        self.record: MetricsFile | None = None
        self._began = time.monotonic() if began is None else began
        self._stepped = False  # whether an update of this start is known
        self._saved = -1, -1  # the update, and the update of the last validation
        self._unread: deque[int] = deque()  # the updates of which nothing is known yet
        self._stop = False  # what the last update that is known told
        self._row: float | None = None  # seconds at the last row; None: not of this start
        self._paused = 0.0  # seconds of validations since then

    def run(self, record: MetricsFile | None) -> None:
        """To the end of the recipe. Only the first process has a record."""
        self.record = record
        self._started, self._before = time.monotonic(), self.state.seconds
        self._row = None if self.state.tokens else self.state.seconds
        groups = self._groups()
        with self.signals:
            while True:
                if self._validation_due():
                    self._validate()
                if self.over:
                    break
                self._update(next(groups))
                at_checkpoint = self.state.update % self.training.checkpoint_every == 0
                if at_checkpoint and not self._validation_due():  # which saves when it is done
                    self.save()
            if self.dev and self.state.validated < self.state.update:
                self._validate()
        self.save()

    @property
    def over(self) -> bool:
        return self.end is not None

    @property
    def end(self) -> str | None:
        """The limit that is reached, if any."""
        return self.state.end(self.training, len(self.loader))

    @property
    def done(self) -> float:
        """The share of the run that is behind."""
        return self.state.done(self.training, len(self.loader))

    def save(self) -> None:
        """A checkpoint of now, unless there is one."""
        self._settle()
        now = self.state.update, self.state.validated
        if self.fabric.is_global_zero and now != self._saved:
            self.state.memory = max(self.state.memory, peak_memory(self.fabric.device))
            tree = {
                "state": self.state.to_tree(),
                "format": FORMAT,
                "module": self.module.state_dict(),
                "optimizer": self.updater.optimizer.state_dict(),
                "mean": None if self.mean is None else self.mean.means,
                "precision": self.fabric.strategy.precision.state_dict(),
                "batches": self.loader.batches.fingerprint,
                "corpus": self.loader.store.content,
                "recipe": self.recipe.model_dump(mode="json"),
                "assets": self._assets,
            }
            self.checkpoints.save(self.state.update, tree, self.state.best_updates)
        self._saved = now

    def resume(self, tree: dict[str, Any]) -> None:
        """Stand where a checkpoint stood; one of another run is refused."""
        if tree.get("format") != FORMAT:
            raise OtherRecipe(
                t(
                    "{folder} was written by another version of regard: only that version can "
                    "resume it",
                    folder=self.checkpoints.folder,
                )
            )
        learnt_by = Recipe.model_validate(tree["recipe"])
        refuse_other(self.recipe, learnt_by, str(self.checkpoints.folder))
        if changed := [
            name for name, sha in self._assets.items() if tree["assets"].get(name) != sha
        ]:
            raise Damaged(
                t("{changed} is not the one that this run began with", changed=changed[0]),
                LEARN_ANEW,
            )
        self.state = RunState.from_tree(tree["state"])
        corpus = self.loader.store.content
        rewritten = tree.get("corpus", corpus) != corpus
        if self.state.batch and (rewritten or tree["batches"] != self.loader.batches.fingerprint):
            raise OtherRecipe(
                t(
                    "the number of processes (now {world_size}) or the text of data.train has "
                    "changed within epoch {epoch}, after step {update}: the batches of the rest of "
                    "it would be others",
                    world_size=self.fabric.world_size,
                    epoch=self.state.epoch + 1,
                    update=f"{self.state.update:,}",
                )
            )
        if rewritten:
            self.reporter.warn(
                t(
                    "the text of data.train has changed since step {step}: from here on it is learnt from as "
                    "it is now, with the {what} of before",
                    step=f"{self.state.update:,}",
                    what=say(self.task.learns),
                )
            )
        try:
            self.module.load_state_dict(tree["module"])
            self.updater.optimizer.load_state_dict(tree["optimizer"])
        except (RuntimeError, ValueError) as error:
            raise OtherRecipe(
                t(
                    "{folder} holds a run of another recipe: its weights do not fit",
                    folder=self.checkpoints.folder,
                )
            ) from error
        if self.mean is not None:
            self.mean.load(tree["mean"])
        if tree["precision"]:
            self.fabric.strategy.precision.load_state_dict(tree["precision"])
        self._saved = self.state.update, self.state.validated

    @cached_property
    def _assets(self) -> dict[str, str]:
        """What the fields know, by the names of their files."""
        fields = (field for field in self.task.fields.values() if field.file is not None)
        return {
            str(field.file): hashlib.sha256(field.to_json().encode()).hexdigest()
            for field in fields
        }

    def _groups(self) -> Iterator[list[Batch]]:
        """The batches of one update after the other, from where the state stands."""
        fingerprint = self.loader.batches.fingerprint
        while True:
            place = {"epoch": self.state.epoch, "given": self.state.batch, "batches": fingerprint}
            self.loader.load_state_dict(place)
            batches = iter(self.loader)
            while group := list(islice(batches, self.training.accumulate)):
                yield group

    def _update(self, batches: list[Batch]) -> None:
        state = self.state
        rate = learning_rate(
            self.training.optimizer,
            self.training.schedule,
            update=state.update,
            epoch=state.epoch,
            done=self.done,
            reductions=state.reductions,
        )
        number = state.epoch * len(self.loader) + state.batch
        # time is the first process's, so that all end together; one that has a signal stops all
        seconds = self._before + time.monotonic() - self._started
        told = (float(self.signals.received > 0), seconds * (self.fabric.global_rank == 0))
        self._unread.append(state.update + 1)
        state.learning_rate = rate
        with self._naming_the_step():
            known = self.updater.make(batches, number=number, rate=rate, shared=told)
        state.advance(len(batches), len(self.loader))
        self._note(known)
        if self.mean is not None:
            self.mean.follow(state.update)
        if not self._stepped:
            self._say_first()
        if state.update % ROW_EVERY == 0:
            self._settle()
            self._write_row()
        if self._stop or self._asked_to_stop():
            self._interrupt()

    @contextmanager
    def _naming_the_step(self) -> Iterator[None]:
        """What went wrong did so in the first update that is not known yet."""
        try:
            yield
        except Diverged as error:
            last = self.checkpoints.last() or t("none, no checkpoint was due yet")
            raise Diverged(
                t(
                    "step {unread}: {error}; the last good checkpoint is {last}",
                    unread=f"{self._unread[0]:,}",
                    error=error,
                    last=last,
                )
            ) from error

    def _settle(self) -> None:
        """All that was done is known: nothing is written, measured or stopped before."""
        self._note(self.updater.settle())

    def _note(self, known: Iterable[Updated]) -> None:
        state = self.state
        with self._naming_the_step():
            for made in known:
                step = self._unread.popleft()
                stop, state.seconds = made.shared
                state.gradient_norm = float(made.norm)
                self._stop = self._stop or bool(stop)
                state.loss, state.tokens = state.loss + made.loss, state.tokens + made.tokens
                self.reporter.see(step, state.epoch, self.done, made.loss, made.tokens)

    def _say_first(self) -> None:
        """How long it took, where much has to be made ready."""
        self._stepped = True
        if self.updater.records:
            self._settle()
            time_taken, device = clock(time.monotonic() - self._began), self.fabric.device.type
            if device in PAYS:
                said = t(
                    "first step after {time}; the work of a batch is recorded when its shape comes again",
                    time=time_taken,
                )
            else:
                said = t(
                    "first step after {time}; nothing is recorded on {device}: trainer.compile=graphs is of "
                    "use on NVIDIA GPUs only",
                    time=time_taken,
                    device=device,
                )
            self.reporter.say(said)

    def _validation_due(self) -> bool:
        state, every = self.state, self.training.validate_every
        if not self.dev or state.validated == state.update:
            return False
        return state.update % every == 0 if every else state.batch == 0

    def _validate(self) -> None:
        self._settle()
        start = time.monotonic()
        with self.mean.in_place() if self.mean is not None else nullcontext():
            found = validate(self.fabric, self.task, self.module, self.dev, self._asked_to_stop)
            if found is not None:
                merit = found.merit(self.training.metric, self.recipe.task.errors)
                best = self.state.note(merit, self.training)
                kept = self.state.update in self.state.best_updates
                if kept and self.fabric.is_global_zero:
                    written = self.checkpoints.save_best(
                        self.state.update, self.module.model_state()
                    )
                    self.state.keep(written)
        if found is None:  # the weights are the run's own again: they can be saved
            self._interrupt()
        measures = {"loss": found.loss, **found.measures}
        self._write_row(**{f"dev_{name}": value for name, value in measures.items()})
        self._paused += time.monotonic() - start
        self.reporter.say(self._words(found, best, time.monotonic() - start))
        self.save()

    def _asked_to_stop(self) -> bool:
        """At once only where no other process counts on this one; they tell each other at an update."""
        return self.signals.received > 0 and self.fabric.world_size == 1

    def _write_row(self, **values: float) -> None:
        state = self.state
        row = {"step": state.update, "epoch": state.epoch, "seconds": state.seconds, **values}
        row |= {"learning_rate": state.learning_rate, "gradient_norm": state.gradient_norm}
        if state.tokens:
            row["train_loss"] = state.loss / state.tokens
            trained = 0.0 if self._row is None else state.seconds - self._row - self._paused
            if trained > 0:
                row["speed"] = state.tokens / trained
            self._row, self._paused = state.seconds, 0.0
        state.loss, state.tokens = 0.0, 0
        if self.record is not None:
            self.record.add(row)

    def _interrupt(self) -> NoReturn:
        self.save()
        number = self.signals.received or signal.SIGTERM  # another process was told
        raise Interrupted(
            t(
                "stopped by {name} after step {update}; the checkpoint is {last}",
                name=signal.Signals(number).name,
                update=f"{self.state.update:,}",
                last=self.checkpoints.last(),
            ),
            number,
        )

    def _words(self, found: Validation, best: bool, seconds: float) -> str:
        state = self.state
        epoch = state.epoch + (state.batch > 0)
        known = {
            "step": f"{state.update:,}",
            "epoch": epoch,
            "loss": f"{found.loss:.3f}",
            "measures": self.task.measures_line(found),
            "time": clock(seconds),
        }
        if best:
            return t(
                "step {step}, epoch {epoch}: dev loss {loss}, {measures}, the best so far ({time})",
                **known,
            )
        return t("step {step}, epoch {epoch}: dev loss {loss}, {measures} ({time})", **known)
