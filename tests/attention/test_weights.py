"""What is asked of the weights is what their matrix says, without there being one."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from drawn_attentions import POISONS, Drawn, definition, draw, make_scores
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import regard
from regard import Weights
from regard.attention.plans import layout
from regard.attention.weights.asked_weights import Largest, WeightSummary

EACH = 40
NEAR = {
    torch.float64: {"rtol": 1e-7, "atol": 1e-8},
    torch.float32: {"rtol": 2e-3, "atol": 2e-4},
}


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """A few rows a tile, as long inputs have them."""
    monkeypatch.setitem(layout.TILE, "cpu", 400)


def drawn_request(chance: random.Random, drawn: Drawn, lead: tuple[int, ...]) -> Weights | None:
    """Something that can be asked; None: there is nothing."""
    queries, keys = drawn.query.shape[-2], drawn.key.shape[-2]
    rows = chance.sample(range(queries), chance.randint(1, queries)) if queries else None
    heads = chance.sample(range(lead[-1]), chance.randint(1, lead[-1])) if lead else None
    options: dict[str, Any] = {
        "rows": rows if chance.random() < 0.6 else None,
        "heads": heads if chance.random() < 0.5 else None,
        "sums": chance.random() < 0.6,
        "entropy": drawn.normalize != "raw" and chance.random() < 0.6,
        "largest": chance.randint(1, keys) if keys and chance.random() < 0.6 else None,
        "blocks": chance.choice((1, 2, 7, 500)) if chance.random() < 0.5 else None,
    }
    try:
        return Weights(**options)
    except ValueError:
        return None


def read_off(weights: Tensor, allowed: Tensor, asked: Weights) -> WeightSummary:
    """What the whole matrix says, in float64."""
    if asked.heads is not None:
        weights, allowed = (
            weights[..., list(asked.heads), :, :],
            allowed[..., list(asked.heads), :, :],
        )
    p = weights / weights.sum(-1, keepdim=True).clamp(min=1e-300)
    best = None
    if asked.largest is not None:
        best = weights.masked_fill(~allowed, -math.inf).topk(asked.largest).values
        best = Largest(best.masked_fill(best == -math.inf, 0.0), torch.zeros(()))
    return WeightSummary(
        None if asked.rows is None else weights[..., list(asked.rows), :],
        weights.sum(-2) if asked.sums else None,
        -torch.where(p > 0, p * p.clamp(min=1e-300).log(), 0.0).sum(-1) if asked.entropy else None,
        best,
        None if asked.blocks is None else in_blocks(weights, asked.blocks),
    )  # fmt: skip


def in_blocks(weights: Tensor, size: int) -> Tensor:
    rows = [part.mean(-2) for part in weights.split(size, -2)] if weights.shape[-2] else []
    if not rows or not weights.shape[-1]:
        queries, keys = (-(-n // size) for n in weights.shape[-2:])
        return weights.new_zeros(*weights.shape[:-2], queries, keys)
    columns = [part.sum(-1) for part in torch.stack(rows, -2).split(size, -1)]
    return torch.stack(columns, -1)


def numbers(found: WeightSummary) -> list[Tensor]:
    return [x for x in tree_leaves(found) if x is not None and x.is_floating_point() and x.dim()]


def attended(drawn: Drawn, given: list[Tensor | None], dtype: torch.dtype, weights: Any) -> Any:
    return regard.attend(
        *given[:3],
        bias=given[3],
        cap=drawn.cap,
        sinks=given[4],
        score=make_scores(dtype)[drawn.score],
        region=drawn.named_region,
        normalize=drawn.normalize,
        mask=drawn.mask,
        weights=weights,
    )


def leaves(drawn: Drawn, dtype: torch.dtype) -> list[Tensor | None]:
    given = (drawn.query, drawn.key, drawn.value, drawn.bias, drawn.sinks)
    return [None if x is None else x.detach().to(dtype).requires_grad_() for x in given]


@pytest.mark.parametrize("chunk", range(6))
def test_it_is_what_the_matrix_says(chunk):
    for seed in range(chunk * EACH, (chunk + 1) * EACH):
        chance, drawn = random.Random(seed), draw(seed)
        dtype = chance.choice((torch.float64, torch.float32))
        drawn = drawn.rounded(dtype)
        lead = tuple(drawn.allowed.shape[:-2])
        if (asked := drawn_request(chance, drawn, lead)) is None:
            continue
        plain, given = leaves(drawn, torch.float64), leaves(drawn, dtype)
        q, k, v, bias, sinks = plain
        context, weights = definition(drawn, q, k, k if v is None else v, bias, sinks)
        wanted = read_off(weights, drawn.weighed, asked)
        got = attended(drawn, given, dtype, asked)

        near = NEAR[dtype]
        said = f"seed {seed}: {drawn} {asked}"
        torch.testing.assert_close(got.context.double(), context, **near, msg=said)
        assert len(numbers(got.weights)) == len(numbers(wanted)), said
        for ours, theirs in zip(numbers(got.weights), numbers(wanted), strict=True):
            assert ours.shape == theirs.shape, said
            torch.testing.assert_close(ours.double(), theirs, **near, msg=said)
        _check_keys(drawn, asked, got.weights, said)
        if dtype == torch.float64 and drawn.normalize != "hard":
            _check_gradients(got.weights, given, wanted, plain, said)


def _check_keys(drawn: Drawn, asked: Weights, got: WeightSummary, said: str) -> None:
    if got.largest is None:
        return
    allowed = drawn.weighed
    if asked.heads is not None:
        allowed = allowed[..., list(asked.heads), :, :]
    none = got.largest.keys == -1
    assert torch.equal((~none).sum(-1), allowed.sum(-1).clamp(max=asked.largest)), said
    assert allowed.gather(-1, got.largest.keys.clamp(min=0)).masked_fill(none, True).all(), said
    assert got.largest.weights[none].eq(0).all(), said


def _check_gradients(got: Any, given: Any, wanted: Any, plain: Any, said: str) -> None:
    # not through the largest: of equal weights another key may stand there
    def total(found: WeightSummary) -> Tensor:
        parts = numbers(found._replace(largest=None))
        probes = [torch.sin(torch.arange(x.numel(), dtype=x.dtype)).view(x.shape) for x in parts]
        return sum(((x * p).sum() for x, p in zip(parts, probes, strict=True)), torch.zeros(()))

    sides = ((total(got), given), (total(wanted), plain))
    if not all(loss.requires_grad for loss, _ in sides):
        return
    ours, theirs = (
        torch.autograd.grad(loss, [x for x in xs if x is not None], allow_unused=True, materialize_grads=True)
        for loss, xs in sides
    )  # fmt: skip
    for a, b in zip(ours, theirs, strict=True):
        assert a.isfinite().all(), said
        torch.testing.assert_close(a, b.nan_to_num(), rtol=1e-5, atol=1e-6, msg=lambda m: said + m)


@pytest.mark.parametrize("number", POISONS)
def test_nothing_forbidden_reaches_it(number):
    for seed in range(25):
        chance, drawn = random.Random(seed), draw(seed)
        asked = drawn_request(chance, drawn, tuple(drawn.allowed.shape[:-2]))
        if asked is None:
            continue
        unseen = ~drawn.allowed.any(-2)
        poisoned = drawn.poisoned(unseen, number).with_poisoned_bias(number)
        clean, spoilt = (
            attended(d, leaves(d, torch.float32), torch.float32, asked) for d in (drawn, poisoned)
        )
        for a, b in zip(numbers(clean.weights), numbers(spoilt.weights), strict=True):
            torch.testing.assert_close(a, b, msg=lambda m: f"seed {seed}: {drawn} {asked}" + m)  # noqa: B023


def test_a_query_that_may_attend_to_nan_is_nan_and_no_other():
    q, k = torch.randn(40, 8), torch.randn(40, 8)
    k[30] = torch.nan
    asked = Weights(rows=[5, 35], sums=True, entropy=True, largest=2)
    whole = regard.attend(q, k, region="causal", weights=True).weights
    got = regard.attend(q, k, region="causal", weights=asked).weights
    torch.testing.assert_close(got.rows, whole[[5, 35]], equal_nan=True)
    torch.testing.assert_close(got.sums, whole.sum(0), equal_nan=True)
    assert got.entropy.isnan().tolist() == [n >= 30 for n in range(40)]
    assert got.largest.weights.isnan().any(-1).tolist() == [n >= 30 for n in range(40)]


def test_an_empty_row_has_no_key_no_entropy_and_finite_gradients():
    q = torch.randn(2, 5, 8, requires_grad=True)
    mask = torch.zeros(2, 5, 5, dtype=torch.bool)
    mask[0, :, :2] = True
    asked = Weights(rows=0, sums=True, entropy=True, largest=3)
    got = regard.attend(q, q, mask=mask, weights=asked).weights
    assert got.largest.keys[0].sort(-1).values.tolist() == [[-1, 0, 1]] * 5
    assert got.largest.keys[1].eq(-1).all()
    assert got.entropy[1].eq(0).all()
    assert got.sums[1].eq(0).all()
    assert got.rows[1].eq(0).all()
    sum(x.sum() for x in numbers(got)).backward()
    assert q.grad.isfinite().all()
    assert q.grad[1].eq(0).all()


class Sizes(TorchDispatchMode):
    """How many numbers the largest tensor has that an operator made."""

    largest = 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        made = operator(*args, **(kwargs or {}))
        for each in tree_leaves(made):
            if isinstance(each, Tensor) and not operator.is_view:
                self.largest = max(
                    self.largest, each.untyped_storage().size() // each.element_size()
                )
        return made


CALLS: dict[str, dict[str, Any]] = {
    "dot": {},
    "causal": {"region": "causal"},
    "window": {"region": "window(20)"},
    "sparse": {"region": "sparse(16)"},
    "sparsemax": {"normalize": "sparsemax"},
    "hard": {"normalize": "hard"},
    "distance": {"score": regard.scores.Distance()},
    "additive": {"score": regard.scores.Additive(16, 16)},
    "bias": {"bias": torch.randn(600)},
}


@pytest.mark.parametrize("name", CALLS)
def test_no_tensor_has_all_pairs_neither_forward_nor_backward(name, monkeypatch):
    monkeypatch.setitem(layout.TILE, "cpu", 30_000)
    q, k = torch.randn(3, 600, 16, requires_grad=True), torch.randn(3, 600, 16, requires_grad=True)
    asked = Weights(rows=[3, -1], sums=True, entropy=True, largest=4)
    with Sizes() as sizes:
        got = regard.attend(q, k, weights=asked, **CALLS[name])
        if name != "hard":
            (got.weights.entropy.sum() + got.weights.rows.sum()).backward()
    most = 3 * 600 * (20 + 129) if name in ("window", "sparse") else 70_000
    assert sizes.largest <= most < 3 * 600 * 600
    with Sizes() as sizes:
        regard.attend(q, k, weights=True, **CALLS[name])
    assert sizes.largest >= 3 * 600 * 600


PEAK = """
import torch, regard
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
torch.set_num_threads(1)
q, k, v = torch.randn(3, 1, 8, 4096, 64)
with torch.no_grad():
    regard.attend(q, k, v, region="causal")
    before = peak()
    asked = regard.Weights(rows=[0, -1], sums=True, entropy=True, largest=8)
    regard.attend(q, k, v, region="causal", weights=asked)
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to ask")
def test_a_process_stays_small():
    """No tensor is large, but what is kept between them must not leave holes in which none has room."""
    ran = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout) < 150  # MB; it was 1,300


