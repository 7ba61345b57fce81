"""`regard.look` takes anything that attends, and shows it in every way there is."""

from __future__ import annotations

import json
import webbrowser
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import torch
from small_runs import small_run

import regard
from regard.looking.look import look
from regard.looking.run_looker import look_at
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.serve.live_look import look as live_look

WEIGHTS = [[0.25, 0.75], [1.0, 0.0]]


@pytest.mark.parametrize(
    "weights", [WEIGHTS, np.array(WEIGHTS), torch.tensor(WEIGHTS, requires_grad=True)]
)
def test_weights_and_labels(weights):
    (record,) = look(weights, ["a", "b"], ["x", "y"], title="t", mechanism="m").records
    np.testing.assert_array_equal(record.map().weights[0, 0], WEIGHTS)
    assert (record.title, record.map().mechanism) == ("t", "m")
    assert record.sides["keys"].tokens == ("x", "y")


def test_weights_may_be_sparse_and_must_have_numbers():
    (record,) = look(torch.eye(2).to_sparse()).records
    assert record.map().weights[0, 0].tolist() == [[1, 0], [0, 1]]
    with pytest.raises(NotARecord, match="meta"):
        look(torch.eye(2, device="meta"))
    with pytest.raises(NotARecord, match="rows of equally many numbers"):
        look([[10**400]])
    with pytest.raises(ValueError, match="title is a text"):
        look(WEIGHTS, title=5)


def test_weights_that_are_none_lie_dark_over_a_picture():
    picture = np.full((4, 4, 3), 200, np.uint8)
    weights = np.array([[0.5, np.nan, 0.25, 0.25], [np.nan] * 4])
    view = look(weights, ["a", "b"], image=picture, grid=(2, 2))
    cells = [
        e.get("fill-opacity") for e in ET.fromstring(view.to_svg()).iter() if e.get("fill-opacity")
    ]
    assert cells
    assert view.to_gif()
    assert view.to_png()


def test_weights_alone_are_numbered():
    assert look(WEIGHTS).records[0].sides["queries"].tokens == ("1", "2")


@pytest.mark.parametrize(
    ("task", "text", "maps"),
    [
        ("translate", "a b c", ["cross", "encoder", "decoder"]),
        ("classify", "a b c", ["pooling", "encoder"]),
        ("language", "a b c", ["decoder"]),
        ("masked", "a <mask> c", ["encoder"]),
    ],
)
def test_a_run_of_any_task_and_a_text(task, text, maps, tmp_path):
    run = small_run(task, tmp_path)
    view = look(run, text)
    (record,) = view.records
    assert [each.name for each in record.maps] == maps
    assert record.model == task  # the name of its folder
    assert view.live.look({"text": text}).to_json() == record.to_json()
    assert look_at(run, Question(text)).to_json() == record.to_json()


def test_several_runs_or_texts_are_compared(tmp_path):
    run = small_run("translate", tmp_path)
    assert [r.title for r in look(run, "a b", "c").records] == ["a b", "c"]
    assert len(look(run, run, "a b", "c").records) == 4
    assert len(look(look(WEIGHTS), look(WEIGHTS).records[0]).records) == 2


def test_a_what_if_is_asked_by_objects_or_by_plain_values(tmp_path):
    run = small_run("translate", tmp_path)
    force, off = {"step": 1, "keys": [2]}, {"layer": 1, "head": 1}
    (plain,) = look(run, "a b c", prefix="a", force=force, off=[off]).records
    objects = {"force": regard.Force(1, (2,)), "off": regard.HeadOff(1, 1)}
    (record,) = look(run, "a b c", prefix="a", **objects).records
    assert record.to_json() == plain.to_json()
    assert record.question["force"]["keys"] == [2]
    assert len(record.changes) == 3  # the beginning, the row, the head
    (alone,) = look(run, "a b c", off=off).records
    assert alone.changes == record.changes[1:2]
    for wrong in ({"force": 3}, {"off": 3}, {"off": "layer"}, {"force": {"step": 1, "key": [2]}}):
        with pytest.raises(BadQuestion):
            look(run, "a b c", **wrong)


def test_measures_say_how_far_they_are(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(
        "regard.time_left.TimeLeft.see", lambda _, done, all_: told.append(done / all_)
    )
    look(small_run("translate", tmp_path), "a b c", explain=True)
    assert len(told) > 3
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1, abs=0.2)


def test_a_prediction_has_its_own_attention_and_its_alternatives(tmp_path):
    translator = small_run("translate", tmp_path)
    (found,) = translator.translate(["a b c"], beam=3, nbest=3, attention=True, max_length=6)
    (record,) = look(found).records
    np.testing.assert_allclose(record.map("cross").weights[0, 0], found.attention, atol=1e-6)
    assert (record.title, record.output) == ("a b c", found.text)
    ended = [node for node in record.beam.nodes if node.fate == "ended"]
    assert [node.score for node in ended] == [p.score for p in (found, *found.alternatives)]
    assert [node.total for node in ended] == pytest.approx(
        [p.log_prob for p in (found, *found.alternatives)]
    )
    assert record.beam.weights.shape == (len(record.beam.nodes), len(record.sides["source"]))
    (plain,) = translator.translate(["a b c"])
    with pytest.raises(NotARecord, match=r"translate\(\[…\], attention=True\)"):
        look(plain)


