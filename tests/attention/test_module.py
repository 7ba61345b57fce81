"""Attention, MultiHead and Memory: heads equal separate calls, steps equal the whole."""

from __future__ import annotations

import threading
from dataclasses import replace

import definition
import pytest
import torch
from torch import nn

import regard
from regard.attention.regions import as_region
from regard.attention.scores import SCORES

NAMED = [("location(12)" if name == "location" else name) for name in SCORES]


@pytest.mark.parametrize("score", NAMED)
def test_attention_equals_attend(score):
    attention = regard.Attention(4, 4, score=score, region="window(2)", normalize="softmax(0.5)")
    query, states = torch.randn(2, 3, 4), torch.randn(2, 6, 4)
    mask = torch.arange(6) < torch.tensor([6, 3])[:, None]
    wanted = regard.attend(
        query,
        states,
        score=attention.score,
        region="window(2)",
        normalize="softmax(0.5)",
        mask=mask[:, None],
        weights=True,
    )
    memory = attention.remember(states, mask)
    for got in (
        attention(query, memory, weights=True),
        attention(query, states, mask=mask, weights=True),
    ):
        torch.testing.assert_close(got.context, wanted.context)
        torch.testing.assert_close(got.weights, wanted.weights)


def test_keys_are_projected_once():
    attention = regard.Attention(5, 4, score="additive(6)")
    calls = []
    project = attention.score.project_key
    attention.score.project_key = lambda states: calls.append(1) or project(states)
    memory = attention.remember(torch.randn(2, 7, 4))
    for _ in range(3):
        attention(torch.randn(2, 1, 5), memory)
    assert len(calls) == 1
    assert memory.keys.shape == (2, 7, 6)


@pytest.mark.parametrize("kind", ["single", "heads", "grouped"])
@pytest.mark.parametrize("score", ["scaled-dot", "additive", "cosine", "distance"])
@pytest.mark.parametrize(
    "region", ["causal(end)", "window(2, 0, end)", "sparse(2, end) & causal(end)"]
)
def test_steps_equal_the_whole(region, score, kind):
    """A memory that grows by one state a step gives what one call over the whole gives."""
    options = {"score": score, "region": region}
    if kind == "single":
        attention = regard.Attention(8, **options)
    else:
        attention = regard.MultiHead(8, heads=4, key_heads=2 if kind == "grouped" else 4, **options)
    x = torch.randn(3, 7, 8)
    whole = attention(x).context
    memory = None
    for t in range(7):
        step = x[:, t : t + 1]
        memory = attention.remember(step) if memory is None else memory.append(step)
        assert memory.length == t + 1
        torch.testing.assert_close(attention(step, memory).context, whole[:, t : t + 1])


def test_local_attention_decodes_step_by_step_with_an_offset():
    attention = regard.Attention(4, 4, region="window(1)")
    query, states = torch.randn(2, 5, 4), torch.randn(2, 6, 4)
    memory = attention.remember(states)
    whole = attention(query, memory).context
    for t in range(5):
        step = attention(query[:, t : t + 1], memory, offset=t).context
        torch.testing.assert_close(step, whole[:, t : t + 1])


def test_a_memory_is_selected_by_a_beam_and_never_changed():
    attention = regard.MultiHead(8, 6, heads=2)
    states, mask = torch.randn(3, 5, 6), torch.arange(5) < torch.tensor([5, 2, 4])[:, None]
    memory = attention.remember(states, mask)
    rows = torch.tensor([2, 0, 0, 1])
    query = torch.randn(4, 1, 8)
    picked = attention(query, memory.select(rows)).context
    torch.testing.assert_close(picked, attention(query, states[rows], mask=mask[rows]).context)
    grown = memory.append(torch.randn(3, 2, 6))
    assert (memory.length, grown.length) == (5, 7)
    assert grown.mask.shape == (3, 7)
    assert grown.mask[:, 5:].all()


