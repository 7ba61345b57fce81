"""What a task has to do with its corpora: its fields, what they learn, and the examples in numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from regard.data.check.column_check import ExamplesSummary, check_examples, only_known
from regard.data.check.header_check import header_doubts
from regard.data.check.label_check import label_doubts
from regard.data.check.pair_check import CorpusSummary
from regard.data.examples import Example, read_examples
from regard.data.fields import Field, Text
from regard.data.fields.field import Parts
from regard.data.fields.label import LabelSet
from regard.data.problems import CorpusError, Problems, before_noun
from regard.data.spec import Corpus, Spec, parse
from regard.data.store import CHUNK, Rows, Store, Stored, make_store
from regard.data.unspaced import LOOKED_AT
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.tasks.text_doubts import (
    idle_tokenizers,
    unknown_answers,
    unknown_tokens,
    unspaced_texts,
)
from regard.words import say_plural, t


class TaskCorpus(ABC):
    """The first half of a `Task`."""

    inputs: ClassVar[tuple[str, ...]]  # the fields that an answer needs; the others are answered
    apart: ClassVar[tuple[str, ...]] = ()  # fields whose held-out values are not trained on
    noun: ClassVar[str] = "examples"  # what a corpus is made of
    otherwise: ClassVar[str] = ""  # what may have been meant where nothing of a corpus can be used
    kept_input: ClassVar[str] = "standard-input.tsv"  # the file of what came from standard input

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.fields: dict[str, Field] = {field.name: field for field in self.make_fields()}

    @abstractmethod
    def make_fields(self) -> Sequence[Field]:
        """The columns of an example, in the order of a corpus."""

    def called(self, n: int) -> str:
        """What so many examples are called, in the reader's language."""
        return say_plural(n, self.noun[:-1], self.noun)

    def cut_by(self, name: str) -> str:
        """Which of the recipe's tokenizers says how a field is cut: source, or target."""
        return "source"

    @property
    def row_names(self) -> list[str]:
        """The columns of a corpus: those of an example, unless examples are made of several rows."""
        return list(self.fields)

    def corpora(self, spec: Spec) -> list[Corpus]:
        """The corpora that a spec names; a ValueError or FileNotFoundError says what is wrong."""
        return parse(spec, self.row_names)

    def read(self, spec: Spec, problems: Problems | None = None) -> Iterator[Example]:
        """What can be used of a corpus, as it stands there."""
        return read_examples(spec, list(self.fields.values()), problems, apart=self.apart)

    def left_out(self, spec: Spec | None) -> Problems:
        """What cannot be used of a dev or test set; of a corpus that is split, training counts the lines."""
        problems = Problems()
        if spec is not None and any(c.part is None for c in self.corpora(spec)):
            deque(self.read(spec, problems), maxlen=0)
        return self.of_whole_corpora(problems, spec)

    def of_whole_corpora(self, problems: Problems, spec: Spec | None) -> Problems:
        """Those of corpora that are not split: a line that cannot be read belongs to no part."""
        whole = {c.name for c in self.corpora(spec or []) if c.part is None}
        problems.found = {name: found for name, found in problems.found.items() if name in whole}
        return problems

    def learn(self, spec: Spec) -> None:
        """What the fields know of the training corpus; labels first, which are soon found to be none."""
        for field in sorted(
            self.fields.values(), key=lambda field: not isinstance(field, LabelSet)
        ):
            if field.file is not None:
                field.learn(example[field.name] for example in self.read(spec))

    def store(self, spec: Spec, folder: Path) -> Store:
        """The training corpus in numbers."""
        fields = list(self.fields.values())
        corpora, noun = self.corpora(spec), self.noun[:-1]
        return make_store(folder, self.rows(spec), corpora, fields, self.made_by, noun)

    @property
    def made_by(self) -> list[int | str | None]:
        """What else decides what is stored."""
        return [field.max_length for field in self.fields.values() if isinstance(field, Text)]

    def rows(self, spec: Spec) -> Rows:
        """What is stored of a corpus."""

        def encoded(problems: Problems) -> Iterator[Stored]:
            examples = self.trained_on(spec, problems)
            while chunk := list(islice(examples, CHUNK)):
                yield from self._encoded(chunk, problems)

        return encoded

    def trained_on(self, spec: Spec, problems: Problems) -> Iterator[Example]:
        """The examples to learn from."""
        return self.read(spec, problems)

    def _encoded(self, examples: Sequence[Example], problems: Problems) -> Iterator[Stored]:
        """The examples in numbers, without those that are too long."""
        for example, parts in self._fitting(examples, problems):
            yield Stored(example.line, parts)

    def _fitting(
        self, examples: Sequence[Example], problems: Problems
    ) -> Iterator[tuple[Example, dict[str, Parts]]]:
        """Those that are not too long, and their numbers."""
        columns = {name: field.encode(examples) for name, field in self.fields.items()}
        for number, example in enumerate(examples):
            parts = {name: column[number] for name, column in columns.items()}
            reasons = (
                (name, self.fields[name].too_long(numbers)) for name, numbers in parts.items()
            )
            name, why = next(((n, r) for n, r in reasons if r is not None), ("", None))
            if why is None:
                yield example, parts
            else:
                said = f"{before_noun(name)} " if len(self.fields) > 1 else ""
                problems.add(example.corpus, why.replace("{}", said), example.line)

    def check(
        self, spec: Spec, *, learnt: bool = False, train: Spec | None = None
    ) -> ExamplesSummary | CorpusSummary:
        """What a corpus is like, and what cannot be used of it.

        learnt: by fields that have learnt what they know. train: the corpus whose labels are the known ones,
        and whose inputs should not be here too.
        """
        problems, reasons = Problems(), list[str]()
        sure = [f for f in self.fields.values() if type(f).check_known is not Field.check_known]
        if train is not None:
            self._learn_labels(train, sure)
        examples = self.read(spec, problems)
        if learnt or train is not None:
            examples = only_known(examples, sure, problems, reasons)
        if learnt:
            examples = self._that_fit(examples, problems)
        first: list[Example] = []
        found = check_examples(
            _keeping(examples, first),
            self.fields,
            self.inputs,
            None if train is None else self.read(train),
        )
        return replace(
            found,
            problems=problems,
            called=self.called(found.examples),
            unknown="".join(reasons),
            notes=(
                *header_doubts(self.corpora(spec), self.fields),
                *label_doubts(self.corpora(spec), self.fields),
                *self._doubts(first, learnt=learnt),
            ),
        )

    def _doubts(self, examples: Sequence[Example], *, learnt: bool) -> list[str]:
        found = [*unspaced_texts(self, examples, any_kind=not learnt), *self.input_doubts(examples)]
        found += idle_tokenizers(self)
        if not learnt:
            return found
        return found + unknown_tokens(self, examples) + unknown_answers(self, examples)

    def input_doubts(self, examples: Sequence[Any], *, asked: bool = False) -> list[str]:
        """What the fields of the inputs doubt about examples; asked: about those that are to be answered."""
        found = []
        for name in self.inputs:
            values = [one[name] for one in examples if isinstance(one, Mapping) and name in one]
            found += self.fields[name].doubts(values)
        return found

    def _learn_labels(self, train: Spec, fields: Sequence[Field]) -> None:
        for field in (each for each in fields if each.file is not None):
            try:
                field.learn(example[field.name] for example in self.read(train))
            except CorpusError:
                raise
            except ValueError as error:
                raise CorpusError(
                    t("{place}: {said}", place=f"{train}, {field.name}", said=error)
                ) from None

    def _that_fit(self, examples: Iterator[Example], problems: Problems) -> Iterator[Example]:
        while chunk := list(islice(examples, CHUNK)):
            yield from (example for example, _ in self._fitting(chunk, problems))

    def describe(self, store: Store) -> str:
        """What there is to learn from, in a line."""
        every = (field.describe(store.counts(name)) for name, field in self.fields.items())
        count, noun = f"{len(store):,}", self.called(len(store))
        there = t("{count} {noun} to learn from", count=count, noun=noun)
        return t("; ").join([there, *filter(None, every)])

    def examples(
        self, spec: Spec, problems: Problems | None = None, *, join: int | None = None
    ) -> list[Any]:
        """A dev or test set, to be judged by; what is left out of it is counted in the problems."""
        found = list(self.read(spec, problems))
        for example in found:
            for name, field in self.fields.items():
                try:
                    field.check_known(example[name])
                except ValueError as error:
                    raise RecipeError(
                        t(
                            "{corpus}, line {line}: {error}",
                            corpus=example.corpus,
                            line=example.line,
                            error=error,
                        ),
                        t(
                            "the columns stand as in data.train: {fields}",
                            fields=", ".join(self.fields),
                        ),
                    ) from None
        return found

    @property
    def sizes(self) -> dict[str, Any]:
        """What a model must know of each field."""
        return {name: field.size for name, field in self.fields.items()}


def _keeping(examples: Iterator[Example], first: list[Example]) -> Iterator[Example]:
    """The same; the first of them are kept, since standard input is read once."""
    for example in examples:
        if len(first) < LOOKED_AT:
            first.append(example)
        yield example
