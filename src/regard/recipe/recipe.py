"""A recipe: everything that makes a run, typed and checked. Nothing here needs torch.

    name: my-zh-en
    data: {train: "a.zh,a.en", dev: "b.zh,b.en"}
    model: {kind: rnnsearch, hidden: 256}
    training: {epochs: 20, optimizer: {kind: adam, lr: 0.001}}

`recipe_files` reads one from YAML with `key=value` words on top. Unknown keys are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny, field_validator, model_validator
from pydantic_core import PydanticCustomError

from regard.models.recurrent_options import RnnSearch
from regard.options import (
    Count,
    CountOrZero,
    Few,
    InnerShare,
    Length,
    ModelOptions,
    NotNegative,
    Options,
    Positive,
    Rate,
    Share,
    TaskOptions,
    Whole,
    Width,
)
from regard.registry import Group, KindError, UnknownKind, find, is_for, models_for
from regard.suggestions import meant
from regard.words import t

Corpus = str | list[str]
LIMITS = ("epochs", "steps", "minutes")  # of a run: it ends at the first that is reached


class Data(Options):
    """Where the pairs come from. A corpus is `a.zh,a.en`, `pairs.tsv`, `pairs.jsonl` or an embedded one.

    Text and label are a pair too; of texts alone a corpus is `book.txt`, `texts.tsv#2`, `texts.jsonl#text`.
    """

    train: Corpus = Field("tatoeba-zh-en:train", description="pairs to learn from")
    dev: Corpus | None = Field(None, description="pairs to choose the best checkpoint by")
    test: Corpus | None = Field(None, description="pairs for the final scores")
    source: str = Field("zh", description="language code of the source")
    target: str = Field("en", description="language code of the target")
    max_length: Length = Field(
        100,
        description="translate, language: longer pairs or lines (in tokens) are not trained on; "
        "classify, masked: longer texts are cut",
    )
    join: Few = Field(1, description="join 1 … n consecutive pairs into longer ones")


class VocabularyOptions(Options):
    """How one side is cut into tokens."""

    kind: Literal["bpe", "unigram", "word", "character"] = "bpe"
    size: Annotated[Whole, Field(gt=4, le=1_000_000)] = Field(
        8000, description="tokens at most, the four special ones included"
    )
    lowercase: bool = False


class Tokenizers(Options):
    """The tokenisers, trained on the training pairs. Only translation has a target to tokenise."""

    source: VocabularyOptions = VocabularyOptions()
    target: VocabularyOptions = VocabularyOptions()
    shared: bool = Field(
        False,
        description="one vocabulary for both sides, made as `target` says, whatever `source` does",
    )


class Vectors(Options):
    """Word vectors learnt elsewhere that embeddings begin with: text files of word2vec or GloVe, also .gz."""

    source: str | None = Field(None, description="of the source, or of the only text")
    target: str | None = Field(None, description="of the target")
    frozen: bool = Field(False, description="these embeddings are not trained")


class Optimizer(Options):
    kind: Literal["adam", "adamw", "adadelta", "adagrad", "sgd"] = "adam"
    lr: Positive = 0.001
    betas: tuple[Rate, Rate] = (0.9, 0.999)
    rho: Rate = 0.95
    eps: Positive = 1e-8
    momentum: Rate = 0.0
    weight_decay: NotNegative = 0.0


class Schedule(Options):
    """How the learning rate moves: a factor on `optimizer.lr`."""

    kind: Literal["constant", "noam", "inverse-sqrt", "plateau", "cosine", "halving"] = "constant"
    warmup: CountOrZero = Field(0, description="steps of linear warm-up")
    size: Width = Field(512, description="noam: the model size d")
    factor: InnerShare = Field(0.5, description="plateau, halving: multiply by this")
    patience: CountOrZero = Field(2, description="plateau: validations without improvement")
    after: CountOrZero = Field(5, description="halving: every epoch after this one")
    minimum: NotNegative = Field(0.0, description="cosine, plateau: the least learning rate")


class TeacherForcing(Options):
    """ratio 1: the next input is always the reference; 0: always the model's own prediction."""

    ratio: Share = 1.0
    draw: Literal["sequence", "step"] = "sequence"


class ReinforceOptions(Options):
    """Training of hard attention by its reward."""

    baseline: Literal["moving", "none"] = "moving"
    entropy: NotNegative = 0.0
    weight: Positive = 1.0


class Training(Options):
    epochs: Count | None = Field(None, description="passes over the pairs")
    steps: Count | None = Field(None, description="updates")
    minutes: Positive | None = Field(None, description="stop after this much training time")
    batch_tokens: Count | None = Field(
        None, description="tokens of both sides in a batch, padding included"
    )
    batch_sentences: Length | None = Field(None, description="pairs in a batch")
    accumulate: Length = Field(1, description="batches for one update")
    optimizer: Optimizer = Optimizer()
    schedule: Schedule = Schedule()
    clip: Positive | None = Field(1.0, description="greatest norm of the gradient")
    label_smoothing: Rate = 0.0
    teacher_forcing: TeacherForcing = TeacherForcing()
    reinforce: ReinforceOptions = ReinforceOptions()
    ema: Rate = Field(0.0, description="decay of a moving average of the weights; 0: none")
    validate_every: Count | None = Field(
        None, description="steps between validations; an epoch if not given"
    )
    checkpoint_every: Count = Field(500, description="steps between checkpoints to resume from")
    metric: str = Field(
        "auto",
        description="what the best checkpoints are chosen by; ties go to the lower dev loss. "
        "auto: bleu, accuracy or loss, by the task",
    )
    patience: Count | None = Field(
        None, description="stop after this many validations without a better one"
    )
    keep: Few = Field(3, description="best checkpoints kept")
    average: bool = Field(
        False, description="the model of the run is the average of the best checkpoints"
    )
    paired: bool = Field(
        False,
        description="first weights depend on the seed and their names alone, so that different models "
        "begin alike in all that both have",
    )

    @model_validator(mode="after")
    def _one_size(self) -> Training:
        if self.batch_tokens and self.batch_sentences:
            raise ValueError(t("give batch_tokens or batch_sentences, not both"))
        return self

    @property
    def limits(self) -> dict[str, float]:
        """Those that are set."""
        return {name: value for name in LIMITS if (value := getattr(self, name)) is not None}


