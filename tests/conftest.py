"""What every test shares: a fixed seed, and the modules beside the tests importable by name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent / "attention"))


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)
