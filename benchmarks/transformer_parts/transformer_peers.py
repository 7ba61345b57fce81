"""What regard is compared with in `transformer.py`; JoeyNMT runs in a process of its own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.data.padding import pad
from regard.data.tokenizer import BOS, EOS, PAD, SPECIALS
from regard.export.ctranslate2 import vocabulary
from regard.hf.marian_weights import DECODER_BLOCK, ENCODER_BLOCK
from regard.layers.positions import Sinusoidal
from regard.models.transformer_options import Transformer
from regard.runs.loaded_run import LoadedRun
from regard.tasks.longest_first import batches_by_length
from toolkit_parts.peers import BEAM, LONGEST, joeynmt_rows
from toolkit_parts.regard_translator import BATCH

# ── training ─────────────────────────────────────────────────────────────────────────────────────


class TorchTransformer(nn.Module):
    """`torch.nn.Transformer` with embeddings, sines and an output matrix, as regard has them.

    It has one rate for all dropouts; those that `model` has not are set to 0 afterwards.
    """

    def __init__(self, model: Transformer, source: int, target: int) -> None:
        super().__init__()
        self.source, self.target = (nn.Embedding(rows, model.size) for rows in (source, target))
        self.positions, self.scale = Sinusoidal(model.size), math.sqrt(model.size)
        self.dropout = nn.Dropout(model.dropout)
        warnings.filterwarnings("ignore", message="enable_nested_tensor is True")  # of pre-norm
        self.blocks = nn.Transformer(
            model.size,
            model.heads,
            model.encoder_layers,
            model.decoder_layers,
            model.inner,
            model.dropout,
            batch_first=True,
            norm_first=True,
        )
        self.output = nn.Linear(model.size, target)
        for table in (self.source, self.target):
            nn.init.normal_(table.weight, std=model.size**-0.5)
        self.output.weight = self.target.weight
        for layer in (*self.blocks.encoder.layers, *self.blocks.decoder.layers):
            layer.dropout.p = model.inner_dropout
            for part in layer.modules():
                if isinstance(part, nn.MultiheadAttention):
                    part.dropout = model.attention_dropout

    def forward(self, source: Tensor, mask: Tensor, inputs: Tensor) -> Tensor:
        """What follows the end of a target is not seen by what comes before: it needs no mask."""
        future = nn.Transformer.generate_square_subsequent_mask(inputs.shape[1])
        return self.blocks(
            self._embed(self.source, source),
            self._embed(self.target, inputs),
            tgt_mask=future,
            src_key_padding_mask=~mask,
            memory_key_padding_mask=~mask,
            tgt_is_causal=True,
        )

    def _embed(self, table: nn.Embedding, tokens: Tensor) -> Tensor:
        return self.dropout(table(tokens) * self.scale + self.positions(tokens.shape[1]))

    def project(self, outputs: Tensor) -> Tensor:
        return self.output(outputs)


# ── translation ──────────────────────────────────────────────────────────────────────────────────


class HuggingFace:
    """`generate` of a MarianMTModel with the weights of a post-norm run, over the batches of regard."""

    def __init__(self, run: LoadedRun) -> None:
        from transformers import GenerationConfig, MarianConfig, MarianMTModel

        given = run.recipe.model
        assert isinstance(given, Transformer)
        config = MarianConfig(
            vocab_size=len(run.tokenizers[0]),
            decoder_vocab_size=len(run.tokenizers[1]),
            share_encoder_decoder_embeddings=False,
            d_model=given.size,
            activation_function=given.activation,
            scale_embedding=given.scaled,
            max_position_embeddings=512,
            pad_token_id=PAD,
            eos_token_id=EOS,
            decoder_start_token_id=BOS,
            forced_eos_token_id=None,
            encoder_layers=given.encoder_layers,
            decoder_layers=given.decoder_layers,
            encoder_attention_heads=given.heads,
            decoder_attention_heads=given.heads,
            encoder_ffn_dim=given.inner,
            decoder_ffn_dim=given.inner,
        )
        self.model: Any = MarianMTModel(config).eval()
        missing, unexpected = self.model.load_state_dict(marian_weights(run), strict=False)
        assert not unexpected, f"not Marian's: {', '.join(unexpected)}"
        assert all("embed_positions" in name for name in missing), f"not given: {missing}"
        self.settings = GenerationConfig(
            num_beams=BEAM,
            length_penalty=0.0,
            early_stopping=True,  # once `beam` have ended, as in regard: its quickest
            max_new_tokens=LONGEST,
            suppress_tokens=[PAD, BOS],
            pad_token_id=PAD,
            eos_token_id=EOS,
            decoder_start_token_id=BOS,
        )

    @torch.no_grad()
    def translate(self, sources: Sequence[list[int]]) -> list[list[int]]:
        said: dict[int, list[int]] = {}
        for rows in batches_by_length([len(ids) for ids in sources], BATCH):
            source, mask = pad([sources[row] for row in rows])
            found = self.model.generate(
                source, attention_mask=mask.long(), generation_config=self.settings
            )
            for row, tokens in zip(rows, found[:, 1:].tolist(), strict=True):
                said[row] = [token for token in tokens if token not in (PAD, EOS)]
        return [said[row] for row in range(len(sources))]


def marian_weights(run: LoadedRun) -> dict[str, Tensor]:
    """The weights of a run under Marian's names: what `regard.hf.load_marian` does, backwards."""
    mine = run.model.state_dict()
    output = mine["decoder.output.weight"]
    theirs = {
        "model.encoder.embed_tokens.weight": mine["encoder.embed.table.weight"],
        "model.decoder.embed_tokens.weight": output,
        "lm_head.weight": output,
        "final_logits_bias": mine["decoder.output.bias"][None],
    }
    for side, names in (("encoder", ENCODER_BLOCK), ("decoder", DECODER_BLOCK)):
        for name, value in mine.items():
            if name.startswith(f"{side}.blocks."):
                _, _, layer, part = name.split(".", 3)
                part, kind = part.rsplit(".", 1)
                theirs[f"model.{side}.layers.{layer}.{names[part]}.{kind}"] = value
    return theirs