@pytest.mark.parametrize("learns", [True, False])
def test_what_is_appended_to_a_memory_changes_no_other(learns):
    attention = regard.MultiHead(8, heads=2)
    states, first, second = torch.randn(3, 5, 8), torch.randn(3, 1, 8), torch.randn(3, 2, 8)
    rows = torch.tensor([2, 0, 0])
    with torch.set_grad_enabled(learns):
        seed = attention.remember(states).append(first)  # with room behind it, if nobody learns
        one, other = seed.append(first), seed.append(second)
        picked = seed.select(rows)
        late = picked.append(first[rows])
        again = replace(seed, keys=2 * seed.keys, values=2 * seed.values).append(second)
        alone = {name: getattr(seed, name)[:1] for name in ("keys", "values")}
        spread = {name: part.expand(9, -1, -1, -1) for name, part in alone.items()}

        def remembered(*parts):
            whole = attention.remember(torch.cat(parts, 1))
            return whole.keys, whole.values

        expected = [
            (seed, remembered(states, first)),
            (one, remembered(states, first, first)),
            (other, remembered(states, first, second)),
            (picked, remembered(states[rows], first[rows])),
            (late, remembered(states[rows], first[rows], first[rows])),
        ]
        for memory, (keys, values) in expected:
            torch.testing.assert_close(memory.keys, keys)
            torch.testing.assert_close(memory.values, values)
        assert torch.equal(again.keys[:, :, :6], 2 * seed.keys)
        picked = replace(seed, spoilt=None, **spread).select(torch.tensor([8, 1]))
        assert torch.equal(picked.keys, seed.keys[[0, 0]])
        grown = replace(seed, spoilt=None, **alone).append(first[:1])
        torch.testing.assert_close(grown.keys, one.keys[:1])


def test_a_memory_grows_without_being_copied_each_time():
    attention, places = regard.MultiHead(8, heads=2), set()
    with torch.no_grad():
        memory = attention.remember(torch.randn(3, 1, 8))
        for _ in range(100):
            memory = memory.append(torch.randn(3, 1, 8))
            places.add(memory.keys.data_ptr())
    assert memory.length == 101
    assert len(places) <= 20


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("causal", [False, True])
def test_multi_head_equals_torch(causal, bias):
    ours = regard.MultiHead(12, heads=3, region="causal" if causal else None, bias=bias)
    theirs = nn.MultiheadAttention(12, 3, bias=bias, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(
            torch.cat([ours.query.weight, ours.key.weight, ours.value.weight])
        )
        theirs.out_proj.weight.copy_(ours.output.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
            theirs.out_proj.bias.copy_(ours.output.bias)
    x = torch.randn(2, 5, 12)
    real = torch.arange(5) < torch.tensor([5, 3])[:, None]
    forbidden = torch.ones(5, 5, dtype=torch.bool).triu(1) if causal else None
    wanted, weights = theirs(
        x, x, x, key_padding_mask=~real, attn_mask=forbidden, average_attn_weights=False
    )
    got = ours(x, mask=real, weights=True)
    torch.testing.assert_close(got.context, wanted)
    torch.testing.assert_close(got.weights, weights)
    torch.testing.assert_close(ours(x, mask=real).context, wanted)


@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
@pytest.mark.parametrize("score", NAMED)
def test_heads_equal_separate_single_head_calls(score, wide):
    heads = regard.MultiHead(8, 6, heads=2, wide=wide, score=score, region="window(3)")
    size = 8 if wide else 4
    assert heads.head_size == size
    query, states = torch.randn(2, 5, 8), torch.randn(2, 7, 6)
    mask = torch.arange(7) < torch.tensor([7, 4])[:, None]
    contexts = []
    for head in range(2):
        part = slice(head * size, (head + 1) * size)
        single = regard.attention.scores.as_score(score, query_size=size, key_size=size)
        single.load_state_dict(
            {n: p[head] if p.dim() == 3 else p for n, p in heads.score.state_dict().items()}
        )
        contexts.append(
            regard.attend(
                heads.query(query)[..., part],
                heads.key(states)[..., part],
                heads.value(states)[..., part],
                score=single,
                region="window(3)",
                mask=mask[:, None],
            ).context
        )
    torch.testing.assert_close(
        heads(query, states, mask=mask).context, heads.output(torch.cat(contexts, -1))
    )


def test_grouped_key_heads_equal_repeated_ones():
    for score in ("scaled-dot", "additive", "bilinear"):
        grouped = regard.MultiHead(8, heads=4, key_heads=2, score=score)
        full = regard.MultiHead(8, heads=4, score=score)
        state = grouped.state_dict()
        for name in ("key.weight", "key.bias", "value.weight", "value.bias"):
            state[name] = state[name].unflatten(0, (2, 2)).repeat_interleave(2, 0).flatten(0, 1)
        full.load_state_dict(state)
        x = torch.randn(2, 5, 8)
        torch.testing.assert_close(grouped(x).context, full(x).context)
        assert grouped.remember(x).keys.shape[-3] == 2  # kept once per group


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: regard.Attention(4), "self"),
        (lambda: regard.Attention(4, 4), "general"),
        (lambda: regard.MultiHead(4, heads=2), "self"),
        (lambda: regard.MultiHead(4, 4, heads=2), "general"),
        (lambda: regard.Attention(4, 4, score="concat"), "self"),
        (lambda: regard.Attention(4, 4, score="concat", normalize="raw"), "general"),
        (lambda: regard.Attention(4, 4, normalize="uniform"), "self"),
        (lambda: regard.Attention(4, 4, score="location(9)"), "general"),
        (lambda: regard.Attention(4, 4, score="concat", region="predicted-window(3)"), "general"),
    ],
)
def test_kind_says_whether_another_vector_enters_the_weights(make, kind):
    """Perturb the other text; general weights move, self weights do not."""
    attention = make()
    assert attention.kind == kind
    states = torch.randn(2, 5, 4)
    if attention.key_size is None:
        return  # there is no other text
    a, b = (attention(torch.randn(2, 3, 4), states, weights=True).weights for _ in range(2))
    assert torch.allclose(a, b, atol=1e-6) == (kind == "self")


