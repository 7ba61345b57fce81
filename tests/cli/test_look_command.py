"""`regard look`: a page, a file or a heat map, of a model or of a saved record."""

from __future__ import annotations

import json
import shlex
import sys
import threading
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import resvg_py

from regard.cli.commands.look import _typed_input
from regard.cli.look_page import _open_when_it_answers
from regard.looking.look import look as view_of
from regard.records.explanation import Explanation
from regard.records.record import AttentionRecord

TEXT = "我是一个学生。"


@pytest.fixture
def asked(monkeypatch) -> SimpleNamespace:
    """A small record in the place of every model; remembers which runs and texts were asked."""
    seen = SimpleNamespace(runs=[], what=[], options={}, every=[])

    def load(run=None, *, device=None):
        seen.runs.append(run)
        return f"run {run}"

    def look(*what, map=None, layer=None, head=None, heads="", tokens=False, **options):
        seen.what, seen.options = list(what), options
        seen.every.append(options)
        picks = {"map": map, "layer": layer, "head": head, "heads": heads, "tokens": tokens}
        if not isinstance(what[0], str) or what[0].endswith(".json"):
            return view_of(*what, **picks)
        texts = [each for each in what if not each.startswith("run ")]
        made = [_record(text) for text in texts for _ in seen.runs]
        return view_of(*made, **picks)

    monkeypatch.setitem(sys.modules, "regard.runs.loaded_run", SimpleNamespace(load=load))
    monkeypatch.setitem(sys.modules, "regard.looking.look", SimpleNamespace(look=look))
    monkeypatch.setattr("regard.cli.commands.look._has_browser", lambda: False)
    monkeypatch.setenv("NO_COLOR", "1")
    return seen


def _record(text: str) -> AttentionRecord:
    made = AttentionRecord.of([[[0.25, 0.75]], [[1.0, 0.0]]], ["a"], list("xy"), title=text)
    return AttentionRecord.from_dict({**made.to_dict(), "output": f"of {text}"})


def test_exports_are_written_and_named(run, asked, tmp_path):
    kinds = ("html", "svg", "png", "pdf", "json", "csv", "npz")
    paths = {kind: tmp_path / f"out.{kind}" for kind in kinds}
    words = [word for kind, path in paths.items() for word in (f"--{kind}", str(path))]
    done = run("look", TEXT, *words)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [str(path) for path in paths.values()]
    assert "<!doctype html>" in paths["html"].read_text("utf-8")
    assert TEXT in "".join(ET.parse(paths["svg"]).getroot().itertext())
    assert paths["png"].read_bytes().startswith(b"\x89PNG")
    assert json.loads(paths["json"].read_text("utf-8"))["title"] == TEXT
    assert paths["csv"].read_text("utf-8").splitlines() == [",x,y", "a,0.625,0.375"]
    with np.load(paths["npz"]) as arrays:
        assert arrays["attention/weights"].tolist() == [[[[0.25, 0.75]], [[1.0, 0.0]]]]


def test_a_tab_is_drawn_in_the_place_of_the_map(run, asked, tmp_path):
    path = tmp_path / "steps.svg"
    done = run("look", TEXT, "--svg", str(path), "--tab", "steps", "--head", "2", "--query", "a")
    assert (done.status, done.err) == (0, "")
    assert "query: a" in path.read_text("utf-8")
    for words, said in (
        (["--tab", "steps"], "only one head of one layer has steps"),
        (["--tab", "stepz"], "no tab 'stepz'"),
        (["--tab", "steps", "--head", "1", "--query", "b"], "no token 'b' among the queries: a"),
        (["--query", "a"], "--query goes with --tab steps or lens"),
    ):
        done = run("look", TEXT, "--svg", str(path), *words)
        assert done.status == 2
        assert said in done.err
    done = run("look", TEXT, "--tab", "beam")
    assert (done.status, "--svg, --png or --pdf FILE" in done.err) == (2, True)


