"""What a Marian checkpoint says of itself, and the recipe that builds the same network."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from regard.models.transformer_options import Transformer
from regard.recipe.recipe import Data, Recipe, SearchOptions, Tokenizers, VocabularyOptions
from regard.words import t

Activation = Literal["relu", "gelu", "silu"]
ACTIVATIONS: dict[str, Activation] = {
    "swish": "silu",
    "silu": "silu",
    "relu": "relu",
    "gelu": "gelu",
}
SIDES = ("encoder", "decoder")
NEEDED = (
    "d_model",
    "vocab_size",
    "pad_token_id",
    "eos_token_id",
    "max_position_embeddings",
    "activation_function",
    *(f"{side}_{name}" for side in SIDES for name in ("layers", "attention_heads", "ffn_dim")),
)
# what a published config.json may say, and the only value that transformers computes with
FIXED = {
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
    "static_position_embeddings": True,
}
NOT_SAID = "unknown"  # the training corpus: no file of that name is there


@dataclass(frozen=True)
class Checkpoint:
    """A folder as downloaded from the Hugging Face hub."""

    path: Path
    config: dict[str, Any]
    generation: dict[str, Any]  # how to search; what is not said there may be in `config`

    @property
    def shares_embeddings(self) -> bool:
        """Whether source and target have one matrix, and so one vocabulary."""
        return bool(self.config.get("share_encoder_decoder_embeddings", True))

    @property
    def renormalizes(self) -> bool:
        """Whether the probability of pad, which is never said, is given to the other tokens."""
        return bool(self.generation.get("renormalize_logits", False))

    @property
    def languages(self) -> tuple[str, str]:
        """As the tokenizer's settings or the name of the folder say; `und` if nothing does."""
        said = read_object(self.path, "tokenizer_config.json", optional=True)
        named = re.search(r"(?:^|[-_])([a-z]{2,3})-([a-z]{2,3})$", self.path.resolve().name)
        source, target = named.groups() if named else ("und", "und")
        return str(said.get("source_lang", source)), str(said.get("target_lang", target))


def read_checkpoint(path: Path) -> Checkpoint:
    """What the folder says, if regard can compute the same."""
    if not path.is_dir():
        raise FileNotFoundError(
            t(
                "no folder {path}: a Marian checkpoint is a folder with config.json, weights, "
                "vocab.json, source.spm and target.spm, as downloaded from the Hugging Face hub",
                path=path,
            )
        )
    config = read_object(path, "config.json")
    if config.get("model_type") != "marian":
        raise ValueError(
            t(
                "{path}/config.json is of model_type {get}, not 'marian'",
                path=path,
                get=repr(config.get("model_type")),
            )
        )
    if missing := [name for name in NEEDED if name not in config]:
        raise ValueError(
            t("{path}/config.json does not say {missing}", path=path, missing=", ".join(missing))
        )
    for name, value in FIXED.items():
        if config.get(name, value) != value:
            raise ValueError(
                t(
                    "{path}/config.json says {name}: {dumps}, and regard reads only checkpoints "
                    "with {value}, the only ones that transformers computes right",
                    path=path,
                    name=name,
                    dumps=json.dumps(config[name]),
                    value=json.dumps(value),
                )
            )
    generation = read_object(path, "generation_config.json", optional=True)
    return Checkpoint(path, config, {**config, **generation})


def make_recipe(checkpoint: Checkpoint, sizes: tuple[int, int]) -> Recipe:
    """The recipe of a run with vocabularies of these sizes."""
    name, generation = checkpoint.path.resolve().name, checkpoint.generation
    source, target = checkpoint.languages
    cut = [VocabularyOptions(kind="unigram", size=size) for size in sizes]
    return Recipe(
        name=name,
        description=f"the Marian checkpoint {name}",
        data=Data(train=NOT_SAID, source=source, target=target),
        tokenizer=Tokenizers(source=cut[0], target=cut[1]),
        model=model_section(checkpoint),
        search=SearchOptions(
            beam=generation.get("num_beams", 1),
            length_penalty=generation.get("length_penalty", 1.0),
            max_length=generation.get("max_length", checkpoint.config["max_position_embeddings"]),
        ),
    )


def model_section(checkpoint: Checkpoint) -> Transformer:
    config = checkpoint.config
    activation = config["activation_function"]
    if activation not in ACTIVATIONS:
        raise ValueError(
            t(
                "{path}/config.json has activation_function {activation}; regard knows "
                "{activations}",
                path=checkpoint.path,
                activation=repr(activation),
                activations=", ".join(ACTIVATIONS),
            )
        )
    shared: Literal["all", "target"] = "all" if checkpoint.shares_embeddings else "target"
    return Transformer(
        size=config["d_model"],
        heads=_same_for_both(checkpoint, "attention_heads"),
        inner=_same_for_both(checkpoint, "ffn_dim"),
        activation=ACTIVATIONS[activation],
        norm="post",
        final_norm=False,
        positions="sinusoidal-halves",
        scaled=config.get("scale_embedding", False),
        dropout=config.get("dropout", 0.1),
        attention_dropout=config.get("attention_dropout", 0.0),
        inner_dropout=config.get("activation_dropout", 0.0),
        encoder_layers=config["encoder_layers"],
        decoder_layers=config["decoder_layers"],
        share=shared if config.get("tie_word_embeddings", True) else "none",
    )


def _same_for_both(checkpoint: Checkpoint, name: str) -> int:
    encoder, decoder = (checkpoint.config[f"{side}_{name}"] for side in SIDES)
    if encoder != decoder:
        raise ValueError(
            t(
                "{path}/config.json has encoder_{name} {encoder} and decoder_{name} {decoder}; "
                "in a Transformer of regard both sides have the same",
                path=checkpoint.path,
                name=name,
                encoder=encoder,
                decoder=decoder,
            )
        )
    return int(encoder)


def read_object(path: Path, name: str, *, optional: bool = False) -> dict[str, Any]:
    """The object in a JSON file of the folder, without its null entries."""
    if optional and not (path / name).is_file():
        return {}
    try:
        found = json.loads(find_file(path, name).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(t("{path} is not JSON: {error}", path=path / name, error=error)) from error
    if not isinstance(found, dict):
        raise ValueError(t("{path} is not a JSON object", path=path / name))
    return {key: value for key, value in found.items() if value is not None}


def find_file(path: Path, name: str) -> Path:
    if not (path / name).is_file():
        raise FileNotFoundError(
            t("there is no {name} in {path}, which a Marian checkpoint needs", name=name, path=path)
        )
    return path / name
