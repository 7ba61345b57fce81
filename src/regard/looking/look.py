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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from torch import nn

from regard.hf.attention_capture import Captured
from regard.looking.asked_models import of_guest, of_model, of_runs
from regard.looking.given_records import Kept, of_answers, of_outputs, of_picture, of_weights
from regard.looking.guests.guest_model import GuestModel
from regard.records.question import BadQuestion
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.runs.loaded_run import LoadedRun
from regard.suggestions import meant
from regard.tasks.classify.classify_module import Classification
from regard.tasks.prediction import Prediction
from regard.view.attention_view import View
from regard.view.picked_matrix import Pick
from regard.view.widget import Live
from regard.words import t

Records = Kept | tuple[tuple[AttentionRecord, ...], Live | None]
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
    found = maker(*what, **options)
    if isinstance(found, Kept):
        return View(found.records, pick, scored=found.scored)
    records, live = found
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
    """What makes records of these arguments."""
    first = what[0]
    if any(isinstance(each, LoadedRun) for each in what):
        return of_runs
    if isinstance(first, (AttentionRecord, Prediction, Classification, View, Path, str)):
        return of_answers
    if isinstance(first, nn.Module):
        return of_model
    if isinstance(first, GuestModel):
        return of_guest
    if isinstance(first, Captured) or hasattr(first, "to_tuple"):  # every output of transformers
        return of_outputs
    if hasattr(first, "shape") or isinstance(first, (list, tuple)):
        return of_picture if "image" in options else of_weights
    raise NotARecord(
        t("a {type} cannot be looked at: give {kinds}", type=type(first).__name__, kinds=_kinds())
    )


def _kinds() -> str:
    return t(
        "a record, a prediction, a run and a text, a Hugging Face model, its tokenizer and a text, what "
        "regard.hf.capture kept, or weights with labels"
    )


def _check_options(maker: Callable[..., Records], options: Mapping[str, Any]) -> None:
    parameters = inspect.signature(of_guest if maker is of_model else maker).parameters
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
