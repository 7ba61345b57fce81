"""What-ifs in words: what somebody types is where the model looks, or what is off."""

from __future__ import annotations

import numpy as np
import pytest
from small_runs import small_run

from regard.looking.look import look
from regard.looking.worded_changes import NamedForce, heads_off, places_of
from regard.records.attention_map import AttentionMap
from regard.records.question import BadQuestion, Force, HeadOff, Question
from regard.records.record import AttentionRecord
from regard.records.side import Side

ZH = Side.of("他去图书馆。", "他去图书馆。", [(n, n + 1) for n in range(6)], language="zh")
EN = Side.of(
    "a 12 book-shop",
    ["a", " 12", " book", "-", "shop"],
    [(0, 1), (2, 4), (5, 9), (9, 10), (10, 14)],
)


@pytest.mark.parametrize(
    ("side", "wish", "places"),
    [
        (ZH, "去", (1,)),
        (ZH, "图书馆", (2, 3, 4)),
        (ZH, " 5 ", (5,)),
        (EN, "12", (1,)),  # a token of that text, not the number 12
        (EN, "4", (4,)),
        (EN, "book-shop", (2, 3, 4)),
        (EN, "12 book", (1, 2)),
    ],
)
def test_tokens_are_called_by_text_word_number_or_stretch(side, wish, places):
    assert places_of(wish, side) == places


@pytest.mark.parametrize("wish", ["", " ", "她", "6", "-1", "图馆"])
def test_what_is_not_there_is_told_with_what_is(wish):
    with pytest.raises(BadQuestion, match="他 去 图 书 馆 。"):
        places_of(wish, ZH)


def test_heads_that_are_off():
    assert heads_off("1.2, encoder.3,decoder.1.4") == (
        HeadOff(1, 2),
        HeadOff(3, None, "encoder"),
        HeadOff(1, 4, "decoder"),
    )
    for wrong in ("", "1.2.3", "all", "x.1", "1,", "-1", "1.0x"):
        with pytest.raises(BadQuestion, match="off are written as"):
            heads_off(wrong)


def test_a_force_in_words_is_the_one_in_numbers(tmp_path):
    run, begun = small_run("translate", tmp_path), "b a"  # it writes nothing by itself
    (forced,) = look(run, "a b c", prefix=begun, force="a = c:3, a").records
    asked = forced.question
    assert (asked["force"]["step"], asked["force"]["keys"]) == (1, [2, 0])
    assert asked["force"]["weights"] == [3, 1]
    assert asked["prefix"] == begun  # which is longer than what is written before the step
    numbers = {"step": 1, "keys": [2, 0], "weights": [3, 1]}
    (same,) = look(run, "a b c", prefix=begun, force=numbers).records
    np.testing.assert_array_equal(same.map("cross").weights, forced.map("cross").weights)
    assert (same.output, same.changes) == (forced.output, forced.changes)
    row = forced.map("cross").weights[..., 1, :]
    np.testing.assert_allclose(row, np.broadcast_to([0.25, 0, 0.75, 0], row.shape), atol=1e-6)
    (one_head,) = look(run, "a b c", prefix=begun, force="(end)=b@1.1").records
    assert one_head.question["force"] == {
        "step": 2,
        "keys": [1],
        "layer": 1,
        "head": 1,
        "weights": None,
    }


def test_what_is_written_before_the_step_stays():
    target = Side.of("He reads books", ["He", " reads", " books"], [(0, 2), (3, 8), (9, 14)])
    maps = AttentionMap("cross", "target", "source", np.full((1, 1, 3, 6), 1 / 6, np.float32))
    record = AttentionRecord({"target": target, "source": ZH}, (maps,))
    asked = NamedForce.of("books=图书馆").asked(Question("他去图书馆。"), record)
    assert (asked.prefix, asked.force) == ("He reads", Force(2, (2, 3, 4)))
    asked = NamedForce.of("He=他").asked(Question("他去图书馆。"), record)
    assert (asked.prefix, asked.force) == ("", Force(0, (0,)))


@pytest.mark.parametrize("wrong", ["", "1", "=2", "1=", "1=,2", "1=2,"])
def test_a_force_that_is_none_says_how_one_is_written(wrong):
    with pytest.raises(BadQuestion, match=r"written as step=keys|missing between the commas"):
        NamedForce.of(wrong)


def test_what_has_no_cross_attention_is_told(tmp_path):
    with pytest.raises(BadQuestion, match=r"no cross-attention|has no force"):
        look(small_run("language", tmp_path), "a b c", force="1=2")
    alone = AttentionRecord.of([[1.0]], ["a"], ["b"], model="m")
    with pytest.raises(BadQuestion, match="nothing of m can be forced"):
        NamedForce.of("0=0").asked(None, alone)  # type: ignore[arg-type]
