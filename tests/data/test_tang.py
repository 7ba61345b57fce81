"""The embedded verses of the Tang are as their READMEs say, and nothing held out is in training."""

from __future__ import annotations

import pytest

from regard.data.byte_lines import byte_lines
from regard.data.spec import EMBEDDED_FOLDER
from regard.measures.verse_form import verse_lines

PARTS = ("train", "dev", "test")


def rows(kind: str, part: str) -> list[list[str]]:
    file = EMBEDDED_FOLDER / f"tang-{kind}" / f"tang-{kind}.{part}.tsv.xz"
    return [line.decode().split("\t") for line in byte_lines(file)]


@pytest.mark.parametrize(("kind", "lines"), [("couplets", 1), ("quatrains", 4)])
def test_counts_form_and_licence_are_as_the_readme_says(kind, lines):
    folder = EMBEDDED_FOLDER / f"tang-{kind}"
    readme = (folder / "README.md").read_text("utf-8")
    assert "MIT License" in (folder / "LICENSE.txt").read_text("utf-8")
    for part in PARTS:
        found = rows(kind, part)
        verses = [verse_lines(row[1]) for row in found]
        five = sum(len(verse[0]) == 5 for verse in verses)
        assert f"| {part} | {len(found):,} | {five:,} |" in readme
        assert all(len(verse) == lines for verse in verses)
        assert all({len(line) for line in verse} in ({5}, {7}) for verse in verses)
        if kind == "couplets":
            assert all(len(first) == len(second) for first, second in found)


@pytest.mark.parametrize("kind", ["couplets", "quatrains"])
def test_no_verse_is_in_two_parts(kind):
    """But for the few that two poems have in common."""
    train, dev, test = ({row[1] for row in rows(kind, part)} for part in PARTS)
    for held in (dev, test):
        assert len(train & held) <= 0.005 * len(held)