def test_a_what_if_is_asked_beside_what_the_model_does_by_itself(run, asked, tmp_path):
    path = tmp_path / "out.svg"
    words = ["--prefix", "He", "--force", "store=图书馆", "--off", "1.2"]
    done = run("look", TEXT, "--svg", str(path), *words)
    assert (done.status, done.err) == (0, "")
    what_if = {"prefix": "He", "force": "store=图书馆", "off": "1.2"}
    assert asked.options.items() >= what_if.items()
    asked.every.clear()
    done = run("look", TEXT, "--svg", str(path), *words, "--before")
    assert done.status == 0
    plain, changed, _ = asked.every  # the last puts both side by side
    assert not plain.keys() & what_if.keys()
    assert changed.items() >= what_if.items()
    done = run("look", TEXT, "--svg", str(path), "--before")
    assert (done.status, "give --prefix, --force or --off" in done.err) == (2, True)


def test_what_is_too_large_to_be_written_as_numbers_is_told(run, asked, tmp_path, monkeypatch):
    monkeypatch.setattr("regard.records.json_text.MOST", 3)
    done = run("look", TEXT, "--json", str(tmp_path / "out.json"))
    assert done.status == 0
    assert "base64: maps.attention.weights. --npz FILE" in done.err
    written = json.loads((tmp_path / "out.json").read_text("utf-8"))["maps"][0]["weights"]
    assert written["type"] == "float32"


@pytest.mark.filterwarnings("default::regard.view.stills.png.NoFont")
def test_a_png_without_a_font_is_written_and_told_in_a_line(run, asked, tmp_path, monkeypatch):
    bare = partial(resvg_py.svg_to_bytes, skip_system_fonts=True)
    monkeypatch.setattr(resvg_py, "svg_to_bytes", bare)
    done = run("look", "한", "--png", str(tmp_path / "out.png"))
    assert (done.status, done.out) == (0, f"{tmp_path / 'out.png'}\n")
    (told,) = done.err.splitlines()
    assert told.startswith("warning: no font has '한'")


def test_a_saved_record_is_opened_again_without_a_model(run, asked, tmp_path):
    path = tmp_path / "saved.json"
    run("look", TEXT, "--json", str(path))
    asked.runs.clear()
    done = run("look", str(path), "--svg", str(tmp_path / "again.svg"))
    assert done.status == 0
    assert asked.runs == []
    done = run("look", str(path), "-m", "runs/a", "--svg", str(tmp_path / "again.svg"))
    assert (done.status, "give them alone" in done.err) == (2, True)
    done = run("look", str(tmp_path / "sved.json"))
    assert (done.status, "No such file" in done.err or "no such file" in done.err) == (2, True)


def test_without_a_browser_the_terminal_shows_it_and_names_the_next_step(run, asked):
    done = run("look", TEXT)
    assert done.status == 0
    first, _, title, heads, row = done.out.splitlines()[:5]
    assert first == f"of {TEXT}"
    assert title.strip() == f"{TEXT} — attention · mean over 2 heads"
    assert heads.split() == ["x", "y"]
    assert "0.62" in row or "0.63" in row
    assert f"regard look '{TEXT}' --html attention.html" in done.err


