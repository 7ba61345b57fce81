"""A signal is a wish to stop, unless whoever started the program ignores it."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from regard.training.signals import Signals


@pytest.fixture
def ignored() -> Iterator[None]:
    """As nohup, and a script in the background, start a program."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_is_noted_and_the_second_ctrl_c_stops_at_once():
    with Signals() as signals:
        signal.raise_signal(signal.SIGINT)
        assert signals.received == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("ignored")
def test_what_is_ignored_at_the_start_stays_ignored():
    with Signals() as signals:
        signal.raise_signal(signal.SIGINT)
        assert signals.received == 0
        signal.raise_signal(signal.SIGTERM)
        assert signals.received == signal.SIGTERM
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