def test_of_the_context_nothing_changes():
    q, k, v = torch.randn(2, 3, 50, 8), torch.randn(2, 3, 50, 8), torch.randn(2, 3, 50, 5)
    for name, call in CALLS.items():
        if name not in ("additive", "bias"):
            plain = regard.attend(q, k, v, **call)
            got = regard.attend(q, k, v, weights=Weights(entropy=True), **call)
            torch.testing.assert_close(got.context, plain.context, msg=name)
            if plain.choice is not None:
                assert torch.equal(got.choice.index, plain.choice.index)


@pytest.mark.parametrize("normalize", ["hard", "gumbel", "softmax"])
def test_what_is_drawn_is_drawn_as_for_the_whole_matrix(normalize):
    q, k = torch.randn(2, 30, 8), torch.randn(2, 30, 8)

    def draw(weights):
        numbers = torch.Generator().manual_seed(1)
        return regard.attend(
            q,
            k,
            normalize=normalize,
            dropout=0.3,
            training=True,
            generator=numbers,
            weights=weights,
        )

    whole, got = draw(True), draw(Weights(rows=range(30), sums=True))
    torch.testing.assert_close(got.context, whole.context)
    torch.testing.assert_close(got.weights.rows, whole.weights)
    torch.testing.assert_close(got.weights.sums, whole.weights.sum(-2))


