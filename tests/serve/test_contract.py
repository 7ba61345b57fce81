"""What /openapi.json says holds: for every operation, whatever is wrong with a request."""

from __future__ import annotations

import copy
import json

import pytest
from small_server import Shouter, client_of, quiet_app, shelf_of

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
VALUES = {  # of every type that JSON has
    "null": None,
    "boolean": False,
    "integer": 1,
    "number": 1.5,
    "string": "1",
    "array": [],
    "object": {},
}
PATHS = ["/translate", "/score", "/attention", "/models", "/health"]


@pytest.fixture(scope="module")
def client():
    with shelf_of(Shouter()) as shelf:
        yield client_of(quiet_app(shelf))


@pytest.fixture(scope="module")
def schema(client) -> dict:
    return client.get("/openapi.json").json()


def resolved(schema: dict, part: dict) -> dict:
    if "$ref" in part:
        return resolved(schema, schema["components"]["schemas"][part["$ref"].rpartition("/")[2]])
    return part


def kinds(schema: dict, part: dict) -> list[dict]:
    """What a field may be, one schema each."""
    return [resolved(schema, each) for each in resolved(schema, part).get("anyOf", [part])]


def wrong_values(schema: dict, part: dict) -> list[object]:
    """Values of a type that the field does not have, and values beyond its limits."""
    allowed = kinds(schema, part)
    types = {each["type"] for each in allowed}
    types |= {"integer"} if "number" in types else set()  # a whole number is a number
    wrong = [value for name, value in VALUES.items() if name not in types]
    for each in allowed:
        wrong += [each["minimum"] - 1] if "minimum" in each else []
        wrong += [each["maximum"] + 1, each["maximum"] + 0.5] if "maximum" in each else []
        wrong += ["x" * (each["maxLength"] + 1)] if "maxLength" in each else []
        if each["type"] == "array":
            wrong += [[value] for value in wrong_values(schema, each["items"])]
            wrong += [["1"] * (each["maxItems"] + 1)]
    return wrong


def bad_requests(schema: dict, path: str) -> list[tuple[str, dict]]:
    """(the field to blame, a body): one mistake in each."""
    described = schema["paths"][path]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]
    whole = resolved(schema, described)
    good, bad = whole["examples"][0], []
    for name, part in whole["properties"].items():
        bad += [(name, good | {name: value}) for value in wrong_values(schema, part)]
        for inner in (each for each in kinds(schema, part) if each["type"] == "object"):
            right = {"step": 0, "keys": [0]}
            for key, field in inner["properties"].items():
                bad += [
                    (name, good | {name: right | {key: v}}) for v in wrong_values(schema, field)
                ]
    for name in whole["required"]:
        less = copy.deepcopy(good)
        del less[name]
        bad.append((name, less))
    return [*bad, ("unheard", good | {"unheard": 1})]


@pytest.mark.parametrize("path", PATHS[:3])
def test_every_mistake_in_a_field_is_refused_by_name_and_as_documented(client, schema, path):
    bad = bad_requests(schema, path)
    assert len(bad) > 20
    documented = schema["paths"][path]["post"]["responses"]
    for field, body in bad:
        answer = client.post(path, json=body)
        assert answer.status_code == 422, body
        assert str(answer.status_code) in documented
        assert field in answer.json()["error"], body


def test_thousands_of_unknown_keys_are_one_mistake(client):
    answer = client.post("/translate", json={str(number): 1 for number in range(60_000)})
    assert answer.status_code == 422
    assert answer.json()["error"] == "body: 60,000 keys, and there are texts, model, beam, nbest"


def test_a_whole_number_may_be_written_with_a_point(client):
    assert client.post("/translate", json={"texts": ["a"], "beam": 3.0, "nbest": 2}).is_success


@pytest.mark.parametrize("path", ["/translate", "/attention"])
def test_more_translations_than_the_beam_is_wide_are_refused_and_that_is_documented(
    client, schema, path
):
    asked = {"texts": ["a"]} if path == "/translate" else {"text": "a"}
    answer = client.post(path, json=asked | {"beam": 2, "nbest": 3})
    assert answer.status_code == 422
    assert "nbest 3 needs a beam at least as wide, not beam 2" in answer.json()["error"]
    name = "TranslateRequest" if path == "/translate" else "AttentionRequest"
    nbest = schema["components"]["schemas"][name]["properties"]["nbest"]
    assert "Not more than the beam" in nbest["description"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", PATHS)
def test_a_method_that_there_is_not_is_refused_and_those_that_there_are_named(
    client, schema, path, method
):
    there = [each.upper() for each in schema["paths"][path]]
    if method not in there:
        answer = client.request(method, path)
        assert answer.status_code == 405
        assert answer.headers["allow"].split(", ") == there


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({}, b""),
        ({"content-type": "application/json"}, b"{"),
        ({"content-type": "application/json"}, b"\xff"),
        ({"content-type": "application/json"}, b"[" * 50_000),
        ({"content-type": "application/json"}, b'{"texts": NaN}'),
        ({"content-type": "text/plain"}, b"{}"),
        ({"content-type": "application/json", "origin": "http://evil.example"}, b"{}"),
        ({"content-type": "application/json", "host": "evil.example"}, b"{}"),
        ({"content-type": "application/json"}, b" " * (1 << 21)),
        ({"content-type": "application/json"}, json.dumps({"model": "none", "text": "a"}).encode()),
    ],
    ids=range(10),
)
def test_every_answer_is_one_that_is_documented(client, schema, path, headers, body):
    (method, operation), *_ = schema["paths"][path].items()
    answer = client.request(method, path, content=body, headers=headers)
    assert str(answer.status_code) in operation["responses"]
    assert answer.is_success or answer.json().keys() == {"error"}
