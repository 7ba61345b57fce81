"""From the recipe's `model` section to the network."""

from __future__ import annotations

from regard.models import presets
from regard.models.encoder_decoder import EncoderDecoder
from regard.training.model_sections import Luong, Recurrent, RnnEnc, RnnSearch, Tutorial

ModelSection = RnnSearch | RnnEnc | Luong | Tutorial | Recurrent


def build(section: ModelSection, source_size: int, target_size: int) -> EncoderDecoder:
    """The network for vocabularies of these sizes."""
    fields = section.model_dump(exclude={"kind", "attention"})
    match section:
        case RnnSearch():
            fields["readout_sees"] = fields.pop("readout")
            fields |= section.attention.model_dump()
            if fields["score"] == "additive":
                fields["score"] = None  # of the width that `alignment` says
            return presets.rnnsearch(source_size, target_size, **fields)
        case RnnEnc():
            return presets.rnnenc(source_size, target_size, **fields)
        case Luong():
            return presets.luong(source_size, target_size, attention=section.attention, **fields)
        case Tutorial():
            return presets.tutorial(source_size, target_size, **fields)
        case Recurrent():
            attention = section.attention
            fields |= {"score": None} if attention is None else attention.model_dump()
            fields["feed"] = tuple(fields["feed"])
            return presets.recurrent(source_size, target_size, **fields)
