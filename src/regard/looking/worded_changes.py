"""What-ifs in words, as a command line has them: where to look, and what is switched off.

"store=图书馆"          where it writes "store", look at 图书馆
"5=11,12,13"           at token 5 of the output look at these tokens of the source, from 0
"store=图书馆:3,商店:1" … three quarters of the weight there
"store=图书馆@2.1"      … in layer 2, head 1 alone; "@2": in layer 2

"1.2,encoder.3"        head 2 of layer 1 of the cross-attention, and layer 3 of the encoder, are off
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from regard.records.question import MAPS, BadQuestion, Force, HeadOff, Question
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.words import t

FORCE = re.compile(r"(?P<step>.+?)=(?P<keys>.+?)(@(?P<layer>\d{1,4})(\.(?P<head>\d{1,4}))?)?", re.S)
KEY = re.compile(r"(?P<name>.+?)(:(?P<weight>\d+(\.\d+)?))?", re.S)
OFF = re.compile(rf"((?P<map>{'|'.join(MAPS)})\.)?(?P<layer>\d{{1,4}})(\.(?P<head>\d{{1,4}}))?")


@dataclass(frozen=True)
class NamedForce:
    """A step and the tokens that it has to look at, by their texts or numbers."""

    step: str
    keys: tuple[tuple[str, float | None], ...]  # names, and what each gets; None: all the same
    layer: int | None = None
    head: int | None = None

    @classmethod
    def of(cls, text: str) -> NamedForce:
        found = FORCE.fullmatch(text.strip())
        if found is None:
            raise BadQuestion(
                t(
                    "a force is written as step=keys, “store=图书馆” or “5=11,12,13”, and not {given}",
                    given=repr(text),
                )
            )
        keys = []
        for each in found["keys"].split(","):
            key = KEY.fullmatch(each.strip())
            if key is None:
                raise BadQuestion(
                    t("a token is missing between the commas of {given}", given=repr(found["keys"]))
                )
            keys.append((key["name"].strip(), float(key["weight"]) if key["weight"] else None))
        return cls(
            found["step"].strip(), tuple(keys), _number(found["layer"]), _number(found["head"])
        )

    def asked(self, question: Question, as_it_is: AttentionRecord) -> Question:
        """The question with this in it, so that what is written before the step stays as it was.

        as_it_is: what the model does without.
        """
        name = as_it_is.steerable or "cross"
        if all(each.name != name for each in as_it_is.maps):
            raise BadQuestion(
                t(
                    "nothing of {model} can be forced: it has no cross-attention",
                    model=as_it_is.model,
                )
            )
        attended = as_it_is.map(name)
        queries, keys = as_it_is.sides[attended.queries], as_it_is.sides[attended.keys]
        step = places_of(self.step, queries)[0]
        before = "" if as_it_is.steerable else _text_before(queries, step)
        force = Force(step, **self._shares(keys), layer=self.layer, head=self.head)
        return replace(question, force=force, prefix=max(question.prefix, before, key=len))

    def _shares(self, side: Side) -> dict[str, Any]:
        """The tokens of all keys; what a key gets is divided evenly among its tokens."""
        shares: dict[int, float] = {}
        for name, weight in self.keys:
            found = places_of(name, side)
            shares |= {place: (1.0 if weight is None else weight) / len(found) for place in found}
        given = any(weight is not None for _, weight in self.keys)
        return {"keys": tuple(shares), "weights": tuple(shares.values()) if given else None}


def asked_with(
    force: Force | NamedForce | None,
    question: Question,
    look: Callable[[Question], AttentionRecord],
) -> Question:
    """The question with a force in it; look: for one with names in it, which need their tokens."""
    if not isinstance(force, NamedForce):
        return replace(question, force=force)
    plain = replace(question, force=None, explain=False, foil=None, details=False)
    return force.asked(question, look(plain))


def heads_off(text: str) -> tuple[HeadOff, ...]:
    """ "1.2,encoder.3" -> head 2 of layer 1 of the cross-attention, layer 3 of the encoder."""
    found = [OFF.fullmatch(each.strip()) for each in text.split(",")]
    if not all(found):
        raise BadQuestion(
            t(
                "heads that are off are written as layer.head or map.layer.head, from 1: “1.2”, “1”, "
                "“encoder.2.3”, with commas between; given {given}",
                given=repr(text),
            )
        )
    return tuple(
        HeadOff(int(each["layer"]), _number(each["head"]), each["map"] or "cross")
        for each in found
        if each
    )


def places_of(wish: str, side: Side) -> tuple[int, ...]:
    """The tokens of a side that somebody calls so: the first of that text, the tokens of the first word
    or stretch of text, or the one of that number, from 0.
    """
    wish = wish.strip()
    for place, token in enumerate(side.tokens):
        if token.strip() == wish:
            return (place,)
    for word in dict.fromkeys(side.words):
        members = tuple(place for place, each in enumerate(side.words) if each == word)
        if side.text[side.offsets[members[0]][0] : side.offsets[members[-1]][1]].strip() == wish:
            return members
    if wish.isdecimal() and int(wish) < len(side):
        return (int(wish),)
    at = side.text.find(wish)
    inside = [p for p, (a, b) in enumerate(side.offsets) if a < at + len(wish) and b > at]
    if wish and at >= 0 and inside:
        return tuple(inside)
    raise BadQuestion(
        t("no {wish} among these tokens: {names}", wish=repr(wish), names=" ".join(side.tokens))
    )


def _text_before(side: Side, step: int) -> str:
    """What is written before the word of a step."""
    first = side.words.index(side.words[step])
    return side.text[: side.offsets[first][0]].rstrip()


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits)
