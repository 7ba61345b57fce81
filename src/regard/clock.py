"""A span of time in words."""

from __future__ import annotations

from regard.words import t

SHORT, LONG = 90, 600  # seconds that are told as such, minutes of hours that are told


def clock(seconds: float) -> str:
    """4 s, 12:05, 3:07:00"""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def rough(seconds: float) -> str:
    """Of a guess, of what is left: 4 s, 14 min, 3 h 7 min. The page has the same in words/rough_time.js"""
    if seconds < SHORT:
        return t("{n} s", n=max(int(seconds + 0.5), 1))
    minutes = int(seconds / 60 + 0.5)
    if minutes < SHORT:
        return t("{n} min", n=minutes)
    hours, rest = divmod(minutes, 60)
    if minutes < LONG and rest:
        return t("{hours} h {minutes} min", hours=hours, minutes=rest)
    return t("{n} h", n=int(minutes / 60 + 0.5))