@pytest.mark.parametrize(
    "typed",
    [
        (TEXT, "--terminal"),
        ("-m", "runs/a", "it's so", "b", "--terminal", "--layer", "1", "--beam", "2", "--tokens"),
        ("--no-browser", "--terminal", "--", "-1"),
    ],
)
def test_the_next_step_works_as_it_stands(run, asked, typed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = run("look", *typed)
    command = first.err.strip().splitlines()[-1].split(": ", 1)[1]
    name, *words = shlex.split(command)
    assert name == "regard"
    done = run(*words)
    assert (done.status, done.out) == (0, "attention.html\n")
    assert (tmp_path / "attention.html").is_file()
    assert run("look", TEXT, "--json", "one.json").status == 0
    saved = run("look", "one.json", "--terminal")
    assert saved.err.endswith("regard look one.json --html attention.html\n")


def test_measures_are_told_in_the_terminal(run, asked, monkeypatch):
    said = Explanation("gradient", "Gradient", "it agrees with the weights", "attention")
    assert "agrees" not in run("look", TEXT, "--terminal").out
    assert "is not measured for this model" in run("look", TEXT, "--terminal", "--explain").out
    plain = _record

    def measured(text):
        return replace(plain(text), explanations=(said,))

    monkeypatch.setitem(globals(), "_record", measured)
    done = run("look", TEXT, "--terminal", "--explain")
    assert done.out.splitlines()[-1] == "Gradient: it agrees with the weights"


def test_texts_and_runs_are_compared(run, asked, tmp_path):
    done = run("look", "-m", "a", "-m", "b", "one", "two", "--json", str(tmp_path / "c.json"))
    assert done.status == 0
    assert [str(each) for each in asked.runs] == ["a", "b"]
    assert asked.what == ["run a", "run b", "one", "two"]
    assert len(json.loads((tmp_path / "c.json").read_text("utf-8"))) == 4


def test_without_a_run_the_embedded_model_is_asked(run, asked):
    run("look", TEXT)
    assert asked.runs == [None]


def test_options_reach_the_question_and_the_picture(run, asked, tmp_path):
    path = tmp_path / "a.svg"
    run("look", TEXT, "--svg", str(path), "--explain", "--target", "x", "--beam", "3")
    assert asked.options == {"target": "x", "beam": 3, "explain": True}
    cells = path.read_text("utf-8")
    run("look", TEXT, "--svg", str(path), "--lines", "--dark", "--head", "2")
    drawn = path.read_text("utf-8")
    assert "head 2" in drawn
    assert "left: queries" in drawn
    assert "rows: queries" in cells
    assert "#101319" in drawn
    run("look", TEXT, "--svg", str(path), "--heads", "1.2, 1.1")
    assert "heads 1.2, 1.1, each in its colour" in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--layer", "3"], "no layer 3: there is only layer 1"),
        (["--head", "7"], "no head 7: there are heads 1 to 2"),
        (["--heads", "1.7"], "no head 7: there are heads 1 to 2"),
        (["--heads", "1.1", "--layer", "1"], "leave --layer, --head and --tab out"),
        (["--heads", "1.1", "--tab", "beam", "--svg", "a.svg"], "leave --layer, --head"),
        (["--map", "crss"], "no map 'crss': this record has attention"),
        (["--svg", "a.png"], "--svg writes a file that ends in .svg"),
        (["--hed", "1"], "--head"),
    ],
)
def test_what_is_asked_wrongly_is_told(run, asked, words, said):
    done = run("look", TEXT, *words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_nothing_to_look_at(run, asked):
    done = run("look", "--svg", "a.svg")
    assert (done.status, "give a TEXT" in done.err) == (2, True)
    assert run("look").status == 2  # no browser to type in


@pytest.fixture
def served(monkeypatch) -> list[dict]:
    """In the place of the server; what it was started with."""
    started: list[dict] = []
    fake = SimpleNamespace(
        serve=lambda models, **options: started.append({"models": models, **options})
    )
    monkeypatch.setitem(sys.modules, "regard.serve.server_process", fake)
    return started


def test_with_a_browser_the_page_is_served_and_its_address_holds_the_text(
    run, asked, served, monkeypatch
):
    opened = []
    monkeypatch.setattr("regard.cli.commands.look._has_browser", lambda: True)
    monkeypatch.setattr("regard.cli.look_page._open_when_it_answers", lambda *a: opened.append(a))
    done = run("look", "-m", "runs/a", TEXT, "--layer", "2", "--tokens")
    assert done.status == 0
    ((address, port),) = opened
    assert served[0]["port"] == port
    assert served[0]["host"] == "127.0.0.1"
    assert [str(each) for each in served[0]["models"]] == ["runs/a"]
    state = (
        "text=%E6%88%91%E6%98%AF%E4%B8%80%E4%B8%AA%E5%AD%A6%E7%94%9F%E3%80%82&layer=2&units=tokens"
    )
    assert address == f"http://127.0.0.1:{port}/#{state}"
    assert asked.what == []  # the server asks, not this process
    run("look", TEXT, "--heads", "1.2,2.1")
    assert parse_qs(urlsplit(opened[1][0]).fragment)["heads"] == ["1.2,2.1"]


def test_the_page_is_opened_once_it_answers_and_no_proxy_is_asked(monkeypatch):
    asked, opened = [], threading.Event()

    class Health(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setattr("webbrowser.open", lambda address: opened.set() or True)
    with HTTPServer(("127.0.0.1", 0), Health) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        _open_when_it_answers("http://the-page/", server.server_port)
        assert opened.wait(timeout=5)  # a tenth of a second a try: it took few
    assert asked == ["/health"]


def test_no_browser_serves_and_prints_the_address(run, asked, served):
    done = run("look", TEXT, "--no-browser", "--port", "8123")
    assert served[0]["port"] == 8123
    assert done.out.startswith("http://127.0.0.1:8123/#text=")
    assert run("look", "--no-browser", "--port", "8123").out == "http://127.0.0.1:8123/\n"


def test_terminal_is_stronger_than_a_browser(run, asked, served, monkeypatch):
    monkeypatch.setattr("regard.cli.commands.look._has_browser", lambda: True)
    assert "0.25" in run("look", TEXT, "--terminal", "--head", "1").out
    assert served == []


def test_terminal_shows_what_is_also_written(run, asked, served, tmp_path):
    path = tmp_path / "out.svg"
    done = run("look", TEXT, "--terminal", "--svg", str(path))
    assert (done.status, done.err, path.is_file()) == (0, "", True)
    assert done.out.splitlines()[:2] == [str(path), f"of {TEXT}"]
    assert "0.62" in done.out or "0.63" in done.out
    assert "0.62" not in run("look", TEXT, "--svg", str(path)).out


def test_two_texts_or_models_are_compared_in_the_page(run, asked, served, monkeypatch):
    opened = []
    monkeypatch.setattr("regard.cli.commands.look._has_browser", lambda: True)
    monkeypatch.setattr(
        "regard.cli.look_page._open_when_it_answers", lambda *a: opened.append(a[0])
    )
    run("look", "one", "two")
    run("look", "-m", "runs/a", "-m", "runs/b", "one")
    wished = [parse_qs(urlsplit(address).fragment) for address in opened]
    assert wished == [
        {"text": ["one"], "panel": ["compare"], "compare-text": ["two"]},
        {"text": ["one"], "panel": ["compare"], "compare-model": ["b"]},
    ]


def test_several_models_and_texts_are_in_one_address(run, asked, served, monkeypatch):
    opened = []
    monkeypatch.setattr("regard.cli.commands.look._has_browser", lambda: True)
    monkeypatch.setattr(
        "regard.cli.look_page._open_when_it_answers", lambda *a: opened.append(a[0])
    )
    run("look", "-m", "runs/a", "-m", "runs/b", "one", "two")
    run("look", "-m", "runs/a", "-m", "runs/b")  # what is typed is asked of both
    wished = [parse_qs(urlsplit(address).fragment) for address in opened]
    also = [json.loads(each.pop("also")[0]) for each in wished]
    assert also[0] == [{"model": "b"}, {"text": "two"}, {"text": "two", "model": "b"}]
    assert also[1] == [{"model": "b"}]
    assert wished == [
        {"text": ["one"], "panel": ["compare"], "model": ["a"]},
        {"panel": ["compare"], "model": ["a"]},
    ]


def test_what_was_measured_is_shown_as_a_file_in_the_browser(run, asked, served, monkeypatch):
    shown = []
    monkeypatch.setattr("regard.cli.commands.look._has_browser", lambda: True)
    monkeypatch.setattr("webbrowser.open", lambda address: shown.append(address) or True)
    assert run("look", "one", "--explain").status == 0
    assert shown[0].startswith("file://")
    assert served == []


@pytest.mark.parametrize(
    ("display", "platform", "expected"),
    [("", "linux", False), (":0", "linux", True), ("", "darwin", True)],
)
def test_whether_there_is_a_browser(monkeypatch, display, platform, expected):
    from regard.cli.commands.look import _has_browser

    for name in ("WAYLAND_DISPLAY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("webbrowser.get", lambda: object())
    assert _has_browser() is expected


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        ("a cat", "a cat"),
        ("a cat\tit sat", ("a cat", "it sat")),
        ('{"text": "a cat", "image": "cat.png"}', {"text": "a cat", "image": "cat.png"}),
        ('{"first": "a", "second": "b"}', {"first": "a", "second": "b"}),
        ("{a cat}", "{a cat}"),
    ],
)
def test_what_a_model_of_somebody_else_is_given(typed, given):
    assert _typed_input(typed) == given


def test_saved_records_and_texts_are_not_mixed(run, asked, tmp_path):
    path = tmp_path / "saved.json"
    run("look", TEXT, "--json", str(path))
    done = run("look", str(path), TEXT)
    assert (done.status, "give them alone" in done.err) == (2, True)
