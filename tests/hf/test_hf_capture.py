"""Captured weights are those of the eager path, bit for bit, and capturing leaves no trace."""

from __future__ import annotations

import pytest
import tiny_models as tiny
import torch
import transformers
from tiny_models import DECODERS, FAMILIES, TRANSLATORS, inputs

import regard

FIELDS = {
    "encoder": ("encoder_attentions", "attentions"),
    "decoder": ("decoder_attentions", "attentions"),
    "cross": ("cross_attentions",),
}
SMALL = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}


def kinds(family):
    if family in TRANSLATORS:
        return ["encoder", "decoder", "cross"]
    return ["decoder"] if family in DECODERS else ["encoder"]


def eager_weights(model, given, kind):
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    output = model(**given, output_attentions=True)
    model.set_attn_implementation(before)
    return torch.stack(next(output[field] for field in FIELDS[kind] if output.get(field)))


@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_weights_are_those_of_eager_bit_for_bit(family, padded):
    model, given = tiny.tiny(family), inputs(family, padded=padded)
    before = model.config._attn_implementation
    with torch.no_grad(), regard.hf.capture(model) as captured:
        model(**given)
    assert {layer.kind for layer in captured.layers} == set(kinds(family))
    for kind in kinds(family):
        assert torch.equal(captured.weights(kind), eager_weights(model, given, kind))
        assert [la.layer for la in captured.layers if la.kind == kind] == [0, 1]
    assert model.config._attn_implementation == before
    assert all(dict(model.named_modules())[layer.name] is not None for layer in captured.layers)


def test_what_a_sink_takes_is_missing_and_not_shared_out():
    model, given = tiny.tiny("gpt-oss"), inputs("gpt-oss")
    with regard.hf.capture(model) as captured:
        model(**given)
    first = captured.layers[0]
    assert first.weights.shape == (2, 4, 9, 9)  # four heads on two keys
    assert (first.missing > 0.01).all()
    torch.testing.assert_close(first.weights.sum(-1) + first.missing, torch.ones(2, 4, 9))


def test_queries_and_keys_give_the_weights_again():
    model, given = tiny.tiny("llama"), inputs("llama")
    with regard.hf.capture(model, vectors=True) as captured:
        model(**given)
    for layer in captured.layers:
        assert layer.key.shape == layer.value.shape == layer.query.shape == (2, 4, 9, 8)
        again = regard.attend(layer.query, layer.key, region="causal", weights=True)
        torch.testing.assert_close(layer.weights, again.weights)
        causal = layer.scores.masked_fill(torch.ones(9, 9).triu(1).bool(), -torch.inf)
        torch.testing.assert_close(layer.weights, causal.softmax(-1))
    with regard.hf.capture(model) as captured:
        model(**given)
    with pytest.raises(ValueError, match="vectors=True"):
        _ = captured.layers[0].scores


def test_only_what_is_wanted_is_kept():
    model, given = tiny.tiny("marian"), inputs("marian")
    with regard.hf.capture(model, layers=[1], kinds=["cross"]) as captured:
        model(**given)
    assert [layer.name for layer in captured.layers] == ["model.decoder.layers.1.encoder_attn"]
    assert torch.equal(captured.weights("cross"), eager_weights(model, given, "cross")[1:])
    with pytest.raises(ValueError, match="no attention of kind 'encoder' was captured, only cross"):
        captured.weights("encoder")
    with (
        pytest.raises(ValueError, match="no kind 'self'"),
        regard.hf.capture(model, kinds=["self"]),
    ):
        pass


def test_everything_is_as_before_also_after_an_error():
    model, given = (
        tiny.tiny("t5"),
        inputs("t5"),
    )  # its encoder and decoder have configs of their own
    functions = transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS
    names, wanted = set(functions), model(**given).logits
    modules = {name: set(vars(module)) for name, module in model.named_modules()}
    with pytest.raises(ValueError, match="exactly one of"), regard.hf.capture(model):
        model(input_ids=given["input_ids"])  # the encoder runs, the decoder has nothing to read
    for part in (model, model.encoder, model.decoder):
        assert part.config._attn_implementation == "sdpa"
    assert set(functions) == names
    assert {name: set(vars(module)) for name, module in model.named_modules()} == modules
    assert torch.equal(model(**given).logits, wanted)


