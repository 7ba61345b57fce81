"""From the recipe's `model` section to the network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields as fields_of
from typing import Any

from torch import nn

from regard.models import bare, modes, presets

from regard.models import transformer_models as family
from regard.models.transformer_config import Mechanism, Shape
from regard.recipe.model_sections import (
    BareClassifier,
    Blocks,
    Heads,
    Luong,
    Model,
    Recurrent,
    RecurrentClassifier,
    RecurrentLanguage,
    RnnEnc,
    RnnSearch,
    Transformer,
    TransformerClassifier,
    TransformerLanguage,
    TransformerMasked,
    Tutorial,
)


def build(section: Model, sizes: Mapping[str, Any]) -> nn.Module:
    """The network for fields of these sizes."""
    source_size, target_size = (list(sizes.values()) * 2)[:2]
    if isinstance(section, Blocks):
        return _transformer(section, source_size, target_size)
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
        case BareClassifier():
            return bare.bare_classifier(source_size, target_size, **fields)
        case RecurrentClassifier():
            return modes.many_to_one(source_size, target_size, **fields)
        case RecurrentLanguage():
            return modes.language_model(target_size, **fields)
        case Recurrent():
            attention = section.attention
            fields |= {"score": None} if attention is None else attention.model_dump()
            fields["feed"] = tuple(fields["feed"])
            return presets.recurrent(source_size, target_size, **fields)


def _transformer(section: Blocks, source_size: int, target_size: int) -> nn.Module:
    names = {field.name for field in fields_of(Shape)}
    values: dict[str, Any] = {name: getattr(section, name) for name in type(section).model_fields}
    shape = Shape(**{name: value for name, value in values.items() if name in names})
    match section:
        case Transformer():
            return family.transformer(
                source_size,
                target_size,
                shape,
                encoder_layers=section.encoder_layers,
                decoder_layers=section.decoder_layers,
                share=section.share,
                encoder_attention=_mechanism(section.encoder_attention),
                decoder_attention=_mechanism(section.decoder_attention),
                cross_attention=_mechanism(section.cross_attention),
            )
        case TransformerClassifier():
            return family.classifier(
                source_size,
                target_size,
                shape,
                layers=section.layers,
                pool=section.pool,
                attention=_mechanism(section.attention),
            )
        case TransformerLanguage():
            return family.language_model(
                target_size,
                shape,
                layers=section.layers,
                share=section.share,
                attention=_mechanism(section.attention),
            )
        case TransformerMasked():
            return family.masked_language_model(
                source_size,
                shape,
                layers=section.layers,
                attention=_mechanism(section.attention),
            )
    raise TypeError(section)


def _mechanism(heads: Heads) -> Mechanism:
    region = heads.region if isinstance(heads.region, str) else tuple(heads.region)
    return Mechanism(heads.score, region, heads.normalize)
