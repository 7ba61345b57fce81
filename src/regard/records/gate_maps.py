"""What the gates of a recurrent network do to a text, as maps: attention to a degree, without an attention.

    memory    how much of what was written at position j is still there after position t
    gates     how far each gate is open at each position
    states    the hidden state after each position, unit by unit

A gated cell keeps  c_t = f_t · c_(t-1) + a_t · g_t,  so that c_t = Σ_j (a_j · Π_(j < k <= t) f_k) · g_j:
weights over the positions so far, for each unit its own. A map shows their mean over the units. Layers, and
directions, have nothing in common that a mean would tell: the first is shown, forwards.

Legend: T positions, n units.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.layers.recurrent import Recurrent
from regard.layers.recurrent_cells import GRU, LSTM, Cell, CellState, ResetBeforeGRU
from regard.records.attention_map import AttentionMap
from regard.records.question import BadQuestion
from regard.records.side import Side
from regard.words import t

GATE_SIDE, UNIT_SIDE = "gates", "units"  # sides
LONGEST = 400  # positions that are drawn
MOST_STATES = 2**18  # numbers of hidden states beside the gates
WRITING = {  # how much of the new a cell writes, and how much of the old it keeps
    LSTM: lambda gates: (gates["input"], gates["forget"]),
    GRU: lambda gates: (1 - gates["update"], gates["update"]),
    ResetBeforeGRU: lambda gates: (gates["update"], 1 - gates["update"]),
}
MECHANISM = {
    LSTM: "input gate · Π of the later forget gates, mean over units",
    GRU: "(1 - update gate) · Π of the later update gates, mean over units",
    ResetBeforeGRU: "update gate · Π of (1 - later update gates), mean over units",
}


class ReadVectors(NamedTuple):
    """One call of a recurrent network."""

    network: Recurrent
    inputs: Tensor  # (1, T, D) of the first text
    state: tuple[CellState, ...] | None


@contextmanager
def recording_recurrent(model: nn.Module) -> Iterator[list[ReadVectors]]:
    """Inside the block, keep what recurrent networks read, in the order of the calls."""
    kept: list[ReadVectors] = []

    def keep(
        network: Recurrent, args: tuple[Any, ...], named: Mapping[str, Any], _: object
    ) -> None:
        given = dict(zip(("inputs", "mask", "state"), args, strict=False)) | dict(named)
        inputs, mask, state = given["inputs"], given.get("mask"), given.get("state")
        if not len(inputs):  # a document without a sentence
            return
        if (lengths := given.get("lengths")) is not None:
            length = int(lengths[0])
        else:
            length = inputs.shape[1] if mask is None else int(mask[0].sum())
        first = None if state is None else tuple(tuple(s[:1] for s in each) for each in state)
        kept.append(ReadVectors(network, inputs[:1, :length], first))

    handles = [
        part.register_forward_hook(keep, with_kwargs=True)
        for part in model.modules()
        if isinstance(part, Recurrent)
    ]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


def gate_maps(
    read: Sequence[ReadVectors], positions: int, keys: str
) -> tuple[dict[str, Side], list[AttentionMap]]:
    """The sides and the maps of the first network that read all positions of the side `keys`, if one did."""
    found = next((one for one in read if one.inputs.shape[1] == positions), None)
    if found is None:
        return {}, []
    if positions > LONGEST:
        raise BadQuestion(
            t(
                "the text has {count} tokens, and gates are drawn of up to {longest}",
                count=f"{positions:,}",
                longest=LONGEST,
            )
        )
    return _maps(found, keys)


@torch.no_grad()
def _maps(one: ReadVectors, keys: str) -> tuple[dict[str, Side], list[AttentionMap]]:
    cells, steps = _cells(one.network), one.network.steps(one.inputs, one.state)
    directions = one.network.directions
    first: tuple[int | str, int | str] = (0, 0)
    numbers = range(1, len(cells) // 2 + 1) if directions == 2 else ()  # else the page names them
    both = [(t("layer {n}", n=n), t("layer {n}, backwards", n=n)) for n in numbers]
    layers = tuple(name for pair in both for name in pair)
    kind = type(cells[0])
    states = torch.stack([torch.cat([s.state[0] for s in of_cell]) for of_cell in steps])
    sides = {UNIT_SIDE: Side.of_labels(range(1, states.shape[-1] + 1), title=UNIT_SIDE)}
    maps = []
    if kind in WRITING:
        names = [name for name in steps[0][0].gates if name != "candidate"]
        means = [[[s.gates[g].mean() for s in of_cell] for g in names] for of_cell in steps]
        sides[GATE_SIDE] = Side.of_labels([_called()[name] for name in names], title=GATE_SIDE)
        held = [_held(of_cell, kind, number % directions) for number, of_cell in enumerate(steps)]
        allowed = np.stack(
            [_past(len(each), bool(at % directions)) for at, each in enumerate(held)]
        )
        maps = [
            AttentionMap(
                "memory",
                keys,
                keys,
                np.stack(held)[:, None],
                layers=layers,
                shown=first,
                mechanism=MECHANISM[kind],
                allowed=allowed[:, None],
            ),
            AttentionMap(
                "gates",
                GATE_SIDE,
                keys,
                _array(torch.tensor(means)[:, None]),
                layers=layers,
                shown=first,
            ),
        ]
    if states.numel() <= MOST_STATES or not maps:
        maps.append(
            AttentionMap(
                "states", keys, UNIT_SIDE, _array(states[:, None]), layers=layers, shown=first
            )
        )
    return sides, maps


def _called() -> dict[str, str]:
    return {
        "input": t("input gate"),
        "forget": t("forget gate"),
        "output": t("output gate"),
        "reset": t("reset gate"),
        "update": t("update gate"),
    }


def _cells(network: Recurrent) -> list[Cell]:
    """In the order of `Recurrent.steps`."""
    pairs = zip(network.forwards, network.backwards or network.forwards, strict=True)
    every = [cell for pair in pairs for cell in pair[: network.directions]]
    return [cell for cell in every if isinstance(cell, Cell)]


def _held(steps: Sequence[Any], kind: type[Cell], backwards: int) -> NDArray[np.float32]:
    """(T, T): of what was written at j, how much is there after t"""
    gates = [WRITING[kind](step.gates) for step in steps]
    wrote, keeps = (torch.cat(each) for each in zip(*gates, strict=True))  # (T, n)
    if backwards:
        wrote, keeps = wrote.flip(0), keeps.flip(0)
    there, rows = torch.zeros_like(wrote), []
    for at, (new, old) in enumerate(zip(wrote, keeps, strict=True)):
        there = there * old
        there[at] = new
        rows.append(there.mean(-1))
    held = torch.stack(rows)
    return _array(held.flip(0, 1) if backwards else held)


def _past(positions: int, backwards: bool) -> NDArray[np.bool_]:
    """(T, T): what comes before a position, as it is read, and itself."""
    before = np.tri(positions, dtype=bool)
    return before.T if backwards else before


def _array(x: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = x.float().cpu().numpy()
    return array
