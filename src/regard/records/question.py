"""Everything that can be asked of a model, as plain data.

question = Question.from_dict({"text": "我是一个学生。", "beam": 5})
question.to_dict()["text"]
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from regard.suggestions import meant
from regard.words import t

LONGEST = 5_000  # characters of a text
LONGEST_DOCUMENT = (
    200_000  # … of one that is read sentence by sentence, or drawn in blocks of tokens
)
LONGEST_PICTURE = 1 << 24  # … in which there is a picture, data:image/png;base64,…
LONGEST_NAME = 200
PICTURE = re.compile(r"data:image/[a-z]{1,10};base64,[A-Za-z0-9+/]*={0,2}")
WIDEST = 50  # hypotheses of a beam
HEAVIEST = 1_000_000  # a weight that is given; only shares of the sum matter
MAPS = ("cross", "encoder", "decoder")  # whose heads can be switched off


class BadQuestion(ValueError):
    """What was asked cannot be answered, in one line."""

    status = 2  # a mistake of whoever asked
    hint = "regard look --help says what can be asked"


@dataclass(frozen=True)
class Force:
    """At target token `step` attend to these source tokens, whatever the model would do.

    weights: what each of the keys gets, as shares of their sum; None: all the same.
    layer, head: of which cross-attention, counted from 1; None: of all. Tokens are counted from 0.
    """

    step: int
    keys: tuple[int, ...]
    layer: int | None = None
    head: int | None = None
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("keys", "weights"):  # a list, a range, a row of numbers
            object.__setattr__(self, name, _as_tuple(getattr(self, name)))
        _check_whole("force.step", self.step, 0, LONGEST)
        if not isinstance(self.keys, tuple) or not 0 < len(self.keys) <= LONGEST:
            raise BadQuestion(
                t(
                    "force.keys must be a list of one source token or more, not {seen}",
                    seen=_seen(self.keys),
                )
            )
        for key in self.keys:
            _check_whole("each of force.keys", key, 0, LONGEST)
        if len(set(self.keys)) < len(self.keys):
            raise BadQuestion(
                t("force.keys names a source token twice: {keys}", keys=list(self.keys))
            )
        for name in ("layer", "head"):
            if getattr(self, name) is not None:
                _check_whole(f"force.{name}", getattr(self, name), 1, LONGEST)
        if self.weights is not None:
            self._check_weights(self.weights)

    def _check_weights(self, weights: object) -> None:
        if not isinstance(weights, tuple) or len(weights) != len(self.keys):
            raise BadQuestion(
                t(
                    "force.weights has one number for each of the {count} keys, not {seen}",
                    count=len(self.keys),
                    seen=_seen(weights),
                )
            )
        if not all(_is_share(weight) for weight in weights) or not sum(weights) > 0:
            raise BadQuestion(
                t(
                    "force.weights are numbers from 0 to {heaviest}, not all 0, given {seen}",
                    heaviest=f"{HEAVIEST:,}",
                    seen=_seen(weights),
                )
            )

    @property
    def shares(self) -> tuple[float, ...]:
        """What each of the keys gets; 1 together."""
        weights = self.weights or (1.0,) * len(self.keys)
        return tuple(weight / sum(weights) for weight in weights)

    @classmethod
    def from_dict(cls, given: object) -> Force:
        return cls(**_checked(cls, given, "force", needed=("step", "keys")))


@dataclass(frozen=True)
class HeadOff:
    """A head whose weights are 0 everywhere, so that it says nothing.

    map: cross, encoder or decoder. layer, head: counted from 1; head None: all of the layer.
    """

    layer: int
    head: int | None = None
    map: str = "cross"

    def __post_init__(self) -> None:
        _check_whole("off.layer", self.layer, 1, LONGEST)
        if self.head is not None:
            _check_whole("off.head", self.head, 1, LONGEST)
        if self.map not in MAPS:
            raise BadQuestion(
                t(
                    "off.map is one of {maps}, not {seen}",
                    maps=", ".join(MAPS),
                    seen=_seen(self.map),
                )
            )

    @classmethod
    def from_dict(cls, given: object) -> HeadOff:
        return cls(**_checked(cls, given, "head that is off", needed=("layer",)))


@dataclass(frozen=True)
class Foil:
    """Another answer, for “why this and not that”: a word of a translation, or a label.

    step: at which target token, counted from 0; None: where it was the likeliest to come instead.
    """

    text: str
    step: int | None = None

    def __post_init__(self) -> None:
        _check_text("foil.text", self.text)
        if not self.text.strip():
            raise BadQuestion(t("foil.text is the answer that was not given, and it is blank"))
        if self.step is not None:
            _check_whole("foil.step", self.step, 0, LONGEST)

    @classmethod
    def from_dict(cls, given: object) -> Foil:
        return cls(**_checked(cls, given, "foil", needed=("text",)))


@dataclass(frozen=True)
class Question:
    """A text, and what is to be done with it.

    The text is what a line of `regard predict` is: a text, an example in JSON, or a picture as
    data:image/png;base64,…, alone or in JSON. `tasks.text_look.asked_example` makes an example of it.
    """

    text: str
    prefix: str = ""  # what the translation must begin with
    beam: int | None = None  # None: as the run has it
    nbest: int | None = None  # hypotheses with a rank; None: the beam, at most 5
    target: str | None = None  # look at this translation instead of searching for one
    force: Force | None = None
    explain: bool = False  # also measure how far the weights explain the output
    details: bool = True  # also keep scores and values
    name: str = ""  # what a picture is called: digit.png
    off: tuple[HeadOff, ...] = ()  # heads that are switched off
    foil: Foil | None = None  # with explain: an answer that was not given

    def __post_init__(self) -> None:
        pictured = isinstance(self.text, str) and PICTURE.search(self.text) is not None
        _check_text("text", self.text, LONGEST_PICTURE if pictured else LONGEST_DOCUMENT)
        _check_text("name", self.name, LONGEST_NAME)
        _check_text("prefix", self.prefix)
        if self.prefix and not any(c.isprintable() and not c.isspace() for c in self.prefix):
            raise BadQuestion(t("prefix is what the output begins with, and nothing in it is seen"))
        if self.target is not None:
            _check_text("target", self.target)
        for name in ("beam", "nbest"):
            if getattr(self, name) is not None:
                _check_whole(name, getattr(self, name), 1, WIDEST)
        for name in ("explain", "details"):
            if not isinstance(getattr(self, name), bool):
                raise BadQuestion(
                    t(
                        "{name} is true or false, not {seen}",
                        name=name,
                        seen=_seen(getattr(self, name)),
                    )
                )
        if self.force is not None and not isinstance(self.force, Force):
            raise BadQuestion(t("force is {step, keys, …}, not {seen}", seen=_seen(self.force)))
        if self.foil is not None and not isinstance(self.foil, Foil):
            raise BadQuestion(t("foil is {text, step}, not {seen}", seen=_seen(self.foil)))
        if self.foil is not None and not self.explain:
            raise BadQuestion(
                t("a foil is what the measures of explanation contrast with: ask with explain")
            )
        object.__setattr__(self, "off", _as_tuple(self.off))
        if not isinstance(self.off, tuple) or not all(isinstance(o, HeadOff) for o in self.off):
            raise BadQuestion(
                t("off is a list of {layer, head, map}, not {seen}", seen=_seen(self.off))
            )
        if len(set(self.off)) < len(self.off):
            raise BadQuestion(t("off names a head twice"))
        if None not in (self.beam, self.nbest) and self.nbest > self.beam:  # type: ignore[operator]
            raise BadQuestion(
                t(
                    "nbest {nbest} needs a beam at least as wide, not beam {beam}",
                    nbest=self.nbest,
                    beam=self.beam,
                )
            )
        if self.target is not None and self.prefix:
            raise BadQuestion(t("a target is given whole: leave the prefix out, or the target"))

    @classmethod
    def from_dict(cls, given: object) -> Question:
        """Of what JSON gives; a key that there is not is refused."""
        values = _checked(cls, given, "question", needed=("text",))
        if values.get("force") is not None:
            values["force"] = Force.from_dict(values["force"])
        if values.get("foil") is not None:
            values["foil"] = Foil.from_dict(values["foil"])
        if isinstance(values.get("off"), list):
            values["off"] = [HeadOff.from_dict(each) for each in values["off"]]
        return cls(**values)

    @property
    def shows_picture(self) -> bool:
        """Whether it is about a picture, and perhaps about a text too."""
        return PICTURE.search(self.text) is not None

    @property
    def title(self) -> str:
        """The text; a picture in it by its name."""
        if PICTURE.fullmatch(self.text):
            return self.name or t("a picture")
        return PICTURE.sub(lambda _: self.name or "…", self.text)

    def check_length(self, longest: int = LONGEST) -> None:
        """Refuse a text that is too long for who is asked; a document may be longer than others."""
        _check_text("text", self.text, longest)

    def check_text_alone(self, what: str, longest: int = LONGEST) -> None:
        """Refuse what only a translation has. what: who is asked, "a classifier"."""
        self.check_length(longest)
        self._check_alone(what)

    def check_picture_alone(self, what: str) -> None:
        """The same for a model that is asked about a picture, or about an example with one in it."""
        _check_text("text", PICTURE.sub("", self.text))
        self._check_alone(what, about="a picture")

    def _check_alone(self, what: str, about: str = "a text") -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            if field.name in ("prefix", "beam", "nbest", "target", "force", "off") and given:
                raise BadQuestion(
                    t(
                        "{what} has no {name}: ask it about {about} alone",
                        what=what,
                        name=field.name,
                        about=about,
                    )
                )
        if not self.text.strip():
            raise BadQuestion(t("there is nothing to look at: the text is blank"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: `from_dict` makes the same question of them."""
        plain = asdict(self)
        plain["off"] = list(plain["off"])
        if self.force is not None:
            plain["force"]["keys"] = list(self.force.keys)
            if self.force.weights is not None:
                plain["force"]["weights"] = list(self.force.weights)
        return plain


