"""Records of models that are asked, runs and models of others; and who answers what the page asks next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from regard.explanations.work_done import WorkDone, listening
from regard.looking.asked_examples import asked_text
from regard.looking.guests.guest_input import GuestInput, guest_input
from regard.looking.guests.guest_model import GuestModel
from regard.looking.looker import Looker
from regard.looking.run_looker import RunLooker
from regard.looking.worded_changes import NamedForce, asked_with, heads_off
from regard.records.question import Foil, Force, HeadOff, Question
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.runs.loaded_run import LoadedRun
from regard.suggestions import meant
from regard.time_left import TimeLeft
from regard.view.widget import Live
from regard.words import t

Asked = tuple[tuple[AttentionRecord, ...], Live]
Forced = Force | Mapping[str, Any] | str
OneOff = HeadOff | Mapping[str, Any]
HeadsOff = OneOff | Sequence[OneOff] | str


def of_runs(
    *what: Any,
    prefix: str = "",
    beam: int | None = None,
    nbest: int | None = None,
    target: str | None = None,
    force: Forced | None = None,
    off: HeadsOff = (),
    explain: bool = False,
    details: bool = True,
    foil: str | None = None,
    foil_step: int | None = None,
) -> Asked:
    """Every run with every text or example: two of either are compared. foil: an answer that was not given,
    instead of output token `foil_step`. force, off: objects, plain values as JSON has them, or in words as
    `regard.looking.worded_changes` reads them.
    """
    runs = [each for each in what if isinstance(each, LoadedRun)]
    asked = [each for each in what if not isinstance(each, LoadedRun)]
    if not asked:
        raise NotARecord(t("a run needs a text to look at: regard.look(run, '…')"))
    wishes = _wishes(
        prefix=prefix,
        beam=beam,
        nbest=nbest,
        target=target,
        off=off,
        explain=explain,
        details=details,
        foil=foil,
        foil_step=foil_step,
    )
    forced = _forced(force)

    def look(looker: RunLooker, each: Any) -> AttentionRecord:
        if isinstance(each, Question):
            return looker.look(each)
        text, name = asked_text(looker.run, each)
        question = replace(wishes, text=text, name=name)
        return looker.look(asked_with(forced, question, looker.look))

    lookers = [RunLooker(run, name) for run, name in zip(runs, told_apart(runs), strict=True)]
    with _time_told():
        records = tuple(look(each, one) for one in asked for each in lookers)
    return records, answering(lookers)


def of_model(model: Any, processor: Any = None, *examples: Any, **options: Any) -> Asked:
    """A Hugging Face model, what prepares its inputs, and what it is asked about."""
    if not callable(processor) or not (examples or "image" in options):
        raise NotARecord(t("give a tokenizer and a text: regard.look(model, tokenizer, 'text')"))
    return of_guest(GuestModel(model, processor), *examples, **options)


def of_guest(
    guest: GuestModel,
    *examples: Any,
    image: Any = None,
    sampling_rate: int | None = None,
    prefix: str = "",
    target: str | None = None,
    beam: int | None = None,
    nbest: int | None = None,
    force: Forced | None = None,
    off: HeadsOff = (),
    explain: bool = False,
    foil: str | None = None,
    foil_step: int | None = None,
    details: bool = True,
    title: str = "",
) -> Asked:
    """Texts, pairs (first, second), pictures or sounds; a list is several of them."""
    asked = [each for one in examples for each in (one if isinstance(one, list) else [one])]
    if not asked and image is not None:
        asked, image = [image], None
    if not asked:
        raise NotARecord(t("a model needs something to look at: a text, a picture, a sound"))
    wishes = _wishes(
        prefix=prefix,
        beam=beam,
        nbest=nbest,
        target=target,
        off=off,
        explain=explain,
        details=details,
        foil=foil,
        foil_step=foil_step,
    )
    forced = _forced(force)

    def record(each: Any) -> AttentionRecord:
        if isinstance(each, Question):
            return guest.record(GuestInput.of_question(each), each, title=title)
        found = guest_input(each, image=image, rate=sampling_rate)

        def look(question: Question) -> AttentionRecord:
            return guest.record(found, question, title=title)

        return look(asked_with(forced, wishes, look))

    with _time_told():
        records = tuple(map(record, asked))
    return records, answering([guest])


def _wishes(
    *,
    off: HeadsOff,
    explain: bool,
    foil: str | None,
    foil_step: int | None,
    **asked: Any,
) -> Question:
    """What is asked of every text, but for what is forced."""
    if isinstance(off, str):
        off = heads_off(off)
    heads = off if isinstance(off, Sequence) else [off]
    return Question(
        "",
        off=tuple(each if isinstance(each, HeadOff) else HeadOff.from_dict(each) for each in heads),
        explain=explain or foil is not None,
        foil=None if foil is None else Foil(foil, foil_step),
        **asked,
    )


def _forced(force: Forced | None) -> Force | NamedForce | None:
    if isinstance(force, str):
        return NamedForce.of(force)
    return force if force is None or isinstance(force, Force) else Force.from_dict(force)


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


@contextmanager
def _time_told() -> Iterator[None]:
    """What takes more than a second says how far it is."""
    with TimeLeft(t("measured")) as shown:
        done = WorkDone(told=lambda: shown.see(done.share or 0.0, 1.0))
        with listening(done):
            yield
