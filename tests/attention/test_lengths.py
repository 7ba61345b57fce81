"""Lengths say what a mask of padding says, wherever one is taken."""

from __future__ import annotations

import pytest
import torch

import regard
from regard import pooling
from regard.models import presets
from regard.models.bare import bare_classifier
from regard.models.modes import many_to_one
from regard.models.tagger import recurrent_tagger, transformer_tagger
from regard.models.transformer_models import masked_language_model, transformer

LENGTHS = torch.tensor([4, 0, 6, 1])
REAL = torch.arange(6) < LENGTHS[:, None]
STATES = torch.randn(4, 6, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
QUERY = torch.randn(4, 3, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def same(found, wanted) -> None:
    for a, b in zip(found, wanted, strict=True):
        if isinstance(b, torch.Tensor):
            torch.testing.assert_close(a, b, rtol=0, atol=0)


@pytest.mark.parametrize("region", ["everywhere", "window(1)", "window(1, clamp=True)"])
def test_attend_takes_lengths_for_a_mask(region):
    how = {"region": region, "weights": True}
    same(
        regard.attend(QUERY, STATES, lengths=LENGTHS, **how),
        regard.attend(QUERY, STATES, mask=REAL[:, None, :], **how),
    )


def test_with_heads_they_have_an_axis_of_heads():
    query, key = (x.unflatten(-1, (2, 4)).transpose(1, 2) for x in (QUERY, STATES))
    wanted = regard.attend(query, key, mask=REAL[:, None, None, :])
    same(regard.attend(query, key, lengths=LENGTHS[:, None]), wanted)
    with pytest.raises(ValueError, match=r"one for every sequence .*lengths\[:, None\]"):
        regard.attend(query, key, lengths=LENGTHS)


def test_what_stands_past_a_length_reaches_nothing():
    spoilt = STATES.masked_fill(~REAL[..., None], torch.nan)
    same(
        regard.attend(QUERY, spoilt, lengths=LENGTHS), regard.attend(QUERY, STATES, lengths=LENGTHS)
    )


@pytest.mark.parametrize(
    "attention",
    [
        regard.Attention(8, 8, score="additive"),
        regard.Attention(8, 8, region="predicted-window(2)"),
        regard.MultiHead(8, 8, heads=2),
    ],
)
def test_modules_and_their_memories_take_lengths(attention):
    attention = attention.double()
    wanted = attention(QUERY, STATES, mask=REAL, weights=True)
    same(attention(QUERY, STATES, lengths=LENGTHS, weights=True), wanted)
    same(attention(QUERY, attention.remember(STATES, lengths=LENGTHS), weights=True), wanted)
    with pytest.raises(ValueError, match="give lengths to remember"):
        attention(QUERY, attention.remember(STATES), lengths=LENGTHS)


@pytest.mark.parametrize("module", [regard.Attention(8), regard.MultiHead(8, heads=2)])
def test_self_attention_takes_lengths(module):
    module = module.double()
    same(module(STATES, lengths=LENGTHS), module(STATES, mask=REAL))


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("pool", ["last", "mean", "max", "attention"])
def test_poolings_take_lengths(pool, batch_first):
    if pool == "attention":
        pooled = pooling.AttentionPooling(8, hidden=5, hops=2, batch_first=batch_first).double()
    else:

        def pooled(*args, **given):
            return getattr(pooling, pool)(*args, batch_first=batch_first, **given)

    states, mask = (STATES, REAL) if batch_first else (STATES.transpose(0, 1), REAL.T)
    same(pooled(states, lengths=LENGTHS), pooled(states, mask))


def test_documents_take_the_lengths_of_their_sentences():
    words = torch.randn(2, 3, 6, 8).double()
    lengths = torch.tensor([[6, 0, 2], [1, 3, 0]])
    module = pooling.Hierarchical(8, hidden=5).double()
    found = module(words, lengths=lengths)
    wanted = module(words, torch.arange(6) < lengths[..., None])
    same((*found[:3], *found.words), (*wanted[:3], *wanted.words))


@pytest.mark.parametrize(
    "model",
    [
        presets.recurrent(9, 9, hidden=6, embedding=5),
        transformer(9, 9, size=8, heads=2, inner=8, encoder_layers=1, decoder_layers=1),
        many_to_one(9, 3, hidden=6, embedding=5),
        bare_classifier(9, 3, size=6),
    ],
)
def test_models_take_lengths(model):
    lengths = torch.tensor([5, 2, 1])
    source = torch.randint(4, 9, (3, 5), generator=torch.Generator().manual_seed(0))
    mask, inputs = torch.arange(5) < lengths[:, None], torch.full((3, 2), 4)
    model = model.double().eval()
    same(model(source, None, inputs, lengths=lengths), model(source, mask, inputs))
    everything = model(source, torch.ones_like(mask), inputs)
    same(model(source, None, inputs), everything)
    with pytest.raises(ValueError, match="not both"):
        model.encode(source, mask, lengths=lengths)


def test_taggers_and_masked_models_take_lengths():
    lengths = torch.tensor([5, 2])
    words = torch.randint(4, 9, (2, 5), generator=torch.Generator().manual_seed(0))
    mask = torch.arange(5) < lengths[:, None]
    shape = {"size": 8, "heads": 2, "inner": 8, "layers": 1}
    for tagger in (
        recurrent_tagger((9, 5), 3, embedding=6, hidden=5),
        transformer_tagger((9, 5), 3, **shape),
    ):
        tagger = tagger.double().eval()
        same([tagger(words, lengths=lengths)], [tagger(words, mask)])
    masked = masked_language_model(9, **shape).double().eval()
    same([masked.encode(words, lengths=lengths).states], [masked.encode(words, mask).states])


@pytest.mark.parametrize(
    ("lengths", "error", "said"),
    [
        (torch.tensor([1.0, 2.0, 3.0, 4.0]), TypeError, "whole numbers"),
        (REAL[:, 0], TypeError, "said by mask="),
        ([1, 2.5, 3, 4], TypeError, "one of the list is"),
        ([True, 2, 3, 4], TypeError, "one of the list is"),
        ([1, 2, 3], ValueError, r"must be \(4,\)"),
        ([1, 2, 7, 4], ValueError, "from 0 to 6, .*given 7"),
        (torch.tensor([1, 2, 3]), ValueError, r"must be \(4,\)"),
        (torch.tensor(3), ValueError, "one for every sequence"),
        (torch.tensor([1, -1, 3, 4]), ValueError, "from 0 to 6, .*given -1"),
        (torch.tensor([1, 2, 7, 4]), ValueError, "from 0 to 6, .*given 7"),
    ],
)
def test_what_no_lengths_are_is_told(lengths, error, said):
    with pytest.raises(error, match=said):
        regard.attend(QUERY, STATES, lengths=lengths)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.int64])