class CTranslate2:
    """The engine itself, over a folder that `regard.export` wrote: tokens in, tokens out."""

    def __init__(
        self,
        folder: Path,
        run: LoadedRun,
        threads: int,
        precision: str = "float32",
        longest: int = LONGEST,
    ) -> None:
        import ctranslate2

        self.longest = longest
        self.engine: Any = ctranslate2.Translator(
            str(folder),
            device="cpu",
            compute_type=precision,
            inter_threads=1,
            intra_threads=threads,
        )
        self.source, self.target = map(vocabulary, run.tokenizers)
        self.ids = {token: number for number, token in enumerate(self.target)}

    def translate(self, sources: Sequence[list[int]]) -> list[list[int]]:
        """It puts sentences of like lengths together by itself."""
        found = self.engine.translate_batch(
            [[*(self.source[token] for token in ids), SPECIALS[EOS]] for ids in sources],
            max_batch_size=BATCH,
            beam_size=BEAM,
            length_penalty=0.0,
            min_decoding_length=0,
            max_decoding_length=self.longest,
            max_input_length=0,
        )
        return [[self.ids[token] for token in one.hypotheses[0]] for one in found]


# JoeyNMT's names of our parts
ATTENTION = {"query": "q_layer", "key": "k_layer", "value": "v_layer", "output": "output_layer"}
FEED_FORWARD = {
    "around_feed_forward.norm": "feed_forward.layer_norm",
    "feed_forward.inner": "feed_forward.pwff_layer.0",
    "feed_forward.outer": "feed_forward.pwff_layer.3",
}
BLOCKS = {
    "encoder": FEED_FORWARD
    | {f"attention.{ours}": f"src_src_att.{theirs}" for ours, theirs in ATTENTION.items()}
    | {"around_attention.norm": "layer_norm"},
    "decoder": FEED_FORWARD
    | {f"attention.{ours}": f"trg_trg_att.{theirs}" for ours, theirs in ATTENTION.items()}
    | {f"cross.{ours}": f"src_trg_att.{theirs}" for ours, theirs in ATTENTION.items()}
    | {"around_attention.norm": "x_layer_norm", "around_cross.norm": "dec_layer_norm"},
}


def joeynmt_transformer(run: LoadedRun) -> dict[str, Tensor]:
    """The weights of a pre-norm run, whose output has no bias, under JoeyNMT's names."""
    mine = run.model.state_dict()
    assert not mine.pop("decoder.output.bias").any(), "JoeyNMT has no bias there"
    sines = Sinusoidal(mine["encoder.norm.weight"].numel())(5000)[None]
    theirs = {"encoder.pe.pe": sines, "decoder.pe.pe": sines}
    for name, value in mine.items():
        side, part = name.split(".", 1)
        if part.startswith("blocks."):
            _, layer, part = part.split(".", 2)
            part, kind = part.rsplit(".", 1)
            theirs[f"{side}.layers.{layer}.{BLOCKS[side][part]}.{kind}"] = value
        elif part == "embed.table.weight":
            theirs[f"{'src' if side == 'encoder' else 'trg'}_embed.lut.weight"] = joeynmt_rows(
                value
            )
        elif part == "output.weight":
            theirs["decoder.output_layer.weight"] = joeynmt_rows(value)
        else:
            theirs[f"{side}.layer_{part}"] = value  # layer_norm
    return theirs
