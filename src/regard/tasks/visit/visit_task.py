"""Next places: trails of check-ins, split by time, and all places ranked for the next visit."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, cast

from torch import nn

from regard.data.batch import Batch
from regard.data.examples import Example, read_examples
from regard.data.fields import Field
from regard.data.fields.member import Member
from regard.data.fields.place import Coordinates, Place
from regard.data.fields.time_point import Degrees, TimePoint
from regard.data.fields.visits import Trail, Visits
from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec
from regard.data.store import Store
from regard.data.visits.checkins import (
    Checkins,
    Cut,
    bounds_of,
    gathered,
    next_visits,
    stretches,
    trained_places,
)
from regard.measures.measure import Measure
from regard.measures.ranks.user_ranks import RecallAt1, RecallAt5, RecallAt10, UserMap
from regard.models.visits.visit_options import VisitOptions
from regard.recipe.mistakes import RecipeError
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer, Examples
from regard.tasks.judged_items import JudgedItems
from regard.tasks.task import Tally, Task
from regard.tasks.task_module import Unanswerable
from regard.tasks.visit.visit_look import look_at_visits, with_visits
from regard.tasks.visit.visit_module import NextPlace
from regard.tasks.visit.visit_task_options import VisitTaskOptions
from regard.view.samples import Sample, SampleNames
from regard.words import t

ROW = ("user", "place", "latitude", "longitude", "time")  # the columns of a corpus
BESIDE = ("latitude", "longitude")  # those that task.places has instead
BEST = 10  # places of an answer
SHOWN = 3  # of them, and of the visits before, in a sample


class Ranked(NamedTuple):
    """An answer to an example of a corpus."""

    rank: float  # of the place that was wanted, from 1; infinite: it was not met in training
    places: list[str]  # the best


class VisitTask(Task):
    columns: ClassVar = ("recall_at_1", "recall_at_5", "recall_at_10", "map")
    inputs: ClassVar = ("user", "history", "time")
    noun: ClassVar = "visits"
    scored: ClassVar = "visits"
    learns: ClassVar = "users and places"
    verb: ClassVar = "tell the next place"

    user: Member
    history: Visits
    time: TimePoint
    place: Place

    @property
    def options(self) -> VisitTaskOptions:
        return cast(VisitTaskOptions, self.recipe.task)

    def make_fields(self) -> Sequence[Field]:
        self._checkins: dict[tuple[Any, ...], Checkins] = {}
        self._table: dict[str, Coordinates] | None = None
        self.user, self.place = Member("user"), Place("place")
        self.time = TimePoint("time", self.options.unit)
        longest = self.recipe.data.max_length
        self.history = Visits("history", of=self.place, at=self.time, max_length=longest)
        return self.user, self.history, self.time, self.place

    # the data

    @property
    def row_names(self) -> list[str]:
        return [name for name in ROW if not (self.options.places and name in BESIDE)]

    def read(self, spec: Spec, problems: Problems | None = None) -> Iterator[Example]:
        return self._examples(spec, problems, next_visits)

    def trained_on(self, spec: Spec, problems: Problems) -> Iterator[Example]:
        return self._examples(spec, problems, stretches)

    def _examples(self, spec: Spec, problems: Problems | None, made: Any) -> Iterator[Example]:
        longest = self.recipe.data.max_length
        for corpus, found, bounds in self._parts(spec):
            if problems is not None:
                found.tell(problems, corpus.name)
            yield from made(found, corpus.name, bounds, longest)

    def _parts(self, spec: Spec) -> Iterator[tuple[Corpus, Checkins, dict[str, range]]]:
        """Each corpus, its trails, and which of their visits belong to the part."""
        cut = Cut(self.options.train_share, self.options.dev_share)
        for corpus in self.corpora(spec):
            found = self._gathered(corpus)
            yield corpus, found, bounds_of(found, cut, corpus.part)

    def _gathered(self, corpus: Corpus) -> Checkins:
        """Read once: its parts have the same rows."""
        key = corpus.files, corpus.columns
        if key not in self._checkins:
            degrees = {
                "latitude": Degrees("latitude", 90.0),
                "longitude": Degrees("longitude", 180.0),
            }
            kinds = {"user": Member("user"), "place": Member("place"), "time": self.time, **degrees}
            fields = [kinds[name] for name in self.row_names]
            self._checkins[key] = gathered(corpus, fields, self.table)
        return self._checkins[key]

    @property
    def table(self) -> dict[str, Coordinates] | None:
        """Where places are, if task.places says it."""
        spec = self.options.places
        if spec is not None and self._table is None:
            fields = Member("place"), Degrees("latitude", 90.0), Degrees("longitude", 180.0)
            try:
                rows = list(read_examples(spec, fields))
            except (OSError, ValueError) as error:
                hint = t(
                    "it has rows of place, latitude and longitude: x.tsv#0,1,2 names their columns"
                )
                raise RecipeError(t("task.places: {error}", error=error), hint) from None
            self._table = {row["place"]: (row["latitude"], row["longitude"]) for row in rows}
        return self._table

    @property
    def made_by(self) -> list[int | str | None]:
        chosen = self.options.model_dump(
            mode="json", include={"unit", "places", "train_share", "dev_share"}
        )
        return [*map(str, chosen.values()), self.recipe.data.max_length]

    def learn(self, spec: Spec) -> None:
        """Of the visits of this part alone: users, places and, if the model asks for it, counts."""
        parts = [(found, bounds) for _, found, bounds in self._parts(spec)]
        places = {
            name: found.places[name]
            for found, bounds in parts
            for name in trained_places(found, bounds)
        }
        if len(places) < 2:
            raise ValueError(
                t(
                    "there are visits to {count} places: two or more can be told apart",
                    count=len(places),
                )
            )
        self.user.learn(user for _, bounds in parts for user, its in bounds.items() if its)
        self.place.learn_places(places)
        counts = cast(VisitOptions, self.recipe.model).counts
        self.place.count(
            pair for found, bounds in parts for pair in self._counted(found, bounds, counts)
        )

    def _counted(
        self, found: Checkins, bounds: Mapping[str, range], counts: str
    ) -> Iterator[tuple[int, int]]:
        """What is known before each visit, and its place, in numbers."""
        if not counts:
            return
        for user, (visits, _) in found.trails.items():
            numbers = [self.place.number(visit.place) for visit in visits]
            known = self.user.number(user) if counts == "user" else 0
            for n in bounds[user]:
                before = numbers[n - 1] if counts == "place" and n else known
                yield before, numbers[n]

    def describe(self, store: Store) -> str:
        return t(
            "{count} stretches of visits to learn from; {users} users; {places} places",
            count=f"{len(store):,}",
            users=f"{len(self.user.names):,}",
            places=f"{len(self.place.names):,}",
        )

    # the model

    def for_training(self, model: nn.Module) -> NextPlace:
        chosen = self.options
        return NextPlace(
            model,
            self.place.points,
            self.place.tallies,
            loss=chosen.loss,
            negatives=chosen.negatives,
        )

    # what it answers

    def taken(
        self, example: Any, place: str = "the example", *, files: bool = True
    ) -> dict[str, Any]:
        found = super().taken(example, place, files=files)
        trail: Trail = found["history"]
        if trail.visits and trail.visits[-1].hours > found["time"]:
            raise Unanswerable(
                t(
                    "{place}: its history goes on after its time: nobody knows what comes later",
                    place=place,
                ),
                t("leave out the visits after it, or ask about a later time"),
            )
        return found

    def answers(self, module: NextPlace, batch: Batch) -> Iterator[tuple[list[str], float]]:
        """The best places, the first of them first, whose score is the answer's."""
        scores = module.scores(module.questions(batch).asked)[:, 0]  # (B, V)
        best = scores.topk(min(BEST, scores.shape[1]))
        for numbers, values in zip(best.indices.tolist(), best.values.tolist(), strict=True):
            yield [self.place.names[number] for number in numbers], values[0]

    def predict(
        self, module: NextPlace, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        """attention: which visits the first place came from."""
        found = super().predict(module, examples, batch=batch)
        if not attention:
            return found
        pairs = zip(examples, found, strict=True)
        return [with_visits(self, module, example, answer) for example, answer in pairs]

    def bare(self, example: Mapping[str, Any]) -> Any:
        """Times in hours."""
        visits = [[visit.place, visit.hours] for visit in example["history"].visits]
        return {"user": example["user"], "history": visits, "time": example["time"]}

    # how good it is

    def ranked_places(
        self, module: NextPlace, examples: Examples
    ) -> tuple[float, float, list[Ranked]]:
        """The loss and how much was scored, summed; and the answers. Of equals the wanted one is last."""
        found: dict[int, Ranked] = {}
        total = scored = 0.0
        with module.inference():
            for rows, batch in self.batches(examples, module.device, batch=self.batch_for(module)):
                asked, wanted, real = module.questions(batch, batch["place"])
                scores = module.scores(asked)  # (B, 1, V)
                loss = module.loss_of(scores, wanted, real)
                total, scored = total + float(loss.total), scored + float(loss.tokens)
                scores, wanted = scores[:, 0], wanted[:, 0]
                own = scores.gather(1, (wanted - 1).clamp(min=0)[:, None])
                ranks = (scores >= own).sum(1).tolist()
                best = scores.topk(min(BEST, scores.shape[1])).indices.tolist()
                known = (wanted > 0).tolist()
                for row, rank, numbers, there in zip(rows, ranks, best, known, strict=True):
                    names = [self.place.names[number] for number in numbers]
                    found[row] = Ranked(rank if there else math.inf, names)
        return total, scored, [found[row] for row in range(len(examples))]

    def tally(
        self, module: NextPlace, examples: Sequence[Any], *, beam: int | None = None
    ) -> Tally:
        start = time.monotonic()
        total, scored, answers = self.ranked_places(module, examples)
        return Tally((total, scored), answers, time.monotonic() - start)

    def wanted(self, example: Any) -> tuple[str, str]:
        """The user, and the place."""
        return example["user"], example["place"]

    def measured_by(self) -> Sequence[Measure]:
        return RecallAt1(), RecallAt5(), RecallAt10(), UserMap()

    def measure(self, answers: Sequence[Any], examples: Sequence[Any]) -> dict[str, float]:
        return super().measure([rank for rank, _ in answers], examples)

    def judge(self, module: NextPlace, examples: Sequence[Any]) -> JudgedItems:
        _, _, answers = self.ranked_places(module, examples)
        return self.judged_items(Tally((), answers), examples)

    def judged_items(self, found: Tally, examples: Sequence[Any]) -> JudgedItems:
        answers = found.answers
        ranks, wanted = [one.rank for one in answers], [self.wanted(each) for each in examples]
        counts = [(one, one.counts(wanted, ranks)) for one in self.measured_by()]
        return JudgedItems(counts, [one.places for one in answers])

    def wrong(self, one: Any) -> Iterator[tuple[Any, Any]]:
        pairs = zip(one.examples, one.answers, strict=True)
        return ((example, answer) for example, answer in pairs if answer[0] > 1)

    def _sample(self, example: Any, answer: Any) -> Sample:
        rank, places = answer
        visits = [visit.place for visit in example["history"].visits[-SHOWN:]]
        said = t("{place}, rank {rank}", place=example["place"], rank=rank)
        return Sample(" → ".join(visits), ", ".join(places[:SHOWN]), said)

    def sample_names(self) -> SampleNames:
        return SampleNames(
            t("Visits to another place"), t("places before"), t("wanted"), t("answer")
        )

    # what it looks at

    def look(self, module: NextPlace, question: Question, *, model: str = "") -> AttentionRecord:
        return look_at_visits(self, module, question, model=model)
