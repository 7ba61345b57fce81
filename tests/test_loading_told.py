"""While a model is loaded, a person at a terminal is told, and a file or a pipe is not."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from regard.time_left import loading, say_loading


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(params=[Terminal, io.StringIO])
def stream(request, monkeypatch) -> io.StringIO:
    made = request.param()
    monkeypatch.setattr("regard.time_left.sys", SimpleNamespace(stderr=made))
    return made


def test_what_was_told_is_erased_when_it_is_loaded(stream):
    with loading():
        during = stream.getvalue()
    assert during == ("loading the model …" if stream.isatty() else "")
    assert stream.getvalue() == during + ("\r\x1b[K" if stream.isatty() else "")


def test_it_is_erased_before_an_error_is_told(stream):
    with pytest.raises(ValueError, match="damaged"), loading():
        raise ValueError("damaged")
    assert stream.getvalue().endswith("\r\x1b[K") == stream.isatty()


def test_before_a_server_it_is_a_line(stream):
    say_loading()
    assert stream.getvalue() == ("loading the model …\n" if stream.isatty() else "")
