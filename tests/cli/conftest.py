"""A translator that needs no training: every word is turned round, and looks at where it came from."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest
import torch

from regard import cli
from regard.data.tokenizer import Tokens
from regard.measures import spans
from regard.tasks.prediction import Prediction


def cut(text: str) -> Tokens:
    places = spans(text)
    return Tokens(list(range(4, 4 + len(places))), [text[a:b] for a, b in places], places)


class Reverser:
    """我是 学生 -> 是我 生学, with attention on the diagonal; remembers how it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict] = []

    def translate(self, texts, **settings):
        self.asked.append({"texts": list(texts), **settings})
        best = [self._answer(t, " ".join(w[::-1] for w in t.split()), settings) for t in texts]
        if settings.get("nbest", 1) == 1:
            return best
        return [Prediction(**(vars(p) | {"alternatives": (p,)})) for p in best]

    def reading_notes(self, found):
        """It hardly knows questions."""
        return ("of little use",) if "?" in found.source else ()

    def score(self, sources, targets, *, attention=False, **_):
        asked = {"attention": attention}
        return [self._answer(s, t, asked) for s, t in zip(sources, targets, strict=True)]

    def _answer(self, source: str, text: str, settings: dict) -> Prediction:
        tokens, source_tokens = cut(text), cut(source)
        weights = torch.eye(len(tokens.ids) + 1, len(source_tokens.ids) + 1)
        return Prediction(
            source=source,
            text=text,
            score=-1.0 * len(tokens.ids),
            log_prob=-2.0 * len(tokens.ids),
            log_probs=(-2.0,) * len(tokens.ids),
            source_tokens=source_tokens,
            tokens=tokens,
            finished=True,
            attention=weights if settings.get("attention") else None,
        )


@pytest.fixture
def reverser(monkeypatch) -> Reverser:
    """In the place of every model; `.loaded` says which were asked for, `.quantized` in how many bits."""
    translator = Reverser()

    def load(run=None, *, device=None, quantize=None):
        translator.loaded, translator.quantized = run, quantize
        return translator

    monkeypatch.setitem(sys.modules, "regard.runs.loaded_run", SimpleNamespace(load=load))
    return translator


@pytest.fixture
def run(monkeypatch, capfdbinary):
    """Run a command in this process: run("translate", stdin=…) -> status, stdout, stderr."""

    def run(*arguments: str, stdin: bytes = b"") -> SimpleNamespace:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stopped:
            cli.main(list(arguments))
        sys.stdout.flush()
        seen = capfdbinary.readouterr()
        return SimpleNamespace(
            status=stopped.value.code, out=seen.out.decode("utf-8"), err=seen.err.decode("utf-8")
        )

    return run
