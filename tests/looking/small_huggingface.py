"""Small random Hugging Face models with tokenizers made here. Nothing is downloaded."""

from __future__ import annotations

from typing import Any

import tokenizers
import torch
import transformers as hf
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

TEXTS = ["the cat sat on the mat.", "a dog isn't a cat, is it?", "she reads the unreadable book"]
SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"]
NAMES = dict(zip(("pad_token", "unk_token", "bos_token", "eos_token"), SPECIALS, strict=True))
WIDTH = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2}
WIDTH |= {"intermediate_size": 24, "max_position_embeddings": 64}
BART = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 0,
    "forced_eos_token_id": None,
}
T5 = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2}
T5 |= {"decoder_start_token_id": 0}
GPT2 = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}
FAMILIES: dict[str, tuple[type, type, dict[str, Any]]] = {
    "bert": (hf.BertConfig, hf.BertForMaskedLM, WIDTH),
    "gpt2": (hf.GPT2Config, hf.GPT2LMHeadModel, GPT2),
    "llama": (hf.LlamaConfig, hf.LlamaForCausalLM, {**WIDTH, "num_key_value_heads": 1}),
    "marian": (hf.MarianConfig, hf.MarianMTModel, BART),
    "t5": (hf.T5Config, hf.T5ForConditionalGeneration, T5),
    "gemma2": (
        hf.Gemma2Config,
        hf.Gemma2ForCausalLM,
        {**WIDTH, "head_dim": 8, "num_key_value_heads": 2, "attn_logit_softcapping": 0.05},
    ),
}


def small(family: str, tokenizer: Any) -> Any:
    """A model of the family whose attention is not nearly uniform."""
    config, model, settings = FAMILIES[family]
    torch.manual_seed(0)
    ids = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "vocab_size": len(tokenizer)}
    made = model(config(**{**ids, **settings})).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.dim() > 1:
                parameter.mul_(1.5 if family == "t5" else 4.0)
    return made


def pieces() -> Any:
    """▁the ▁cat …, with </s> behind every text."""
    inner = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=80, special_tokens=SPECIALS, show_progress=False)
    inner.train_from_iterator(TEXTS, trainer)
    inner.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 3)]
    )
    return hf.PreTrainedTokenizerFast(tokenizer_object=inner, **NAMES)


def byte_level() -> Any:
    """Of bytes: a Chinese character is three tokens."""
    inner = tokenizers.Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.post_processor = processors.ByteLevel(trim_offsets=True)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(TEXTS, trainer)
    return hf.PreTrainedTokenizerFast(tokenizer_object=inner, **NAMES)
