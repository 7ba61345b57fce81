"""What is asked and answered, as JSON: the types behind /openapi.json."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from regard.records.question import HEAVIEST
from regard.serve.request_limits import RequestLimits
from regard.serve.worker import State
from regard.words import t

MAX = RequestLimits()
MOST_TOKENS = 5_000  # what a token of a text may be counted as
MOST_HEADS = 1_000  # that are switched off


def _whole(number: object) -> object:
    """3.0 is a whole number in JSON; true and "3" are none, and strictness refuses them."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Whole = Annotated[int, BeforeValidator(_whole)]
Text = Annotated[str, Field(max_length=MAX.characters)]
Texts = Annotated[list[Text], Field(min_length=1, max_length=MAX.texts)]
Model = Annotated[
    str | None, Field(description="The name of a served model; the first if not given.")
]
Width = Annotated[Whole, Field(ge=1, le=32)]
Place = Annotated[Whole, Field(ge=0, le=MOST_TOKENS)]
Number = Annotated[Whole, Field(ge=1, le=MOST_TOKENS)]
Share = Annotated[float, Field(ge=0, le=HEAVIEST)]
Beam = Annotated[
    Width | None,
    Field(description="Hypotheses kept open, 1: greedy; the model's, or nbest, if not given."),
]
NBEST = "Not more than the beam, where that is given."


