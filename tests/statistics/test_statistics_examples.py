"""The examples in the docstrings of the room are true."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["difference", "holm", "look_errors", "looks", "student_sum"])
def test_examples(name):
    done = doctest.testmod(import_module(f"regard.statistics.{name}"))
    assert done.attempted
    assert not done.failed
