"""Cells: equal to torch's with copied weights, to the papers' formulas, and to themselves step by step."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.layers.recurrent_cells import CELLS, GRU, Cell, ResetBeforeGRU, make_cell
from regard.layers.scan import scan

TORCH = {"elman": nn.RNNCell, "lstm": nn.LSTMCell, "gru": nn.GRUCell}


@pytest.mark.parametrize("name", TORCH)
def test_a_step_equals_torch_with_copied_weights(name: str) -> None:
    theirs = TORCH[name](5, 7).double()
    ours = make_cell(name, 5, 7).double()
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(3, 5, dtype=torch.float64)
    state = tuple(torch.randn(3, 7, dtype=torch.float64) for _ in range(ours.states))
    after, _ = ours.step(ours.project(x), state)
    expected = theirs(x, state if name == "lstm" else state[0])
    expected = expected if isinstance(expected, tuple) else (expected,)
    for mine, reference in zip(after, expected, strict=True):
        torch.testing.assert_close(mine, reference)


def test_reset_before_is_the_formula_of_the_paper() -> None:
    cell = ResetBeforeGRU(2, 3).double()
    x, h = torch.randn(4, 2, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)
    (after,), gates = cell.step(cell.project(x), (h,))
    w_r, w_z, w = cell.weight_ih.chunk(3)
    b_r, b_z, b = cell.bias_ih.chunk(3)
    u_r, u_z = cell.weight_hh.chunk(2)
    r = torch.sigmoid(x @ w_r.T + h @ u_r.T + b_r)
    z = torch.sigmoid(x @ w_z.T + h @ u_z.T + b_z)
    candidate = torch.tanh(x @ w.T + (r * h) @ cell.weight_hn.T + b)
    torch.testing.assert_close(after, (1 - z) * h + z * candidate)
    torch.testing.assert_close(gates["update"], z)
    torch.testing.assert_close(gates["reset"], r)


def test_the_two_conventions_agree_where_the_reset_gate_is_open_and_z_is_mirrored() -> None:
    """torch's update gate is the mirror image: its weights negated give the same cell if r = 1."""
    after = GRU(2, 3).double()
    before = ResetBeforeGRU(2, 3).double()
    with torch.no_grad():
        for p in (after.bias_hh, after.bias_ih):
            p.zero_()
        after.weight_ih[:3] = after.weight_hh[:3] = 0.0
        after.bias_ih[:3] = 50.0  # r = 1
        before.weight_ih.copy_(after.weight_ih)
        before.weight_ih[3:6] *= -1
        before.bias_ih.copy_(after.bias_ih)
        before.weight_hh.copy_(after.weight_hh[:6])
        before.weight_hh[3:6] *= -1
        before.weight_hn.copy_(after.weight_hh[6:])
    x, h = torch.randn(4, 2, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)
    (one,), _ = after.step(after.project(x), (h,))
    (two,), _ = before.step(before.project(x), (h,))
    torch.testing.assert_close(one, two)
    with torch.no_grad():  # open for some units and not for others: they differ
        after.bias_ih[:3] = before.bias_ih[:3] = torch.tensor([-3.0, 0.0, 3.0])
    (one,), _ = after.step(after.project(x), (h,))
    (two,), _ = before.step(before.project(x), (h,))
    assert not torch.allclose(one, two, atol=1e-3)


def test_the_inner_context_stands_under_the_reset_gate() -> None:
    """Cho's decoder: s~ = tanh(W x + r (U s + C c)), and c enters both gates."""
    cell = GRU(2, 3, inner_size=4).double()
    x, s, c = (torch.randn(5, n, dtype=torch.float64) for n in (2, 3, 4))
    (got,), _ = cell.step(cell.project(x), (s,), inner=cell.project_inner(c))
    px = cell.project(x).chunk(3, -1)
    ph = (s @ cell.weight_hh.T + c @ cell.weight_ch.T + cell.bias_hh).chunk(3, -1)
    r, z = torch.sigmoid(px[0] + ph[0]), torch.sigmoid(px[1] + ph[1])
    torch.testing.assert_close(got, z * s + (1 - z) * torch.tanh(px[2] + r * ph[2]))


@pytest.mark.parametrize("name", ["lstm", "gru", "gru-reset-before"])
def test_gates_are_between_zero_and_one_and_used(name: str) -> None:
    cell: Cell = make_cell(name, 2, 3).double()
    state = tuple(torch.randn(4, 3, dtype=torch.float64) for _ in range(cell.states))
    after, gates = cell.step(cell.project(torch.randn(4, 2, dtype=torch.float64)), state)
    assert all(bool(((g > 0) & (g < 1)).all()) for k, g in gates.items() if k != "candidate")
    rebuilt: Tensor
    if name == "lstm":
        rebuilt = gates["forget"] * state[1] + gates["input"] * gates["candidate"]
        torch.testing.assert_close(after[1], rebuilt)
        rebuilt = gates["output"] * rebuilt.tanh()
    elif name == "gru":
        rebuilt = (1 - gates["update"]) * gates["candidate"] + gates["update"] * state[0]
    else:
        rebuilt = (1 - gates["update"]) * state[0] + gates["update"] * gates["candidate"]
    torch.testing.assert_close(after[0], rebuilt)


def test_a_misspelt_cell_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="Did you mean 'lstm'"):
        make_cell("lsmt", 2, 3)


@pytest.mark.parametrize("name", CELLS)
def test_under_autocast_the_state_stays_in_full_precision(name: str) -> None:
    torch.manual_seed(0)
    cell = make_cell(name, 5, 7)
    x, state = torch.randn(3, 6, 5), cell.start(3)
    exact = scan(cell, x, state)
    with torch.autocast("cpu", torch.bfloat16):
        rough = scan(cell, x, state)
    for a, b in zip(rough, exact, strict=True):
        torch.testing.assert_close(a.float(), b, atol=0.03, rtol=0.03)
    if name != "elman":  # whose state is the output of a tanh, and nothing else
        assert all(part.dtype == torch.float32 for part in rough)
    (of_rough,), (of_exact,) = (
        torch.autograd.grad(states[0].float().sum(), [cell.weight_hh]) for states in (rough, exact)
    )
    torch.testing.assert_close(of_rough, of_exact, atol=0.1, rtol=0.05)