def test_a_classification_has_the_weights_of_its_pooling(tmp_path):
    run = small_run("classify", tmp_path)
    (found,) = run.classify(["a b c"], attention=True)
    (record,) = look(found).records
    np.testing.assert_allclose(record.map("pooling").weights[0, 0, 0], found.attention, atol=1e-6)
    assert record.output.startswith(found.label)
    with pytest.raises(NotARecord, match="holds no attention"):
        look(run.classify(["a b c"])[0])


def test_what_a_page_asks_names_a_run_and_is_checked(tmp_path):
    answer = look(small_run("translate", tmp_path), "a b").live.look
    assert answer({"text": "c", "model": "translate", "beam": 2}).title == "c"
    with pytest.raises(NotARecord, match=r"no model 'translat'\. Did you mean 'translate'"):
        answer({"text": "c", "model": "translat"})
    with pytest.raises(BadQuestion, match="has no 'bem'"):
        answer({"text": "c", "bem": 2})


@pytest.mark.parametrize(
    ("what", "options", "said"),
    [
        ((), {}, "nothing to look at"),
        ((7,), {}, "a int cannot be looked at"),
        (("text",), {}, r"a text alone shows nothing.*regard.load\(\)"),
        ((WEIGHTS,), {"titel": "x"}, "no option 'titel' here. Did you mean 'title'"),
        (([[1, 2], [3]],), {}, "rows of equally many numbers"),
        ((WEIGHTS, ["a"]), {}, "2 queries, but its side 'queries' has 1"),
        ((WEIGHTS,), {"layer": 2}, "no layer 2: there is only layer 1"),
        ((WEIGHTS,), {"map": "cross"}, "no map 'cross'"),
        ((torch.nn.Linear(1, 1),), {}, r"regard.look\(model, tokenizer, 'text'\)"),
    ],
)
def test_what_cannot_be_looked_at_is_told(what, options, said):
    with pytest.raises(NotARecord, match=said):
        look(*what, **options)


def test_a_run_needs_a_text(tmp_path):
    run = small_run("translate", tmp_path)
    with pytest.raises(NotARecord, match="needs a text"):
        look(run)
    with pytest.raises(ValueError, match="the example: 7 is no text, as 'source' must be"):
        look(run, 7)
    with pytest.raises(NotARecord, match="asked about a text, not about set"):
        look(run, {"a"})


def test_a_view_is_saved_by_the_end_of_the_name(tmp_path):
    view = look(WEIGHTS, "ab", "xy", title="\ud800 half")
    for suffix in ("html", "svg", "png", "pdf", "json", "npz"):
        assert view.save(tmp_path / f"view.{suffix}").stat().st_size > 500
    assert (tmp_path / "view.html").read_text("utf-8").startswith("<!doctype html>")
    assert ET.parse(tmp_path / "view.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "view.png").read_bytes().startswith(b"\x89PNG")
    again = look(tmp_path / "view.json")
    assert again.to_json() == view.to_json()
    assert (tmp_path / "view.pdf").read_bytes().startswith(b"%PDF")
    assert view.save(tmp_path / "view.csv").read_text("utf-8").count("\n") >= 2
    with pytest.raises(NotARecord, match=r"ends in \.html, \.svg, .*\.pdf, \.json, \.csv, \.npz"):
        view.save(tmp_path / "view.docx")


def test_several_records_are_saved_as_a_list(tmp_path):
    view = look(look(WEIGHTS, "ab"), look(WEIGHTS, "cd"))
    path = view.save(tmp_path / "two.json")
    assert len(json.loads(path.read_text("utf-8"))) == 2
    assert look(str(path)).to_json() == view.to_json()
    path.write_text("[7]")
    with pytest.raises(NotARecord, match="a JSON object, or a list of them"):
        look(path)


def test_options_reach_the_picture(tmp_path):
    view = look(WEIGHTS, "ab", "xy")
    assert view.to_svg(theme="dark") != view.to_svg()
    assert view.save(tmp_path / "l.svg", style="lines").read_text() == view.to_svg(style="lines")


def test_what_is_shown_first_is_what_was_picked():
    stacked = np.stack([[WEIGHTS, WEIGHTS[::-1]]] * 3)
    view = look(stacked, "ab", "xy", layer=2, head=1)
    assert '"layer":1,"head":0,"units":"words"' in view.to_html()
    assert "layer 2 · head 1" in view.to_text()
    assert "layer 2 · max over 2 heads" in view.picking(head="max").to_svg()


def test_text_has_a_limit():
    many = look(np.full((200, 2), 0.5)).to_text()
    assert many.endswith("… 140 more queries")


@pytest.mark.parametrize(("opened", "said"), [(True, ""), (False, "no browser could be opened")])
def test_show_opens_a_file_or_says_where_it_is(monkeypatch, capsys, opened, said):
    asked = []
    monkeypatch.setattr(webbrowser, "open", lambda address: asked.append(address) or opened)
    path = look(WEIGHTS).show()
    assert asked == [path.as_uri()]
    assert path.read_text("utf-8").startswith("<!doctype html>")
    printed = capsys.readouterr().out
    assert str(path) in printed
    assert said in printed
    path.unlink()


def test_the_names_are_at_the_door():
    assert regard.look is live_look
    assert regard.AttentionRecord is AttentionRecord
    assert {"look", "AttentionRecord"} <= set(dir(regard))
