"""The widget holds the records and answers what the page asks, without a notebook around it."""

from __future__ import annotations

import sys

import pytest

from regard.records.record import AttentionRecord
from regard.view import widget as room
from regard.view.attention_view import View
from regard.view.bundle import module, stylesheet

RECORD = AttentionRecord.of([[0.25, 0.75]], ["a"], ["x", "y"], title="a title")


@pytest.fixture
def made():
    pytest.importorskip("anywidget")

    def answer(payload):
        if payload["text"] == "":
            raise ValueError("there is nothing to translate")
        return AttentionRecord.of([[1.0]], [payload["text"]], ["z"])

    return room.widget([RECORD], state={"layer": 1}, live=room.Live(("a",), answer))


def test_it_holds_what_the_page_needs(made):
    assert made.records == [RECORD.to_dict()]
    assert (made.state, made.abilities, made.models) == ({"layer": 1}, ["ask"], ["a"])
    assert (made._esm, made._css) == (module(), stylesheet())
    assert {"records", "state", "abilities", "models"} <= set(made.keys)  # sent to the page


def asked(made, monkeypatch, message):
    """What goes back to the page when it sends this."""
    sent = []
    monkeypatch.setattr(
        type(made), "send", lambda self, content, buffers=None: sent.append(content)
    )
    made._handle_custom_msg(message, [])
    return sent


def test_a_question_is_answered_with_its_number(made, monkeypatch):
    (sent,) = asked(made, monkeypatch, {"id": 7, "kind": "look", "payload": {"text": "我"}})
    assert sent["id"] == 7
    assert AttentionRecord.from_dict(sent["answer"]).sides["queries"].tokens == ("我",)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"id": 1, "kind": "look", "payload": {"text": ""}}, "nothing to translate"),
        ({"id": 1, "kind": "erase", "payload": {}}, "nothing answers 'erase'"),
        ({"id": 1, "kind": "look"}, "text"),
    ],
)
def test_a_mistake_reaches_the_page(made, monkeypatch, message, said):
    (sent,) = asked(made, monkeypatch, message)
    assert sent["id"] == 1
    assert said in sent["error"]


def test_what_is_no_question_is_not_answered(made, monkeypatch):
    assert asked(made, monkeypatch, {"event": "ready"}) == []


def test_without_a_model_nothing_can_be_asked():
    pytest.importorskip("anywidget")
    still = room.widget([RECORD])
    assert still.abilities == []
    assert "needs a running model" in room.reply({"id": 1, "kind": "look"}, None)["error"]


def test_a_view_shows_a_widget_and_a_picture_for_those_who_cannot():
    pytest.importorskip("anywidget")
    bundle = View((RECORD,))._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "0.75" in bundle["text/plain"]


def test_without_anywidget_the_page_is_in_a_frame(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *_: None)
    bundle = View((RECORD,))._repr_mimebundle_()
    assert 'sandbox="allow-scripts allow-downloads"' in bundle["text/html"]
    assert "<script" not in bundle["text/html"]  # it is escaped, inside srcdoc
    assert bundle["image/svg+xml"].startswith("<svg")
    monkeypatch.setitem(sys.modules, "anywidget", None)
    room._widget_class.cache_clear()
    with pytest.raises(ImportError, match=r'pip install "regard\[notebook\]"'):
        View((RECORD,)).widget()
