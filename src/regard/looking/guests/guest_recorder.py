"""From a run of a model of somebody else to its record.

Legend: L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from regard.chances import chance_text, with_chance
from regard.explanations.model_work import ModelWork
from regard.hf.attention_capture import Captured, capture
from regard.hf.modules import Kind
from regard.looking.captured_maps import captured_maps
from regard.looking.guests.compared_towers import compares, sees, similarity, towers
from regard.looking.guests.generated_beam import Generated
from regard.looking.guests.guest_explanations import explain_guest, explain_similarity
from regard.looking.guests.guest_input import GuestInput
from regard.looking.guests.guest_processors import GuestProcessors
from regard.looking.guests.guest_sides import (
    frame_size,
    of_labels,
    pair_side,
    picture_side,
    sound_side,
    vision_config,
)
from regard.looking.guests.judged_place import judged_place
from regard.looking.guests.logit_lens import logit_lens, stack_of
from regard.looking.token_text import side_of_ids, token_name
from regard.records.attention_map import AttentionMap
from regard.records.beam_tree import Beam
from regard.records.explanation import Explanation
from regard.records.lens import Lens
from regard.records.maps import MOST_WEIGHTS, record_of
from regard.records.pooled_frames import pooled
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.records.what_ifs import change_notes, changes_of, forced_note
from regard.words import t

LENS_WORK = 3e11  # of all lines of a lens together: some seconds
LABEL = "label"  # the map from the answer of a classifier to its input
SIMILARITY = "similarity"  # of a text and a picture, and the maps from it, by what they read
SIMILAR = {"": SIMILARITY, "image": f"{SIMILARITY} image"}
ANSWERS = ("logits", "logits_per_image", "last_hidden_state")  # of outputs, where they are
Changed = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Seen:
    """What came of a run of the model."""

    asked: GuestInput
    inputs: dict[str, Tensor]  # what it was called with
    captured: Captured
    outputs: Any
    written: list[int] | None = None  # by a decoder, its start first
    beam: Beam | None = None
    added: str = ""  # what a decoder has written behind a text


class GuestRecorder:
    """costs: of the model. name, command: of its records."""

    def __init__(
        self, model: Any, processors: GuestProcessors, costs: ModelWork, name: str, command: str
    ) -> None:
        self.model, self.processors, self.costs = model, processors, costs
        self.name, self.command = name, command
        self.tokenizer = processors.tokenizer
        self.writes = bool(model.config.is_encoder_decoder)

    def run(
        self,
        asked: GuestInput,
        inputs: dict[str, Tensor],
        written: Generated | None,
        question: Question,
    ) -> Seen:
        try:
            with capture(self.model, vectors=question.details) as captured:
                outputs = self.model(**inputs)
        except ValueError:  # it has weights, but lets nobody see its queries and keys
            with capture(self.model) as captured:
                outputs = self.model(**inputs)
        if written is None:
            return Seen(asked, inputs, captured, outputs)
        ids = written.ids.tolist()
        if self.writes:
            return Seen(asked, inputs, captured, outputs, ids, written.beam)
        read = len(self.tokenizer(*asked.texts)["input_ids"])
        added = str(self.tokenizer.decode(ids[read:], skip_special_tokens=True))
        return Seen(asked, inputs, captured, outputs, None, written.beam, added)

    def made(
        self, seen: Seen, question: Question, forced: Kind, title: str, how: Changed
    ) -> AttentionRecord:
        """how: makes a run of the model one that is changed as the question wants it."""
        split = towers(seen.captured)
        maps: list[AttentionMap] = []
        sides: dict[str, Side] = {}
        notes: list[str] = []
        for name, captured in split.items():
            is_changed = question.force is not None or bool(question.off)
            found, said = captured_maps(captured, [0], 0, None, changed=is_changed)
            notes += said
            if name == "image":
                found = [replace(each, name="image") for each in found]
            else:
                sides |= self._sides(seen, found)
            placed = [self._placed(each, name, seen, sides) for each in found]
            maps += [each for each in placed if each is not None]
            notes += [t("the {map} attention is left out: it has too many weights", map=each.name)
                      for each, there in zip(found, placed, strict=True) if there is None]  # fmt: skip
        answer, label = self._answer(seen, forced, maps, sides)
        if label is not None:
            maps = [label, *maps] if seen.asked.picture else [*maps, label]
        alike = self._alike(seen, maps, sides)
        maps += alike.values()
        lens = self._lens(seen, forced, sides, how) if question.details else None
        why: tuple[Explanation, ...] = ()
        unreal = _unreal(seen)
        notes += unreal
        if question.explain and not unreal:
            why, unmeasured = self._explained(seen, question, sides)
            notes += unmeasured
        output = sides["target"].text if "target" in sides else seen.added or answer
        asking = sides.get("target") or _first(sides)
        read = sides.get("source") or _first(sides)
        text = seen.asked.text
        written = replace(question, text=text, name=seen.asked.name if seen.asked.picture else "")
        made = record_of(
            written,
            sides,
            maps,
            model=self.name,
            output=output or self._next(lens),
            notes=(
                *forced_note(question.force, asking, read),
                *change_notes(question),
                *notes,
            ),
            changes=changes_of(question, {"source": read, "target": asking}),
            beam=seen.beam,
            lens=lens,
            explanations=why,
            command=self.command,
            steerable=self._steerable(seen, forced),
        )
        return replace(
            made,
            title=title or seen.asked.title,
            question=made.question if text else {},
        )

    def _steerable(self, seen: Seen, forced: Kind) -> str:
        """The map whose rows can be given, of a model that reads texts and writes nothing."""
        alone = len(towers(seen.captured)) == 1 and self.processors.reads == ("text",)
        return forced if alone and not self.writes else ""

    def _sides(self, seen: Seen, maps: Sequence[AttentionMap]) -> dict[str, Side]:
        name = self._read_name
        lengths = {each.name: each.weights.shape[2:] for each in maps}
        read = lengths.get("encoder", next(iter(lengths.values())))[1]
        sides = {name: self._read_side(seen, name, int(read))}
        if seen.written is not None:
            after = seen.written[1:]
            target = side_of_ids(self.tokenizer, after, title="target")
            before = side_of_ids(self.tokenizer, seen.written[:-1], title="what was written before")
            sides |= {"target": target, "prefix": before}
        return sides

    @property
    def _read_name(self) -> str:
        """Of the side that is read."""
        if self.writes:
            return "source"
        (first, *_) = self.processors.reads
        return {"text": "text", "picture": "image", "sound": "sound"}[first]

    def _read_side(self, seen: Seen, name: str, length: int) -> Side:
        asked = seen.asked
        if asked.sound is not None:
            seconds = length * self._seconds(seen, length)
            return sound_side(seconds, length, frame_size(length), name)
        if asked.picture and "text" not in self.processors.reads:
            return self._patches(seen, length, name)
        ids = seen.inputs["input_ids"][0].tolist()
        if len(asked.texts) == 2:
            return pair_side(self.tokenizer, seen.inputs, asked.texts, name)
        text = asked.texts[0] if seen.beam is None or self.writes else None
        return side_of_ids(self.tokenizer, ids, text=text, title=name)

    def _seconds(self, seen: Seen, frames: int) -> float:
        """Of one frame of a sound."""
        samples = getattr(self.processors.sounds, "n_samples", None)
        if "input_features" not in seen.inputs or samples is None:
            assert seen.asked.sound is not None
            samples = len(seen.asked.sound) * self._rate(seen) / seen.asked.rate
        return float(samples) / self._rate(seen) / frames

    def _rate(self, seen: Seen) -> int:
        return int(getattr(self.processors.sounds, "sampling_rate", seen.asked.rate))

    def _patches(self, seen: Seen, length: int, title: str) -> Side:
        pixels = seen.inputs["pixel_values"].shape[-2:]
        return picture_side(seen.asked.picture, pixels, vision_config(self.model), length, title)

    def _placed(
        self, each: AttentionMap, tower: str, seen: Seen, sides: dict[str, Side]
    ) -> AttentionMap | None:
        """A map with the names of its sides; what is seen of a sound is put together."""
        if tower == "image":
            sides.setdefault("image", self._patches(seen, each.weights.shape[-1], "image"))
            return replace(each, queries="image", keys="image")
        read = self._read_name
        asking = "target" if seen.written is not None else read
        pair = {
            "encoder": (read, read),
            "decoder": (asking, "prefix" if self.writes else read),
            "cross": (asking, read),
        }[each.name]
        placed = replace(each, queries=pair[0], keys=pair[1])
        if seen.asked.sound is None:
            return placed
        if each.weights.size > MOST_WEIGHTS:
            return None
        frames = each.weights.shape[-1] if read in pair else 1
        return pooled(placed, frame_size(frames), queries=pair[0] == read, keys=pair[1] == read)

    def _answer(
        self, seen: Seen, kind: Kind, maps: Sequence[AttentionMap], sides: dict[str, Side]
    ) -> tuple[str, AttentionMap | None]:
        """The label of a classifier, and what the position that it was taken from looked at."""
        outputs = seen.outputs
        if compares(outputs):
            return t("similarity {n}", n=f"{float(similarity(outputs)[0]):.3f}"), None
        logits = getattr(outputs, "logits", None)
        if logits is None or logits.dim() != 2:
            return "", None
        chances = logits[0].float().softmax(-1)
        names = of_labels(self.model.config.id2label, len(chances))
        best = int(chances.argmax())
        said = with_chance(names[best], float(chances[best]))
        of = next((each for each in maps if each.name == kind), None)
        place = None if of is None else judged_place(self.model, seen.inputs, kind)
        if of is None or place is None:
            return said, None
        sides[LABEL] = Side.of_labels([names[best]], title=LABEL)
        return said, _row_of(of, place, LABEL, LABEL)

    def _alike(
        self, seen: Seen, maps: Sequence[AttentionMap], sides: dict[str, Side]
    ) -> dict[str, AttentionMap]:
        """By tower, what the position looked at that a similarity is taken from, where there is one."""
        found: dict[str, AttentionMap] = {}
        if not compares(seen.outputs):
            return found
        for tower, own in towers(seen.captured).items():
            place = self._tower_place(seen, tower)
            name = tower or own.layers[0].kind
            of = next((each for each in maps if each.name == name), None)
            if place is not None and of is not None:
                sides[SIMILARITY] = Side.of_labels([t("similarity")], title=SIMILARITY)
                found[tower] = _row_of(of, place, SIMILAR[tower], SIMILARITY)
        return found

    def _tower_place(self, seen: Seen, tower: str) -> int | None:
        kind = towers(seen.captured)[tower].layers[0].kind

        def own(name: str) -> bool:
            return sees(name) == (tower == "image")

        return judged_place(self.model, seen.inputs, kind, own=own, answer=similarity)

    def _lens(self, seen: Seen, kind: Kind, sides: Mapping[str, Side], how: Changed) -> Lens | None:
        stack: Kind = "decoder" if kind == "cross" else kind
        if seen.asked.picture or getattr(seen.outputs, "logits", None) is None:
            return None
        side = "target" if seen.written is not None else "text"
        if side not in sides or seen.outputs.logits.dim() != 3:
            return None
        said = self._said
        tokens = seen.outputs.logits.shape[1]
        whole = self.costs.reading(tokens, tokens) * len(stack_of(self.model, stack))
        layers = whole <= LENS_WORK

        def run() -> Any:
            with how():
                return self.model(**seen.inputs)

        return logit_lens(self.model, run, stack, side, said, layers=layers)

    def _said(self, number: int) -> str:
        """What an answer at one position is called: a token, or a label."""
        if self.model.get_output_embeddings() is not None:
            return token_name(self.tokenizer, number)
        return str(self.model.config.id2label.get(number, number))

    def _next(self, lens: Lens | None) -> str:
        """What comes after a text, in the words of a model that writes on."""
        if lens is None or not self.model.can_generate():
            return ""
        chance = chance_text(float(lens.probabilities[-1, -1, 0]))
        return t("next: {token} ({chance})", token=lens.tokens[-1][-1][0], chance=chance)

    def _explained(
        self, seen: Seen, question: Question, sides: Mapping[str, Side]
    ) -> tuple[tuple[Explanation, ...], tuple[str, ...]]:
        split = towers(seen.captured)
        if compares(seen.outputs):
            return self._similarity_explained(seen, question, sides)
        if len(split) > 1:
            return (), (
                t("how far the weights explain this output is not measured for this model"),
            )
        read = sides.get("source") or _first(sides)
        foils: list[int] = []
        if (foil := question.foil) is not None:
            foils = self._answers_called(foil.text)
        return explain_guest(
            self.model,
            seen.inputs,
            self.costs,
            said=None if seen.written is None else seen.written[1:],
            read=read,
            name=self._said,
            foil=foil,
            foils=foils,
            mask_token=getattr(self.tokenizer, "mask_token_id", None),
            label=LABEL,
            size=1 if seen.asked.sound is None else frame_size(self._frames(seen)),
        )

    def _frames(self, seen: Seen) -> int:
        """Of a sound, as attention to it has them."""
        kinds = {layer.kind for layer in seen.captured.layers}
        return int(seen.captured.weights("cross" if "cross" in kinds else "encoder").shape[-1])

    def _similarity_explained(
        self, seen: Seen, question: Question, sides: Mapping[str, Side]
    ) -> tuple[tuple[Explanation, ...], tuple[str, ...]]:
        if question.foil is not None:
            raise BadQuestion(
                t(
                    "a model that compares a text and a picture gives no other answer: leave foil out"
                )
            )
        split = towers(seen.captured)
        found = {tower: self._tower_place(seen, tower) for tower in split}
        return explain_similarity(
            self.model,
            seen.inputs,
            self.costs,
            {tower: place for tower, place in found.items() if place is not None},
            {"": _first(sides), "image": sides["image"]},
            {tower: (SIMILAR[tower], tower or own.layers[0].kind) for tower, own in split.items()},
        )

    def _answers_called(self, text: str) -> list[int]:
        """The numbers of answers that are written so: a label, or the first token of a word."""
        if self.model.get_output_embeddings() is None:
            labels = self.model.config.id2label
            return [int(number) for number, label in labels.items() if str(label) == text.strip()]
        cut = (self.tokenizer(each, add_special_tokens=False) for each in (text, f" {text}"))
        ids = [each["input_ids"][:1] for each in cut]
        unknown = self.tokenizer.unk_token_id
        return list(dict.fromkeys(each[0] for each in ids if each and each[0] != unknown))


def _unreal(seen: Seen) -> tuple[str, ...]:
    """A line where numbers of the model are none: nothing that is drawn of them means anything."""
    found = [getattr(seen.outputs, name, None) for name in ANSWERS]
    weights = [each.weights for each in seen.captured.layers]
    there = [each for each in (*found, *weights) if isinstance(each, Tensor)]
    if not any(bool(each.isnan().any()) for each in there):
        return ()
    return (
        t("the model computes NaN, which is no number: its answers and weights mean nothing here"),
    )


def _row_of(of: AttentionMap, place: int, name: str, queries: str) -> AttentionMap:
    """What one position looks at, as a map of its own."""
    row = slice(place, place + 1)
    cut: dict[str, Any] = {
        part: None if (whole := getattr(of, part)) is None else whole[:, :, row]
        for part in ("allowed", "scores", "query_vectors")
    }
    shown = (len(of.weights) - 1, "mean")
    return replace(
        of, name=name, queries=queries, weights=of.weights[:, :, row], shown=shown, **cut
    )


def _first(sides: Mapping[str, Side]) -> Side:
    return next(iter(sides.values()))
