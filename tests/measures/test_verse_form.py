"""How many verses keep their form."""

from __future__ import annotations

import pytest

from regard.measures.verse_form import VerseForm, verse_lines

POEM = "白日依山尽，黄河入海流。欲穷千里目，更上一层楼。"


@pytest.mark.parametrize(
    ("wanted", "answer", "kept"),
    [
        (POEM, POEM, 1.0),
        (POEM, "朝辞白帝彩云间，千里江陵一日还。两岸猿声啼不住，轻舟已过万重山。", 1.0),
        (POEM, "白日依山尽，黄河入海流。欲穷千里目。", 0.0),  # a line short
        (POEM, "白日依山尽，黄河入海流。欲穷千里目，更上层楼。", 0.0),  # a character short
        (POEM, "白日山，黄河海。千里目，一层楼。", 0.0),  # lines of three
        (POEM, "", 0.0),
        (POEM, None, 0.0),
        ("黄河入海流", "青山入云中", 1.0),
        ("黄河入海流", "青山处处入云中", 0.0),  # a line of verse, but no answer to one of five
        ("黄河入海流", "青山入云", 0.0),
    ],
)
def test_as_many_lines_of_one_length(wanted, answer, kept):
    assert VerseForm().score(wanted, answer) == kept


def test_the_share_of_all():
    assert VerseForm().of([POEM, POEM], [POEM, "白日"]) == 0.5
    assert verse_lines(POEM) == ["白日依山尽", "黄河入海流", "欲穷千里目", "更上一层楼"]
