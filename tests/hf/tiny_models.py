"""Small random models of many families, and inputs for them. Nothing is downloaded."""

from __future__ import annotations

from typing import Any

import torch
import transformers as hf

VOCABULARY = 50
SMALL = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_attention_heads": 4}
DEEP = {**SMALL, "num_hidden_layers": 2, "intermediate_size": 48, "max_position_embeddings": 64}
GROUPED = {**DEEP, "num_key_value_heads": 2, "head_dim": 8}
SLIDING = {"sliding_window": 4, "layer_types": ["sliding_attention", "full_attention"]}
BART = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "decoder_start_token_id": 0,
    "forced_eos_token_id": None,
}
T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "pad_token_id": 0,
    "eos_token_id": 3,
    "decoder_start_token_id": 0,
}
GPT2 = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}

FAMILIES: dict[str, tuple[type, type, dict[str, Any]]] = {
    "bert": (hf.BertConfig, hf.BertForMaskedLM, DEEP),
    "vit": (
        hf.ViTConfig,
        hf.ViTForImageClassification,
        {**DEEP, "image_size": 12, "patch_size": 4, "num_labels": 3},
    ),
    "gpt2": (hf.GPT2Config, hf.GPT2LMHeadModel, GPT2),
    "llama": (hf.LlamaConfig, hf.LlamaForCausalLM, GROUPED),
    "mistral": (hf.MistralConfig, hf.MistralForCausalLM, {**GROUPED, "sliding_window": 4}),
    "qwen3": (
        hf.Qwen3Config,
        hf.Qwen3ForCausalLM,
        {**GROUPED, "use_sliding_window": True, **SLIDING},
    ),
    "gemma2": (
        hf.Gemma2Config,
        hf.Gemma2ForCausalLM,
        {**GROUPED, "attn_logit_softcapping": 0.05, "query_pre_attn_scalar": 3, **SLIDING},
    ),
    "gpt-oss": (
        hf.GptOssConfig,
        hf.GptOssForCausalLM,
        {**GROUPED, "num_local_experts": 2, "num_experts_per_tok": 1, **SLIDING},
    ),
    "marian": (hf.MarianConfig, hf.MarianMTModel, BART),
    "m2m-100": (
        hf.M2M100Config,
        hf.M2M100ForConditionalGeneration,
        {**BART, "decoder_start_token_id": 2},
    ),
    "t5": (hf.T5Config, hf.T5ForConditionalGeneration, T5),
}
ENCODERS = ("bert", "vit")
TRANSLATORS = ("marian", "m2m-100", "t5")
DECODERS = tuple(name for name in FAMILIES if name not in (*ENCODERS, *TRANSLATORS))


def tiny(family: str, **changes: Any) -> Any:
    """A model of the family whose attention is not nearly uniform."""
    config, model, settings = FAMILIES[family]
    torch.manual_seed(0)
    special = (
        {} if family in ENCODERS else {"pad_token_id": 0, "eos_token_id": 3, "bos_token_id": 2}
    )
    made = model(config(**{**special, **settings, **changes})).eval()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if "sinks" in name:
                parameter.normal_(0.0, 1.0)
            elif parameter.dim() > 1:
                parameter.mul_(1.5 if family == "t5" else 4.0)  # T5 does not scale its scores
    return made


def tokens(rows: int = 2, length: int = 9) -> torch.Tensor:
    return torch.randint(4, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(1))


def inputs(family: str, *, padded: bool = False) -> dict[str, torch.Tensor]:
    """Two rows; `padded`: the second has 3 places of padding (on the left for decoders)."""
    if family == "vit":
        return {
            "pixel_values": torch.randn(2, 3, 12, 12, generator=torch.Generator().manual_seed(1))
        }
    ids, mask = tokens(), torch.ones(2, 9, dtype=torch.long)
    if padded:
        here = slice(0, 3) if family in DECODERS else slice(6, 9)
        ids[1, here], mask[1, here] = 0, 0
    given = {"input_ids": ids, "attention_mask": mask}
    if family in TRANSLATORS:
        given["decoder_input_ids"] = tokens(2, 7)
    return given


def real(family: str, logits: torch.Tensor, given: dict[str, torch.Tensor]) -> torch.Tensor:
    """The logits at positions that are not padding."""
    if family == "vit" or family in TRANSLATORS:
        return logits
    return logits[given["attention_mask"].bool()]
