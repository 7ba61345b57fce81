"""Every path equals the definition, whatever the ranks, broadcast axes, sizes and masks, and whatever
stands where nobody may look."""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from drawn_attentions import POISONS, Drawn, definition, draw, make_scores
from torch import Tensor

import regard

DTYPES = (torch.float64, torch.float32, torch.float32, torch.bfloat16)
TOLERANCE = {
    torch.float64: {"rtol": 1e-8, "atol": 1e-9},
    torch.float32: {"rtol": 2e-3, "atol": 1e-4},
    torch.bfloat16: {"rtol": 0.1, "atol": 0.2},
}
CHUNKS, EACH = 12, 50  # 600 attentions; the heavy test draws others, 10,200

scores_of = functools.cache(make_scores)


def asked_of(drawn: Drawn, dtype: torch.dtype, device: str = "cpu") -> dict[str, Any]:
    return {
        "score": scores_of(dtype)[drawn.score].to(device),
        "region": drawn.named_region,
        "normalize": drawn.normalize,
        "mask": None if drawn.mask is None else drawn.mask.to(device),
        "cap": drawn.cap,
    }


def leaves(drawn: Drawn, dtype: torch.dtype, device: str = "cpu") -> list[Tensor | None]:
    """Query, key, value (None where the keys are the values), bias and sinks to be differentiated."""
    given = (drawn.query, drawn.key, drawn.value, drawn.bias, drawn.sinks)
    return [None if x is None else x.detach().to(device, dtype).requires_grad_() for x in given]


def attend(given: list[Tensor | None], **asked: Any) -> regard.Attended:
    return regard.attend(*given[:3], bias=given[3], sinks=given[4], **asked)


def gradients(context: Tensor, tensors: list[Tensor | None], probe: Tensor) -> list[Tensor]:
    given = [x for x in tensors if x is not None and x.requires_grad]
    total = (context * probe.to(context)).sum()
    if not total.requires_grad:
        return [torch.zeros_like(x) for x in given]
    return list(torch.autograd.grad(total, given, allow_unused=True, materialize_grads=True))


def compare(seed: int, device: str = "cpu") -> str:
    """One attention in one precision, its gradients, and poison where nobody may look."""
    chance, drawn = random.Random(-seed - 1), draw(seed)
    dtype = chance.choice(precisions(drawn))
    drawn, tolerance = drawn.rounded(dtype), TOLERANCE[dtype]
    asked = {**asked_of(drawn, dtype, device), "weights": chance.random() < 0.15}

    plain, given = leaves(drawn, torch.float64), leaves(drawn, dtype, device)
    q, k, v, bias, sinks = plain
    wanted, weights = definition(drawn, q, k, k if v is None else v, bias, sinks)
    if given[3] is not None and chance.random() < 0.5:  # fused kernels take one that is not learnt
        given[3] = given[3].detach()
        plain[3] = None
    got = attend(given, **asked)
    assert got.context.shape == wanted.shape
    torch.testing.assert_close(got.context.cpu().double(), wanted, **tolerance)
    if asked["weights"]:
        assert got.weights.shape == weights.shape
        torch.testing.assert_close(got.weights.cpu().double(), weights, **tolerance)
    probe = torch.randn(wanted.shape, dtype=torch.float64)
    clean = gradients(got.context, given, probe)
    if dtype != torch.bfloat16:
        for ours, theirs in zip(clean, gradients(wanted, plain, probe), strict=True):
            torch.testing.assert_close(ours.cpu().double(), theirs, **tolerance)

    hidden = ~drawn.allowed.any(-2)
    bad = drawn.poisoned(hidden, chance.choice(POISONS))
    spoilt = leaves(bad.with_poisoned_bias(chance.choice(POISONS)), dtype, device)
    if spoilt[3] is not None:
        spoilt[3].requires_grad_(given[3].requires_grad)
    context = attend(spoilt, **asked).context
    assert torch.equal(context, got.context), "what nobody may attend reached a context"
    same = {"rtol": 0, "atol": 0} if device == "cpu" else {}  # a GPU adds in any order
    for ours, theirs in zip(gradients(context, spoilt, probe), clean, strict=True):
        torch.testing.assert_close(ours, theirs, **same)
    plan = regard.explain(*given[:3], bias=given[3], sinks=given[4], **asked)
    return f"{plan.path} with a bias" if given[3] is not None else plan.path


def precisions(drawn: Drawn) -> tuple[torch.dtype, ...]:
    """In lower ones an arg max may fall on another key, and a long sum lose its digits."""
    if drawn.normalize == "hard":
        return DTYPES[:1]
    delicate = drawn.score in ("cosine", "distance") or drawn.normalize == "raw"
    return DTYPES[:3] if delicate else DTYPES


def for_all(check: Callable[[int], Any], seeds: range) -> Counter[Any]:
    """What the check found, counted; a failure names the attention."""
    found: Counter[Any] = Counter()
    for seed in seeds:
        try:
            found[check(seed)] += 1
        except Exception as error:
            raise AssertionError(f"attention {seed}: {draw(seed)}: {error}") from error
    return found


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_path_equals_the_definition(chunk):
    for_all(compare, range(chunk * EACH, (chunk + 1) * EACH))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_every_path_equals_the_definition_on_a_gpu():
    for_all(functools.partial(compare, device="cuda"), range(1_000))


@pytest.mark.heavy
def test_every_path_equals_the_definition_ten_thousand_times():
    paths = for_all(compare, range(10_000, 20_200))
    for bias in ("", " with a bias"):
        often = ("sdpa", "dense", "blocks", "strided", "sparse")
        assert min(paths[path + bias] for path in often) > 50, paths
        assert paths["one-row" + bias] > 5, paths


def spoil_one_key(seed: int) -> None:
    chance, drawn = random.Random(seed), draw(seed)
    dtype, number = chance.choice(DTYPES), chance.choice((math.nan, math.inf, -math.inf))
    where = chance.choice(("keys", "values", "both"))
    keys = torch.zeros(drawn.allowed.shape[:-2] + drawn.key.shape[-2:-1], dtype=torch.bool)
    if keys.shape[-1] == 0 or (where == "keys" and drawn.score == "location"):
        return  # which does not look at the keys
    keys[..., chance.randrange(keys.shape[-1])] = True
    spoilt = drawn.poisoned(keys, number)
    key = drawn.key if where == "values" and drawn.value is not None else spoilt.key
    value = drawn.value if where == "keys" else spoilt.value
    asked = asked_of(drawn, dtype)
    asked["bias"] = None if drawn.bias is None else drawn.bias.to(dtype)
    asked["sinks"] = None if drawn.sinks is None else drawn.sinks.to(dtype)
    clean, bad = (
        regard.attend(*(None if x is None else x.to(dtype) for x in given), **asked).context
        for given in ((drawn.query, drawn.key, drawn.value), (drawn.query, key, value))
    )
    reached = (drawn.allowed & keys[..., None, :]).any(-1)
    wanted = clean.masked_fill(reached[..., None], torch.nan)
    torch.testing.assert_close(bad, wanted, equal_nan=True)


@pytest.mark.parametrize("chunk", range(4))
def test_a_bad_key_spoils_the_rows_that_may_attend_to_it_and_no_others(chunk):
    for_all(spoil_one_key, range(chunk * EACH, (chunk + 1) * EACH))
