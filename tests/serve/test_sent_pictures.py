"""Pictures that are sent: answered from their bytes, within bounds, and bad ones told without harm.

A path that a client sends is never opened.
"""

from __future__ import annotations

import base64
import io
import json
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow
from small_server import client_of, quiet_app

from regard.records.record import AttentionRecord
from regard.runs.loaded_run import load
from regard.serve.models import Shelf
from regard.serve.request_limits import RequestLimits
from regard.training.run import train

sys.path.insert(0, str(Path(__file__).parent.parent / "tasks" / "see"))

from scribbles import scribbles, see_recipe, write_scribbles


def uri(data: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def written(picture: Pillow.Image, kind: str = "PNG", **settings) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **settings)
    return file.getvalue()


SCRIBBLE = Pillow.fromarray(scribbles(1)[0][0])
GOOD = written(SCRIBBLE)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scribbles")
    write_scribbles(folder)
    return train(see_recipe(folder, "ram"), folder / "ram", quiet=True)


@pytest.fixture(scope="module")
def client(run_folder) -> Iterator:
    shelf = Shelf(lambda: [load(run_folder)], None)
    yield client_of(quiet_app(shelf))
    shelf.worker.stop()
    shelf.worker.join()


def look(client, text: str, **more):
    return client.post("/attention", json={"text": text, **more})


def test_a_picture_is_looked_at_and_answered_about(client):
    (model,) = client.get("/models").json()["models"]
    assert model["pictures"] is True
    answer = look(client, uri(GOOD), name="scribble.png")
    assert answer.status_code == 200, answer.text
    record = AttentionRecord.from_json(answer.text)
    assert record.title == "scribble.png"
    assert (record.sight.kind, len(record.sight.steps)) == ("glimpses", 3)
    with Pillow.open(io.BytesIO(record.sight.image.data)) as shown:
        np.testing.assert_array_equal(np.asarray(shown), np.asarray(SCRIBBLE))
    again = look(client, record.question["text"]).json()
    assert again["output"] == record.output
    for example in (uri(GOOD), {"image": uri(GOOD)}):
        found = client.post("/predict", json={"examples": [example], "attention": True})
        assert found.status_code == 200, found.text
        (one,) = found.json()["answers"]
        assert record.output.startswith(one["answer"])
        assert len(one["places"]) == 3
        assert one["input"] == "12x12 grey picture"


def test_what_may_be_wrong_with_pictures_is_noted(client):
    inverted = written(Pillow.fromarray(255 - scribbles(1)[0][0]))
    noted = client.post("/predict", json={"examples": [uri(GOOD), uri(inverted)]}).json()["notes"]
    assert [note.partition(",")[0] for note in noted] == ["1 of 2 pictures have a bright ground"]
    assert client.post("/predict", json={"examples": [uri(GOOD)]}).json()["notes"] == []


def test_pictures_are_counted_as_what_is_looked_at(client, run_folder):
    """Not as all of their pixels with each other, which are weights that nobody makes."""
    few = Shelf(lambda: [load(run_folder)], RequestLimits(numbers=100))
    asked = {"examples": [uri(GOOD)], "attention": True}
    try:
        assert client_of(quiet_app(few)).post("/predict", json=asked).status_code == 200
    finally:
        few.worker.stop()
        few.worker.join()


def test_a_path_is_never_opened(client, tmp_path, monkeypatch):
    """It would be answered if it were: it is a picture that can be read from here."""
    (tmp_path / "scribble.png").write_bytes(GOOD)
    monkeypatch.chdir(tmp_path)
    paths = [str(tmp_path / "scribble.png"), "scribble.png", "/etc/passwd", "/dev/zero"]
    paths += [f"file://{tmp_path}/scribble.png", "data:image/../../etc/passwd"]
    for path in paths:
        for text in (path, json.dumps({"image": path})):
            assert look(client, text).status_code == 422, text
        for example in (path, {"image": path}):
            answer = client.post("/predict", json={"examples": [example]})
            assert answer.status_code == 422, example
            assert "root:" not in answer.text


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def claiming(width: int, height: int) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    zeros = zlib.compress(bytes((1 + width) * min(height, 20_000)), 9) if width < 20_000 else b""
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zeros) + chunk(b"IEND", b"")


