"""A model of somebody else that answers questions with records, as a run of regard does.

guest = GuestModel(model, tokenizer)
guest.look(Question("The cat sat."))
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.explanations.measured import measuring_work
from regard.hf.modules import Kind, transformers
from regard.looking.guests.guest_changes import changed
from regard.looking.guests.guest_description import guest_description
from regard.looking.guests.guest_input import GuestInput
from regard.looking.guests.guest_processors import GuestProcessors
from regard.looking.guests.guest_recorder import LENS_WORK, GuestRecorder
from regard.looking.guests.guest_sides import vision_config
from regard.looking.guests.guest_work import guest_work, heads_in
from regard.looking.guests.guest_writer import GuestWriter
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.tasks.task import Extent
from regard.words import t

_ONE_AT_A_TIME = (
    threading.RLock()
)  # functions of transformers are exchanged while a model is watched


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
            raise NotARecord(t("a {kind} is no model of transformers", kind=type(model).__name__))
        self.model = model
        self.processors = GuestProcessors(model, processor)
        self.name = name or type(model).__name__
        self.place = Path(self.name) if place is None else place
        self.command = command or "regard.look(model, tokenizer, …, live=True)"
        self.costs = guest_work(model)
        self.writer = GuestWriter(model, self.processors)
        self.recorder = GuestRecorder(model, self.processors, self.costs, self.name, self.command)

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
                    given, written = self.writer.written(inputs, question)
                with how():
                    seen = self.recorder.run(asked, given, written, question)
                return self.recorder.made(seen, question, forced, title, how)
        finally:
            self.model.train(training)

    def _check(self, question: Question) -> None:
        name = type(self.model).__name__
        if not self.writes:
            for field in ("target", "prefix"):
                if getattr(question, field):
                    raise BadQuestion(
                        t("{name} does not translate: leave {field} out", name=name, field=field)
                    )
            wants_more = question.beam is not None or question.nbest is not None
            if wants_more and not self.model.can_generate():
                raise BadQuestion(t("{name} writes nothing: leave beam and nbest out", name=name))

    def _forced_kind(self, kinds: Mapping[Kind, Any]) -> Kind:
        return next(kind for kind in ("cross", "decoder", "encoder") if kind in kinds)

    def _keys(self, inputs: Mapping[str, Tensor]) -> int:
        if "input_ids" in inputs:
            return int(inputs["input_ids"].shape[1])
        return 10**6

    def extent(self, question: Question) -> Extent:
        """In tokens and patches."""
        self._check(question)
        inputs = self.processors.prepare(GuestInput.of_question(question))
        source = int(inputs["input_ids"].shape[1]) if "input_ids" in inputs else 1
        if "pixel_values" in inputs:
            source = max(source, self._patch_count(inputs["pixel_values"]))
        target = self.writer.most(inputs) if self.writes else 1
        return Extent(source, target, question.beam or 1, question.explain)

    def work(self, look: Extent) -> float:
        target = look.target or 1
        once = self.costs.reading(look.source, target)
        layers = sum(len(each.layers) for each in heads_in(self.model).values())
        lens = min(layers * once, LENS_WORK)
        work = self.costs.reading(look.source, target, look.beam) + once + lens
        if look.explain:
            one = self.reads_pictures  # a label, or how alike a picture is to a text
            answers = target if self.writes else 1 if one else look.source
            work += len(self.processors.reads) * measuring_work(
                self.costs, look.source, answers, once
            )
        return work

    def numbers(self, look: Extent) -> int:
        return self.costs.numbers(look.source, look.target or 1, look.beam)

    def _patch_count(self, pixels: Tensor) -> int:
        size = getattr(vision_config(self.model), "patch_size", 16)
        high, wide = (size, size) if isinstance(size, int) else (int(size[-2]), int(size[-1]))
        return int(pixels.shape[-2] // high * (pixels.shape[-1] // wide)) + 1
