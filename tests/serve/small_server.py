"""A run that needs no model, and an application around it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from starlette.testclient import TestClient
from torch import nn

from regard.data.tokenizer import Tokens
from regard.layers.positions import TooLong
from regard.serve.access import Access
from regard.serve.guard import Guard
from regard.serve.http_app import make_app
from regard.serve.models import Shelf
from regard.serve.request_limits import RequestLimits
from regard.tasks.prediction import Prediction
from regard.tasks.task import Extent

HERE = "http://localhost:8000"


class Letters:
    """A token for each letter."""

    def encode_ids(self, texts):
        return [[4] * len(text) for text in texts]


class Shouter:
    """abc -> ABC. It waits until `go` is set, and remembers which texts it got together."""

    def __init__(self, name: str = "shout", task: str = "translate") -> None:
        kind = SimpleNamespace(kind=task)
        data = SimpleNamespace(source="en", target="en")
        self.recipe = SimpleNamespace(task=kind, data=data, model=SimpleNamespace(kind="shouter"))
        self.folder = SimpleNamespace(path=Path("/secret/place") / name)
        self.recipe.search = SimpleNamespace(
            beam=2, length_penalty=1.0, coverage_penalty=0.0, max_length=100
        )
        self.model = nn.Linear(1, 1)
        self.module = SimpleNamespace(parameters=list, device="cpu", model=self.model)
        self.tokenizers = (Letters(), Letters())
        self.task = SimpleNamespace(
            searches=task == "translate",
            verb=task,
            inputs=(),
            fields={},
            look_extent=lambda asked: Extent(len(asked.text) + 1, None, asked.beam or 2),
        )
        self.asked: list[dict] = []
        self.go, self.begun = threading.Event(), threading.Event()
        self.go.set()

    def translate(self, texts, **settings):
        self.asked.append({"texts": list(texts), **settings})
        self.begun.set()
        assert self.go.wait(20)
        for number, text in enumerate(texts, 1):
            if text == "long":
                raise TooLong(f"text {number} has 9 tokens")
            if text == "broken":
                raise RuntimeError("/secret/place: shapes do not match")
        return [_prediction(text) for text in texts]

    def reading_notes(self, found):
        return ()


def _prediction(text: str) -> Prediction:
    tokens = Tokens([4], [text.upper()], [(0, len(text))])
    return Prediction(text, text.upper(), -1.0, -2.0, (-1.5, -0.5), tokens, tokens, finished=True)


@contextmanager
def shelf_of(
    *runs, limits: RequestLimits | None = None, beam: int | None = None
) -> Iterator[Shelf]:
    shelf = Shelf(lambda: list(runs), limits, beam=beam)
    try:
        yield shelf
    finally:
        for run in runs:
            run.go.set()
        shelf.worker.stop()
        shelf.worker.join()


def quiet_app(shelf: Shelf, token: str | None = None, log: list[str] | None = None) -> Guard:
    lines = [] if log is None else log
    return make_app(shelf, Access(token), lines.append)


def client_of(app: Guard, **headers: str) -> TestClient:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return TestClient(
        app, base_url=HERE, headers=named, raise_server_exceptions=False, follow_redirects=False
    )