class Ranked(regard.scores.Score):
    """A score that looks at all queries together."""

    def pair(self, query, key):
        return (query - query.mean(-2, keepdim=True)) @ key.mT


def test_a_score_of_all_queries_together_is_not_cut():
    q, k = torch.randn(2, 30, 8), torch.randn(2, 30, 8)
    whole = regard.attend(q, k, score=Ranked(), weights=True).weights
    got = regard.attend(q, k, score=Ranked(), weights=Weights(rows=[7], sums=True)).weights
    torch.testing.assert_close(got.rows, whole[:, [7]])
    torch.testing.assert_close(got.sums, whole.sum(-2))
    plan = regard.explain(q, k, score=Ranked(), weights=Weights(sums=True))
    assert plan.path == "dense"
    assert "all queries together" in plan.why


def test_half_precision_is_summed_in_single():
    q, k = torch.randn(2, 200, 16).bfloat16(), torch.randn(2, 200, 16).bfloat16()
    got = regard.attend(q, k, weights=Weights(rows=[0], sums=True, entropy=True, largest=1)).weights
    assert got.rows.dtype == got.largest.weights.dtype == torch.bfloat16
    assert got.sums.dtype == got.entropy.dtype == torch.float32
    torch.testing.assert_close(got.sums.sum(-1), torch.full((2,), 200.0))


