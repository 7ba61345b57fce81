"""What a page is given to speak another language than English."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from regard import words
from regard.records.record import AttentionRecord
from regard.view.captions import caption, kind_of
from regard.view.html import page_html
from regard.view.page_language import page_language
from regard.view.picked_matrix import Pick, picked
from regard.view.sheets.tab_sheets import Focus, tab_sheet
from regard.view.stills.still_picture import draw

SAID = {
    "Export": "导出",
    "cross-attention": "交叉注意力",
    "mean over {n} heads": "{n} 个头的平均",
    "The recipe, complete": "完整的配方",  # of the report, not of the page
}
RECORD = AttentionRecord.of([[0.5, 0.5], [0.25, 0.75]], ["I", "am"], ["我", "是"])


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_LANGUAGE", "zh")
    monkeypatch.setattr(words, "translations", lambda language: SAID if language == "zh" else {})


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'id="regard-data">(.*?)</script>', page)
    assert found
    return json.loads(found[1])


def test_a_page_can_be_switched_and_follows_the_browser_where_nothing_is_asked_for() -> None:
    assert set(page_language()) == {"languages"}
    assert set(page_language()["languages"]) == {"zh"}
    page = page_html([RECORD])
    assert '<html lang="en">' in page
    assert set(data_of(page)) == {"records", "state", "languages"}


@pytest.mark.parametrize("asked", ["en", "zh"])
def test_what_is_asked_for_is_told_to_the_page(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_LANGUAGE", asked)
    assert page_language()["lang"] == asked
    with words.speaking("zh"):
        assert page_language()["lang"] == "zh"
    monkeypatch.setenv("REGARD_LANGUAGE", "xx")
    assert "lang" not in page_language()


def test_a_page_is_given_what_it_says_and_no_more(chinese: None) -> None:
    spoken = page_language()
    assert spoken["lang"] == "zh"
    assert set(spoken["languages"]["zh"]) == set(SAID) - {"The recipe, complete"}
    page = page_html([RECORD])
    assert '<html lang="zh">' in page
    assert data_of(page)["languages"] == spoken["languages"]


def test_still_pictures_say_the_same_words(chinese: None) -> None:
    assert kind_of("cross") == "交叉注意力"
    assert kind_of("pooling") == "pooling attention"
    assert caption("mean", "head", n=4) == "4 个头的平均"


def test_what_a_matrix_is_called() -> None:
    weights = np.full((1, 2, 2, 2), 0.5, np.float32)
    record = AttentionRecord.of(weights, ["I", "am"], ["我", "是"])
    assert picked(record, Pick(layer=1, head="max")).aggregation == "attention · max over 2 heads"


def test_layers_and_sides_are_called_so_in_pictures_too() -> None:
    record = AttentionRecord.of(np.full((2, 1, 1, 1), 1.0, np.float32), ["I"], ["我"], name="cross")
    made = replace(record.maps[0], layers=("encoder 1", "cross 2"), queries="target", keys="source")
    sides = [
        replace(each, title=name)
        for name, each in zip(("target", "source"), record.sides.values(), strict=True)
    ]
    asked = replace(record, maps=(made,), sides={"target": sides[0], "source": sides[1]})
    with words.speaking("zh"):
        assert picked(asked, Pick(layer=2)).aggregation == "交叉注意力 · 交叉 2"
        assert ">行：目标 · 列：源<" in draw([asked])
        drawn = tab_sheet([asked], Pick(), "table", Focus())
    assert drawn.sections[1][0].columns[:2] == ["目标", "源"]