def test_captures_nest_and_leave_other_models_alone():
    outer_model, inner_model = tiny.tiny("gpt2"), tiny.tiny("llama")
    bystander = tiny.tiny("bert")
    bystander.set_attn_implementation("eager")
    wanted = bystander(**inputs("bert")).logits
    with regard.hf.capture(outer_model) as outer:
        with regard.hf.capture(inner_model) as inner, regard.hf.capture(outer_model) as again:
            inner_model(**inputs("llama"))
            outer_model(**inputs("gpt2"))
            assert torch.equal(bystander(**inputs("bert")).logits, wanted)
        outer_model(**inputs("gpt2"))
    assert [len(each.layers) for each in (outer, inner, again)] == [4, 2, 2]
    assert torch.equal(outer.weights("decoder", 0), again.weights("decoder"))
    assert "eager" not in transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS


def test_a_model_on_regards_attention_keeps_it():
    model, given = tiny.tiny("gpt2"), inputs("gpt2")
    (name,) = regard.hf.register(score="cosine(0.1)", region="window(2)")
    model.set_attn_implementation(name)
    wanted = model(**given).logits
    with regard.hf.capture(model, vectors=True) as captured:
        torch.testing.assert_close(model(**given).logits, wanted)
    for layer in captured.layers:
        again = regard.attend(
            layer.query, layer.key, score="cosine(0.1)", region="window(2) & causal", weights=True
        )
        torch.testing.assert_close(layer.weights, again.weights)
    assert model.config._attn_implementation == name
    (name,) = regard.hf.register(score="dot", region="window(2)", name=name)  # not a stale one
    assert not torch.allclose(model(**given).logits, wanted)


def test_gradients_reach_the_weights_unless_nobody_wants_them():
    model, given = tiny.tiny("bert"), inputs("bert")
    with regard.hf.capture(model) as captured:
        loss = model(**given).logits.sum()
    (gradient,) = torch.autograd.grad(loss, captured.layers[0].weights)
    assert gradient.abs().sum() > 0
    with torch.no_grad(), regard.hf.capture(model) as captured:
        model(**given)
    assert not captured.layers[0].weights.requires_grad


# ── generation ───────────────────────────────────────────────────────────────────────────────────


def test_every_step_of_a_generation():
    model, given = tiny.tiny("llama"), inputs("llama")
    with regard.hf.capture(model) as captured:
        sequences = model.generate(
            **given, max_new_tokens=4, do_sample=False, eos_token_id=None, pad_token_id=0
        )
    assert captured.steps == 4
    assert [captured.weights("decoder", step).shape[-2:] for step in range(4)] == [
        (9, 9),
        (1, 10),
        (1, 11),
        (1, 12),
    ]
    whole = eager_weights(model, {"input_ids": sequences[:, :-1]}, "decoder")
    torch.testing.assert_close(captured.weights("decoder", 3)[..., 0, :], whole[..., -1, :])
    with pytest.raises(ValueError, match=r"called 4 times: say which step .* step=0"):
        captured.weights("decoder")
    with pytest.raises(ValueError, match="there is no step 4, only 0 to 3"):
        captured.weights("decoder", 4)


@pytest.mark.parametrize("family", TRANSLATORS)
def test_beams_are_followed_to_the_sequences_they_end_in(family):
    model, given = tiny.tiny(family), inputs(family, padded=True)
    del given["decoder_input_ids"]
    with torch.no_grad(), regard.hf.capture(model) as captured:
        found = model.generate(
            **given,
            num_beams=4,
            num_return_sequences=2,
            min_new_tokens=3,
            max_new_tokens=6,
            return_dict_in_generate=True,
            output_scores=True,
            do_sample=False,
        )
    assert captured.weights("encoder").shape[1] == 2  # the source is read once, not once a beam
    assert captured.weights("cross", 0).shape == (2, 8, 4, 1, 9)
    followed = captured.follow(found.beam_indices)
    forced = {name: x.repeat_interleave(2, 0) for name, x in given.items()}
    forced["decoder_input_ids"] = found.sequences[:, :-1]
    wanted = eager_weights(model, forced, "cross")
    length = followed.shape[-2]
    there = (found.beam_indices[:, :length] >= 0)[None, :, None, :, None]
    assert there.sum() >= 12
    torch.testing.assert_close(followed, wanted[..., :length, :] * there, atol=1e-5, rtol=1e-5)