class Message(BaseModel):
    """Of a fixed shape: an unknown key is a mistake, not a wish that is ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Asked(Message):
    """A part of a request."""

    @model_validator(mode="before")
    @classmethod
    def _check_count(cls, given: Any) -> Any:
        """Thousands of unknown keys are one mistake: as many would take seconds to tell."""
        if isinstance(given, dict) and len(given) > 2 * len(cls.model_fields):
            raise ValueError(
                t(
                    "{count} keys, and there are {model_fields}",
                    count=f"{len(given):,}",
                    model_fields=", ".join(cls.model_fields),
                )
            )
        return given

    @model_validator(mode="after")
    def _check_beam(self) -> Self:
        """An n-best list is no longer than the beam is wide."""
        beam, nbest = getattr(self, "beam", None), getattr(self, "nbest", None)
        if beam is not None and nbest is not None and nbest > beam:
            raise ValueError(
                t(
                    "nbest {nbest} needs a beam at least as wide, not beam {beam}",
                    nbest=nbest,
                    beam=beam,
                )
            )
        return self


def _example(**example: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [example]})


class Problem(Message):
    """What was wrong, in one line."""

    error: str
    model_config = _example(
        error="no model 'zh-em' is served. Did you mean 'zh-en'? There is zh-en"
    )


class TranslateRequest(Asked):
    texts: Texts = Field(description="What to translate; a blank text has an empty translation.")
    model: Model = None
    beam: Beam = None
    nbest: Width = Field(1, description=f"Translations of each text, best first. {NBEST}")
    model_config = _example(texts=["我是一个学生。"], beam=5, nbest=2)


class TranslationHypothesis(Message):
    text: str
    score: float = Field(description="What it was ranked by: higher is better.")
    log_prob: float = Field(description="The log-probability of the whole, its end included.")
    finished: bool = Field(
        description="Whether it ended by itself; false: it was cut at the length limit."
    )


class Translation(TranslationHypothesis):
    alternatives: list[TranslationHypothesis] = Field(
        description="The next best, nbest - 1 at most."
    )
    notes: list[str] = Field(
        [],
        description="What of the text the model was not made for: its script, what has no token, its length.",
    )


class TranslateAnswer(Message):
    model: str
    translations: list[Translation] = Field(description="One for each text, in their order.")
    model_config = _example(
        model="zh-en",
        translations=[
            {
                "text": "I'm a student.",
                "score": -0.61,
                "log_prob": -1.01,
                "finished": True,
                "alternatives": [
                    {"text": "I am a student.", "score": -0.7, "log_prob": -1.2, "finished": True}
                ],
            }
        ],
    )


class ScoreRequest(Asked):
    sources: Texts
    targets: Texts = Field(description="A translation for each source: as many as those.")
    model: Model = None
    model_config = _example(sources=["我是一个学生。"], targets=["I am a student."])


class Scored(Message):
    score: float = Field(description="What `translate` would have reported for this target.")
    log_prob: float
    tokens: list[str] = Field(
        description="As the model cuts the target; its end is not among them."
    )
    log_probs: list[float] = Field(description="Of each token, and of the end.")


class ScoreAnswer(Message):
    model: str
    scores: list[Scored] = Field(description="One for each pair, in their order.")


class PredictRequest(Asked):
    examples: Annotated[list[Any], Field(min_length=1, max_length=MAX.texts)] = Field(
        description="Values of the one input of the model's task, or objects with a value for each input; "
        "a picture as data:image/png;base64,…."
    )
    attention: bool = Field(False, description="Also send what was attended to.")
    model: Model = None
    model_config = _example(examples=["我是一个学生。"])


class Predicted(Message):
    """As `regard predict --json` prints it."""

    input: Any
    answer: Any
    score: float | None
    attention: list[list[float]] | None
    rows: list[str] | None = Field(None, description="What the rows of the attention are.")
    columns: list[str] | None = Field(None, description="What its columns are, mostly tokens.")
    sentences: list[list[int | float]] | None = Field(
        None, description="Of a document: the columns of each, from and up to, and its weight."
    )
    hops: int | None = Field(
        None, description="Attentions that a row is the mean of, where it is of several."
    )
    rank: int | None = Field(
        None, description="Of a candidate: from 1, among those of its question in this request."
    )
    places: list[list[float]] | None = Field(
        None, description="Of a picture: where was looked, x and y from -1, left and above, to 1."
    )


class PredictAnswer(Message):
    model: str
    answers: list[Predicted] = Field(description="One for each example, in their order.")
    notes: list[str] = Field([], description="What to keep in mind about the examples.")


class ForcedStep(Asked):
    """Attention by hand: at one step of the target, look at some source tokens."""

    step: Place = Field(description="The target token, counted from 0.")
    keys: list[Place] = Field(
        min_length=1,
        max_length=MOST_TOKENS,
        description="Source tokens, each once.",
        json_schema_extra={"uniqueItems": True},
    )
    weights: list[Share] | None = Field(
        None,
        min_length=1,
        max_length=MOST_TOKENS,
        description="What each of the keys gets, as shares of their sum, which is not 0; all the same if "
        "not given.",
    )
    layer: Number | None = Field(None, description="Counted from 1; all layers if not given.")
    head: Number | None = Field(None, description="Counted from 1; all heads if not given.")


class SwitchedOff(Asked):
    """A head whose weights are 0 for the whole output."""

    layer: Number = Field(description="Counted from 1.")
    head: Number | None = Field(None, description="Counted from 1; all of the layer if not given.")
    map: Literal["cross", "encoder", "decoder"] = "cross"


class OtherAnswer(Asked):
    """Why this answer and not that one: the one that was not given."""

    text: Text = Field(min_length=1, description="A word of a translation, or a label.")
    step: Place | None = Field(
        None, description="The target token, counted from 0; where it was likeliest if not given."
    )


class AttentionRequest(Asked):
    text: Annotated[str, Field(max_length=MAX.pictured)] = Field(
        description=f"At most {MAX.characters:,} characters, or {MAX.total:,} for a model of documents; of a "
        "model of pictures a PNG or JPEG as data:image/png;base64,…. The path of a file is never opened."
    )
    name: Annotated[str, Field(max_length=200)] = Field("", description="What a picture is called.")
    prefix: Text = Field("", description="What the output must begin with.")
    target: Text | None = Field(None, description="Show this output instead of searching for one.")
    beam: Beam = None
    nbest: Width | None = Field(
        None,
        description=f"Hypotheses in the tree that are returned; the beam, at most 5. {NBEST}",
    )
    force: ForcedStep | None = None
    off: list[SwitchedOff] = Field(
        [], max_length=MOST_HEADS, description="Heads that say nothing, each once."
    )
    explain: bool = Field(False, description="Measures beside the weights; takes longer.")
    foil: OtherAnswer | None = Field(None, description="With explain: what to contrast with.")
    ticket: Annotated[str, Field(max_length=64)] = Field(
        "", description="Any name, by which /progress then tells how far this is."
    )
    details: bool = Field(True, description="Keep scores, regions and values as well.")
    model: Model = None
    model_config = _example(text="我是一个学生。", explain=False)


class ProgressAnswer(Message):
    state: Literal["waiting", "working", "gone"] = Field(
        description="gone: answered, given up, or never asked."
    )
    share: float | None = Field(description="Of the work that is done; null: it is not known.")
    seconds: float = Field(description="Since it was asked.")
    left: float | None = Field(description="Seconds that it will take still, about.")


class RecordAnswer(BaseModel):
    """An attention record: tokens of each side, and the weights between them, packed as bytes."""

    format: str = Field(examples=["regard.attention/1"])
    model: str
    output: str
    sides: dict[str, Any]
    maps: list[dict[str, Any]]
    model_config = ConfigDict(extra="allow")


class Story(Message):
    """A translation in which one word looks elsewhere, and becomes another word."""

    text: str
    prefix: str = Field(description="What was written before the word.")
    force: ForcedStep
    word: str
    read: str = Field(description="What of the text the word comes from.")
    instead: str = Field(description="What of the text it is made to look at.")


class ServedModel(Message):
    name: str
    task: str = Field(description="What it was trained for: translate, classify, tag, …")
    kind: str = Field(description="The family of the network, as recipes name it.")
    pictures: bool = Field(description="Whether a picture is all that it is asked about.")
    source: str = Field(description="The language it reads; empty if it is not known, or none.")
    target: str = Field(description="The language it writes; empty if it is not known, or none.")
    verb: str = Field(description="What it was trained to do, in words.")
    reads: str = Field(description="Its inputs, in words.")
    writes: str = Field(
        description="Its answers, in words; empty where they are none of its fields."
    )
    hint: str = Field(
        description="How several inputs are given in one text, or how Python asks about a sound; "
        "empty if there is one that can be typed."
    )
    examples: list[str] = Field(description="Texts to begin with, as /attention takes them.")
    story: Story | None = Field(description="A what-if that is worth a look, if one is known.")
    parameters: int
    device: str
    model_config = _example(
        name="zh-en",
        task="translate",
        kind="rnnsearch",
        pictures=False,
        source="zh",
        target="en",
        verb="translate",
        reads="a text",
        writes="a text",
        hint="",
        examples=["我是一个学生。"],
        story=None,
        parameters=3_800_312,
        device="cpu",
    )


class ModelsAnswer(Message):
    models: list[ServedModel] = Field(description="The first is asked where no name is given.")


class ServedCounts(Message):
    name: str
    sentences: int = Field(description="Translated or scored since the start.")
    batches: int = Field(description="Calls of the model for them.")
    looks: int = Field(description="Attention records made since the start.")


class HealthAnswer(Message):
    status: State = Field(
        description="ok: idle; busy: answering; overloaded, stopping: requests are refused; "
        "stuck: nothing was heard of the model for too long; failed: its last answers were failures."
    )
    version: str
    seconds: float = Field(description="Since the start.")
    waiting: int = Field(description="Sentences in the queue now.")
    load: float = Field(
        description="The long work that waits or runs, as a share of what may; near 1, more is refused."
    )
    models: list[ServedCounts]