def test_padding_of_nan_reaches_no_parameter():
    for attention in (
        regard.Attention(4, 4, score="additive"),
        regard.Attention(4, 4, score="bilinear", region="window(1)"),
        regard.MultiHead(4, 4, heads=2, score="additive"),
    ):
        states = torch.randn(2, 5, 4)
        states[1, 3:] = torch.nan
        mask = torch.arange(5) < torch.tensor([5, 3])[:, None]
        attention(torch.randn(2, 3, 4), states, mask=mask).context.sum().backward()
        for name, parameter in attention.named_parameters():
            assert parameter.grad.isfinite().all(), name


def test_pair_masks_and_heads():
    attention = regard.MultiHead(8, heads=2)
    x, pairs = torch.randn(3, 5, 8), torch.rand(3, 5, 5) < 0.5
    weights = attention(x, mask=pairs, weights=True).weights
    assert weights.shape == (3, 2, 5, 5)
    assert not weights[~pairs[:, None].expand_as(weights)].any()


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match="3 heads do not divide query_size 8"):
        regard.MultiHead(8, heads=3)
    with pytest.raises(ValueError, match="key_heads 3 must divide heads 4"):
        regard.MultiHead(8, heads=4, key_heads=3)
    with pytest.raises(ValueError, match="queries have size 8 and the keys 6"):
        regard.Attention(8, 6)
    with pytest.raises(ValueError, match="For self-attention leave key_size out"):
        regard.Attention(8, 8)(torch.randn(2, 3, 8))
    with pytest.raises(ValueError, match=r"query must be \(..., length, 8\), given \(2, 3, 7\)"):
        regard.Attention(8)(torch.randn(2, 3, 7))
    with pytest.raises(ValueError, match=r"must be bool \(2, 3\), True where a state is real"):
        regard.Attention(8).remember(torch.randn(2, 3, 8), torch.ones(2, 4, dtype=torch.bool))
    attention = regard.Attention(8)
    with pytest.raises(ValueError, match=r"the mask must be bool"):
        attention(torch.randn(2, 3, 8), mask=torch.ones(2, 3, 9, dtype=torch.bool))


def test_a_module_explains_itself():
    attention = regard.MultiHead(8, heads=2, region="window(4)")
    x = torch.randn(2, 300, 8)
    assert attention.explain(x).path == "blocks"
    assert attention.explain(x, weights=True).path == "dense"


@pytest.mark.parametrize("score", NAMED)
def test_a_memory_that_grew_equals_one_made_at_once(score):
    """Location scores positions, so the states of a second part must not begin at 0 again."""
    for attention in (
        regard.Attention(4, 4, score=score),
        regard.MultiHead(4, 4, heads=2, score=score),
        regard.MultiHead(4, 4, heads=2, key_heads=1, score=score),
    ):
        states, query = torch.randn(2, 7, 4), torch.randn(2, 3, 4)
        grown = attention.remember(states[:, :3]).append(states[:, 3:])
        at_once = attention(query, attention.remember(states), weights=True)
        torch.testing.assert_close(attention(query, grown, weights=True).weights, at_once.weights)


def test_a_memory_belongs_to_the_attention_that_made_it():
    one, other = regard.Attention(4, 4), regard.Attention(4, 4)
    with pytest.raises(ValueError, match="made by another attention"):
        one(torch.randn(2, 3, 4), other.remember(torch.randn(2, 5, 4)))


def test_values_of_their_own_size():
    attention = regard.MultiHead(8, 6, 10, heads=2)
    states, values = torch.randn(2, 5, 6), torch.randn(2, 5, 10)
    memory = attention.remember(states, values=values)
    assert attention(torch.randn(2, 3, 8), memory).context.shape == (2, 3, 8)
    with pytest.raises(ValueError, match=r"values must be \(..., length, 10\), given \(2, 5, 6\)"):
        attention.remember(states)


def test_no_attention_is_kept_on_a_module():
    attention = regard.MultiHead(8, heads=2, score="additive", region="predicted-window(3)")
    before = set(vars(attention))
    attention(torch.randn(2, 5, 8), weights=True)
    assert set(vars(attention)) == before


