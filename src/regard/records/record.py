"""One record of what was attended to: everything the page, a file and a program need, as plain data.

    record = AttentionRecord.of(weights, queries=["I", "am"], keys=["我", "是"])
    record.to_json() == AttentionRecord.from_json(record.to_json()).to_json()

A record has sides (rows and columns are tokens of one of them) and maps (weights of layers × heads
× queries × keys). What each field means in JSON is said in docs/viewer/record.md; the format has a
name, and readers refuse one that they do not know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from regard.records.attention_map import AttentionMap
from regard.records.beam_tree import Beam
from regard.records.explanation import Explanation
from regard.records.json_text import json_text
from regard.records.kinds import named, number, text, texts
from regard.records.lens import Lens
from regard.records.levels import Levels
from regard.records.side import NotARecord, Side
from regard.records.sights import Sight, read_sight
from regard.words import t

FORMAT = "regard.attention/1"

Box = tuple[float, float, float, float]  # left, top, width, height, as shares of the picture
LONGEST = 40  # characters of a text in a line
Places = tuple[tuple[int, int], ...]  # in characters, from start up to end


def shorten(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _box(given: Sequence[Any]) -> Box:
    left, top, width, height = (number(each, "glimpses") for each in given)
    return left, top, width, height


def parsed(text: str) -> Any:
    """What a text of JSON says."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise NotARecord(t("this is no JSON: {error}", error=error)) from error
    except RecursionError:
        raise NotARecord(t("this is no record: its lists are nested too deeply")) from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise NotARecord(t("this is no record: a number in it is too long to be read")) from None


