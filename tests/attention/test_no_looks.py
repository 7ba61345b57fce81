"""No call reads a number of a tensor in Python: that would stall a GPU, and a graph has none to read.

Lengths are read, on a CPU alone, to refuse those that there cannot be.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import regard

LOOKS = ("_local_scalar_dense", "item", "nonzero", "is_nonzero", "equal", "unique", "masked_select")
REAL = torch.tensor([[True] * 6, [True] * 2 + [False] * 4])
PAIRS = torch.rand(2, 6, 6) < 0.5
CALLS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"region": "causal"},
    "causal and mask": {"region": "causal", "mask": REAL[:, None]},
    "mask": {"mask": REAL[:, None]},
    "pairs": {"mask": PAIRS},
    "nobody": {"mask": torch.zeros(2, 1, 6, dtype=torch.bool)},
    "bias": {"bias": torch.randn(2, 6, 6).masked_fill(~PAIRS, -torch.inf)},
    "window": {"region": "window(1)", "mask": REAL[:, None]},
    "atrous": {"region": "atrous(2) & causal"},
    "sparse": {"region": "sparse(2)", "mask": REAL[:, None]},
    "complement": {"region": "~causal"},
    "clamped": {"region": "window(1, clamp=True)", "mask": REAL[:, None]},
    "sparsemax": {"normalize": "sparsemax", "region": "causal"},
    "additive": {"score": regard.scores.Additive(8, 8), "region": "causal"},
    "weights": {"weights": True, "region": "causal"},
    "of the weights": {
        "weights": regard.Weights(rows=[0, -1], sums=True, entropy=True, largest=2),
        "region": "causal",
        "mask": REAL[:, None],
    },
}


class Looks(TorchDispatchMode):
    """Which operators took a number, or as many as there happened to be, out of a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        name = operator.overloadpacket.__name__
        if name in LOOKS:
            self.seen.append(name)
        indices = args[1] if name == "index" else ()
        if any(x is not None and x.dtype == torch.bool for x in indices):
            self.seen.append("a mask as an index")
        return operator(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("poison", [0.5, torch.nan, torch.inf])
def test_no_call_looks_at_the_numbers(name, poison):
    q, k, v = (torch.randn(2, 6, 8) for _ in range(3))
    k[1, 4:], v[1, 5:] = poison, poison
    q.requires_grad_(), k.requires_grad_(), v.requires_grad_()
    with Looks() as looks:
        regard.attend(q, k, v, **CALLS[name]).context.sum().backward()
    assert looks.seen == []


def test_modules_look_at_nothing_either():
    layer, x = regard.MultiHead(8, heads=2, region="causal"), torch.randn(2, 6, 8)
    with Looks() as looks:
        layer(x, mask=REAL).context.sum().backward()
        layer(x, layer.remember(x, REAL), mask=PAIRS).context.sum().backward()
    assert looks.seen == []


def test_a_look_would_be_seen():
    with Looks() as looks:
        bool(REAL.any())
        REAL[REAL]
    assert looks.seen == ["_local_scalar_dense", "a mask as an index"]
