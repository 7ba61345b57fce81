"""Small random models of ten families with what prepares their inputs. Nothing is downloaded."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import tokenizers
import torch
import transformers as hf
from small_huggingface import BART, TEXTS, WIDTH, pieces, small
from tokenizers import models, pre_tokenizers, processors

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS += sorted({w for text in [*TEXTS, "it was tired"] for w in text.replace(".", " .").split()})
SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]"}
SPECIAL |= {"sep_token": "[SEP]", "mask_token": "[MASK]"}
PIXELS, PATCH = 24, 8  # of pictures: 3 × 3 patches
VISION = {**WIDTH, "image_size": PIXELS, "patch_size": PATCH}
CLIP_TEXT = {**WIDTH, "bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
WHISPER = {
    **{name: size for name, size in BART.items() if name != "max_position_embeddings"},
    "num_mel_bins": 8,
    "max_source_positions": 100,
    "max_target_positions": 32,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "pad_token_id": 0,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
}
READ_TEXTS = ("bert", "gpt2", "llama", "t5", "bart", "marian", "deberta")


@cache
def word_tokenizer() -> Any:
    """A token for each word, [CLS] first [SEP] second [SEP]."""
    inner = tokenizers.Tokenizer(
        models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return hf.PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=64, **SPECIAL)


def livelier(model: Any) -> Any:
    """Its attention is not nearly uniform."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(10.0)
    return model.eval()


def picture(seed: int = 0) -> np.ndarray:
    """(30, 40, 3) bytes"""
    return np.random.default_rng(seed).integers(0, 256, (30, 40, 3), dtype=np.uint8)


def sound(seconds: float = 1.0) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(int(16_000 * seconds)).astype(np.float32) / 10


def guest(family: str, **changes: Any) -> tuple[Any, Any]:
    """The model, and its tokenizer or processor."""
    torch.manual_seed(0)
    if family in ("gpt2", "llama", "t5", "marian"):
        return small(family, pieces()), pieces()
    return MAKERS[family](**changes)


def _bert(kind: str = "BertForMaskedLM", **changes: Any) -> tuple[Any, Any]:
    sizes = {**WIDTH, "vocab_size": len(WORDS), **changes}
    return livelier(getattr(hf, kind)(hf.BertConfig(**sizes))), word_tokenizer()


def _bart(**changes: Any) -> tuple[Any, Any]:
    ids = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "vocab_size": len(pieces())}
    return livelier(hf.BartForConditionalGeneration(hf.BartConfig(**{**BART, **ids}))), pieces()


def _deberta(**changes: Any) -> tuple[Any, Any]:
    sizes = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "type_vocab_size": 2}
    config = hf.DebertaV2Config(**WIDTH, vocab_size=len(WORDS), **sizes)
    return livelier(hf.DebertaV2ForMaskedLM(config)), word_tokenizer()


def _vit(**changes: Any) -> tuple[Any, Any]:
    labels = {"id2label": {0: "cat", 1: "dog"}, "label2id": {"cat": 0, "dog": 1}}
    model = livelier(hf.ViTForImageClassification(hf.ViTConfig(**VISION, **labels)))
    return model, hf.ViTImageProcessorPil(size={"height": PIXELS, "width": PIXELS})


def _clip(**changes: Any) -> tuple[Any, Any]:
    config = hf.CLIPConfig(
        text_config={**CLIP_TEXT, "vocab_size": len(WORDS), "projection_dim": 8},
        vision_config={**VISION, "projection_dim": 8},
        projection_dim=8,
    )
    seen = hf.CLIPImageProcessorPil(
        size={"shortest_edge": PIXELS}, crop_size={"height": PIXELS, "width": PIXELS}
    )
    return livelier(hf.CLIPModel(config)), hf.CLIPProcessor(seen, word_tokenizer())


def _whisper(**changes: Any) -> tuple[Any, Any]:
    tokenizer = pieces()
    model = livelier(
        hf.WhisperForConditionalGeneration(
            hf.WhisperConfig(**WHISPER, vocab_size=len(tokenizer), **changes)
        )
    )
    heard = hf.WhisperFeatureExtractor(feature_size=8, chunk_length=2)
    processor = _Heard(heard, tokenizer)
    return model, processor


class _Heard:
    """What a WhisperProcessor is, with a tokenizer that was made here."""

    def __init__(self, feature_extractor: Any, tokenizer: Any) -> None:
        self.feature_extractor, self.tokenizer = feature_extractor, tokenizer

    def __call__(self, *given: Any, **options: Any) -> Any:
        return self.feature_extractor(*given, **options)


MAKERS = {"bert": _bert, "bart": _bart, "deberta": _deberta, "vit": _vit, "clip": _clip}
MAKERS["whisper"] = _whisper
