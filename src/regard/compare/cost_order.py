"""Which of two variants costs less, where that is more than the noise of a clock."""

from __future__ import annotations

from regard.compare.judged_run import Cost

COUNTED = 0.95  # times what is counted, parameters and memory: surely less
TIMED = 0.8  # times what a clock tells: the machine did other things too
SPREADS = 2.0  # by so many standard deviations, from seed to seed or from time to time
KINDS = ("parameters", "seconds", "memory", "speed")


def cheaper(one: Cost, other: Cost) -> bool:
    """In something, and dearer in nothing."""
    return cheaper_in_any(one, other) and not cheaper_in_any(other, one)


def cheaper_in_any(one: Cost, other: Cost) -> bool:
    return any(cheaper_in(kind, one, other) for kind in KINDS)


def cheaper_in(kind: str, one: Cost, other: Cost) -> bool:
    """Surely so: two that are not told apart are as cheap, and so is what is not known."""
    less, more = (other, one) if kind == "speed" else (one, other)
    a, b = getattr(less, kind), getattr(more, kind)
    if a is None or b is None:
        return False
    if kind in ("parameters", "memory"):
        return bool(a < COUNTED * b)
    spread = max(getattr(each, f"{kind}_spread") or 0.0 for each in (one, other))
    return bool(a < TIMED * b and b - a > SPREADS * spread)
