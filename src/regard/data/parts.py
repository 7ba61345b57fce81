"""The parts of a corpus, and which of them an example belongs to."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

PARTS = ("train", "dev", "test")
ONE_IN = 50  # examples is held out for @dev, and one for @test;
ONE_IN_FEW = 10  # of fewer than FEW, one in ten
FEW = 1_000
MANY = 20  # rows of the same source, on average: what is told of it differs, it itself is known
STRETCH = 10  # lines of a running text that stay together, at most


def held_out_of(rows: int) -> int:
    """One in so many examples of a corpus of so many rows is held out for dev, and one for test."""
    return ONE_IN_FEW if rows < FEW else ONE_IN


def home(identity: str) -> str:
    """The part of a large corpus that an example belongs to, wherever it stands, whatever else there is."""
    return {0: "dev", 1: "test"}.get(_number(identity) % ONE_IN, "train")


def homes(identities: Sequence[str]) -> dict[str, str]:
    """The part of a small corpus that each of its examples belongs to, whatever their order: dev and test
    have a tenth of all or a little more, so that neither is left to chance.
    """
    counts = Counter(identities)
    ordered = sorted(counts, key=_order)
    wanted = math.ceil(len(identities) / ONE_IN_FEW)
    found = dict.fromkeys(ordered, "train")
    waiting = iter(ordered[:-1])  # something is left to learn from
    for part in ("dev", "test"):
        held = 0
        while held < wanted and (identity := next(waiting, None)) is not None:
            found[identity] = part
            held += counts[identity]
    return found


def homes_of_kinds(rows: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The part of each row, given as its kind and its own identity, where there are few kinds of what is
    read and many rows of each: every kind has a row to learn from, and what is held out is of all kinds.
    """
    first: dict[str, str] = {}
    for kind, identity in rows:
        first[kind] = min(first.get(kind, identity), identity, key=_order)
    learnt = set(first.values())
    others = [identity for _, identity in rows if identity not in learnt]
    found = dict.fromkeys(learnt, "train")
    if len(rows) >= FEW:
        return found | {identity: home(identity) for identity in others}
    return found | (homes(others) if others else {})


def home_of_line(line: int, rows: int) -> str:
    """The part that a line (from 1) of a running text of so many belongs to: stretches of lines."""
    one_in = held_out_of(rows)
    stretch = max(1, min(STRETCH, rows // one_in))
    places = {one_in // 2 - 1: "dev", one_in - 1: "test"}
    return places.get((line - 1) // stretch % one_in, "train")


def _order(identity: str) -> tuple[int, str]:
    return _number(identity), identity


def _number(identity: str) -> int:
    return int.from_bytes(hashlib.blake2b(identity.encode(), digest_size=8).digest(), "big")