def test_definition_covers_every_mechanism():
    """The tables of names and the combinations under test do not drift apart."""
    assert set(definition.all_scores()) == set(SCORES)
    named = " ".join(definition.REGIONS)
    for name in regard.attention.regions.REGIONS:
        assert name in named or name == "predicted-window"
    assert as_region("predicted-window(3)").width == 3.0


@pytest.mark.parametrize("region", ["window(1, clamp=true)", "window(2)", "causal", "atrous(2)"])
def test_a_step_over_states_equals_a_step_over_their_memory(region):
    """Also beyond the end of a source, where a clamped window stands at its last real state."""
    for score in ("scaled-dot", "location(6)"):
        attention = regard.Attention(4, score=score, region=region)
        states = torch.randn(2, 9, 4)
        real = torch.arange(9) < torch.tensor([9, 4])[:, None]
        memory = attention.remember(states, real)
        for offset in (0, 3, 8, 12):
            query = torch.randn(2, 1, 4)
            over_states = attention(query, states, mask=real, offset=offset).context
            assert torch.equal(over_states, attention(query, memory, offset=offset).context)


@pytest.mark.parametrize("score", ["dot", "scaled-dot", "cosine(0.2)", "distance"])
def test_a_bridge_brings_keys_to_the_size_of_the_queries_and_leaves_values(score):
    torch.manual_seed(0)
    attention = regard.Attention(4, 6, score=score, bridge=True).double()
    query, states = torch.randn(2, 3, 4).double(), torch.randn(2, 5, 6).double()
    found = attention(query, states, weights=True)
    keys = states @ attention.bridge.weight.mT
    wanted = regard.attend(query, keys, states, score=score, weights=True)
    torch.testing.assert_close(found.context, wanted.context)
    torch.testing.assert_close(found.weights, wanted.weights)
    assert regard.Attention(4, 6, score="additive", bridge=True).bridge is None
    with pytest.raises(ValueError, match="queries and keys of one size"):
        regard.Attention(4, 6, score=score)


@pytest.mark.parametrize("count", [0, -2, True, 2.0, "2"], ids=repr)
@pytest.mark.parametrize(
    "name", ["query_size", "key_size", "value_size", "heads", "key_heads", "head_size"]
)
def test_what_counts_heads_and_features_is_a_whole_number(name, count):
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be "):
        regard.MultiHead(**({"query_size": 8, "heads": 2} | {name: count}))
    if name in ("query_size", "key_size"):
        with pytest.raises((TypeError, ValueError), match=f"^{name} must be "):
            regard.Attention(**({"query_size": 8} | {name: count}))


@pytest.mark.parametrize("rotary", [True, "rotary", 10_000.0], ids=repr)
def test_rotary_positions_are_made_not_wished_for(rotary):
    with pytest.raises(TypeError, match="rotary must be a Rotary or None, not "):
        regard.MultiHead(8, heads=2, rotary=rotary)


def test_two_threads_that_append_to_one_memory_have_each_their_own():
    attention, found = regard.Attention(16, 16), {}
    for _ in range(40):
        with torch.no_grad():
            memory = attention.remember(torch.randn(8, 100, 16)).append(torch.randn(8, 1, 16))
        together = threading.Barrier(2)

        def append(number, memory=memory, together=together):
            with torch.no_grad():
                states = torch.full((8, 1, 16), float(number))
                together.wait()
                found[number] = memory.append(states)

        threads = [threading.Thread(target=append, args=(number,)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number, memory in found.items():
            assert (memory.values[:, -1] == number).all()


@pytest.mark.parametrize("score", ["scaled-dot", "additive", "cosine"])
def test_a_memory_that_grows_spoils_no_gradient(score):
    """The query learns, the attention does not, and states are appended between its looks."""
    torch.manual_seed(0)
    attention = regard.Attention(8, 8, score=score).double().requires_grad_(False)
    states = torch.randn(2, 8, 8, dtype=torch.float64)

    def looked(query, grows):
        memory, total = attention.remember(states[:, :4]), 0
        for n in range(4, 8):
            more, whole = states[:, n : n + 1], states[:, : n + 1]
            memory = memory.append(more) if grows else attention.remember(whole)
            total = total + attention(query, memory).context.sum()
        return torch.autograd.grad(total, query)[0]

    query = torch.randn(2, 1, 8, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(looked(query, True), looked(query, False))


def test_a_memory_of_inference_mode_grows_outside_of_it():
    attention = regard.Attention(8, 8)
    with torch.inference_mode():
        memory = attention.remember(torch.randn(2, 3, 8)).append(torch.randn(2, 1, 8))
    with torch.no_grad():
        longer = memory.append(torch.ones(2, 1, 8)).append(torch.ones(2, 1, 8))
    assert longer.length == 6
    torch.testing.assert_close(longer.values[:, :4], memory.values.clone())
