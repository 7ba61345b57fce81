"""Histories of events: what their labels depend on, in whichever order."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pytest

from regard.data.histories.event_histories import HistorySettings, event_histories, event_name
from regard.data.problems import CorpusError
from regard.data.rows import read_rows
from regard.data.spec import parse

PAIR = ["text", "label"]


def histories(count=2000, **settings):
    rows = event_histories(HistorySettings(count, **settings))
    return [(row.text.split(), row.label) for row in rows]


def number(events, kind):
    """i of the only event a_i, or b_i."""
    (event,) = [each for each in events if each.startswith(kind)]
    return [event_name(kind, n) for n in range(100)].index(event)


def test_two_events_tell_the_label_and_none_does_alone():
    seen = defaultdict(Counter)
    for events, label in histories():
        i, j = number(events, "a"), number(events, "b")
        assert label == f"kind{(i + j) % 6 + 1}"
        assert 5 <= len(events) <= 15
        for event in set(events):
            seen[event][label] += 1
    for event, labels in seen.items():
        assert len(labels) == 6, event
        assert max(labels.values()) < 0.35 * labels.total(), event


def test_both_orders_have_the_same_events():
    mixed, ordered = histories(50), histories(50, order="sorted")
    assert [(sorted(events), label) for events, label in mixed] == ordered
    assert mixed != ordered


def test_where_order_matters_the_label_tells_which_came_first():
    flipped = 0
    for events, label in histories(300, ordered=True):
        i, j = number(events, "a"), number(events, "b")
        later = events.index(event_name("b", j)) < events.index(event_name("a", i))
        assert label == f"kind{(i + j + later) % 6 + 1}"
        flipped += later
    assert 100 < flipped < 200


def test_embedded_histories_are_read_and_their_parts_differ():
    parts = {}
    for part in ("train", "dev", "test"):
        (corpus,) = parse(f"event-histories:{part}", PAIR)
        parts[part] = [tuple(cells) for _, cells in read_rows(corpus, PAIR)]
    assert {part: len(rows) for part, rows in parts.items()} == {
        "train": 3000,
        "dev": 400,
        "test": 1000,
    }
    assert not set(parts["train"]) & set(parts["test"])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([1], "is no \\.histories file"),
        ({"count": 3, "kind": 1}, "Did you mean 'kinds'"),
        ({"count": 3, "least": 1}, "two events or more"),
        ({"count": 3, "order": "any"}, "random or sorted"),
    ],
)
def test_settings_that_are_none_are_refused(said, told, tmp_path):
    path = tmp_path / "mine.histories"
    path.write_text(json.dumps(said))
    (corpus,) = parse(str(path), PAIR)
    with pytest.raises(CorpusError, match=told):
        list(read_rows(corpus, PAIR))
