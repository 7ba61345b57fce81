"""What prepares the inputs of a model of somebody else: its tokenizer, what reads pictures or sounds."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from regard.looking.guests.guest_input import GuestInput
from regard.records.question import BadQuestion
from regard.records.side import NotARecord
from regard.words import t

SOUNDS = ("input_features", "input_values")


def nouns() -> dict[str, str]:
    """What a model can read, in the reader's language."""
    return {"text": t("a text"), "picture": t("a picture"), "sound": t("a sound")}


class GuestProcessors:
    """Found in a processor, or given alone."""

    def __init__(self, model: Any, processor: Any) -> None:
        if not callable(processor):
            raise NotARecord(
                t(
                    "give what prepares the inputs of the model: regard.look(model, tokenizer, 'text'), "
                    "or an image processor and a picture"
                )
            )
        self.model, self.whole = model, processor
        self.takes = set(inspect.signature(model.forward).parameters)
        tokenizes = hasattr(processor, "all_special_ids")
        self.tokenizer: Any = processor if tokenizes else getattr(processor, "tokenizer", None)
        makes = tuple(getattr(processor, "model_input_names", ()))
        self.pictures: Any = getattr(processor, "image_processor", None)
        self.sounds: Any = getattr(processor, "feature_extractor", None)
        if self.sounds is None and set(makes) & set(SOUNDS):
            self.sounds = processor
        alone = self.tokenizer is None and self.sounds is None
        if self.pictures is None and ("pixel_values" in makes or alone):
            self.pictures = processor

    @property
    def reads(self) -> tuple[str, ...]:
        """What the model is given: "text", "picture", "sound"."""
        found = []
        if "input_ids" in self.takes:
            found.append("text")
        if "pixel_values" in self.takes:
            found.append("picture")
        if self.takes & set(SOUNDS):
            found.append("sound")
        return tuple(found)

    def prepare(self, asked: GuestInput) -> dict[str, torch.Tensor]:
        """The inputs of one example, on the device of the model."""
        self._check(asked)
        if asked.sound is not None:
            made = self.sounds(asked.sound, sampling_rate=asked.rate, return_tensors="pt")
        elif asked.picture and asked.texts:
            made = self.whole(text=list(asked.texts), images=asked.image(), return_tensors="pt")
        elif asked.picture:
            made = self.pictures(images=asked.image(), return_tensors="pt")
        else:
            made = self.tokenizer(*asked.texts, return_tensors="pt")
        device = self.model.device
        inputs = {
            name: torch.as_tensor(x).to(device) for name, x in made.items() if name in self.takes
        }
        dtype = self.model.dtype
        inputs = {n: x.to(dtype) if x.is_floating_point() else x for n, x in inputs.items()}
        self._check_length(inputs)
        return inputs

    def _check(self, asked: GuestInput) -> None:
        name = type(self.model).__name__
        given = {"text": bool(asked.texts), "picture": bool(asked.picture)}
        given["sound"] = asked.sound is not None
        bare = {"text": t("text"), "picture": t("picture"), "sound": t("sound")}
        for kind, there in given.items():
            if there and kind not in self.reads:
                if kind == "text" and asked.missing:
                    raise BadQuestion(t("there is no picture {file}", file=asked.texts[0]))
                reads = t(" and ").join(nouns()[each] for each in self.reads)
                raise BadQuestion(
                    t(
                        "{name} reads no {kind}, but {reads}",
                        name=name,
                        kind=bare[kind],
                        reads=reads,
                    )
                )
            if not there and kind in self.reads and kind != "text" and not asked.sound:
                said = "regard.look(model, processor, 'cat.png')"
                if "text" in self.reads:
                    said = "regard.look(model, processor, 'a cat', image='cat.png')"
                raise BadQuestion(
                    t("{name} reads {kind}: {said}", name=name, kind=nouns()[kind], said=said)
                )
        if not asked.texts and "picture" in self.reads and "text" in self.reads:
            raise BadQuestion(
                t(
                    "{name} reads a text too: regard.look(model, processor, 'a cat', image='cat.png')",
                    name=name,
                )
            )
        needed = {"text": self.tokenizer, "picture": self.pictures, "sound": self.sounds}
        for kind, there in given.items():
            if there and needed[kind] is None:
                raise BadQuestion(
                    t("what was given with {name} prepares no {kind}", name=name, kind=bare[kind])
                )
        if asked.texts and not any(each.strip() for each in asked.texts):
            raise BadQuestion(t("there is nothing to look at: the text is blank"))
        if any("\ud800" <= letter <= "\udfff" for text in asked.texts for letter in text):
            raise BadQuestion(t("a text holds half of a character (a lone surrogate)"))

    def _check_length(self, inputs: dict[str, torch.Tensor]) -> None:
        if "input_ids" not in inputs:
            return
        tokens = inputs["input_ids"].shape[1]
        if tokens == 0:
            raise NotARecord(t("the text has no token: there is nothing to look at"))
        if (most := self.longest) is not None and tokens > most:
            raise BadQuestion(
                t(
                    "the text has {tokens} tokens, and {name} reads at most {most}",
                    tokens=f"{tokens:,}",
                    name=type(self.model).__name__,
                    most=f"{most:,}",
                )
            )

    @property
    def longest(self) -> int | None:
        """Tokens that the model can read; None: nobody says."""
        config = getattr(self.model.config, "text_config", None) or self.model.config
        said = [getattr(config, "max_position_embeddings", None)]
        said.append(getattr(self.tokenizer, "model_max_length", None))
        known = [int(each) for each in said if isinstance(each, int) and 0 < each < 10**9]
        return min(known, default=None)
