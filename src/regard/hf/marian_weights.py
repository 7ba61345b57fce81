"""The weights of a Marian checkpoint under the names of a Transformer of regard, its rows in our order."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from regard.data.tokenizer import PAD
from regard.hf.marian_tokenizer import MarianVocabulary
from regard.layers.positions import Sinusoidal
from regard.models.transformer_options import Sharing
from regard.words import t

NEVER = -1e4  # as a logit: e^-10000 is 0, and in float16 it is still a number
ATTENTION = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
ENCODER_BLOCK = {
    **{f"attention.{ours}": f"self_attn.{theirs}" for ours, theirs in ATTENTION.items()},
    "around_attention.norm": "self_attn_layer_norm",
    "feed_forward.inner": "fc1",
    "feed_forward.outer": "fc2",
    "around_feed_forward.norm": "final_layer_norm",
}
DECODER_BLOCK = {
    **ENCODER_BLOCK,
    **{f"cross.{ours}": f"encoder_attn.{theirs}" for ours, theirs in ATTENTION.items()},
    "around_cross.norm": "encoder_attn_layer_norm",
}


def read_weights(folder: Path) -> dict[str, Tensor]:
    """The tensors of model.safetensors, or of pytorch_model.bin without running what is in it."""
    safe, old = folder / "model.safetensors", folder / "pytorch_model.bin"
    try:
        if safe.is_file():
            found = load_file(safe)
        elif old.is_file():
            found = torch.load(old, map_location="cpu", weights_only=True)
        else:
            raise FileNotFoundError(
                t(
                    "there is neither model.safetensors nor pytorch_model.bin in {folder}",
                    folder=folder,
                )
            )
    except pickle.UnpicklingError as error:
        raise ValueError(
            t(
                "{old} holds more than tensors, and what else is in such a file can run as a "
                "program: regard does not read it. Save the model as safetensors",
                old=old,
            )
        ) from error
    except (SafetensorError, EOFError, RuntimeError) as error:
        raise ValueError(
            t("the weights in {folder} are damaged: {error}", folder=folder, error=error)
        ) from error
    return {name: value.float() for name, value in found.items()}


def convert_weights(
    weights: Mapping[str, Tensor],
    layers: tuple[int, int],
    vocabularies: tuple[MarianVocabulary, MarianVocabulary],
    *,
    share: Sharing,
    pad_counts: bool,
) -> dict[str, Tensor]:
    """A state dict for `regard.models.transformer_models.transformer`.

    share: as there. pad_counts: PAD, which is never said, has its
    share of the probability all the same, as it has in transformers unless it renormalises.
    """
    source, target = vocabularies
    for side in ("encoder", "decoder"):
        _check_positions(weights.get(f"model.{side}.embed_positions.weight"))
    encoder, decoder = (_embeddings(weights, side, share) for side in ("encoder", "decoder"))
    output = _first(weights, "lm_head.weight") if share == "none" else decoder
    bias = weights.get("final_logits_bias", torch.zeros(len(output))).flatten()[target.rows]
    bias[target.unsayable] = NEVER
    if not pad_counts:
        bias[PAD] = NEVER
    converted = {
        "encoder.embed.table.weight": encoder[source.rows],
        "decoder.embed.table.weight": decoder[target.rows],
        "decoder.output.weight": output[target.rows],
        "decoder.output.bias": bias,
    }
    blocks = (ENCODER_BLOCK, DECODER_BLOCK)
    for side, count, names in zip(("encoder", "decoder"), layers, blocks, strict=True):
        for ours, theirs in _block_names(side, range(count), names):
            converted[ours] = _first(weights, theirs)
    return converted


def _embeddings(weights: Mapping[str, Tensor], side: str, share: Sharing) -> Tensor:
    names = (f"model.{side}.embed_tokens.weight", "model.shared.weight")
    return _first(weights, *(names[::-1] if share == "all" else names))


def _block_names(
    side: str, layers: Iterable[int], names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for layer in layers:
        for ours, theirs in names.items():
            for kind in ("weight", "bias"):
                yield (
                    f"{side}.blocks.{layer}.{ours}.{kind}",
                    f"model.{side}.layers.{layer}.{theirs}.{kind}",
                )


def _first(weights: Mapping[str, Tensor], *names: str) -> Tensor:
    for name in names:
        if name in weights:
            return weights[name]
    raise ValueError(
        t(
            "the checkpoint has no {names}: is it a Marian translation model?",
            names=" or ".join(names),
        )
    )


def _check_positions(table: Tensor | None) -> None:
    """Older files hold the sines, which need not be read; anything else has been learnt."""
    if table is None:
        return
    sines = Sinusoidal(table.shape[1], halves=True)(len(table))
    if not torch.allclose(table, sines, atol=1e-3):
        raise ValueError(
            t(
                "the positions of this checkpoint are not the sines and cosines of Marian: "
                "they were learnt, and regard has no place for them in such a model"
            )
        )