def animated() -> bytes:
    frames = [Pillow.new("L", (12, 12), shade) for shade in (0, 200)]
    return written(frames[0], save_all=True, append_images=frames[1:])


@pytest.mark.parametrize(
    ("data", "status", "said"),
    [
        (GOOD[: len(GOOD) // 2], 422, "damaged"),
        (b"a text that is called .png", 422, "neither PNG nor JPEG"),
        (written(SCRIBBLE, "GIF"), 422, "neither PNG nor JPEG"),
        (written(SCRIBBLE, "WEBP"), 422, "neither PNG nor JPEG"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 422, "neither PNG nor JPEG"),
        (animated(), 422, "animated"),
        (claiming(9_000, 9_000), 413, "4,194,304 may be"),
        (claiming(60_000, 60_000), 413, "pictures of 3,600,000,000 pixels in a request"),
        (claiming(2_049, 2_048), 413, "4,194,304 may be"),
    ],
    ids=["truncated", "text", "gif", "webp", "svg", "animated", "bomb", "claims", "large"],
)
def test_a_bad_picture_is_told(client, data, status, said):
    for answer in (
        look(client, uri(data)),
        client.post("/predict", json={"examples": [uri(data)]}),
        client.post("/predict", json={"examples": [{"image": uri(data)}]}),
    ):
        assert answer.status_code == status, answer.text
        assert said in answer.text
    assert look(client, uri(GOOD)).status_code == 200  # and the server goes on


@pytest.mark.parametrize(
    "text", ["data:image/png;base64,%%%", "data:image/png;base64", "data:image/png,AAAA", ""]
)
def test_what_is_no_picture_at_all_is_told(client, text):
    assert look(client, text).status_code == 422


def turned() -> bytes:
    exif = SCRIBBLE.getexif()
    exif[0x0112] = 3  # upside down
    return written(SCRIBBLE.rotate(180).convert("RGB"), "JPEG", exif=exif, quality=95)


@pytest.mark.parametrize(
    "data",
    [
        written(Pillow.fromarray(np.asarray(SCRIBBLE).astype(np.uint16) * 257)),
        written(SCRIBBLE.convert("RGB").convert("CMYK"), "JPEG", quality=95),
        written(SCRIBBLE.convert("RGB")),
        written(SCRIBBLE.convert("P")),
        turned(),
    ],
    ids=["16 bits", "CMYK", "colours", "palette", "turned"],
)
def test_a_picture_in_another_form_is_the_same_picture(client, data):
    record = AttentionRecord.from_json(look(client, uri(data)).text)
    with Pillow.open(io.BytesIO(record.sight.image.data)) as shown:
        difference = np.asarray(shown).astype(int) - np.asarray(SCRIBBLE)
    assert np.abs(difference).mean() < 12


def test_pictures_of_a_request_are_counted_together(client):
    """Each may be: a thousand of them may not."""
    data = uri(claiming(1_000, 999))
    assert client.post("/predict", json={"examples": [data] * 4}).status_code == 200
    answer = client.post("/predict", json={"examples": [data] * 5})
    assert answer.status_code == 413
    assert "4,995,000 pixels" in answer.text


def test_texts_and_bodies_are_as_short_as_ever(client):
    assert look(client, "x" * 2_001).status_code == 413
    assert look(client, json.dumps({"image": uri(GOOD), "more": "x" * 2_001})).status_code == 413
    heavy = uri(bytes(RequestLimits().body))
    assert look(client, heavy).status_code == 413
    assert client.post("/predict", json={"examples": [heavy]}).status_code == 413
    assert look(client, uri(GOOD), name="x" * 201).status_code == 422
    assert look(client, uri(GOOD), beam=3).status_code == 422


def test_a_model_of_texts_gets_no_picture():
    from small_server import Shouter, shelf_of

    with shelf_of(Shouter()) as shelf:
        client = client_of(quiet_app(shelf))
        assert client.get("/models").json()["models"][0]["pictures"] is False
        assert look(client, uri(bytes(3_000))).status_code == 413