# ── models without the interface ─────────────────────────────────────────────────────────────────


def without_interface(name):
    torch.manual_seed(0)
    shared = {
        "max_position_embeddings": 64,
        "pad_token_id": 0,
        "bos_token_id": 2,
        "eos_token_id": 3,
    }
    layers = {"decoder_start_token_id": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, **shared}
    if name == "fsmt":
        sizes = {f"{side}_attention_heads": 2 for side in ("encoder", "decoder")}
        config = transformers.FSMTConfig(
            langs=["a", "b"], src_vocab_size=40, tgt_vocab_size=40, d_model=16, encoder_layers=1,
            decoder_layers=2, **sizes, **layers,
        )  # fmt: skip
        return transformers.FSMTForConditionalGeneration(config).eval()
    if name == "prophetnet":
        sizes = {f"num_{side}_attention_heads": 2 for side in ("encoder", "decoder")}
        config = transformers.ProphetNetConfig(
            vocab_size=40, hidden_size=16, num_encoder_layers=1, num_decoder_layers=1, **sizes, **layers
        )  # fmt: skip
        return transformers.ProphetNetForConditionalGeneration(config).eval()
    if name == "bloom":
        config = transformers.BloomConfig(vocab_size=40, hidden_size=16, n_layer=2, n_head=2)
        return transformers.BloomForCausalLM(config).eval()
    if name == "longformer":
        config = transformers.LongformerConfig(
            **SMALL, attention_window=4, intermediate_size=16, max_position_embeddings=64
        )
        return transformers.LongformerForMaskedLM(config).eval()
    config = transformers.MambaConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1)
    return transformers.MambaForCausalLM(config).eval()


def ids(length=8):
    return torch.randint(4, 40, (2, length), generator=torch.Generator().manual_seed(1))


def test_models_without_the_interface_are_asked_for_their_attentions():
    model = without_interface("bloom")
    with regard.hf.capture(model) as captured:
        model(input_ids=ids())
    wanted = model(input_ids=ids(), output_attentions=True).attentions
    assert torch.equal(captured.weights("decoder"), torch.stack(wanted))
    assert model(input_ids=ids()).attentions is None  # asked only inside the block
    translator = without_interface("fsmt")
    given = {"input_ids": ids(), "decoder_input_ids": ids(5)}
    with regard.hf.capture(translator, kinds=["encoder", "cross"]) as captured:
        translator(**given)
        translator.generate(input_ids=ids(), max_new_tokens=3, num_beams=2)
    wanted = translator(**given, output_attentions=True)
    assert torch.equal(captured.weights("encoder", 0), torch.stack(wanted.encoder_attentions))
    assert torch.equal(captured.weights("encoder", 1), captured.weights("encoder", 0))
    assert torch.equal(captured.weights("cross", 0), torch.stack(wanted.cross_attentions))
    assert captured.weights("cross", 1).shape == (2, 4, 2, 1, 8)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("prophetnet", "encoder attentions it returns numbers that are not weights"),
        ("longformer", "returns weights over 5 places for 8 positions"),
        ("mamba", "has no attention weights to give"),
    ],
)
def test_a_model_that_cannot_be_captured_says_why(name, why):
    model = without_interface(name)
    given = {"input_ids": ids()}
    if name == "prophetnet":
        given["decoder_input_ids"] = ids(5)
    with pytest.raises(ValueError, match=why), regard.hf.capture(model):
        model(**given)
    model(**given)  # and runs as before


def test_wrong_models_are_refused():
    bloom = without_interface("bloom")
    with pytest.raises(ValueError, match="Leave vectors=True out"):
        regard.hf.capture(bloom, vectors=True).__enter__()
    with pytest.raises(TypeError, match=r"not MultiHead; .* regard.attention.recording"):
        regard.hf.capture(regard.MultiHead(8)).__enter__()
    with regard.hf.capture(tiny.tiny("bert")) as captured:
        pass
    with pytest.raises(ValueError, match="call the model inside the with block"):
        captured.weights("encoder")