# --- modules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", ["scaled-dot", "additive", "bilinear"])
@pytest.mark.parametrize("region", ["everywhere", "causal", "window(3)"])
def test_modules_take_it(score, region):
    x, lengths = torch.randn(3, 20, 16), torch.tensor([20, 7, 1])
    layer = regard.MultiHead(16, heads=4, key_heads=2, score=score, region=region)
    whole = layer(x, lengths=lengths, weights=True)
    asked = Weights(rows=[0, 6], heads=[-1, 1], sums=True, entropy=True, largest=1, blocks=4)
    got = layer(x, lengths=lengths, weights=asked)
    torch.testing.assert_close(got.context, whole.context)
    weights = whole.weights[:, [3, 1]]
    torch.testing.assert_close(got.weights.rows, weights[:, :, [0, 6]])
    real = torch.arange(20) < lengths[:, None]
    weights = weights.masked_fill(~real[:, None, :, None], 0.0)  # padding asks for nothing
    torch.testing.assert_close(got.weights.sums, weights.sum(-2))
    # so that nothing depends on how much padding there is
    alone = layer(x[1:2, :7], weights=asked).weights
    torch.testing.assert_close(got.weights.sums[1:2, :, :7], alone.sums)
    torch.testing.assert_close(got.weights.entropy[1:2, :, :7], alone.entropy)
    torch.testing.assert_close(got.weights.blocks[1:2, :, :2, :2], alone.blocks)
    assert got.weights.blocks[1, :, 2:].eq(0).all()


