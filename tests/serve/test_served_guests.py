"""Hugging Face models behind a page: asked as a run is, within the same limits."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient

pytest.importorskip("transformers")
sys.path.insert(0, str(Path(__file__).parent.parent / "looking"))

from guest_models import guest, picture
from PIL import Image

import regard
from regard.looking.guests.guest_input import GuestInput, guest_input
from regard.looking.guests.guest_model import GuestModel
from regard.looking.pictures import image_uri
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.serve.access import Access
from regard.serve.http_app import make_app
from regard.serve.interruptible_run import interruptible_looker
from regard.serve.models import Shelf
from regard.serve.request_limits import RequestLimits

HERE = "http://localhost:8000"
TEXT = "the cat sat on"


@pytest.fixture
def client():
    made = []

    def opened(*families: str, limits: RequestLimits | None = None) -> TestClient:
        shelf = Shelf(lambda: [GuestModel(*guest(each)) for each in families], limits)
        made.append(shelf)
        return TestClient(make_app(shelf, Access()), base_url=HERE)

    yield opened
    for shelf in made:
        shelf.worker.stop()
        shelf.worker.join()


def asked(client: TestClient, **question) -> AttentionRecord:
    answer = client.post("/attention", json=question)
    assert answer.status_code == 200, answer.text
    return AttentionRecord.from_dict(answer.json())


def test_no_file_of_the_server_is_read_for_a_client(client, tmp_path):
    file = tmp_path / "secret.png"
    Image.fromarray(picture()).save(file)
    here = client("clip")
    for image in (str(file), f"file://{file}", "/etc/passwd", 7, None, ["a"]):
        question = {"text": json.dumps({"text": "the cat", "image": image})}
        answer = here.post("/attention", json=question)
        assert answer.status_code == 422
        assert "etc" not in answer.text
        assert str(file) not in answer.text
    sent = json.dumps({"text": "the cat", "image": image_uri(picture())})
    assert "similarity" in asked(here, text=sent).output


def test_a_model_answers_as_it_does_in_python(client):
    here = client("bert", "marian", "vit")
    names = [each["name"] for each in here.get("/models").json()["models"]]
    assert names == ["BertForMaskedLM", "MarianMTModel", "ViTForImageClassification"]
    (wanted,) = regard.look(*guest("bert"), TEXT).records
    assert asked(here, text=TEXT).map().weights.tobytes() == wanted.map().weights.tobytes()
    pair = asked(here, text='{"first": "the cat", "second": "it sat"}')
    assert set(pair.sides["text"].parts) == {-1, 0, 1}
    assert asked(here, text="the cat\tit sat").to_json() != asked(here, text="the cat").to_json()
    found = asked(here, text=TEXT, model="MarianMTModel", beam=2, force={"step": 1, "keys": [0]})
    assert found.beam is not None
    assert found.changes[0].startswith("forced: ")
    source = guest_input(picture()).picture
    seen = asked(here, text=source, model="ViTForImageClassification", name="cat.png")
    assert seen.title == "cat.png"


def test_only_looks_are_answered(client):
    here = client("bert")
    for path, body in (
        ("/translate", {"texts": [TEXT]}),
        ("/score", {"sources": [TEXT], "targets": [TEXT]}),
        ("/predict", {"examples": [TEXT]}),
    ):
        answer = here.post(path, json=body)
        assert answer.status_code == 422
        assert "is of Hugging Face, and can be looked at here" in answer.json()["error"]


def test_what_is_too_much_is_refused_before_it_is_done(client):
    here = client("bert", limits=RequestLimits(work=1e8))
    assert here.post("/attention", json={"text": TEXT}).status_code == 200
    answer = here.post("/attention", json={"text": TEXT * 3, "explain": True})
    assert answer.status_code == 413
    assert "leave out explain" in answer.json()["error"]
    few = client("bert", limits=RequestLimits(numbers=50))
    answer = few.post("/attention", json={"text": TEXT})
    assert answer.status_code == 413
    assert "weights" in answer.json()["error"]


def test_what_the_model_cannot_be_asked_is_told(client):
    here = client("bert", "vit")
    for question, said in (
        ({"text": "cat " * 70}, "reads at most 64"),
        ({"text": " "}, "blank"),
        ({"text": TEXT, "target": "a"}, "does not translate"),
        ({"text": '{"one": 1}'}, "has no 'one'"),
        ({"text": TEXT, "model": "ViTForImageClassification"}, "reads no text"),
        ({"text": "data:image/png;base64,AAAA", "model": "ViTForImageClassification"}, "picture"),
    ):
        answer = here.post("/attention", json=question)
        assert answer.status_code == 422, question
        assert said in answer.json()["error"]


def test_other_names_than_this_machine_are_refused(client):
    answer = client("bert").get("/models", headers={"host": "evil.example"})
    assert answer.status_code == 421


def test_a_twin_that_pauses_answers_the_same():
    looker, question = GuestModel(*guest("gpt2")), Question(TEXT)
    alone, other = looker.look(question).to_json(), looker.look(Question("the cat")).to_json()
    pauses = []

    def pause() -> None:
        pauses.append(None)
        if len(pauses) % 20 == 7:  # somebody else is let in
            assert looker.look(Question("the cat")).to_json() == other

    assert interruptible_looker(looker, pause).look(question).to_json() == alone
    assert len(pauses) > 40


def test_an_input_and_the_text_that_asks_for_it_are_one():
    for given in (TEXT, ("the cat", "it sat"), picture(), {"text": TEXT, "image": picture()}):
        once = guest_input(given)
        again = GuestInput.of_question(Question(once.text, name=once.name))
        assert (again.texts, again.picture) == (once.texts, once.picture)


def test_a_live_page_of_what_cannot_answer_is_refused():
    with pytest.raises(NotARecord, match="only a run or a model can answer"):
        regard.look([[0.5, 0.5]], ["a"], ["b", "c"], live=True)


SCRIPT = """
import sys; sys.path.insert(0, {looking!r})
from guest_models import guest
import regard
regard.look(*guest("gpt2"), "the cat", live=True)
"""


def test_a_program_stays_until_it_is_ended():
    looking = str(Path(__file__).parent.parent / "looking")
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", SCRIPT.format(looking=looking)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert re.match(r"http://127\.0\.0\.1:\d+/#text=the\+cat: ", line)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        assert out == "stopped\n"
        assert "Traceback" not in errors
    finally:
        process.kill()