def _checked(cls: type, given: object, what: str, needed: tuple[str, ...]) -> dict[str, Any]:
    """The values of a JSON object that has no unknown key and every needed one."""
    if not isinstance(given, Mapping):
        raise BadQuestion(t("a {what} is a JSON object, not {seen}", what=what, seen=_seen(given)))
    known = [field.name for field in fields(cls)]
    for key in given:
        if key not in known:
            raise BadQuestion(
                t(
                    "a {what} has no {key}.{meant} It has {known}",
                    what=what,
                    key=repr(key),
                    meant=meant(str(key), known),
                    known=", ".join(known),
                )
            )
    for key in needed:
        if key not in given:
            raise BadQuestion(
                t(
                    "a {what} needs {key}; given {value}",
                    what=what,
                    key=repr(key),
                    value=", ".join(given) or t("nothing"),
                )
            )
    return dict(given)


def _as_tuple(given: Any) -> Any:
    """A sequence of plain values as a tuple; anything else as it is, to be refused by who checks it."""
    if isinstance(given, (str, bytes, Mapping)):
        return given
    if hasattr(given, "tolist"):  # of numpy, of torch
        given = given.tolist()
    return tuple(given) if isinstance(given, Sequence) else given


def _check_text(name: str, text: object, longest: int = LONGEST) -> None:
    if not isinstance(text, str):
        raise BadQuestion(t("{name} is a text, not {seen}", name=name, seen=_seen(text)))
    if len(text) > longest:
        raise BadQuestion(
            t(
                "{name} has {count} characters: at most {longest} are looked at",
                name=name,
                count=f"{len(text):,}",
                longest=f"{longest:,}",
            )
        )


def _check_whole(name: str, number: object, least: int, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise BadQuestion(
            t(
                "{name} must be a whole number from {least} to {most}, not {seen}",
                name=name,
                least=least,
                most=f"{most:,}",
                seen=_seen(number),
            )
        )


def _is_share(weight: object) -> bool:
    number = isinstance(weight, int | float) and not isinstance(weight, bool)
    return number and 0 <= weight <= HEAVIEST  # type: ignore[operator]


def _seen(value: object) -> str:
    """A value in at most 40 characters; a tuple as the list that it is asked as."""
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 40 else f"{text[:39]}…"
