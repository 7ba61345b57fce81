"""What a model of somebody else writes: by a search, or as it was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from regard.hf.modules import transformers
from regard.looking.guests.generated_beam import Generated, generated, plainly_generated
from regard.looking.guests.guest_processors import GuestProcessors
from regard.records.question import BadQuestion, Question
from regard.records.side import NotARecord
from regard.words import t

EXTRA = 20  # tokens that may be written beyond twice the source, or behind a text


class GuestWriter:
    """The decoder of a model, whether it has a source or writes on."""

    def __init__(self, model: Any, processors: GuestProcessors) -> None:
        self.model, self.processors = model, processors
        self.tokenizer = processors.tokenizer

    @property
    def has_source(self) -> bool:
        """Whether it writes what comes of an input, and not behind it."""
        return bool(self.model.config.is_encoder_decoder)

    def written(
        self, inputs: dict[str, Tensor], question: Question
    ) -> tuple[dict[str, Tensor], Generated | None]:
        """The inputs with those of the decoder, and what was written."""
        if not self.has_source:
            if question.beam is None and question.nbest is None:
                return inputs, None
            return self._continued(inputs, question)
        if question.target is not None or not self.model.can_generate():
            return self._with_target(inputs, question.target)
        start = self._start
        prompt, most = {}, self.most(inputs)
        if question.prefix:
            begun = self.tokenizer(text_target=question.prefix, add_special_tokens=False)
            ids = [start, *begun["input_ids"]]
            self._check_room(len(ids) + 1, t("the beginning"))
            prompt["decoder_input_ids"] = torch.tensor([ids], device=self.model.device)
            most = min(most, self.longest - len(ids))
        if type(self.model).generate is not transformers().GenerationMixin.generate:
            try:
                found = plainly_generated(self.model, {**inputs, **prompt}, most)
            except IndexError:  # Whisper looks for the last of no tokens
                raise NotARecord(t("the model writes nothing for this input")) from None
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
            raise NotARecord(t("the model writes nothing for this input"))
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
                raise NotARecord(
                    t("{name} writes nothing: give a target", name=type(self.model).__name__)
                )
            labels = inputs["input_ids"][0].tolist()
        else:
            labels = self.tokenizer(text_target=target)["input_ids"]
        ids = labels if labels[:1] == [self._start] else [self._start, *labels]
        if len(ids) < 2:
            raise BadQuestion(t("the target holds no token"))
        self._check_room(len(ids) - 1, t("the target"))
        whole = torch.tensor(ids, device=device)
        return {**inputs, "decoder_input_ids": whole[None, :-1]}, Generated(whole, None)

    @property
    def _start(self) -> int:
        config = self.model.config
        told = self.model.generation_config if self.model.can_generate() else None
        said = (
            getattr(config, "decoder_start_token_id", None),
            getattr(told, "decoder_start_token_id", None),
            getattr(config, "bos_token_id", None),
            getattr(config, "pad_token_id", None),  # with which T5 begins
        )
        return next((int(each) for each in said if each is not None), 0)

    @property
    def longest(self) -> int:
        """Positions that the decoder has."""
        names = ("max_target_positions", "max_position_embeddings")
        said = (getattr(self.model.config, name, None) for name in names)
        return min((int(each) for each in said if each), default=10**6)

    def most(self, inputs: Mapping[str, Tensor]) -> int:
        """Tokens that are written at most."""
        source = inputs["input_ids"].shape[1] if "input_ids" in inputs else 2 * EXTRA
        return min(2 * source + EXTRA, self.longest - 1)

    def _check_room(self, positions: int, what: str) -> None:
        if positions > self.longest:
            raise BadQuestion(
                t(
                    "{what} has too many tokens: {name} writes at most {most}",
                    what=what,
                    name=type(self.model).__name__,
                    most=f"{self.longest - 1:,}",
                )
            )