class Trainer(Options):
    """Handed to Lightning: where and how the loop runs."""

    accelerator: Literal["auto", "cpu", "gpu", "cuda", "mps"] = "auto"
    devices: int | str | list[int] = Field(
        "auto", description="how many, -1 for all, or their numbers, as in [0, 2]"
    )
    num_nodes: Few = 1
    strategy: str = "auto"
    precision: Literal["32", "tf32", "bf16-mixed", "16-mixed", "64"] = Field(
        "32", description="tf32: float32 whose products are quicker and rounder on NVIDIA GPUs"
    )
    compile: Literal["auto", "off", "graphs"] = Field(
        "auto",
        description="graphs: the work of a batch is recorded once for each shape and replayed, so that a GPU "
        "is not kept waiting; auto: on NVIDIA GPUs, for models whose work can be recorded",
    )
    deterministic: bool = False
    threads: Few | None = Field(None, description="CPU threads of a process")

    @field_validator("devices", mode="before")
    @classmethod
    def _known_devices(cls, given: Any) -> Any:
        several = given if isinstance(given, list) else str(given).split(",")
        if given != "auto" and not all(re.fullmatch(r"-1|[0-9]{1,3}", str(n)) for n in several):
            raise ValueError(
                t(
                    "{given} is neither auto, a number up to 999, nor a list, as [0, 1]",
                    given=repr(given),
                )
            )
        return given


class SearchOptions(Options):
    """How translations are searched for, in validation and in the final scores."""

    beam: Few = 5
    length_penalty: NotNegative = 1.0
    coverage_penalty: NotNegative = 0.0
    max_length: Length = 100
    batch: Length | None = Field(
        None, description="sentences translated at a time; if not given 64, on a GPU up to 512"
    )
    validation_beam: Few = Field(1, description="the beam of the validations in training")


def _by_kind(group: Group) -> Callable[[Any], Any]:
    """A validator: the options of the kind that a section names."""

    def choose(section: Any) -> Any:
        if not isinstance(section, dict):
            return section
        kind = section.get("kind")
        if not isinstance(kind, str):
            raise PydanticCustomError("unknown_kind", "it has no kind, or one that is no name")
        try:
            return find(group, kind).model_validate(section)
        except KindError as error:
            told = "unknown_kind" if isinstance(error, UnknownKind) else "broken_kind"
            about = {"error": str(error), "hint": error.hint, "needs": error.needs}
            raise PydanticCustomError(told, "{error}", about) from None

    return choose


Task = Annotated[SerializeAsAny[TaskOptions], BeforeValidator(_by_kind("tasks"))]
Model = Annotated[SerializeAsAny[ModelOptions], BeforeValidator(_by_kind("models"))]


class Recipe(Options):
    """One experiment. `regard schema` prints the JSON schema of this."""

    name: Annotated[str, Field(min_length=1)] = "run"
    description: str = ""
    seed: Annotated[Whole, Field(ge=0, lt=1 << 63)] = 1
    task: Task = Field(default_factory=lambda: find("tasks", "translate")())
    data: Data = Data()
    tokenizer: Tokenizers = Tokenizers()
    model: Model = RnnSearch()
    vectors: Vectors = Vectors()
    training: Training = Training()
    trainer: Trainer = Trainer()
    search: SearchOptions = SearchOptions()

    @model_validator(mode="after")
    def _of_one_task(self) -> Recipe:
        """Model and metric must be of the task; "auto" becomes the task's own metric."""
        task, metric = self.task, self.training.metric
        if not is_for(type(self.model), task.kind):
            there = models_for(task.kind)
            raise ValueError(
                t(
                    "model.kind={kind} is for task.kind={task}; for {task_kind} ",
                    kind=self.model.kind,
                    task=self.model.task,
                    task_kind=task.kind,
                )
                + (
                    t("there are {there}", there=", ".join(there))
                    if there
                    else t("name one: package.module:Name")
                )
            )
        task.check_model(self.model)
        if metric == "auto":
            usual = self.training.model_copy(update={"metric": task.own_metrics[0]})
            object.__setattr__(self, "training", usual)  # frozen for everybody else
        elif metric not in task.own_metrics:
            raise ValueError(
                f"training.metric is {metric!r}, but task.kind={task.kind} is measured by "
                f"{' or '.join(task.own_metrics)}.{meant(metric, task.own_metrics)}".removesuffix(
                    "."
                )
            )
        return self
