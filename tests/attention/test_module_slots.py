"""Modules with a cap and learnt sinks: the definition, whole and step by step, whatever is padding."""

import pytest
import torch

import regard
from regard.attention.mechanism_text import mechanism
from regard.models.transformer_models import transformer
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe_files import read_recipe

CAP = 0.7


def draw(*shape):
    return torch.randn(shape, dtype=torch.float64)


def made(kind, **more):
    torch.manual_seed(0)
    module = kind(8, cap=CAP, sinks=True, **more).double()
    torch.nn.init.normal_(module.sinks)
    return module


def by_definition(scores, sinks, allowed):
    """exp(s) / (exp(sink) + Σ exp(s)), s = cap · tanh(score / cap)"""
    parts = (CAP * torch.tanh(scores / CAP)).exp().masked_fill(~allowed, 0.0)
    return parts / (sinks.exp() + parts.sum(-1, keepdim=True))


def test_one_head_is_its_definition():
    attention, x = made(regard.Attention, region="causal"), draw(2, 5, 8)
    context, weights, _ = attention(x, weights=True)
    allowed = torch.ones(5, 5, dtype=torch.bool).tril()
    wanted = by_definition(x @ x.mT / 8**0.5, attention.sinks, allowed)
    torch.testing.assert_close(weights, wanted, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(context, wanted @ x, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(attention(x).context, context, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("key_heads", [None, 2])
def test_every_head_has_a_sink(key_heads):
    attention, x = made(regard.MultiHead, heads=4, key_heads=key_heads), draw(2, 5, 8)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    context, weights, _ = attention(x, mask=mask, weights=True)
    q, k, v = (
        p(x).unflatten(-1, (-1, 2)).transpose(1, 2)
        for p in (attention.query, attention.key, attention.value)
    )
    k, v = (y.repeat_interleave(4 // y.shape[1], 1) for y in (k, v))
    wanted = by_definition(q @ k.mT / 2**0.5, attention.sinks[:, None, None], mask[:, None, None])
    torch.testing.assert_close(weights, wanted, rtol=1e-12, atol=1e-12)
    joined = (wanted @ v).transpose(1, 2).flatten(-2)
    torch.testing.assert_close(context, attention.output(joined), rtol=1e-12, atol=1e-12)
    assert attention.sinks.shape == (4,)
    assert weights.sum(-1).lt(1).all()


def test_they_are_learnt():
    attention, x = made(regard.MultiHead, heads=2), draw(2, 5, 8)
    sinks = attention.sinks

    def run(given):
        return torch.func.functional_call(attention, {"sinks": given}, (x,)).context

    assert torch.autograd.gradcheck(run, [sinks.detach().requires_grad_()])
    assert regard.Attention(8, sinks=True).sinks.tolist() == [0.0]
    assert "sinks" not in regard.Attention(8).state_dict()


@pytest.mark.parametrize("kind", [regard.Attention, regard.MultiHead])
def test_steps_are_the_whole_and_padding_reaches_nothing(kind):
    more = {} if kind is regard.Attention else {"heads": 2}
    attention, x = made(kind, region="causal", **more), draw(2, 6, 8)
    whole = attention(x).context
    memory = attention.remember(x[:, :1])
    for at in range(6):
        memory = memory if at == 0 else memory.advance(x[:, at : at + 1])
        step = attention(x[:, at : at + 1], memory, offset=at).context
        torch.testing.assert_close(step, whole[:, at : at + 1], rtol=1e-12, atol=1e-12)
    ragged = torch.cat([x, torch.full((2, 3, 8), torch.nan, dtype=x.dtype)], 1)
    padded = attention(ragged, lengths=torch.tensor([6, 6])).context
    torch.testing.assert_close(padded[:, :6], whole, rtol=1e-12, atol=1e-12)


def test_a_row_without_keys_is_zero_and_learns_nothing():
    attention, x = made(regard.Attention), draw(2, 3, 8)
    mask = torch.tensor([[True, True, False], [False] * 3])
    context = attention(x, mask=mask).context
    assert context[1].eq(0).all()
    (grad,) = torch.autograd.grad(context[1].sum(), [attention.sinks], allow_unused=True)
    assert grad is None or grad.eq(0).all()


def test_under_autocast_it_is_the_same_but_for_rounding():
    attention, x = made(regard.MultiHead, heads=2, region="causal").float(), torch.randn(2, 5, 8)
    exact = attention(x).context
    with torch.autocast("cpu", torch.bfloat16):
        rough = attention(x).context
    torch.testing.assert_close(rough.float(), exact, rtol=0.05, atol=0.05)


def test_what_is_there_is_said():
    attention = made(regard.Attention)
    assert "cap=0.7, sinks=True" in repr(attention)
    assert mechanism(attention).endswith("normalize: softmax · cap: 0.7 · sinks: learned")
    assert "cap" not in repr(regard.Attention(8))


@pytest.mark.parametrize(
    ("choices", "said"), [({"cap": -1.0}, "above 0"), ({"sinks": True}, "no such sum")]
)
def test_what_is_refused(choices, said):
    with pytest.raises(ValueError, match=said):
        regard.MultiHead(8, heads=2, normalize="sparsemax", **choices)


def test_a_recipe_has_them():
    words = ["model.decoder_attention.cap=30", "model.cross_attention.sinks=true"]
    recipe = read_recipe("zh-en-transformer", words)
    model = transformer(12, 12, recipe.model)
    block = model.decoder.blocks[0]
    assert block.attention.cap == 30.0
    assert block.attention.sinks is None
    assert block.cross.sinks.shape == (recipe.model.heads,)
    with pytest.raises(RecipeError, match=r"model\.attention\.sinks.*sparsemax has no such sum"):
        read_recipe(
            "rnnsearch", ["model.attention.sinks=true", "model.attention.normalize=sparsemax"]
        )
