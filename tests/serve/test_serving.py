"""The API: right answers, whoever else is asking, and plain words for what cannot be answered."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import httpx
import pytest
from small_runs import RECIPES, document_run, hops_run, pair_run, reader_run, series_run, small_run
from small_server import HERE, Shouter, client_of, quiet_app, shelf_of

from regard.records.record import AttentionRecord
from regard.serve.models import Shelf, distinct_names
from regard.serve.request_limits import RequestLimits

SENTENCES = [
    "我是一个学生。",
    "你好。",
    "",
    "他们都是大学生。",
    "猫抓住了老鼠。",
    "我们七点吃晚饭。",
]


@pytest.fixture(scope="module")
def embedded():
    """The model that comes with the package."""
    from regard.runs.loaded_run import load

    shelf = Shelf(lambda: [load(device="cpu")])
    yield shelf
    shelf.worker.stop()
    shelf.worker.join()


@pytest.fixture(scope="module")
def every_task(tmp_path_factory):
    """A small run of every task."""
    folder = tmp_path_factory.mktemp("every")
    shelf = Shelf(lambda: [small_run(kind, folder) for kind in RECIPES])
    yield shelf
    shelf.worker.stop()
    shelf.worker.join()


def test_an_answer_says_how_many_hops_its_weights_are_the_mean_of(tmp_path):
    shelf = Shelf(lambda: [hops_run(tmp_path)])
    client, asked = client_of(quiet_app(shelf)), {"examples": ["a b c"], "attention": True}
    (answer,) = client.post("/predict", json=asked).json()["answers"]
    shelf.worker.stop()
    shelf.worker.join()
    assert answer["hops"] == 3
    assert sum(answer["attention"][0]) == pytest.approx(1, abs=1e-4)


def test_a_document_may_be_as_long_as_a_request(every_task, tmp_path):
    shelf = Shelf(lambda: [document_run("label", tmp_path)])
    client, text = client_of(quiet_app(shelf)), "A b c . " * 400
    record = AttentionRecord.from_json(client.post("/attention", json={"text": text}).text)
    assert len(record.levels.lengths) == 100
    assert "the first 100 of 400 sentences were read" in record.notes
    asked = {"examples": [text], "attention": True}
    (answer,) = client.post("/predict", json=asked).json()["answers"]
    assert [b - a for a, b, _ in answer["sentences"]] == [4] * 100
    refused = client_of(quiet_app(every_task)).post(
        "/attention", json={"model": "classify", "text": text}
    )
    assert refused.status_code == 413
    assert "a text of 3,200 characters, and 2,000 may be" in refused.json()["error"]
    shelf.worker.stop()
    shelf.worker.join()


WRONG = ["a", "{}", "[]", "", '{"first": "a"}', '{"first": 1, "second": 2}', "[" * 1900]
WRONG_TO = {
    "pair": WRONG,
    "reader": [*WRONG, '{"story": "a", "question": "b", "candidates": []}'],
    "document": ['{"document": 5}'],
    "series": ["a", "[]", '{"numbers": "a"}', "[" * 1900, "[" * 900 + "]" * 900],
    "classify": ['{"text": 5}'],
}


def test_what_cannot_be_looked_at_is_told(tmp_path):
    made = [pair_run("label", tmp_path), reader_run(tmp_path), document_run("label", tmp_path)]
    made += [series_run(tmp_path), small_run("classify", tmp_path)]
    shelf = Shelf(lambda: made)
    client = client_of(quiet_app(shelf))
    for model, texts in WRONG_TO.items():
        for text in texts:
            answer = client.post("/attention", json={"model": model, "text": text})
            assert answer.status_code == 422, (model, text[:50], answer.text)
            assert len(answer.json()["error"]) > 10
    shelf.worker.stop()
    shelf.worker.join()


def run_of(shelf: Shelf):
    return shelf.find(None).run


def at_once(app, requests: list[tuple[str, dict]]) -> list[dict]:
    """The answers to requests that are all sent before any is answered."""

    async def ask() -> list[httpx.Response]:
        there = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=there, base_url=HERE, timeout=600) as client:
            return await asyncio.gather(*(client.post(p, json=body) for p, body in requests))

    answers = asyncio.run(ask())
    assert [answer.status_code for answer in answers] == [200] * len(answers)
    return [answer.json() for answer in answers]


def test_translations_are_those_of_the_run(embedded):
    client = client_of(quiet_app(embedded))
    answer = client.post("/translate", json={"texts": SENTENCES, "beam": 3, "nbest": 2}).json()
    expected = run_of(embedded).translate(SENTENCES, beam=3, nbest=2)
    assert answer["model"] == "zh-en"
    assert [t["text"] for t in answer["translations"]] == [p.text for p in expected]
    for found, wanted in zip(answer["translations"], expected, strict=True):
        assert found["score"] == pytest.approx(wanted.score, abs=1e-4)
        assert [o["text"] for o in found["alternatives"]] == [o.text for o in wanted.alternatives]
    assert answer["translations"][2]["text"] == ""


def test_who_else_asks_does_not_change_an_answer(embedded):
    app = quiet_app(embedded)
    ways = [{}, {"beam": 1}, {"beam": 4, "nbest": 3}]
    requests = [("/translate", {"texts": [text], **way}) for way in ways for text in SENTENCES]
    alone = [at_once(app, [request])[0] for request in requests]
    counts = embedded.find(None).counts
    before = counts.batches
    together = at_once(app, requests)
    assert counts.batches - before < len(requests) / 2  # they were joined
    for one, other in zip(alone, together, strict=True):
        (a,), (b,) = one["translations"], other["translations"]
        assert a["text"] == b["text"]
        assert a["score"] == pytest.approx(b["score"], abs=1e-4)
        assert [o["text"] for o in a["alternatives"]] == [o["text"] for o in b["alternatives"]]


def test_scores_are_those_of_the_run_and_of_its_own_translations(embedded):
    client = client_of(quiet_app(embedded))
    sources, targets = SENTENCES[:2], ["I am a student.", "Hello."]
    found = client.post("/score", json={"sources": sources, "targets": targets}).json()["scores"]
    expected = run_of(embedded).score(sources, targets)
    for one, wanted in zip(found, expected, strict=True):
        assert one["score"] == pytest.approx(wanted.score, abs=1e-4)
        assert sum(one["log_probs"]) == pytest.approx(one["log_prob"], abs=1e-4)
        assert len(one["log_probs"]) == len(one["tokens"]) + 1  # and the end
    answer = client.post("/score", json={"sources": sources, "targets": ["a"]})
    assert answer.status_code == 422
    assert "2 sources but 1 targets" in answer.json()["error"]


def test_predictions_are_those_of_the_run_of_any_task(every_task):
    shelf = every_task
    client = client_of(quiet_app(shelf))
    for model, example in {
        "translate": "a b c",
        "classify": {"text": "a b"},
        "language": "a b",
        "masked": "a <mask> c",
    }.items():
        for attention in (False, True):
            asked = {"model": model, "examples": [example, example], "attention": attention}
            answer = client.post("/predict", json=asked)
            assert answer.status_code == 200, answer.text
            (wanted, _) = shelf.find(model).run.predict([example] * 2, attention=attention)
            for one in answer.json()["answers"]:  # rows of a batch may differ in the last bits
                assert (one["input"], one["answer"]) == (wanted.input, wanted.answer)
                assert one["score"] == pytest.approx(wanted.score, rel=1e-6, abs=1e-5)
                assert (one["attention"] is None) == (wanted.attention is None)


def test_a_blank_text_has_a_blank_answer(every_task):
    client = client_of(quiet_app(every_task))
    for examples in (["", "a b", "  "], [""]):
        asked = {"model": "language", "examples": examples, "attention": True}
        answers = client.post("/predict", json=asked).json()["answers"]
        assert [one["answer"] is None for one in answers] == [not text.strip() for text in examples]


def test_a_prediction_is_bounded_by_what_it_costs(every_task, monkeypatch):
    client = client_of(quiet_app(every_task))
    for texts, status in ((["a " * 1500], 413), (["\ud800 x"], 422)):
        body = json.dumps({"model": "classify", "examples": texts, "attention": True})
        headers = {"content-type": "application/json"}
        answer = client.post("/predict", content=body, headers=headers)
        assert answer.status_code == status, answer.text
    estimates = every_task.find("classify").estimates
    asked = {"model": "classify", "examples": ["a b c d e"], "attention": True}
    monkeypatch.setattr(estimates, "limits", replace(estimates.limits, numbers=10))
    answer = client.post("/predict", json=asked)
    assert answer.status_code == 413
    assert "weights" in answer.json()["error"]
    answer = client.post("/predict", json={"model": "classify", "examples": ["a b c d e"]})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("model", "example", "said"),
    [
        ("classify", 7, "example 2: 7 is no text, as 'text' must be"),
        ("classify", ["{a}"], "example 2: a list is no text, as 'text' must be"),
        ("classify", {"txt": "a"}, "example 2 has no 'text'; it has txt"),
        ("translate", None, "example 2: None is no text, as 'source' must be"),
        ("masked", "a b", "there is no <mask> to fill in 'a b'"),
    ],
)
def test_an_example_that_a_task_cannot_take_is_told(every_task, model, example, said):
    asked = {"model": model, "examples": ["a <mask>", example]}
    answer = client_of(quiet_app(every_task)).post("/predict", json=asked)
    assert (answer.status_code, answer.json()) == (422, {"error": said})


def test_attention_is_a_record_of_the_translation(embedded):
    client = client_of(quiet_app(embedded))
    answer = client.post("/attention", json={"text": SENTENCES[0]})
    assert answer.status_code == 200, answer.text
    record = AttentionRecord.from_json(answer.text)
    (expected,) = run_of(embedded).translate([SENTENCES[0]])
    assert record.output == expected.text
    assert record.map("cross").weights.shape[-1] == len(record.sides["source"])
    forced = {"step": 0, "keys": [1, 2]}
    answer = client.post("/attention", json={"text": SENTENCES[0], "force": forced})
    weights = AttentionRecord.from_json(answer.text).map("cross").weights[0, 0, 0]
    assert weights[1] == pytest.approx(0.5, abs=0.01)
    answer = client.post("/attention", json={"text": "你好。", "force": {"step": 0, "keys": [99]}})
    assert answer.status_code == 422
    assert answer.json()["error"].count("\n") == 0


def test_what_the_model_hardly_knows_is_told_with_its_answer(embedded):
    client = client_of(quiet_app(embedded))
    texts = [SENTENCES[0], "Hello, how are you?", "Привет, как дела?", "好" * 120]
    answer = client.post("/translate", json={"texts": texts, "beam": 1}).json()
    usual, latin, cyrillic, long = [each["notes"] for each in answer["translations"]]
    assert usual == []
    assert latin[-1].startswith("100 % of the letters are Latin: the model reads Chinese")
    assert cyrillic[0].startswith("the model has no token for П, р,")
    assert long == ["the text has 120 tokens, and the model was trained on texts of up to 100"]
    for text, notes in zip(texts, (usual, latin, cyrillic, long), strict=True):
        assert client.post("/attention", json={"text": text, "beam": 1}).json()["notes"] == notes


def test_what_if_it_looked_elsewhere_or_could_not_look(embedded):
    client = client_of(quiet_app(embedded))

    def asked(**more):
        answer = client.post("/attention", json={"text": SENTENCES[0], **more})
        assert answer.status_code == 200, answer.text
        return AttentionRecord.from_json(answer.text)

    forced = asked(prefix="I", force={"step": 1, "keys": [0, 2], "weights": [3, 1]})
    assert forced.map("cross").weights[0, 0, 1, [0, 2]] == pytest.approx([0.75, 0.25], abs=0.01)
    assert len(forced.changes) == 2
    blind = asked(off=[{"layer": 1}])
    assert (blind.map("cross").weights == 0).all()
    assert blind.changes == ("without cross 1",)
    assert asked().changes == ()
    for wrong in (
        {"off": [{"layer": 2}]},
        {"off": [{"layer": 0}]},
        {"force": {"step": 0, "keys": [0], "layer": 0}},
        {"force": {"step": 0, "keys": [0], "weights": [0]}},
        {"force": {"step": 0, "keys": [0], "weights": [1, 1]}},
    ):
        answer = client.post("/attention", json={"text": SENTENCES[0], **wrong})
        assert answer.status_code == 422
        assert "\n" not in answer.json()["error"]


def test_looks_and_translations_at_once(embedded):
    looks = [("/attention", {"text": text}) for text in SENTENCES[:2]]
    asked = [("/translate", {"texts": [text]}) for text in SENTENCES]
    first, second, *others = at_once(quiet_app(embedded), looks + asked)
    texts = [answer["translations"][0]["text"] for answer in others]
    assert [first["output"], second["output"]] == texts[:2]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "the body is not JSON"),
        (b"\xff\xfe", 400, "the body is not JSON"),
        (b'{"texts": ["\xff"]}', 400, "the body is not UTF-8"),
        (b"", 422, "the body is empty"),
        (b"[1]", 422, "body: "),
        (b"[" * 100_000, 400, "the body is nested too deeply"),
        (b'{"texts": [' + b"9" * 5000 + b"]}", 400, "a whole number of too many digits"),
        (b"{}", 422, "texts: field required"),
        (b'{"texts": "a"}', 422, "texts: input should be a valid list"),
        (b'{"texts": []}', 422, "texts: "),
        (b'{"texts": ["a", 3]}', 422, "texts[1]: input should be a valid string"),
        (b'{"texts": ["\\ud800"]}', 422, "texts[0]: "),
        (b'{"texts": ["a"], "beem": 3}', 422, "beem: "),
        (b'{"texts": ["a"], "beam": 0}', 422, "beam: "),
        (b'{"texts": ["a"], "beam": 1e99}', 422, "beam: "),
        (b'{"texts": ["a"], "beam": 1000}', 422, "beam: "),
        (b'{"texts": ["a"], "model": "shuot"}', 404, "Did you mean 'shout'?"),
        (json.dumps({"texts": ["a"] * 300}).encode(), 422, "texts: "),
        (json.dumps({"texts": ["a" * 3000]}).encode(), 422, "texts[0]: "),
        (json.dumps({"texts": ["a" * 2000] * 30}).encode(), 413, "60,000 characters"),
        (b'{"texts": ["a", "long"]}', 422, "text 2 has 9 tokens"),
        (b'{"texts": ["broken"]}', 500, "its log says why"),
    ],
)
def test_what_cannot_be_answered_is_said_in_one_line(body, status, said):
    with shelf_of(Shouter()) as shelf:
        client = client_of(quiet_app(shelf), content_type="application/json")
        answer = client.post("/translate", content=body)
        assert answer.status_code == status, answer.text
        assert list(answer.json()) == ["error"]
        assert said in answer.json()["error"]
        assert "\n" not in answer.json()["error"]
        assert len(answer.json()["error"]) < 400
        assert "secret" not in answer.text
        assert client.post("/translate", json={"texts": ["a"]}).status_code == 200


@pytest.mark.parametrize("path", ["/translate", "/score", "/predict", "/attention"])
def test_an_empty_body_is_told_what_is_asked_there(path):
    with shelf_of(Shouter()) as shelf:
        client = client_of(quiet_app(shelf), content_type="application/json")
        said = client.post(path, content=b"").json()["error"]
        wanted = json.loads(said.partition("such as ")[2])
        refused = client.post(path, json={**wanted, "beem": 1})
        assert refused.status_code == 422
        assert refused.json()["error"].startswith("beem: ")  # and nothing else


def test_paths_and_methods_that_there_are_not():
    with shelf_of(Shouter()) as shelf:
        client = client_of(quiet_app(shelf))
        answer = client.get("/transalte")
        assert (answer.status_code, answer.json().keys()) == (404, {"error"})
        assert "Did you mean '/translate'?" in answer.json()["error"]
        answer = client.get("/translate")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert answer.json()["error"] == "/translate does not take GET, but POST"
        assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


def test_an_answer_that_takes_too_long():
    run = Shouter()
    run.go.clear()
    with shelf_of(run, limits=RequestLimits(seconds=0.2)) as shelf:
        client = client_of(quiet_app(shelf))
        first = client.post("/translate", json={"texts": ["a"]})
        assert first.status_code == 504
        assert first.json()["error"].startswith("no answer within 0.2 s: send less at a time, or")
        assert client.post("/translate", json={"texts": ["b"]}).status_code == 504
        assert shelf.worker.waiting == 0
        run.go.set()
        assert client.post("/translate", json={"texts": ["c"]}).status_code == 200
    assert [call["texts"] for call in run.asked] == [["a"], ["c"]]  # b had been given up


def test_a_full_queue_says_when_to_come_back():
    run = Shouter()
    run.go.clear()
    with shelf_of(run, limits=RequestLimits(waiting=2, seconds=0.5)) as shelf:
        client = client_of(quiet_app(shelf))
        answer = client.post("/translate", json={"texts": ["a", "b", "c"]})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert list(answer.json()) == ["error"]


def test_a_client_that_hangs_up_is_dropped_from_the_queue():
    async def scene(app, run, shelf):
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": "/translate", "headers": headers}
        scope |= {"query_string": b"", "raw_path": b"/translate", "scheme": "http"}
        hung_up = asyncio.Event()

        async def asking(text: str, stays: bool) -> int:
            sent, read = [], False

            async def receive():
                nonlocal read
                if not read:
                    read = True
                    return {"type": "http.request", "body": b'{"texts": ["%s"]}' % text.encode()}
                await (asyncio.Event() if stays else hung_up).wait()
                return {"type": "http.disconnect"}

            async def send(message):
                sent.append(message)

            await app(dict(scope), receive, send)
            return sent[0]["status"]

        first = asyncio.create_task(asking("a", True))
        assert await asyncio.to_thread(run.begun.wait, 10)
        second = asyncio.create_task(asking("b", False))
        while shelf.worker.waiting == 0:
            await asyncio.sleep(0.01)
        hung_up.set()
        assert await second == 499
        assert shelf.worker.waiting == 0
        run.go.set()
        assert await first == 200

    run = Shouter()
    run.go.clear()
    with shelf_of(run) as shelf:
        asyncio.run(asyncio.wait_for(scene(quiet_app(shelf), run, shelf), 20))
    assert [call["texts"] for call in run.asked] == [["a"]]


def test_several_models_are_asked_by_name_and_the_first_without():
    runs = [Shouter("a"), Shouter("b"), Shouter("c", task="classify")]
    with shelf_of(*runs) as shelf:
        client = client_of(quiet_app(shelf))
        found = client.get("/models").json()["models"]
        assert [(m["name"], m["task"]) for m in found] == [
            ("a", "translate"),
            ("b", "translate"),
            ("c", "classify"),
        ]
        assert "secret" not in json.dumps(found)
        assert client.post("/translate", json={"texts": ["x"], "model": "b"}).json()["model"] == "b"
        assert client.post("/translate", json={"texts": ["x"]}).json()["model"] == "a"
        assert [len(run.asked) for run in runs] == [1, 1, 0]
        answer = client.post("/translate", json={"texts": ["x"], "model": "c"})
        assert answer.status_code == 422
        assert answer.json()["error"] == "model 'c' was trained to classify, not to translate"


def test_the_beam_of_the_server_is_for_those_who_do_not_say():
    run = Shouter()
    with shelf_of(run, beam=3) as shelf:
        client = client_of(quiet_app(shelf))
        for wish in ({}, {"beam": 2}, {"nbest": 7}):
            client.post("/translate", json={"texts": ["x"], **wish})
    assert [(call["beam"], call["nbest"]) for call in run.asked] == [(3, 1), (2, 1), (7, 7)]


def test_long_texts_are_not_all_padded_side_by_side():
    run = Shouter()
    with shelf_of(run, limits=RequestLimits(batch=8, padded=2000)) as shelf:
        client = client_of(quiet_app(shelf))
        for length in (10, 400, 1500):
            client.post("/translate", json={"texts": ["x" * length, "y"]})
    assert [call["batch"] for call in run.asked] == [8, 2, 1]


def test_health_counts():
    with shelf_of(Shouter()) as shelf:
        client = client_of(quiet_app(shelf))
        client.post("/translate", json={"texts": ["a", "b"]})
        found = client.get("/health").json()
        assert (found["status"], found["waiting"]) == ("ok", 0)
        assert found["models"] == [{"name": "shout", "sentences": 2, "batches": 1, "looks": 0}]


def test_runs_of_one_name_are_told_apart_by_their_folders(tmp_path):
    assert distinct_names([tmp_path / "zh-en", tmp_path / "b"]) == ["zh-en", "b"]
    assert distinct_names([tmp_path / "x" / "run", tmp_path / "y" / "run"]) == ["x/run", "y/run"]
    with pytest.raises(ValueError, match="named twice"):
        distinct_names([tmp_path / "a", tmp_path / "." / "a"])


def test_openapi_describes_every_route_its_examples_and_its_errors():
    with shelf_of(Shouter()) as shelf:
        schema = client_of(quiet_app(shelf)).get("/openapi.json").json()
        locked = client_of(quiet_app(shelf, token="x" * 20), authorization=f"Bearer {'x' * 20}")
        assert locked.get("/openapi.json").json()["security"] == [{"token": []}]
    asked = ["/translate", "/score", "/predict", "/attention"]
    assert list(schema["paths"]) == [*asked, "/progress", "/models", "/health"]
    assert "security" not in schema
    for path in asked:
        route = schema["paths"][path]["post"]
        assert route["description"]
        assert {"200", "422", "503"} <= route["responses"].keys()
        for status, answer in route["responses"].items():
            (kind,) = answer["content"].values()
            problem = kind["schema"]["$ref"] == "#/components/schemas/Problem"
            assert problem == (status != "200")
        body = route["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        assert schema["components"]["schemas"][body.rpartition("/")[2]]["examples"]


def test_examples_nested_beyond_reason_are_refused(every_task):
    client = client_of(quiet_app(every_task))
    deep = "[" * 900 + "]" * 900
    body = f'{{"model": "classify", "examples": [{deep}]}}'
    answer = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422), answer.text


def test_the_embedded_model_is_called_embedded_beside_its_namesake(tmp_path):
    from regard.runs.run_names import EMBEDDED

    assert distinct_names([EMBEDDED, tmp_path / "b"]) == ["zh-en", "b"]
    assert distinct_names([tmp_path / "zh-en", EMBEDDED]) == ["zh-en", "embedded"]
    checkpoints = [tmp_path / "a" / "checkpoints" / "best-00000500.safetensors", tmp_path / "a@20"]
    assert distinct_names(checkpoints) == ["a@500", "a@20"]


def test_the_embedded_model_can_be_asked_by_that_name(embedded):
    client = client_of(quiet_app(embedded))
    answer = client.post("/translate", json={"texts": SENTENCES[:1], "model": "embedded"})
    assert answer.json()["model"] == "zh-en"
