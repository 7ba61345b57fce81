"""The largest flow through layers of pipes, compiled by numba — Dinic 1970.

Over and over: how far every node is from the beginning through what is still free, then flow along shortest
ways until each of them has a pipe that is full. Flow can be taken back: what goes through a pipe is free
upwards.

Legend: L layers of pipes, N positions; node l · N + a is position a under l layers. free, taken (L, N, N):
what may still go through each pipe, and what does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Nodes = NDArray[np.int64]

_options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_part = njit(**_options)  # compiled into the kernel, and cached with it


def _kernel(function: Callable[..., None]) -> Callable[..., None]:
    try:
        return njit(cache=True, **_options)(function)
    except RuntimeError:  # neither the package nor the user's cache folder can be written to
        return njit(**_options)(function)


@_part
def _room(free: Numbers, taken: Numbers, node: int, other: int) -> float:
    """What can go from a node to one in the layer below it, or be taken back to one above it."""
    count = free.shape[1]
    if other > node:
        return free[node // count, node % count, other % count]
    return taken[other // count, other % count, node % count]


@_part
def _carry(free: Numbers, taken: Numbers, node: int, other: int, flow: float) -> None:
    count = free.shape[1]
    if other > node:
        free[node // count, node % count, other % count] -= flow
        taken[node // count, node % count, other % count] += flow
    else:
        taken[other // count, other % count, node % count] -= flow
        free[other // count, other % count, node % count] += flow


@_part
def _neighbour(node: int, number: int, layers: int, count: int) -> int:
    """The first N are below, the next N above; -1: there is no layer."""
    layer = node // count + (1 if number < count else -1)
    return layer * count + number % count if 0 <= layer <= layers else -1


@_part
def _reach(
    free: Numbers, taken: Numbers, begin: int, sink: int, level: Nodes, queue: Nodes
) -> bool:
    """The distance of nodes from the beginning; -1: none. Whether the sink is reached."""
    layers, count, _ = free.shape
    level[:] = -1
    level[begin], queue[0], first, last = 0, begin, 0, 1
    while first < last and level[sink] < 0:
        node = queue[first]
        first += 1
        for number in range(2 * count):
            other = _neighbour(node, number, layers, count)
            if other >= 0 and level[other] < 0 and _room(free, taken, node, other) > 0:
                level[other] = level[node] + 1
                queue[last] = other
                last += 1
    return level[sink] >= 0


@_part
def _fill(
    free: Numbers, taken: Numbers, begin: int, sink: int, level: Nodes, tried: Nodes, path: Nodes
) -> float:
    """What more flows along shortest ways; tried: how many neighbours of a node lead nowhere any more."""
    layers, count, _ = free.shape
    total, length = 0.0, 0
    tried[:] = 0
    path[0] = begin
    while length >= 0:
        node = path[length]
        if node == sink:
            flow = np.inf
            for step in range(length):
                flow = min(flow, _room(free, taken, path[step], path[step + 1]))
            full = length
            for step in range(length - 1, -1, -1):
                _carry(free, taken, path[step], path[step + 1], flow)
                if _room(free, taken, path[step], path[step + 1]) <= 0:
                    full = step
            total, length = total + flow, full  # go on before the first pipe that is full
            continue
        other = -1
        while tried[node] < 2 * count and other < 0:
            other = _neighbour(node, tried[node], layers, count)
            if other >= 0:
                further = level[other] == level[node] + 1
                if not further or _room(free, taken, node, other) <= 0:
                    other = -1
            if other < 0:
                tried[node] += 1
        if other >= 0:
            length += 1
            path[length] = other
        else:
            length -= 1
            if length >= 0:
                tried[path[length]] += 1
    return total


@_kernel
def all_pairs(pipes: Numbers, found: Numbers, first: int, last: int) -> None:
    """pipes (L, N, N) from the last layer down -> rows first … last - 1 of found (N, N): from each of these
    positions to each input
    """
    layers, count, _ = pipes.shape
    nodes = (layers + 1) * count
    free, taken = np.empty_like(pipes), np.empty_like(pipes)
    level, queue = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    tried, path = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for begin in range(first, last):
        for end in range(count):
            sink = layers * count + end
            free[:], taken[:] = pipes, 0.0
            found[begin, end] = 0.0
            while _reach(free, taken, begin, sink, level, queue):
                found[begin, end] += _fill(free, taken, begin, sink, level, tried, path)
