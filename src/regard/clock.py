"""A span of time in words."""

from __future__ import annotations


def clock(seconds: float) -> str:
    """4 s, 12:05, 3:07:00"""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