@dataclass(frozen=True, repr=False)
class AttentionRecord:
    """What one model attended to in one input."""

    sides: Mapping[str, Side]
    maps: tuple[AttentionMap, ...]
    title: str = ""
    model: str = ""  # which model: a run, a checkpoint, a class
    output: str = ""  # what came out, in words: the translation, the label
    notes: tuple[str, ...] = ()  # what a reader must know: what was left out, what was forced
    beam: Beam | None = None
    explanations: tuple[Explanation, ...] = ()
    glimpses: tuple[tuple[Box, ...], ...] = ()  # for each query of the first map, where it looked
    question: Mapping[str, Any] = field(default_factory=dict)  # what was asked, to ask it again
    levels: Levels | None = None  # of a document: its sentences, and the words of each
    sight: Sight | None = (
        None  # of a picture: glimpses, canvases or warps; there may be no maps then
    )
    answer_places: Mapping[str, Places] = field(default_factory=dict)  # in the texts of sides
    changes: tuple[str, ...] = ()  # what was given or forced, in a few words each
    lens: Lens | None = None  # what is predicted at each position, layer by layer
    command: str = ""  # what puts the model behind the page: "regard serve --hf FOLDER"
    steerable: str = (
        ""  # the map whose rows can be forced, of what only reads; "": the cross-attention
    )

    def __post_init__(self) -> None:
        for each in self.maps:
            for axis, name in ((2, each.queries), (3, each.keys)):
                if name not in self.sides:
                    raise NotARecord(
                        t(
                            "map {name} names a side {given} that there is not",
                            name=repr(each.name),
                            given=repr(name),
                        )
                    )
                if each.weights.shape[axis] != len(self.sides[name]):
                    raise NotARecord(
                        t(
                            "map {name} has {shape} {value}, but its side {given} has {count} tokens",
                            name=repr(each.name),
                            shape=each.weights.shape[axis],
                            value=t("queries") if axis == 2 else t("keys"),
                            given=repr(name),
                            count=len(self.sides[name]),
                        )
                    )
        if self.levels is not None:
            self.levels.check(self.sides)
        if self.lens is not None and self.lens.probabilities.shape[1] != len(
            self.sides.get(self.lens.side, ())
        ):
            raise NotARecord(f"the lens is over another number of tokens than {self.lens.side!r}")

    @classmethod
    def of(
        cls,
        weights: Any,
        queries: Sequence[object] | Side,
        keys: Sequence[object] | Side | None = None,
        *,
        title: str = "",
        model: str = "",
        mechanism: str = "",
        name: str = "attention",
    ) -> AttentionRecord:
        """Of any weights (Q, K), (H, Q, K) or (L, H, Q, K), and what the rows and columns stand for.

        keys None: the queries attend to each other.
        """
        numbers = np.asarray(weights, dtype=np.float32)
        if numbers.ndim not in (2, 3, 4):
            raise NotARecord(
                t(
                    "weights are (queries, keys), with heads and layers before them if there are "
                    "any; given {numbers_shape}",
                    numbers_shape=numbers.shape,
                )
            )
        numbers = numbers.reshape((1,) * (4 - numbers.ndim) + numbers.shape)
        rows = queries if isinstance(queries, Side) else Side.of_labels(queries, title="queries")
        sides, columns = {"queries": rows}, "queries"
        if keys is not None:
            columns = "keys"
            sides["keys"] = keys if isinstance(keys, Side) else Side.of_labels(keys, title="keys")
        said = text(mechanism, "mechanism")
        made = AttentionMap(text(name, "name"), "queries", columns, numbers, mechanism=said)
        return cls(sides, (made,), title=text(title, "title"), model=text(model, "model"))

    @property
    def name(self) -> str:
        """Its input, and what was changed: what stands over a picture of it."""
        return " · ".join(filter(None, (self.title, *self.changes)))

    def __repr__(self) -> str:
        """One line: what was read, what came of it, and the maps with their shapes."""
        told = [repr(shorten(self.name))] if self.name else []
        told += [f"→ {shorten(self.output)!r}"] if self.output else []
        told += [f"by {shorten(self.model)!r}"] if self.model else []
        told += [f"{each.name} {' × '.join(map(str, each.weights.shape))}" for each in self.maps]
        told += [f"{self.sight.kind} of a picture"] if self.sight is not None else []
        return f"<AttentionRecord {' · '.join(told) or 'of nothing'}>".replace(" · →", " →")

    def map(self, name: str | None = None) -> AttentionMap:
        """The map of that name; without one, the first."""
        for each in self.maps:
            if name is None or each.name == name:
                return each
        raise NotARecord(
            t(
                "no map {name} in this record: {maps}",
                name=repr(name),
                maps=", ".join(m.name for m in self.maps),
            )
        )

    def with_words(self, side: str, words: Sequence[int]) -> AttentionRecord:
        """With the tokens of a side as other words, corrected by hand: the number of each token's word."""
        if side not in self.sides:
            raise NotARecord(
                t(
                    "no side {side} in this record: {sides}",
                    side=repr(side),
                    sides=", ".join(self.sides),
                )
            )
        return replace(self, sides={**self.sides, side: self.sides[side].with_words(words)})

    def with_explanations(self, more: Sequence[Explanation]) -> AttentionRecord:
        return replace(self, explanations=(*self.explanations, *more))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; arrays as bytes in base64, see `regard.records.packed_arrays`."""
        return {
            "format": FORMAT,
            "title": self.title,
            "model": self.model,
            "output": self.output,
            "notes": list(self.notes),
            "sides": {name: side.to_dict() for name, side in self.sides.items()},
            "maps": [each.to_dict() for each in self.maps],
            "beam": None if self.beam is None else self.beam.to_dict(),
            "explanations": [each.to_dict() for each in self.explanations],
            "glimpses": [[list(box) for box in boxes] for boxes in self.glimpses],
            "question": dict(self.question),
            "levels": None if self.levels is None else self.levels.to_dict(),
            "sight": None if self.sight is None else self.sight.to_dict(),
            "answer_places": {
                name: [list(place) for place in places]
                for name, places in self.answer_places.items()
            },
            "changes": list(self.changes),
            "lens": None if self.lens is None else self.lens.to_dict(),
            "command": self.command,
            "steerable": self.steerable,
        }

    def to_json(self) -> str:
        """For people: numbers as numbers, a row of weights to a line; see `regard.records.json_text`."""
        return json_text(self.to_dict())

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> AttentionRecord:
        if given.get("format") != FORMAT:
            raise NotARecord(
                t(
                    "this is no record of the format {format}: it says {get}",
                    format=FORMAT,
                    get=repr(given.get("format")),
                )
            )
        try:
            made = cls(
                {name: Side.from_dict(side) for name, side in given["sides"].items()},
                tuple(AttentionMap.from_dict(each) for each in given["maps"]),
                text(given.get("title", ""), "title"),
                text(given.get("model", ""), "model"),
                text(given.get("output", ""), "output"),
                texts(given.get("notes", ()), "notes"),
                None if given.get("beam") is None else Beam.from_dict(given["beam"]),
                tuple(Explanation.from_dict(each) for each in given.get("explanations", ())),
                tuple(tuple(map(_box, boxes)) for boxes in given.get("glimpses", ())),
                named(given.get("question", {}), "question"),
                None if given.get("levels") is None else Levels.from_dict(given["levels"]),
                None if given.get("sight") is None else read_sight(given["sight"]),
                {
                    name: tuple((int(start), int(end)) for start, end in places)
                    for name, places in given.get("answer_places", {}).items()
                },
                texts(given.get("changes", ()), "changes"),
                None if given.get("lens") is None else Lens.from_dict(given["lens"]),
                text(given.get("command", ""), "command"),
                text(given.get("steerable", ""), "steerable"),
            )
            for each in made.explanations:
                each.check(made.maps)
            return made
        except NotARecord:
            raise
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            raise NotARecord(
                t("a part of the record is missing or of another kind: {error}", error=error)
            ) from error

    @classmethod
    def from_json(cls, text: str) -> AttentionRecord:
        given = parsed(text)
        if not isinstance(given, dict):
            raise NotARecord(t("a record is a JSON object, not {kind}", kind=type(given).__name__))
        return cls.from_dict(given)
