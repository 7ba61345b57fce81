"""How large the tiles of a region's kernels are: measured on an H200, by features and precision."""

# ruff: noqa: N806  (sizes are capitals)

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import torch
from torch import Tensor

from regard.attention.kernels.region.region_passes import FAR, RegionPass


class RegionTile(NamedTuple):
    """Queries and keys of a tile, and how it is computed."""

    BM: int
    BN: int
    warps: int = 4
    stages: int = 2
    registers: int | None = (
        None  # of a thread, at most: 168 leave room for three programs of 4 warps
    )


TILES: dict[tuple[str, bool, int], RegionTile] = {
    # kernel, half precision, features up to
    ("forward", True, 64): RegionTile(64, 64, 4, 3, 168),
    ("forward", True, 128): RegionTile(128, 64, 8, 2),
    ("forward", True, 256): RegionTile(64, 64, 8, 2),
    ("query", True, 64): RegionTile(64, 64, 4, 3, 168),
    ("query", True, 128): RegionTile(64, 64, 8, 2),
    ("query", True, 256): RegionTile(64, 32, 8, 1),
    ("key", True, 64): RegionTile(64, 64, 4, 3, 168),
    ("key", True, 128): RegionTile(64, 64, 8, 2),
    ("key", True, 256): RegionTile(32, 64, 8, 1),
    ("forward", False, 64): RegionTile(64, 32, 4, 2),
    ("forward", False, 128): RegionTile(64, 32, 4, 2),
    ("forward", False, 256): RegionTile(32, 32, 4, 1),
    ("query", False, 64): RegionTile(64, 32, 4, 2),
    ("query", False, 128): RegionTile(32, 32, 4, 1),
    ("query", False, 256): RegionTile(32, 16, 4, 1),
    ("key", False, 64): RegionTile(32, 128, 8, 2),
    ("key", False, 128): RegionTile(32, 32, 4, 1),
    ("key", False, 256): RegionTile(16, 32, 4, 1),
}
FOUR: dict[str, RegionTile] = {  # programs on a multiprocessor, instead of three of ("…", True, 64)
    "forward": RegionTile(64, 64, 4, 3, 128),
    "query": RegionTile(64, 64, 4, 2, 128),
    "key": RegionTile(32, 64, 4, 3, 128),
}
CHOSEN: dict[str, RegionTile] = {}  # by kernel: for measurements and tests, in place of the table


def chosen_tiles() -> tuple[RegionTile, ...]:
    return tuple(CHOSEN.values())


def tile_for(
    kernel: str, query: Tensor, key: Tensor, value: Tensor, each: RegionPass, *, documents: bool = False
) -> RegionTile:  # fmt: skip
    """The tile in use; of few queries or keys, as of a large rate or a step of decoding, a lower one.

    Keys whose queries follow from more than one stretch take fewer of them at a time, to have the registers.
    Where four programs on a multiprocessor are enough for all, and alike, three would leave a few for later.
    """
    if kernel in CHOSEN:
        return CHOSEN[kernel]
    width = max(64, block(query.shape[3]), block(value.shape[3]))
    half = query.dtype != torch.float32
    tile = TILES[kernel, half, width]
    if half and width == 64:
        if kernel == "key" and (documents or each.prefix or each.two):
            tile = tile._replace(BM=32)
        elif not documents and _in_one_wave(query if kernel != "key" else key, each):
            tile = FOUR[kernel]
    rows, columns = (-(-x.shape[2] // each.rate) for x in (query, key))
    BM = tile.BM if rows > 64 else min(tile.BM, 64 if rows > 16 else 16)
    BN = tile.BN if columns > 64 else min(tile.BN, 64 if columns > 32 else 32)
    return tile if tile[:2] == (BM, BN) else RegionTile(BM, BN, 4, tile.stages)


def _in_one_wave(x: Tensor, each: RegionPass) -> bool:
    """Whether more than three programs on each multiprocessor, and at most four, do equal work."""
    if not x.is_cuda or (each.lo_a <= -FAR) != (each.hi_a >= FAR) or each.prefix or each.two:
        return False
    programs = x.shape[0] * x.shape[1] * each.rate * -(-x.shape[2] // (64 * each.rate))
    many = multiprocessors(x.device)
    return 3 * many < programs <= 4 * many


@functools.cache
def multiprocessors(device: torch.device) -> int:
    if device.type != "cuda":  # Triton's interpreter
        return 4
    return torch.cuda.get_device_properties(device).multi_processor_count


def dealt_out_to(programs: int, *read: Tensor) -> int:
    """Multiprocessors to which programs that have unequal work are dealt out, the longest first.

    0: one head comes after the other, as there is a multiprocessor for each program, or as what is `read` of
    all heads at once would not stay in the cache that they share.
    """
    many = multiprocessors(read[0].device)
    return many if programs > many and sum(x.nbytes for x in read) <= _cache(read[0].device) else 0


@functools.cache
def _cache(device: torch.device) -> float:
    if device.type != "cuda":
        return math.inf
    return torch.cuda.get_device_properties(device).L2_cache_size * 2 / 3


def block(size: int) -> int:
    return max(16, 1 << (size - 1).bit_length())
