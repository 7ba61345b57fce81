"""A line of a stream that cannot be answered: it is told, and all others are answered."""

from __future__ import annotations

import json

import pytest
from small_runs import document_run, pair_run, series_run, small_run
from typer.testing import CliRunner

from regard.cli.app import app

LOG = '{"level": "info"}'
RUNS = {  # the run; lines of which the second and the last cannot be answered, and what is said of them
    "masked": (
        lambda folder: small_run("masked", folder),
        ["a <mask> c", "a b c", "<mask> d", "e f"],
        "there is no <mask> to fill",
    ),
    "series": (
        series_run,
        ["[[1, 2], [3, 4]]", "[[1, 2, 3]]", "[[5, 6]]", LOG],
        "",
    ),
    "pair": (
        lambda folder: pair_run("label", folder),
        ["a b\tc d", "a b", "c\td", LOG],
        "",
    ),
    "rank": (
        lambda folder: pair_run("rank", folder),
        ["a b\tc d", "a\tb\tc", "a b\ta h", "a b"],
        "there are 2 inputs",
    ),
}


@pytest.fixture
def ask(monkeypatch):
    def answers(run, lines, *words, chunk=1024):
        monkeypatch.setattr("regard.runs.loaded_run.load", lambda model, **_: run)
        monkeypatch.setattr("regard.cli.texts.CHUNK", chunk)
        given = "".join(f"{line}\n" for line in lines)
        return CliRunner().invoke(app, ["predict", "-m", "x", *words], input=given)

    return answers


@pytest.mark.parametrize("chunk", [1, 3, 1024])
@pytest.mark.parametrize("kind", RUNS)
def test_the_others_are_answered(kind, chunk, ask, tmp_path):
    make, lines, said = RUNS[kind]
    run = make(tmp_path)
    right = ask(run, lines[::2])
    assert right.exit_code == 0
    done = ask(run, lines, chunk=chunk)
    first, blank, second, last = done.stdout.splitlines()
    assert [first, second] == right.stdout.splitlines()
    assert blank == last == ""
    assert done.exit_code == 2
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: line ")]
    assert [error.split()[2].strip(":") for error in errors] == ["2", "4"]
    assert all(said in error for error in errors)
    as_json = [json.loads(line) for line in ask(run, lines, "--json").stdout.splitlines()]
    assert ["error" in one for one in as_json] == [False, True, False, True]
    assert f"error: {as_json[1]['error']}" == errors[0]


@pytest.mark.parametrize(
    "make",
    [lambda f: small_run("classify", f), lambda f: document_run("label", f)],
    ids=["text", "document"],
)
def test_an_object_is_a_text_where_a_text_is_asked_for(make, ask, tmp_path):
    run = make(tmp_path)
    name = run.task.inputs[0]
    lines = ["a b", LOG, json.dumps({name: "c d"}), "{}", "{a"]
    done = ask(run, lines, "--json")
    assert done.exit_code == 0
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["input"] for one in found][:4] == ["a b", LOG, "c d", "{}"]
    assert all(one["answer"] for one in found)
    assert done.stderr.count("is answered as a text") == 1
    assert f"an object without {name!r} is answered as a text: {LOG!r}" in done.stderr


def test_a_line_with_tabs_is_an_example_in_python_too(tmp_path):
    run = pair_run("label", tmp_path)
    wanted = run.predict([("a b", "c d")])[0].score
    for given in ("a b\tc d", json.dumps({"first": "a b", "second": "c d"})):
        assert run.predict([given])[0].score == pytest.approx(wanted, abs=1e-6)
    with pytest.raises(ValueError, match="there are 2 inputs, and 3 were given") as refused:
        run.predict(["a\tb\tc"])
    assert '{"first": "…", "second": "…"}' in refused.value.hint
