"""What can be asked of a served run, each as one call for the sentences of many requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from regard.serve.interruptible_run import Pause, interruptible, interruptible_looker
from regard.serve.models import Served
from regard.serve.request_limits import RequestLimits

if TYPE_CHECKING:
    from regard.records.question import Question
    from regard.runs.loaded_run import LoadedRun
    from regard.tasks.answer import Answer
    from regard.tasks.prediction import Prediction


@dataclass(frozen=True)
class Translating:
    """Texts -> translations."""

    served: Served
    limits: RequestLimits
    beam: int
    nbest: int
    alone: ClassVar[bool] = False

    def __call__(self, texts: Sequence[str], pause: Pause | None) -> list[Prediction]:
        batch = self.limits.side_by_side(self.beam * max(map(len, texts)))
        run = _run(self.served, pause)
        found = run.translate(texts, beam=self.beam, nbest=self.nbest, batch=batch)
        self.served.counts.add(len(texts))
        return found


@dataclass(frozen=True)
class Scoring:
    """(source, target) -> the target as if it had been predicted."""

    served: Served
    limits: RequestLimits
    alone: ClassVar[bool] = False

    def __call__(self, pairs: Sequence[tuple[str, str]], pause: Pause | None) -> list[Prediction]:
        from regard.tasks.search_settings import search_settings

        sources, targets = zip(*pairs, strict=True)
        run = _run(self.served, pause)
        settings, batch = search_settings(run.recipe), self.limits.batch
        found = run.translator.score(sources, targets, settings, batch=batch)
        self.served.counts.add(len(pairs))
        return found


@dataclass(frozen=True)
class Predicting:
    """Examples -> answers, of any task."""

    served: Served
    limits: RequestLimits
    attention: bool
    alone: ClassVar[bool] = False

    def __call__(self, examples: Sequence[dict[str, Any]], pause: Pause | None) -> list[Answer]:
        run, batch = _run(self.served, pause), self.limits.batch
        found = run.task.reply(run.module, examples, attention=self.attention, batch=batch)
        self.served.counts.add(len(examples))
        return found


@dataclass(frozen=True)
class Looking:
    """A question -> its record, as JSON: written here, so that the event loop is not kept busy."""

    served: Served
    alone: ClassVar[bool] = True

    def __call__(self, questions: Sequence[Question], pause: Pause | None) -> list[str]:
        looker = self.served.looker
        if pause is not None:
            looker = interruptible_looker(looker, pause)
        records = [looker.look(question) for question in questions]
        if pause is not None:
            pause()
        self.served.counts.looks += len(questions)
        return [record.to_json() for record in records]


def _run(served: Served, pause: Pause | None) -> LoadedRun:
    return served.run if pause is None else interruptible(served.run, pause)
