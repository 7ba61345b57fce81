"""Hugging Face models on regard's attention: equal to eager where it is the same attention, equal to
a plain definition where it is another, and never without the model's own mask."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tiny_models as tiny
import torch
import transformers
from tiny_models import DECODERS, FAMILIES, TRANSLATORS, inputs, real

import regard
from regard.attention.regions import REGIONS as ALL_REGIONS
from regard.attention.scores import SCORES as ALL_SCORES
from regard.hf.hf_mechanisms import STANDARD_REGIONS, STANDARD_SCORES
from regard.hf.modules import attending, kind_of

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
SCORES = ["dot", "scaled-dot", "bilinear", "cosine(0.1)", "concat", "additive", "location(8)"]
SCORES += ["distance", "cosine(0.5, learned=true)"]
PLAIN_REGIONS = {  # what a query at i may see of a key at j
    "everywhere": lambda i, j: i >= j - 10**6,
    "causal": lambda i, j: j <= i,
    "window(2, 1)": lambda i, j: (i - 2 <= j) & (j <= i + 1),
    "atrous(2)": lambda i, j: (i - j) % 2 == 0,
    "sparse(3)": lambda i, j: ((i - j).abs() <= 3) | ((i - j) % 3 == 0),
    "~window(1) | causal": lambda i, j: ((i - j).abs() > 1) | (j <= i),
}


def logits(model, given, implementation=None, **more):
    if implementation is not None:
        model.set_attn_implementation(implementation)
    with torch.no_grad():
        return model(**given, **more).logits


@pytest.fixture(scope="module", autouse=True)
def _register_all():
    regard.hf.register()


# ── the default ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("family", FAMILIES)
def test_scaled_dot_everywhere_is_eager(family, padded):
    model, given = tiny.tiny(family), inputs(family, padded=padded)
    eager = real(family, logits(model, given, "eager"), given)
    torch.testing.assert_close(real(family, logits(model, given, "regard"), given), eager, **CLOSE)


@pytest.mark.parametrize("family", ["llama", "gemma2", "gpt-oss", "t5"])
def test_gradients_are_those_of_eager(family):
    model, given = tiny.tiny(family), inputs(family)
    gradients = []
    for implementation in ("eager", "regard"):
        model.set_attn_implementation(implementation)
        model.zero_grad()
        model(**given).logits.square().sum().backward()
        gradients.append({n: p.grad for n, p in model.named_parameters() if p.grad is not None})
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        size = gradient.abs().max().clamp(min=1e-9)
        torch.testing.assert_close(gradients[1][name] / size, gradient / size, **CLOSE)


def test_dropout_falls_on_the_weights_in_training():
    model = tiny.tiny("llama", attention_dropout=0.5).train()
    given = inputs("llama")
    for implementation in ("eager", "regard"):
        torch.manual_seed(3)
        drawn = logits(model, given, implementation, output_attentions=True)
        if implementation == "eager":
            eager = drawn
    torch.testing.assert_close(drawn, eager, **CLOSE)  # the same draws on the same weights
    assert not torch.allclose(logits(model, given), logits(model, given))
    assert torch.equal(logits(model.eval(), given), logits(model, given))


def test_a_float_mask_is_added_to_the_scores_and_forbids_where_it_is_very_low():
    model = tiny.tiny("llama")
    bias = torch.randn(2, 1, 9, 9).masked_fill(torch.ones(9, 9).triu(1).bool(), -1e9)
    given = {**inputs("llama"), "attention_mask": bias}
    torch.testing.assert_close(
        logits(model, given, "regard"), logits(model, given, "eager"), **CLOSE
    )
    uniform = regard.hf.register(normalize="uniform")[0]
    cut = {"input_ids": given["input_ids"].clone(), "attention_mask": bias}
    cut["input_ids"][:, -1] = 5
    assert torch.equal(logits(model, given, uniform)[:, :-1], logits(model, cut)[:, :-1])


def test_causality_that_is_only_a_word_is_kept_too():
    attention = transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS["regard"]
    q, k, v = torch.randn(3, 1, 2, 5, 4)
    got, _ = attention(torch.nn.Identity(), q, k, v, None, is_causal=True)
    wanted = regard.attend(q, k, v, region="causal").context.transpose(1, 2)
    torch.testing.assert_close(got, wanted)
    single, _ = attention(torch.nn.Identity(), q[:, :, -1:], k, v, None, is_causal=True)
    torch.testing.assert_close(single, wanted[:, -1:])


def test_half_precision_stays_half_and_its_scores_are_single():
    attention = transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS["regard"]
    terms = {"s_aux": torch.randn(2), "softcap": 2.0, "position_bias": torch.randn(1, 2, 5, 5)}
    vectors = [x.bfloat16() for x in torch.randn(3, 1, 2, 5, 4)]
    half = {n: x.bfloat16() if isinstance(x, torch.Tensor) else x for n, x in terms.items()}
    got, _ = attention(torch.nn.Identity(), *vectors, None, **half)
    assert got.dtype == torch.bfloat16
    single = {n: x.float() if isinstance(x, torch.Tensor) else x for n, x in half.items()}
    wanted, _ = attention(torch.nn.Identity(), *(x.float() for x in vectors), None, **single)
    torch.testing.assert_close(got.float(), wanted, atol=0.02, rtol=0.02)


def test_output_attentions_are_the_weights_only_when_asked():
    model = tiny.tiny("marian")
    given = inputs("marian", padded=True)
    model.set_attn_implementation("eager")
    eager = model(**given, output_attentions=True)
    model.set_attn_implementation("regard")
    asked = model(**given, output_attentions=True)
    for kind in ("encoder_attentions", "decoder_attentions", "cross_attentions"):
        torch.testing.assert_close(asked[kind], eager[kind], **CLOSE)
    assert not model(**given).cross_attentions


# ── every score × region ─────────────────────────────────────────────────────────────────────────


def plain_attention(score_of, allowed_at):
    """A second definition: scores, bias and cap, one mask, a softmax that may have a sink."""

    def attention(module, query, key, value, mask, scaling=None, **terms):
        group = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
        scores = score_of(module, query, key, scaling)
        if terms.get("softcap") is not None:
            scores = terms["softcap"] * torch.tanh(scores / terms["softcap"])
        if terms.get("position_bias") is not None:
            scores = scores + terms["position_bias"]
        allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else (mask == 0)
        if kind_of(module) != "cross":
            i, j = torch.arange(query.shape[2])[:, None], torch.arange(key.shape[2])
            allowed = allowed & allowed_at(i, j)
        score = getattr(getattr(module, "regard", None), "score", None)
        if isinstance(score, regard.scores.Location):
            allowed = allowed & (torch.arange(key.shape[2]) < score.max_keys)
        exponentials = scores.exp() * allowed
        total = exponentials.sum(-1, keepdim=True)
        if terms.get("s_aux") is not None:
            total = total + terms["s_aux"].exp()[:, None, None]
        weights = exponentials / total.clamp(min=1e-30)
        return (weights @ value).transpose(1, 2).contiguous(), weights

    return attention


def plain_score(name):
    if name == "scaled-dot":
        return lambda module, q, k, scaling: q @ k.mT * scaling
    if name in ("dot", "distance", "cosine(0.1)"):
        score = {"dot": regard.scores.Dot(), "distance": regard.scores.Distance()}.get(name)
        score = score or regard.scores.Cosine(0.1)
        return lambda module, q, k, scaling: score(q, k)
    return lambda module, q, k, scaling: module.regard.score(q, k)


def use(model, score, region):
    """The model on this attention, with parameters that matter where it has some."""
    regard.hf.equip(model, score=score, region=region)
    for each in attending(model):
        for parameter in each.module.regard.parameters():
            torch.nn.init.normal_(parameter, std=0.7)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("family", ["bert", "llama", "gemma2", "gpt-oss", "marian", "t5"])
def test_every_score_and_region_is_what_its_definition_says(family, score):
    given = inputs(family, padded=family != "t5")
    model = tiny.tiny(family)
    for region, allowed_at in PLAIN_REGIONS.items():
        use(model, score, region)
        got = real(family, logits(model, given), given)
        plain = plain_attention(plain_score(score), allowed_at)
        transformers.AttentionInterface.register("test-plain", plain)
        eager_mask = transformers.masking_utils.eager_mask
        transformers.AttentionMaskInterface.register("test-plain", eager_mask)
        wanted = real(family, logits(model, given, "test-plain"), given)
        torch.testing.assert_close(got, wanted, **CLOSE)


@pytest.mark.parametrize("family", [*DECODERS, *TRANSLATORS])
def test_no_combination_looks_ahead(family):
    given = inputs(family)
    ids = "decoder_input_ids" if family in TRANSLATORS else "input_ids"
    later = {**given, ids: given[ids].clone()}
    later[ids][:, 5:] = (later[ids][:, 5:] - 3) % 46 + 4
    for score in STANDARD_SCORES:
        model = tiny.tiny(family)
        for region in STANDARD_REGIONS:
            use(model, score, region.replace("64", "2").replace("8", "2"))
            before, after = logits(model, given), logits(model, later)
            torch.testing.assert_close(before[:, :5], after[:, :5], **CLOSE)
            assert not torch.allclose(before[:, 5:], after[:, 5:], atol=1e-3)


def test_without_its_mask_function_an_attention_would_look_ahead():
    """The trap that registering both avoids; and proof that the test above can fail."""
    model, given = tiny.tiny("llama"), inputs("llama")
    registered = transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS["regard"]
    transformers.AttentionInterface.register("test-maskless", registered)
    later = {**given, "input_ids": given["input_ids"].clone()}
    later["input_ids"][:, -1] = 5
    leak = logits(model, given, "test-maskless")[:, 0] - logits(model, later)[:, 0]
    assert leak.abs().max() > 1e-3


@pytest.mark.parametrize("normalize", ["sparsemax", "softmax(0.5)", "uniform", "raw"])
def test_other_normalizers(normalize):
    model, given = tiny.tiny("gpt2"), inputs("gpt2")
    (name,) = regard.hf.register(region="window(3)", normalize=normalize)
    assert name == f"regard@window(3)>{normalize}"
    model.set_attn_implementation(name)
    with regard.hf.capture(model, vectors=True) as captured:
        model(**given)
    for layer in captured.layers:
        direct = regard.attend(
            layer.query, layer.key, region="window(3) & causal", normalize=normalize, weights=True
        )
        torch.testing.assert_close(layer.weights, direct.weights, **CLOSE)


# ── positions ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["regard", "regard:cosine@window(2)", "regard@sparse(2)"])
@pytest.mark.parametrize("family", ["llama", "mistral", "gemma2", "gpt-oss", "gpt2"])
def test_generation_with_a_cache_is_generation_without(family, name):
    if "@" in name:
        score, region = name.split(":")[-1].split("@")
        score = None if score == "regard" else score
        regard.hf.register(score=score, region=region)
    model, given = tiny.tiny(family), inputs(family, padded=True)
    model.set_attn_implementation(name)
    settings = {"max_new_tokens": 6, "do_sample": False, "eos_token_id": None}
    cached = model.generate(**given, **settings, output_logits=True, return_dict_in_generate=True)
    whole = model.generate(
        **given, **settings, output_logits=True, return_dict_in_generate=True, use_cache=False
    )
    assert torch.equal(cached.sequences, whole.sequences)
    torch.testing.assert_close(cached.logits, whole.logits, **CLOSE)


@pytest.mark.parametrize("family", ["llama", "mistral"])
def test_a_static_cache_has_room_behind_the_query(family):
    model, given = tiny.tiny(family), inputs(family, padded=True)
    regard.hf.register(region="window(2)")
    model.set_attn_implementation("regard@window(2)")
    settings = {
        "max_new_tokens": 6,
        "do_sample": False,
        "eos_token_id": None,
        "output_logits": True,
    }
    settings["return_dict_in_generate"] = True
    dynamic = model.generate(**given, **settings)
    static = model.generate(
        **given, **settings, cache_implementation="static", disable_compile=True
    )
    torch.testing.assert_close(static.logits, dynamic.logits, **CLOSE)


@pytest.mark.parametrize("family", TRANSLATORS)
def test_beams_of_an_encoder_decoder_are_those_of_eager(family):
    model, given = tiny.tiny(family), inputs(family, padded=True)
    del given["decoder_input_ids"]
    found = []
    for name in ("eager", "regard"):
        model.set_attn_implementation(name)
        found.append(model.generate(**given, num_beams=3, max_new_tokens=6, do_sample=False))
    assert torch.equal(*found)


def test_packed_sequences_do_not_see_each_other():
    model = tiny.tiny("llama")
    model.set_attn_implementation("regard@window(2)")
    first, second = tiny.tokens(1, 5), tiny.tokens(1, 8)[:, 4:]
    packed = {"input_ids": torch.cat([first, second], 1), "use_cache": False}
    packed["position_ids"] = torch.tensor([[*range(5), *range(4)]])
    apart = [logits(model, {"input_ids": ids, "use_cache": False}) for ids in (first, second)]
    torch.testing.assert_close(logits(model, packed), torch.cat(apart, 1), **CLOSE)


def test_a_region_of_positions_leaves_a_source_whole():
    model, given = tiny.tiny("marian"), inputs("marian")
    regard.hf.register(region="window(1)")
    model.set_attn_implementation("regard@window(1)")
    with regard.hf.capture(model) as captured:
        model(**given)
    assert (captured.weights("cross") > 0).all()
    off = torch.ones(9, 9).triu(2).bool()
    assert not captured.weights("encoder")[..., off].any()
    assert not captured.weights("encoder")[..., off.T].any()


# ── parameters ───────────────────────────────────────────────────────────────────────────────────


def test_scores_with_parameters_are_trained_and_saved_with_the_model(tmp_path):
    model, given = tiny.tiny("llama"), inputs("llama")
    before = sum(p.numel() for p in model.parameters())
    name = regard.hf.equip(model, score="additive(4)", region="predicted-window(3)")
    assert name == "regard:additive(4)@predicted-window(3)"
    heads, size, hidden = 4, 8, 4
    additive, window = heads * (2 * size * hidden + hidden), size * size + size
    assert sum(p.numel() for p in model.parameters()) == before + 2 * (additive + window)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    start = {n: p.detach().clone() for n, p in model.named_parameters() if ".regard." in n}
    model(**given, labels=given["input_ids"]).loss.backward()
    optimiser.step()
    assert all((dict(model.named_parameters())[n] != p).any() for n, p in start.items())

    model.save_pretrained(tmp_path)
    loaded = transformers.LlamaForCausalLM.from_pretrained(tmp_path, attn_implementation="regard")
    assert loaded.config._attn_implementation == "regard"
    regard.hf.equip(loaded, score="additive(4)", region="predicted-window(3)", folder=tmp_path)
    torch.testing.assert_close(logits(loaded, given), logits(model, given))
    with pytest.raises(ValueError, match=r"has no '.*regard.score.weight' \(2 of 2 missing\)"):
        regard.hf.equip(loaded, score="bilinear", folder=tmp_path)


def test_a_score_with_parameters_needs_an_equipped_model():
    model, given = tiny.tiny("bert"), inputs("bert")
    model.set_attn_implementation("regard:additive")
    with pytest.raises(ValueError, match=r"call regard.hf.equip\(model, score='additive'"):
        model(**given)
    regard.hf.equip(model, score="bilinear")
    model.set_attn_implementation("regard:additive")
    with pytest.raises(ValueError, match="it is equipped for 'regard:bilinear'"):
        model(**given)
    for wrong in (
        {"score": regard.scores.Bilinear(8, 8)},
        {"region": regard.regions.PredictedWindow(3)},
    ):
        with pytest.raises(ValueError, match="every layer needs its own: pass its name"):
            regard.hf.register(**wrong)


# ── names and refusals ───────────────────────────────────────────────────────────────────────────


def test_the_standard_names():
    names = regard.hf.register()
    assert len(set(names)) == len(names) == len(STANDARD_SCORES) * len(STANDARD_REGIONS)
    assert {"regard", "regard:cosine", "regard@window(64)", "regard:additive@sparse(8)"} <= {*names}
    assert {name.split("(")[0] for name in STANDARD_SCORES} == set(ALL_SCORES)
    assert {name.split("(")[0] for name in STANDARD_REGIONS} == set(ALL_REGIONS)


def test_names_of_ones_own():
    window = regard.regions.Window(3)
    assert regard.hf.register(region=window, name="mine") == ["mine"]
    assert regard.hf.register(score=regard.scores.Dot(), region=window) == [
        "regard:Dot()@Window(before=3, after=3)"
    ]
    model, given = tiny.tiny("gpt2"), inputs("gpt2")
    regard.hf.register(region="window(3)")
    assert torch.equal(logits(model, given, "mine"), logits(model, given, "regard@window(3)"))
    with pytest.raises(ValueError, match="Did you mean 'cosine'"):
        regard.hf.register(score="cosin")
    for taken in ("my/window", "sdpa", "flash_window"):
        with pytest.raises(ValueError, match="transformers means something else by a name with"):
            regard.hf.register(region="window(3)", name=taken)


def test_what_cannot_be_honoured_is_refused():
    attention = transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS["regard@window(64)"]
    module, x = torch.nn.Identity(), torch.randn(1, 2, 3, 4)
    with pytest.raises(ValueError, match="Identity chooses its keys by 'indices'"):
        attention(module, x, x, x, None, indices=torch.zeros(1))
    with pytest.raises(TypeError, match=r"must be bool .* given torch.int64"):
        attention(module, x, x, x, torch.ones(1, 1, 3, 3, dtype=torch.long))

    class Either(torch.nn.Module):
        def forward(self, hidden_states, key_value_states=None): ...

    with pytest.raises(ValueError, match="cannot tell whether Either reads its own sequence"):
        attention(Either(), x, x, x, None)
    model = tiny.tiny("gpt2").train()
    model.set_attn_implementation(regard.hf.register(normalize="hard")[0])
    with pytest.raises(ValueError, match="use normalize='gumbel' to train"):
        model(**inputs("gpt2"))
    assert logits(model.eval(), inputs("gpt2")).isfinite().all()


def test_a_model_without_the_interface_cannot_be_equipped():
    config = transformers.XLNetConfig(vocab_size=20, d_model=16, n_layer=1, n_head=2, d_inner=16)
    with pytest.raises(ValueError, match="XLNetModel does not use the attention interface"):
        regard.hf.equip(transformers.XLNetModel(config), score="additive")


def test_transformers_is_imported_when_needed_and_missed_with_advice(monkeypatch):
    code = "import sys, regard; regard.hf; sys.exit('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match=r'pip install "regard\[hf\]"'):
        regard.hf.register()