def test_queries_of_another_text_are_all_counted():
    attention = regard.Attention(8, 6, score="additive")
    memory = attention.remember(torch.randn(2, 9, 6), lengths=torch.tensor([9, 4]))
    got = attention(torch.randn(2, 5, 8), memory, weights=Weights(sums=True)).weights
    torch.testing.assert_close(got.sums.sum(-1), torch.full((2,), 5.0))
    assert got.sums[1, 4:].eq(0).all()


def test_a_predicted_window_is_weighed_as_it_is():
    attention = regard.Attention(8, region="predicted-window(4)")
    x = torch.randn(2, 40, 8)
    whole = attention(x, weights=True).weights
    got = attention(x, weights=Weights(sums=True, entropy=True)).weights
    torch.testing.assert_close(got.sums, whole.sum(-2))
    p = whole / whole.sum(-1, keepdim=True)
    torch.testing.assert_close(got.entropy, torch.special.entr(p).sum(-1))


def test_it_compiles_to_one_graph(monkeypatch):
    monkeypatch.setitem(layout.TILE, "cpu", 2 * 2 * 30 * 15)  # two tiles
    layer = regard.MultiHead(8, heads=2, region="causal")
    x, asked = torch.randn(2, 30, 8), Weights(sums=True, largest=2)
    compiled = torch.compile(lambda x: layer(x, weights=asked), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x).weights.sums, layer(x, weights=asked).weights.sums)
    each = torch.func.vmap(lambda q: regard.attend(q, q, weights=asked).weights.sums)(x.double())
    torch.testing.assert_close(
        each, regard.attend(x.double(), x.double(), weights=asked).weights.sums
    )


# --- what cannot be asked ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "asks for no weights: give rows, sums, entropy, largest or blocks"),
        ({"heads": [0]}, "asks for no weights"),
        ({"rows": []}, "rows is empty"),
        ({"rows": "3"}, "rows are whole numbers, counted from 0; given '3'"),
        ({"rows": [1.0]}, "given 1.0"),
        ({"rows": True}, "given True"),
        ({"rows": [0, False]}, "given False"),
        ({"rows": torch.tensor([True, False])}, "given True"),
        ({"rows": np.array([True])}, "given np.True_"),
        ({"sums": 1}, "sums is True or False, not 1"),
        ({"entropy": "yes"}, "entropy is True or False, not 'yes'"),
        ({"largest": 0}, "largest must be at least 1, not 0"),
        ({"largest": -2}, "largest must be at least 1"),
        ({"largest": True}, "largest is a whole number, not True"),
        ({"largest": 2.0}, "not 2.0"),
        ({"blocks": 0}, "blocks must be at least 1, not 0"),
        ({"blocks": [2]}, "blocks is a whole number, not [2]"),
    ],
)
def test_what_makes_no_sense_is_refused(options, said):
    with pytest.raises((TypeError, ValueError)) as raised:
        Weights(**options)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Weights(rows=3), "rows asks for 3, and there are 3 queries, counted from 0"),
        (Weights(rows=[0, -4]), "rows asks for -4, and there are 3 queries"),
        (Weights(rows=[2, -1]), "rows asks for 2 twice"),
        (Weights(heads=2, sums=True), "heads asks for 2, and there are 2 heads"),
        (Weights(largest=6), "largest asks for 6 weights of each row, and there are 5 keys"),
        (1, "weights must be True, False or a regard.Weights("),
        ("sums", "not 'sums'"),
    ],
)
def test_what_these_weights_do_not_have_is_refused(asked, said):
    q, k = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    for ask in (regard.attend, regard.explain):
        with pytest.raises((TypeError, ValueError)) as raised:
            ask(q, k, weights=asked)
        assert said in str(raised.value)


def test_heads_where_there_are_none_and_entropies_that_are_none_are_refused():
    x = torch.randn(3, 8)
    with pytest.raises(ValueError, match="have no such axis"):
        regard.attend(x, x, weights=Weights(heads=0, sums=True))
    with pytest.raises(ValueError, match="Attention has one head: leave heads out"):
        regard.Attention(8)(x, weights=Weights(heads=0, sums=True))
    with pytest.raises(ValueError, match="may be negative, which have no entropy"):
        regard.attend(x, x, normalize="raw", weights=Weights(entropy=True))


