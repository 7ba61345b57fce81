"""A font that is always there, for pictures in pixels: drawn from where the system has no other."""

from __future__ import annotations

from pathlib import Path

FAMILY = "Regard Sans"
FONT = Path(__file__).parent / "regard-sans.otf"
