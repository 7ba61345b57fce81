"""`regard.look`: a view of anything that attends.

    regard.look(run, "我是一个学生。")                        # a run of regard, and a text
    regard.look(run, {"first": "…", "second": "…"})          # … and any example that it predicts
    regard.look(prediction)                                  # an answer that holds its attention
    regard.look(model, tokenizer, "The cat sat.")            # a Hugging Face model
    regard.look(model, tokenizer, ("The cat sat", "it was tired"))      # two texts that it reads together
    regard.look(model, processor, "cat.png")                 # … of pictures
    regard.look(captured, tokenizer=tokenizer, inputs=inputs)
    regard.look(weights, ["I", "am"], ["我", "是"])           # any weights and their labels
    regard.look(weights, words, image="dog.jpg", grid=(14, 14))
    regard.look("record.json")                               # what View.save wrote

Two or more records, runs or texts are compared.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from regard.data.fields import Image
from regard.data.picture_files import URI
from regard.hf.attention_capture import Captured
from regard.looking.guests.guest_input import GuestInput, guest_input
from regard.looking.guests.guest_model import GuestModel
from regard.looking.huggingface import (
    captured_record,
    numbered_record,
    outputs_as_captured,
)
from regard.looking.looker import Looker
from regard.looking.pictures import picture_record
from regard.looking.predictions import classification_record, prediction_record
from regard.looking.run_looker import RunLooker
from regard.records.png_image import PngImage
from regard.records.question import LONGEST_NAME, BadQuestion, Foil, Force, HeadOff, Question
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord, Side
from regard.runs.loaded_run import LoadedRun
from regard.suggestions import meant
from regard.tasks.answer import plain_value
from regard.tasks.classify.classify_module import Classification
from regard.tasks.prediction import Prediction
from regard.tasks.task_module import accepted
from regard.view.attention_view import View, read_records
from regard.view.picked_matrix import Pick
from regard.view.widget import Live
from regard.words import t

Records = tuple[tuple[AttentionRecord, ...], Live | None]
PICKS = ("map", "layer", "head", "heads", "tokens", "between")


def look(*what: Any, **options: Any) -> View:
    """A view of what attends to what: see the top of this file for what can be looked at.

    map, layer, head, heads, tokens, between: what is shown first, as in `View.picking`. Other options depend
    on what is looked at; one that it does not have is refused, and those that it has are named.
    """
    if not what:
        raise NotARecord(t("nothing to look at: give {kinds}", kinds=_kinds()))
    pick = Pick(**{name: options.pop(name) for name in PICKS if name in options})
    maker = _maker(what, options)
    _check_options(maker, options)
    records, live = maker(*what, **options)
    return View(records, pick, live, _scored(records, live))


def _scored(records: Sequence[AttentionRecord], live: Live | None) -> tuple[AttentionRecord, ...]:
    """Two that wrote different things of one text: each as it writes what the other wrote."""
    if live is None or len(records) != 2:
        return ()
    left, right = records
    same_text = left.question.get("text") == right.question.get("text")
    if (
        left.output == right.output
        or not same_text
        or not all("target" in r.sides for r in records)
    ):
        return ()
    found = []
    for record, output in ((right, left.output), (left, right.output)):
        given = {"prefix": "", "target": output, "explain": False, "details": False}
        with suppress(BadQuestion):  # a model that is given nothing, or cannot write it
            found.append(live.look({**record.question, **given, "model": record.model}))
    return tuple(found)


def _maker(what: Sequence[Any], options: Mapping[str, Any]) -> Callable[..., Records]:
    """Which function below makes records of these arguments."""
    first = what[0]
    if any(isinstance(each, LoadedRun) for each in what):
        return _of_runs
    if isinstance(first, (AttentionRecord, Prediction, Classification, View, Path, str)):
        return _of_answers
    if isinstance(first, nn.Module):
        return _of_model
    if isinstance(first, GuestModel):
        return _of_guest
    if isinstance(first, Captured) or hasattr(first, "to_tuple"):  # every output of transformers
        return _of_outputs
    if hasattr(first, "shape") or isinstance(first, (list, tuple)):
        return _of_picture if "image" in options else _of_weights
    raise NotARecord(
        t("a {type} cannot be looked at: give {kinds}", type=type(first).__name__, kinds=_kinds())
    )


def _kinds() -> str:
    return t(
        "a record, a prediction, a run and a text, a Hugging Face model, its tokenizer and a text, what "
        "regard.hf.capture kept, or weights with labels"
    )


def _of_answers(*what: Any, title: str = "", model: str = "") -> Records:
    records: list[AttentionRecord] = []
    for each in what:
        if isinstance(each, AttentionRecord):
            records.append(each)
        elif isinstance(each, View):
            records += each.records
        elif isinstance(each, Prediction):
            records.append(prediction_record(each, title=title, model=model))
        elif isinstance(each, Classification):
            records.append(classification_record(each, title=title, model=model))
        elif isinstance(each, (str, Path)):
            records += _saved(each)
        else:
            raise NotARecord(
                t("a {type} cannot be compared with a record", type=type(each).__name__)
            )
    return tuple(records), None


def _saved(path: str | Path) -> tuple[AttentionRecord, ...]:
    if isinstance(path, str) and not path.endswith(".json"):
        raise NotARecord(
            t(
                "a text alone shows nothing: say who reads it, regard.look(regard.load(), {text})",
                text=repr(path),
            )
        )
    try:
        return read_records(Path(path).read_text("utf-8"))
    except UnicodeDecodeError:
        raise NotARecord(t("{path} is no record: it is not UTF-8", path=path)) from None


def _of_runs(
    *what: Any,
    prefix: str = "",
    beam: int | None = None,
    nbest: int | None = None,
    target: str | None = None,
    explain: bool = False,
    details: bool = True,
    foil: str | None = None,
    foil_step: int | None = None,
) -> Records:
    """Every run with every text or example: two of either are compared. foil: an answer that was not given,
    instead of output token `foil_step`.
    """
    runs = [each for each in what if isinstance(each, LoadedRun)]
    asked = [each for each in what if not isinstance(each, LoadedRun)]
    if not asked:
        raise NotARecord(t("a run needs a text to look at: regard.look(run, '…')"))

    def question(run: LoadedRun, each: Any) -> Question:
        if isinstance(each, Question):
            return each
        text, name = asked_text(run, each)
        other = None if foil is None else Foil(foil, foil_step)
        wanted = explain or foil is not None
        return Question(text, prefix, beam, nbest, target, None, wanted, details, name, foil=other)

    lookers = [RunLooker(run, name) for run, name in zip(runs, told_apart(runs), strict=True)]
    records = tuple(each.look(question(each.run, one)) for one in asked for each in lookers)
    return records, answering(lookers)


def told_apart(runs: Sequence[LoadedRun]) -> list[str]:
    """The name of each run, with the folders before it where two would be called the same."""
    names = [run.name for run in runs]
    for depth in range(2, 1 + max(len(run.path.resolve().parts) for run in runs)):
        if len(set(names)) == len({run.path.resolve() for run in runs}):
            break
        twice = {name for name in names if names.count(name) > 1}
        names = [
            "/".join(run.path.resolve().parts[-depth:]) if name in twice else name
            for run, name in zip(runs, names, strict=True)
        ]
    return names


def asked_text(run: LoadedRun, example: Any) -> tuple[str, str]:
    """An example in one line, and what its picture is called: pictures are in it, as the run sees them."""
    pictured = [n for n in run.task.inputs if isinstance(run.task.fields[n], Image)]
    if not pictured:
        return example if isinstance(example, str) else example_text(run, example), ""
    given = run.task.of_line(example) if isinstance(example, str) else example
    values = run.task.named(given)
    names = [Path(v).name for n in pictured if isinstance(v := values[n], str | Path)]
    name = ", ".join(each for each in names if not each.startswith(URI))[:LONGEST_NAME]
    for field in pictured:
        seen = accepted(run.task.fields[field], values[field], t("the picture"), files=True)
        values[field] = PngImage.of(seen).source
    if len(values) == 1:
        return str(values[pictured[0]]), name
    return json.dumps(plain_value(values), ensure_ascii=False), name


def example_text(run: LoadedRun, example: Any) -> str:
    """An example, as `predict` takes it, in one line of JSON."""
    try:
        return json.dumps(plain_value(run.task.named(example)), ensure_ascii=False)
    except TypeError:
        raise NotARecord(
            t("a run is asked about a text, not about {type}", type=type(example).__name__)
        ) from None


def answering(lookers: Sequence[Looker]) -> Live:
    """What a page asks, answered by who it names, or by the first."""
    by_name = {each.name: each for each in lookers}

    def answer(payload: Mapping[str, Any]) -> AttentionRecord:
        asked = dict(payload)
        name = asked.pop("model", None)
        if name is not None and name not in by_name:
            raise NotARecord(
                t("no model {name}.{meant}", name=repr(name), meant=meant(str(name), by_name))
            )
        looker = lookers[0] if name is None else by_name[name]
        return looker.look(Question.from_dict(asked))

    shown = tuple(name for name, each in by_name.items() if each.pictures)
    return Live(tuple(by_name), answer, shown, tuple(lookers))


def _of_weights(
    weights: Any,
    queries: Sequence[object] | Side | None = None,
    keys: Sequence[object] | Side | None = None,
    *,
    title: str = "",
    model: str = "",
    mechanism: str = "",
) -> Records:
    numbers = _numbers(weights)
    if queries is None:
        queries = [str(n + 1) for n in range(numbers.shape[-2] if numbers.ndim > 1 else 0)]
        keys = [str(n + 1) for n in range(numbers.shape[-1])]
    record = AttentionRecord.of(
        numbers, queries, keys, title=title, model=model, mechanism=mechanism
    )
    return (record,), None


def _of_picture(
    weights: Any,
    words: Sequence[object] | Side,
    *,
    image: Any,
    grid: tuple[int, int] | None = None,
    glimpses: Sequence[Any] = (),
    title: str = "",
    model: str = "",
    mechanism: str = "",
) -> Records:
    record = picture_record(
        _numbers(weights),
        words,
        image,
        grid=grid,
        glimpses=glimpses,
        title=title,
        model=model,
        mechanism=mechanism,
    )
    return (record,), None


def _of_outputs(
    given: Any,
    *,
    tokenizer: Any = None,
    inputs: Any = None,
    outputs: Any = None,
    text: str | None = None,
    target: str | None = None,
    row: int = 0,
    title: str = "",
    model: str = "",
) -> Records:
    """What was captured, or what a model or `generate` returned."""
    captured = given if isinstance(given, Captured) else outputs_as_captured(given)
    if tokenizer is None and inputs is None:
        return (numbered_record(captured, row=row, title=title, model=model),), None
    if tokenizer is None or inputs is None:
        missing = "tokenizer" if tokenizer is None else "inputs"
        raise NotARecord(
            t("{missing} is missing: regard.look(…, tokenizer=…, inputs=…)", missing=missing)
        )
    record = captured_record(
        captured,
        tokenizer,
        inputs,
        outputs=given if outputs is None else outputs,
        text=text,
        target=target,
        row=row,
        title=title,
        model=model,
    )
    return (record,), None


def _of_model(model: Any, processor: Any = None, *examples: Any, **options: Any) -> Records:
    """A Hugging Face model, what prepares its inputs, and what it is asked about."""
    if not callable(processor) or not (examples or "image" in options):
        raise NotARecord(t("give a tokenizer and a text: regard.look(model, tokenizer, 'text')"))
    return _of_guest(GuestModel(model, processor), *examples, **options)


def _of_guest(
    guest: GuestModel,
    *examples: Any,
    image: Any = None,
    sampling_rate: int | None = None,
    prefix: str = "",
    target: str | None = None,
    beam: int | None = None,
    nbest: int | None = None,
    force: Force | None = None,
    off: Sequence[HeadOff] = (),
    explain: bool = False,
    foil: str | None = None,
    foil_step: int | None = None,
    details: bool = True,
    title: str = "",
) -> Records:
    """Texts, pairs (first, second), pictures or sounds; a list is several of them."""
    asked = [each for one in examples for each in (one if isinstance(one, list) else [one])]
    if not asked and image is not None:
        asked, image = [image], None
    if not asked:
        raise NotARecord(t("a model needs something to look at: a text, a picture, a sound"))
    other = None if foil is None else Foil(foil, foil_step)
    wishes = (prefix, beam, nbest, target, force, explain or foil is not None, details)

    def record(each: Any) -> AttentionRecord:
        if isinstance(each, Question):
            return guest.record(GuestInput.of_question(each), each, title=title)
        found = guest_input(each, image=image, rate=sampling_rate)
        return guest.record(found, Question("", *wishes, off=tuple(off), foil=other), title=title)

    return tuple(map(record, asked)), answering([guest])


def _numbers(weights: Any) -> Any:
    """An array of what torch, numpy or lists hold."""
    if hasattr(weights, "detach"):
        weights = weights.detach().float().cpu().numpy()
    try:
        return np.asarray(weights, np.float32)
    except ValueError as error:
        raise NotARecord(t("weights are rows of equally many numbers; these are not")) from error


def _check_options(maker: Callable[..., Records], options: Mapping[str, Any]) -> None:
    parameters = inspect.signature(_of_guest if maker is _of_model else maker).parameters
    named = {n: p for n, p in parameters.items() if p.kind is inspect.Parameter.KEYWORD_ONLY}
    for name in options:
        if name not in named:
            listed = ", ".join((*PICKS, *named))
            raise NotARecord(
                t(
                    "no option {name} here.{meant} There is {listed}",
                    name=repr(name),
                    meant=meant(name, named),
                    listed=listed,
                )
            )
    for name, each in named.items():
        if each.default is each.empty and name not in options:
            raise NotARecord(t("{name} is missing: regard.look(…, {name}={name})", name=name))
