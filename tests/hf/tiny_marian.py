"""A tiny random Marian checkpoint in the published layout, with sentencepiece models of real text."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from transformers import GenerationConfig, MarianConfig, MarianMTModel, MarianTokenizer

import regard.data.corpora

CORPUS = Path(regard.data.corpora.__file__).with_name("tatoeba-zh-en.train.tsv.xz")
TAGS = (">>fra<<", ">>cmn_Hans<<")
# so that both sides can spell all letters and digits, as published models can
ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789äöüßéç$€…“”–'"


@cache
def corpus() -> tuple[list[str], list[str]]:
    """English sentences and Chinese ones, 2000 of each, short and long."""
    with lzma.open(CORPUS, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in islice(lines, 0, 24_000, 12)]
    return [row[1] for row in rows], [row[0] for row in rows]


def train_sentencepiece(texts: Iterable[str], path: Path, size: int, **settings: Any) -> list[str]:
    """Its pieces, without the control signs."""
    with path.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=file,
            vocab_size=size,
            minloglevel=2,
            num_threads=1,
            hard_vocab_limit=False,
            **settings,
        )
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [model.id_to_piece(i) for i in range(3, model.get_piece_size())]


def numbered(pieces: Iterable[str]) -> dict[str, int]:
    """A vocab.json: </s> and <unk> first, <pad> last."""
    names = dict.fromkeys(["</s>", "<unk>", *pieces, "<pad>"])
    return {name: number for number, name in enumerate(names)}


def write_tokenizers(folder: Path, *, separate: bool = False, lost: int = 0) -> MarianTokenizer:
    """lost: so many pieces of the source's model are left out of the vocabulary."""
    folder.mkdir(parents=True)
    source, target = (
        train_sentencepiece(texts, folder / f"{side}.spm", size, required_chars=ALPHABET)
        for texts, side, size in zip(corpus(), ("source", "target"), (300, 1700), strict=True)
    )
    source = source[lost:]
    files = {"vocab.json": numbered([*source, *([] if separate else target), *TAGS])}
    if separate:
        files["target_vocab.json"] = numbered(target)
    for name, ids in files.items():
        (folder / name).write_text(json.dumps(ids), encoding="utf-8")
    tokenizer = MarianTokenizer(
        *(str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")),
        target_vocab_file=str(folder / "target_vocab.json") if separate else None,
        separate_vocabs=separate,
        source_lang="en",
        target_lang="zh",
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def write_model(
    folder: Path,
    tokenizer: MarianTokenizer,
    *,
    renormalize: bool = True,
    steps: int = 60,
    **settings: Any,
) -> MarianMTModel:
    """Of random weights that have learnt for a moment: pure noise repeats itself and never ends."""
    rows = len(tokenizer.encoder)
    target = len(tokenizer.target_encoder) if tokenizer.separate_vocabs else rows
    # of both sides, as the converter of transformers leaves it
    size = max(rows, target)
    torch.manual_seed(1)
    config = MarianConfig(
        **{
            "vocab_size": size,
            "decoder_vocab_size": size,
            "d_model": 16,
            "encoder_layers": 2,
            "decoder_layers": 3,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 24,
            "decoder_ffn_dim": 24,
            "activation_function": "swish",
            "scale_embedding": True,
            "max_position_embeddings": 128,
            "pad_token_id": tokenizer.pad_token_id,
            "decoder_start_token_id": tokenizer.pad_token_id,
            "eos_token_id": 0,
            "forced_eos_token_id": None,
            "init_std": 0.1,
            **settings,
        }
    )
    model = MarianMTModel(config)
    with torch.no_grad():
        model.final_logits_bias.normal_()
    learn(model, tokenizer, steps)
    model.generation_config = GenerationConfig(
        pad_token_id=config.pad_token_id,
        eos_token_id=0,
        decoder_start_token_id=config.decoder_start_token_id,
        bad_words_ids=[[config.pad_token_id]],
        max_length=40,
        num_beams=4,
        renormalize_logits=renormalize,
    )
    model.save_pretrained(folder)
    return model


def learn(model: MarianMTModel, tokenizer: MarianTokenizer, steps: int) -> None:
    english, chinese = (texts[40:1640:50] for texts in corpus())
    batch = tokenizer(english, text_target=chinese, padding=True, return_tensors="pt")
    batch["labels"][batch["labels"] == tokenizer.pad_token_id] = -100
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
    model.eval()
