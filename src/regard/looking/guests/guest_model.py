"""A model of somebody else that answers questions with records, as a run of regard does.

    guest = GuestModel(model, tokenizer)
    guest.look(Question("The cat sat."))

Legend: L layers, H heads, Q queries, K keys, T tokens that were written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.explanations.measured import measuring_work
from regard.hf.attention_capture import Captured, CapturedLayer, capture
from regard.hf.modules import Kind, transformers
from regard.looking.captured_maps import captured_maps
from regard.looking.guests.generated_beam import Generated, generated, plainly_generated
from regard.looking.guests.guest_changes import changed, forced_line
from regard.looking.guests.guest_description import guest_description
from regard.looking.guests.guest_explanations import explain_guest
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
from regard.looking.guests.guest_work import guest_work, heads_in
from regard.looking.guests.judged_place import judged_place
from regard.looking.guests.logit_lens import logit_lens, stack_of
from regard.looking.token_text import side_of_ids, token_name
from regard.records.maps import MOST_WEIGHTS, record_of
from regard.records.pooled_frames import pooled
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionMap, AttentionRecord, Beam, Explanation, Lens
from regard.records.side import NotARecord, Side
from regard.records.what_ifs import change_notes, changes_of
from regard.tasks.task import Extent
from regard.words import t

EXTRA = 20  # tokens that may be written beyond twice the source, or behind a text
LENS_WORK = 3e11  # of all lines of a lens together: some seconds
Changed = Callable[[], AbstractContextManager[None]]
LABEL = "label"  # the map from the answer of a classifier to its input
_ONE_AT_A_TIME = (
    threading.RLock()
)  # functions of transformers are exchanged while a model is watched


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


class GuestModel:
    """processor: a tokenizer, an image processor, or one that is both. command: what starts a live page.

    place: the folder that it was read from.
    """

    def __init__(
        self,
        model: Any,
        processor: Any,
        *,
        name: str = "",
        command: str = "",
        place: Path | None = None,
    ) -> None:
        if not isinstance(model, transformers().PreTrainedModel):
            raise NotARecord(f"a {type(model).__name__} is no model of transformers")
        self.model = model
        self.processors = GuestProcessors(model, processor)
        self.tokenizer = self.processors.tokenizer
        self.name = name or type(model).__name__
        self.place = Path(self.name) if place is None else place
        self.command = command or "regard.look(model, tokenizer, …, live=True)"
        self.costs = guest_work(model)

    @property
    def writes(self) -> bool:
        """Whether a decoder writes what comes of an input."""
        return bool(self.model.config.is_encoder_decoder)

    @property
    def pictures(self) -> bool:
        return self.processors.reads == ("picture",)

    @property
    def reads_pictures(self) -> bool:
        return "picture" in self.processors.reads

    @property
    def searches(self) -> bool:
        return self.writes and bool(self.model.can_generate())

    @property
    def reads_documents(self) -> bool:
        return False

    @property
    def module(self) -> nn.Module:
        module: nn.Module = self.model
        return module

    def with_module(self, module: nn.Module) -> GuestModel:
        return GuestModel(
            module, self.processors.whole, name=self.name, command=self.command, place=self.place
        )

    def called(self, name: str) -> GuestModel:
        """The same by another name."""
        return GuestModel(
            self.model, self.processors.whole, name=name, command=self.command, place=self.place
        )

    def about(self) -> dict[str, Any]:
        return guest_description(self.model, self.processors)

    def look(self, question: Question) -> AttentionRecord:
        return self.record(GuestInput.of_question(question), question)

    def record(self, asked: GuestInput, question: Question, *, title: str = "") -> AttentionRecord:
        """What the model attends to. The question says what is wanted beside the input."""
        self._check(question)
        inputs = self.processors.prepare(asked)
        training = self.model.training
        self.model.eval()
        try:
            with _ONE_AT_A_TIME, torch.no_grad():
                kinds = heads_in(self.model)
                forced = self._forced_kind(kinds)
                keys = self._keys(inputs)
                how = partial(changed, self.model, question, kinds, forced, keys)
                with how():
                    given, written = self._written(inputs, question)
                with how():
                    seen = self._run(asked, given, written, question)
                return self._made(seen, question, forced, title, how)
        finally:
            self.model.train(training)

    def _check(self, question: Question) -> None:
        name = type(self.model).__name__
        if not self.writes:
            for field in ("target", "prefix"):
                if getattr(question, field):
                    raise BadQuestion(f"{name} does not translate: leave {field} out")
            wants_more = question.beam is not None or question.nbest is not None
            if wants_more and not self.model.can_generate():
                raise BadQuestion(f"{name} writes nothing: leave beam and nbest out")

    # what it writes

    def _written(
        self, inputs: dict[str, Tensor], question: Question
    ) -> tuple[dict[str, Tensor], Generated | None]:
        """The inputs with those of the decoder, and what was written."""
        if not self.writes:
            if question.beam is None and question.nbest is None:
                return inputs, None
            return self._continued(inputs, question)
        if question.target is not None or not self.model.can_generate():
            return self._with_target(inputs, question.target)
        start = self._start
        prompt = {}
        if question.prefix:
            begun = self.tokenizer(text_target=question.prefix, add_special_tokens=False)
            prompt["decoder_input_ids"] = torch.tensor(
                [[start, *begun["input_ids"]]], device=self.model.device
            )
        most = self._most(inputs)
        if type(self.model).generate is not transformers().GenerationMixin.generate:
            found = plainly_generated(self.model, {**inputs, **prompt}, most)
        else:
            found = generated(
                self.model,
                self.tokenizer,
                {**inputs, **prompt},
                most=most,
                beam=question.beam,
                nbest=question.nbest,
                weights_of="cross",
                keys="source",
            )
        ids = found.ids
        if int(ids[0]) != start:
            ids = torch.cat([ids.new_tensor([start]), ids])
        if len(ids) < 2:
            raise NotARecord("the model writes nothing for this input")
        return {**inputs, "decoder_input_ids": ids[None, :-1]}, found._replace(ids=ids)

    def _continued(
        self, inputs: dict[str, Tensor], question: Question
    ) -> tuple[dict[str, Tensor], Generated]:
        """A decoder that writes on: what it wrote is a part of the text that is looked at."""
        most = EXTRA
        if (longest := self.processors.longest) is not None:
            most = max(1, min(most, longest - inputs["input_ids"].shape[1]))
        found = generated(
            self.model,
            self.tokenizer,
            inputs,
            most=most,
            beam=question.beam,
            nbest=question.nbest,
            weights_of="decoder",
            keys="text",
        )
        whole = found.ids[None]
        if whole.shape[1] < inputs["input_ids"].shape[1]:
            whole = inputs["input_ids"]
        return {"input_ids": whole, "attention_mask": torch.ones_like(whole)}, found

    def _with_target(
        self, inputs: dict[str, Tensor], target: str | None
    ) -> tuple[dict[str, Tensor], Generated]:
        device = self.model.device
        if target is None:  # no head writes: it reads its source once more, as it was trained to
            if "input_ids" not in inputs:
                raise NotARecord(f"{type(self.model).__name__} writes nothing: give a target")
            labels = inputs["input_ids"][0].tolist()
        else:
            labels = self.tokenizer(text_target=target)["input_ids"]
        ids = labels if labels[:1] == [self._start] else [self._start, *labels]
        whole = torch.tensor(ids, device=device)
        return {**inputs, "decoder_input_ids": whole[None, :-1]}, Generated(whole, None)

    @property
    def _start(self) -> int:
        said = (
            self.model.config.decoder_start_token_id,
            getattr(self.model.generation_config, "decoder_start_token_id", None)
            if self.model.can_generate()
            else None,
            self.model.config.bos_token_id,
        )
        return next((int(each) for each in said if each is not None), 0)

    def _most(self, inputs: Mapping[str, Tensor]) -> int:
        """Tokens that are written at most."""
        config = self.model.config
        names = ("max_target_positions", "max_position_embeddings")
        said = (getattr(config, name, None) for name in names)
        longest = min((int(each) for each in said if each), default=10**6)
        source = inputs["input_ids"].shape[1] if "input_ids" in inputs else 2 * EXTRA
        return min(2 * source + EXTRA, longest - 1)

    # what is seen of it

    def _run(
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

    def _made(
        self, seen: Seen, question: Question, forced: Kind, title: str, how: Changed
    ) -> AttentionRecord:
        """how: makes a run of the model one that is changed as the question wants it."""
        towers = _towers(seen.captured)
        maps: list[AttentionMap] = []
        sides: dict[str, Side] = {}
        notes: list[str] = []
        for name, captured in towers.items():
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
        lens = self._lens(seen, forced, sides, how) if question.details else None
        why: tuple[Explanation, ...] = ()
        if question.explain:
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
            notes=(*forced_line(question.force, asking, read), *change_notes(question), *notes),
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
        alone = len(_towers(seen.captured)) == 1 and self.processors.reads == ("text",)
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
        alike = getattr(outputs, "logits_per_image", None)
        if alike is not None and getattr(outputs, "image_embeds", None) is not None:
            both = [getattr(outputs, name).float() for name in ("image_embeds", "text_embeds")]
            return t("similarity {n}", n=f"{float(torch.cosine_similarity(*both)[0]):.3f}"), None
        logits = getattr(outputs, "logits", None)
        if logits is None or logits.dim() != 2:
            return "", None
        chances = logits[0].float().softmax(-1)
        names = of_labels(self.model.config.id2label, len(chances))
        best = int(chances.argmax())
        said = f"{names[best]} ({float(chances[best]):.2f})"
        of = next((each for each in maps if each.name == kind), None)
        place = None if of is None else judged_place(self.model, seen.inputs, kind)
        if of is None or place is None:
            return said, None
        sides[LABEL] = Side.of_labels([names[best]], title=LABEL)
        row = slice(place, place + 1)
        allowed = None if of.allowed is None else of.allowed[:, :, row]
        cut: dict[str, Any] = {
            name: None if (whole := getattr(of, name)) is None else whole[:, :, row]
            for name in ("scores", "query_vectors")
        }
        label = replace(
            of,
            name=LABEL,
            queries=LABEL,
            weights=of.weights[:, :, row],
            allowed=allowed,
            shown=(len(of.weights) - 1, "mean"),
            **cut,
        )
        return said, label

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
        chance = f"{float(lens.probabilities[-1, -1, 0]):.2f}"
        return t("next: {token} ({chance})", token=lens.tokens[-1][-1][0], chance=chance)

    def _explained(
        self, seen: Seen, question: Question, sides: Mapping[str, Side]
    ) -> tuple[tuple[Explanation, ...], tuple[str, ...]]:
        if len(_towers(seen.captured)) > 1 or seen.asked.sound is not None:
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

    def _forced_kind(self, kinds: Mapping[Kind, Any]) -> Kind:
        return next(kind for kind in ("cross", "decoder", "encoder") if kind in kinds)

    def _keys(self, inputs: Mapping[str, Tensor]) -> int:
        if "input_ids" in inputs:
            return int(inputs["input_ids"].shape[1])
        return 10**6

    # what it costs

    def extent(self, question: Question) -> Extent:
        """In tokens and patches."""
        self._check(question)
        inputs = self.processors.prepare(GuestInput.of_question(question))
        source = int(inputs["input_ids"].shape[1]) if "input_ids" in inputs else 1
        if "pixel_values" in inputs:
            source = max(source, self._patch_count(inputs["pixel_values"]))
        target = self._most(inputs) if self.writes else 1
        return Extent(source, target, question.beam or 1, question.explain)

    def work(self, look: Extent) -> float:
        target = look.target or 1
        once = self.costs.reading(look.source, target)
        layers = sum(len(each.layers) for each in heads_in(self.model).values())
        lens = min(layers * once, LENS_WORK)
        work = self.costs.reading(look.source, target, look.beam) + once + lens
        if look.explain:
            answers = target if self.writes else look.source
            work += measuring_work(self.costs, look.source, answers, once)
        return work

    def numbers(self, look: Extent) -> int:
        return self.costs.numbers(look.source, look.target or 1, look.beam)

    def _patch_count(self, pixels: Tensor) -> int:
        size = getattr(vision_config(self.model), "patch_size", 16)
        high, wide = (size, size) if isinstance(size, int) else (int(size[-2]), int(size[-1]))
        return int(pixels.shape[-2] // high * (pixels.shape[-1] // wide)) + 1


def _towers(captured: Captured) -> dict[str, Captured]:
    """What reads pictures beside what reads texts, where a model has both: "image" and ""."""

    def sees(layer: CapturedLayer) -> bool:
        return any(mark in layer.name for mark in ("vision", "visual"))

    split = {"": [each for each in captured.layers if not sees(each)]}
    split["image"] = [each for each in captured.layers if sees(each)]
    if not split[""]:  # of pictures alone
        split = {"": split["image"]}
    return {name: Captured(layers, captured._calls) for name, layers in split.items() if layers}


def _first(sides: Mapping[str, Side]) -> Side:
    return next(iter(sides.values()))
