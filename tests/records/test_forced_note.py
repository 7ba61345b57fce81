"""What was forced is told in words, in the language of whoever asks."""

from __future__ import annotations

import pytest

from regard.records.forced_note import forced_note
from regard.records.question import Force
from regard.records.side import Side
from regard.words import speaking, t

TARGET = Side.of_labels(["to", "the", "library"])
SOURCE = Side.of_labels(["去", "图", "书", "馆"])


@pytest.mark.parametrize(
    ("force", "english", "chinese"),
    [
        (
            Force(step=2, keys=(1, 2)),
            "forced: token 2 (library) attends to 图, 书 in every cross-attention",
            "强制：词元 2（library）注意 图、书，位置：每个交叉注意力",
        ),
        (
            Force(step=0, keys=(0, 3), weights=(1.0, 3.0), layer=2, head=1),
            "forced: token 0 (to) attends 0.25 to 去, 0.75 to 馆 in layer 2, head 1",
            "强制：词元 0（to）按份额注意 去（0.25）、馆（0.75），位置：层 2，头 1",
        ),
        (
            Force(step=3, keys=(0,)),
            "nothing was forced: the output ends before token 3",
            "没有强制任何东西：输出在词元 3 之前就结束了",
        ),
    ],
)
def test_what_was_forced_is_told_in_both_languages(force, english, chinese):
    assert forced_note(force, TARGET, SOURCE, "every cross-attention") == (english,)
    with speaking("zh"):
        assert forced_note(force, TARGET, SOURCE, t("every cross-attention")) == (chinese,)


def test_without_a_force_there_is_no_note():
    assert forced_note(None, TARGET, SOURCE) == ()