def test_whole_numbers_of_any_size_are_lengths(dtype):
    wanted = regard.attend(QUERY, STATES, lengths=LENGTHS)
    same(regard.attend(QUERY, STATES, lengths=LENGTHS.to(dtype)), wanted)


def test_a_list_of_whole_numbers_is_lengths():
    wanted = regard.attend(QUERY, STATES, lengths=LENGTHS)
    for listed in (LENGTHS.tolist(), tuple(LENGTHS.tolist())):
        same(regard.attend(QUERY, STATES, lengths=listed), wanted)
    attention = regard.Attention(8, 8).double()
    asked = attention(QUERY, STATES, lengths=LENGTHS.tolist())
    same(asked, attention(QUERY, STATES, lengths=LENGTHS))
    memory = attention.remember(STATES, lengths=LENGTHS.tolist())
    same(attention(QUERY, memory), asked)
    pool = pooling.AttentionPooling(8).double()
    same(pool(STATES, lengths=LENGTHS.tolist()), pool(STATES, lengths=LENGTHS))
    assert regard.attend(QUERY[:0], STATES[:0], lengths=[]).context.shape == (0, 3, 8)


def test_of_no_sequence_there_is_no_length():
    found = regard.attend(QUERY[:0], STATES[:0], lengths=LENGTHS[:0])
    assert found.context.shape == (0, 3, 8)


def test_in_a_graph_and_under_a_transform_the_numbers_are_not_looked_at():
    torch.manual_seed(0)
    score = regard.scores.Additive(8, 8, 4).double()

    def one(query, states, lengths):
        return regard.attend(query, states, lengths=lengths, score=score).context

    wanted = one(QUERY, STATES, LENGTHS)
    compiled = torch.compile(one, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(QUERY, STATES, LENGTHS), wanted)
    torch.testing.assert_close(torch.func.vmap(one)(QUERY, STATES, LENGTHS), wanted)


def test_mask_and_lengths_together_are_refused():
    for call in (
        lambda: regard.attend(QUERY, STATES, mask=REAL[:, None, :], lengths=LENGTHS),
        lambda: regard.Attention(8).double()(STATES, mask=REAL, lengths=LENGTHS),
        lambda: pooling.mean(STATES, REAL, lengths=LENGTHS),
    ):
        with pytest.raises(ValueError, match="give mask or lengths, not both"):
            call()


@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.uint8, torch.uint16, torch.uint32, torch.uint64]
)
def test_lengths_of_every_whole_dtype_will_do(dtype):
    x, lengths = torch.randn(2, 5, 8), torch.tensor([5, 3])
    wanted = regard.attend(x, x, lengths=lengths).context
    assert torch.equal(regard.attend(x, x, lengths=lengths.to(dtype)).context, wanted)
    assert torch.equal(regard.attend(x, x, lengths=list(lengths.numpy())).context, wanted)


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ([5, 2**70], "given 1180591620717411303424"),
        ([-(2**70), 5], "given -1180591620717411303424"),
        ([True, False], "one of the list is True"),
        ([5.0, 3.0], r"one of the list is 5\.0"),
        ([[5], [3]], r"one of the list is \[5\]"),
        (["5", "3"], "one of the list is '5'"),
        ([None, 3], "one of the list is None"),
        (torch.tensor(3), r"given \(\)\.$"),
    ],
    ids=repr,
)
def test_a_list_that_is_none_of_lengths_is_told_by_what_is_wrong_in_it(lengths, said):
    x = torch.randn(2, 5, 8)
    with pytest.raises((TypeError, ValueError), match=said):
        regard.attend(x, x, lengths=lengths)
