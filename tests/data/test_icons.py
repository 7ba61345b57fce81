"""The embedded icons and emoji: as many pictures as names, and no family in two parts."""

from __future__ import annotations

import pytest

from regard.data.corpora.build_icons import FRAMES, PEOPLE
from regard.data.rows import read_rows
from regard.data.spec import parse

COUNTS = {
    "icons": {"train": 6428, "dev": 368, "test": 392},
    "emoji": {"train": 1325, "dev": 157, "test": 154},
}


def family(corpus: str, name: str) -> str:
    if corpus == "emoji":
        return " ".join(PEOPLE.sub("", name.lower()).split()) or name
    return " ".join(word for word in name.split() if word not in FRAMES) or name


@pytest.mark.parametrize("corpus", COUNTS)
def test_parts_have_pictures_of_one_size_and_share_no_family(corpus: str) -> None:
    families: dict[str, set[str]] = {}
    for part, count in COUNTS[corpus].items():
        fields = ["image", "caption"]
        (found,) = parse(f"{corpus}:{part}", fields)
        rows = [cells for _, cells in read_rows(found, fields)]
        assert len(rows) == count
        assert {picture.shape for picture, _ in rows} == {
            (48, 48) if corpus == "icons" else (32, 32, 3)
        }
        assert all(name.strip() for _, name in rows)
        plain = [name for picture, name in rows if not picture.std()]
        assert plain in ([], ["solid"])
        families[part] = {family(corpus, name) for _, name in rows}
    assert not families["train"] & (families["dev"] | families["test"])
    assert not families["dev"] & families["test"]


def test_emoji_have_chinese_names_too() -> None:
    fields = ["image", "caption"]
    english, chinese = (
        [cells[1] for _, cells in read_rows(parse(spec, fields)[0], fields)]
        for spec in ("emoji:test", "emoji:test#image,caption_zh")
    )
    assert len(english) == len(chinese)
    assert chinese[english.index("camel")] == "骆驼"