def test_numbers_may_be_given_in_any_way():
    given = (
        2,
        [2],
        (2,),
        range(2, 3),
        torch.tensor([2]),
        np.array([2]),
        np.int64(2),
        torch.tensor(2),
    )
    assert {Weights(rows=each) for each in given} == {Weights(rows=2)}
    assert Weights(rows=2).rows == (2,)


@pytest.mark.parametrize(
    "region",
    [
        regard.regions.Documents(torch.tensor([[0, 0, 1, 1], [0, 1, 1, 2], [2, 1, 0, 0]])),
        regard.regions.Prefix(torch.tensor([[1, 4, 2], [0, 3, 1]])),
        ~regard.regions.Prefix(torch.tensor([[1, 4, 2], [0, 3, 1]])) | regard.regions.First(1),
    ],
    ids=["documents", "prefix", "composed"],
)
def test_heads_are_chosen_of_a_region_that_differs_from_head_to_head(region):
    x = torch.randn(2, 3, 4, 8)
    whole = regard.attend(x, x, region=region, weights=True).weights
    asked = Weights(rows=[0, 2], heads=[2, 0], sums=True)
    some = regard.attend(x, x, region=region, weights=asked).weights
    torch.testing.assert_close(some.rows, whole[:, [2, 0]][..., [0, 2], :])
    torch.testing.assert_close(some.sums, whole[:, [2, 0]].sum(-2))


def test_blocks_beyond_all_lengths_are_one_block():
    """And hold no more than one."""
    x = torch.randn(2, 3, 8)
    for size in (3, 100, 10**12):
        blocks = regard.attend(x, x, weights=Weights(blocks=size)).weights.blocks
        torch.testing.assert_close(blocks, torch.ones(2, 1, 1))


@pytest.mark.parametrize("align", ["start", "end", 3, -5])
@pytest.mark.parametrize(
    "region", ["causal({})", "window(3, align={})", "window(2, after=7, align={})"]
)
def test_a_tile_is_of_the_keys_that_its_queries_see(region, align):
    region = region.format(align)
    q, k, v = (torch.randn(2, 3, n, 8, dtype=torch.float64) for n in (40, 60, 60))
    mask, sinks = torch.rand(2, 1, 40, 60) < 0.9, torch.randn(3, dtype=torch.float64)
    asked = Weights(sums=True, entropy=True, largest=9, blocks=7)
    plan = regard.explain(q, k, v, region=region, weights=asked)
    assert plan.asked < 40 * 60 * 0.9
    for more in (
        {},
        {"mask": mask, "bias": torch.randn(40, 60, dtype=torch.float64), "cap": 3.0},
        {"mask": mask[:, :, :1], "bias": torch.randn(60, dtype=torch.float64), "sinks": sinks},
        {"score": "distance", "normalize": "sparsemax"},
    ):
        whole = regard.attend(q, k, v, region=region, weights=True, **more).weights
        found = regard.attend(q, k, v, region=region, weights=asked, **more).weights
        torch.testing.assert_close(found.sums, whole.sum(-2))
        total = whole.sum(-1, keepdim=True)
        p = whole / total.masked_fill(total == 0, 1.0)
        torch.testing.assert_close(found.entropy, -torch.xlogy(p, p).sum(-1))
        best = found.largest
        torch.testing.assert_close(best.weights, whole.topk(9, -1).values)
        there = best.keys >= 0
        read = whole.gather(-1, best.keys.clamp(min=0))
        torch.testing.assert_close(read[there], best.weights[there])
        assert not best.weights[~there].any()
        cut = torch.nn.functional.pad(whole, (0, 3, 0, 2)).unflatten(-1, (-1, 7)).sum(-1)
        count = torch.tensor([7.0] * 5 + [5.0], dtype=torch.float64)
        torch.testing.assert_close(
            found.blocks, cut.unflatten(-2, (-1, 7)).sum(-2) / count[:, None]
        )
