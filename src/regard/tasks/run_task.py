"""What a run asks of its task. The loop, the folder and the commands know no task by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from torch import nn

from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec
from regard.data.store import Store
from regard.data.tokenizer import Tokenizer
from regard.recipe.recipe import Recipe, Vocabulary
from regard.tasks.text_task import TextTask

if TYPE_CHECKING:
    from regard.runs.loading import LoadedRun

Example = TypeVar("Example")
Tokenizers = tuple[Tokenizer, Tokenizer]  # of the source and of the target


class Tally(NamedTuple):
    """What was found on some examples, to be joined with what other processes found."""

    counts: tuple[float, ...]  # these are added up
    answers: Sequence[str] = ()  # one for each example if there are any


@dataclass(frozen=True)
class Validation:
    loss: float  # nats per target token
    measures: Mapping[str, float]  # by the names of `RunTask.columns`

    def merit(self, metric: str) -> tuple[float, float]:
        """What the best is best in, larger is better; of equals that with the lower loss."""
        return -self.loss if metric == "loss" else self.measures[metric], -self.loss


class Evaluation(ABC):
    """How good a run is on one corpus."""

    corpus: str

    @property
    @abstractmethod
    def text(self) -> str:
        """For people, the most important first."""

    @property
    def table(self) -> str:
        """Where it is good and where not, for a terminal; empty if there is nothing to say."""
        return ""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""


class RunTask(ABC, Generic[Example]):
    """One for each kind of task; an example is what the task is judged by."""

    columns: ClassVar[tuple[str, ...]]  # measures of a validation, beside the loss
    noun: ClassVar[str] = "pairs"  # what a corpus is made of
    scored: ClassVar[str] = "tokens"  # what a loss is the mean of
    kept_input: ClassVar[str] = "standard-input.tsv"  # the file of what came from standard input
    command: ClassVar[str]  # of the CLI, that uses such a run
    evaluated_with: ClassVar[tuple[str, ...]] = ()  # options of `evaluate` that mean something

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    # the data

    @abstractmethod
    def corpora(self, spec: Spec) -> list[Corpus]:
        """The corpora that a spec names; a ValueError or FileNotFoundError says what is wrong."""

    @abstractmethod
    def read(self, spec: Spec, problems: Problems | None = None) -> Iterator[Any]:
        """What can be used of a corpus, as it stands there."""

    def left_out(self, spec: Spec | None) -> Problems:
        """What of a dev or test set cannot be used. The lines of a corpus that is split count in training."""
        problems = Problems()
        if spec is not None and any(c.part is None for c in self.corpora(spec)):
            deque(self.read(spec, problems), maxlen=0)
        return self.of_whole_corpora(problems, spec)

    def of_whole_corpora(self, problems: Problems, spec: Spec | None) -> Problems:
        """Those of corpora that are not split: whose part is a line that cannot be read?"""
        whole = {c.name for c in self.corpora(spec or []) if c.part is None}
        problems.found = {name: found for name, found in problems.found.items() if name in whole}
        return problems

    @abstractmethod
    def learn_tokenizers(self, spec: Spec) -> Tokenizers:
        """From the training corpus; twice the same where source and target share one."""

    @abstractmethod
    def store(self, spec: Spec, tokenizers: Tokenizers, folder: Path) -> Store:
        """The token ids of the training corpus."""

    @abstractmethod
    def describe(self, store: Store, tokenizers: Tokenizers) -> str:
        """What there is to learn from, in a line."""

    @abstractmethod
    def examples(
        self,
        spec: Spec,
        tokenizers: Tokenizers,
        problems: Problems | None = None,
        *,
        join: int | None = None,
    ) -> list[Example]:
        """A dev or test set, to be judged by; what is left out of it is counted in the problems."""

    def check_held_out(self, spec: Spec, tokenizers: Tokenizers) -> None:
        """Refuse now what could not be judged after hours of training."""

    # the model

    @abstractmethod
    def trained(self, model: nn.Module, tokenizers: Tokenizers) -> TextTask:
        """The module that gives the loss of a batch."""

    def used(self, model: nn.Module, tokenizers: Tokenizers) -> TextTask:
        """The module that answers."""
        return self.trained(model, tokenizers)

    # how good it is

    @abstractmethod
    def tally(self, module: TextTask, examples: Sequence[Example]) -> Tally:
        """What is found on some of the examples."""

    @abstractmethod
    def validation(self, found: Tally, examples: Sequence[Example]) -> Validation:
        """The measures, from what was found on all of the examples."""

    @abstractmethod
    def words(self, found: Validation) -> str:
        """The measures in a line of the log."""

    @abstractmethod
    def evaluate(
        self, run: LoadedRun, corpus: str, examples: Sequence[Example], *, beam: int | None = None
    ) -> Evaluation:
        """All there is to know about a run on these examples."""

    @abstractmethod
    def report(self, run: LoadedRun, found: Mapping[str, Evaluation]) -> dict[str, Any]:
        """Fields of `view.report.Report`, from the evaluations by the name of their set."""


def train_tokenizer(
    vocabulary: Vocabulary, texts: Iterator[str], *, verbatim: bool = False, mask: bool = False
) -> Tokenizer:
    return Tokenizer.train(
        texts,
        kind=vocabulary.kind,
        size=vocabulary.size,
        lowercase=vocabulary.lowercase,
        verbatim=verbatim,
        mask=mask,
    )


def cut_texts(store: Store, longest: int) -> str:
    """A line about the texts that are not read to their end, if there are any."""
    full = int((store.source_lengths >= longest).sum())
    if not full:
        return ""
    return (
        f"\n{full:,} texts have data.max_length={longest} tokens or more: "
        "only the first of them are read"
    )


def last(found: Mapping[str, Any]) -> Any:
    """The evaluation that counts most, or None."""
    return found.get("test") or found.get("dev")
