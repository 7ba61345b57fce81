"""The embedded captions are as their README says; Debian's packages are split by families."""

from __future__ import annotations

import random
from itertools import islice

from regard.data.byte_lines import byte_lines
from regard.data.corpora.build_debian_summaries import Package, families, split
from regard.data.corpora.build_scene_captions import (
    NAME,
    PARTS,
    SIZES,
    captions,
    long_caption,
    scene,
    short_caption,
)
from regard.data.spec import EMBEDDED_FOLDER

FOLDER = EMBEDDED_FOLDER / NAME


def rows(part: str) -> list[tuple[str, ...]]:
    lines = byte_lines(FOLDER / f"{NAME}.{part}.tsv.xz")
    return [tuple(line.decode().split("\t")) for line in lines]


def test_counts_are_as_the_readme_says() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    for part, count in PARTS.items():
        assert len(rows(part)) == count
        assert f"| {part} | {count:,} |" in readme


def test_it_is_made_again_to_the_letter() -> None:
    assert rows("dev") == list(islice(captions("dev"), PARTS["dev"]))


def test_nothing_held_out_is_in_training() -> None:
    train, held = set(rows("train")), {*rows("dev"), *rows("test")}
    assert not train & held


def test_the_short_caption_tells_of_the_largest() -> None:
    draw = random.Random(1)
    for _ in range(50):
        digits = scene(draw)
        told, short = long_caption(digits, draw), short_caption(digits)
        most = max(digits, key=lambda one: SIZES.index(one.size))
        assert f"{most.colour} {most.digit} by {most.painter}" in short
        assert all(one.painter in told and one.size in told for one in digits)


def test_families_of_packages_stay_together() -> None:
    words = "a long text about many things that nobody needs to know"
    packages = [
        Package("foo", f"Foo is {words}", "a tool"),
        Package("libfoo-dev", f"Bar is {words}", "files to build with"),
        Package("python3-foo", f"Bar is {words}", "something else"),
        Package("python3-bar", f"Baz is {words}", "a third one"),
        Package("yak", f"Yak is {words}", "A tool (data)"),
    ]
    one, two, three, other, five = families(packages)
    assert one == two == three == five
    assert other != one
    parts = split(packages * 40)
    assert sum(map(len, parts.values())) >= 2
    assert all(len(parts[name]) <= 2 for name in ("dev", "test")), "one of each family"
