"""What is held out of a corpus: a fiftieth, and of a small one a tenth."""

import random

import numpy as np
import pytest
from PIL import Image as Pillow

from regard.data import examples
from regard.data.examples import read_examples
from regard.data.fields import Image, Label, Numbers, Text
from regard.data.parts import PARTS, home_of_line, homes
from regard.data.problems import Problems

PICTURE = [Image("image"), Label("label")]


def write_pictures(folder, count):
    """A list of files, one picture in each, and the same in an array with labels beside it."""
    draw = np.random.default_rng(1)
    pixels = draw.integers(0, 256, (count, 6, 6), dtype=np.uint8)
    for number, one in enumerate(pixels):
        Pillow.fromarray(one).save(folder / f"{number}.png")
    lines = [f"{number}.png\t{number % 4}\n" for number in range(count)]
    (folder / "list.tsv").write_text("".join(lines))
    (folder / "list.csv").write_text("image,label\n" + "".join(lines).replace("\t", ","))
    rows = (line.split() for line in lines)
    (folder / "list.jsonl").write_text(
        "".join(f'{{"image": "{name}", "label": "{label}"}}\n' for name, label in rows)
    )
    np.save(folder / "pictures.npy", pixels)
    (folder / "labels.txt").write_text("".join(f"{number % 4}\n" for number in range(count)))


@pytest.mark.parametrize("spec", ["list.tsv", "list.csv", "list.jsonl", "pictures.npy,labels.txt"])
def test_of_two_hundred_pictures_twenty_are_held_out_for_each(tmp_path, monkeypatch, spec):
    monkeypatch.chdir(tmp_path)
    write_pictures(tmp_path, 200)
    lines = {part: [e.line for e in read_examples(f"{spec}@{part}", PICTURE)] for part in PARTS}
    assert {part: len(found) for part, found in lines.items()} == {
        "train": 160,
        "dev": 20,
        "test": 20,
    }
    assert len({line for found in lines.values() for line in found}) == 200


def test_the_same_is_held_out_in_any_order_and_equal_ones_together():
    names = [f"a{n % 90}" for n in range(180)]
    found = homes(names)
    assert homes(random.Random(1).sample(names, len(names))) == found
    counts = {part: sum(found[name] == part for name in names) for part in PARTS}
    assert counts == {"train": 144, "dev": 18, "test": 18}


@pytest.mark.parametrize(
    ("count", "parts"),
    [(1, {"train"}), (2, {"train", "dev"}), (3, {"train", "dev", "test"}), (0, set())],
)
def test_of_next_to_nothing_something_is_left_to_learn_from(count, parts):
    assert {*homes([str(n) for n in range(count)]).values()} == parts


@pytest.mark.parametrize(("rows", "share"), [(10, 10), (55, 10), (200, 10), (999, 10), (5000, 50)])
def test_a_running_text_has_both_parts(rows, share):
    parts = [home_of_line(line, rows) for line in range(1, rows + 1)]
    for part in ("dev", "test"):
        assert 0.5 * rows / share <= parts.count(part) <= 1.5 * rows / share


def test_lines_of_a_short_text_are_each_in_one_part(tmp_path):
    file = tmp_path / "book.txt"
    file.write_text("".join(f"line {n}\n" for n in range(60)))
    lines = {p: [e.line for e in read_examples(f"{file}@{p}", [Text("text")])] for p in PARTS}
    assert sorted(line for found in lines.values() for line in found) == list(range(1, 61))
    assert (len(lines["dev"]), len(lines["test"])) == (6, 6)


def test_what_is_held_out_is_found_once_until_the_file_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, texts = tmp_path / "lines.tsv", [Text("text")]
    path.write_text("".join(f"line {n}\n" for n in range(40)) + "\n")
    read, of_file = [], examples.read_rows
    monkeypatch.setattr(examples, "read_rows", lambda *given: read.append(1) or of_file(*given))

    def held(fields=texts, part="dev"):
        problems = Problems()
        found = [e["text"] for e in read_examples(f"lines.tsv#0@{part}", fields, problems)]
        return found, problems.count()

    first = held()
    assert len(first[0]) == 4
    assert first[1] == 1
    times = len(read)
    assert held() == first, "its problems are told again"
    assert len(read) == times
    assert held(part="test")[0] != first[0]
    assert held([Text("text", kind="split")])[0] == [t.split() for t in first[0]]
    assert len(read) > times
    path.write_text("".join(f"another {n}\n" for n in range(40)))
    assert set(held()[0]).isdisjoint(first[0])


TOLD = {
    "ten labels, each with its name": [(str(n % 10), f"name {n % 10}") for n in range(400)],
    "six labels, a hundred texts each": [(f"l{n % 6}", f"text {n}") for n in range(600)],
    "six labels, many rows": [(f"l{n % 6}", f"text {n}") for n in range(1800)],
    "a label with one row": [("rare", "only this"), *((f"l{n % 2}", f"t {n}") for n in range(60))],
    "equal rows": [(f"l{n % 3}", f"text {n % 60}") for n in range(300)],
}


@pytest.mark.parametrize("name", TOLD)
def test_of_what_is_told_of_labels_rows_are_held_out_and_their_labels_are_known(tmp_path, name):
    file = tmp_path / "told.tsv"
    file.write_text("".join(f"{label}\t{text}\n" for label, text in TOLD[name]))
    fields = [Label("label"), Text("caption")]
    found = {part: [*read_examples(f"{file}@{part}", fields)] for part in PARTS}
    lines = sorted(e.line for some in found.values() for e in some)
    assert lines == list(range(1, len(TOLD[name]) + 1))
    known = {e["label"] for e in found["train"]}
    share = 50 if len(lines) >= 1000 else 10
    for part in ("dev", "test"):
        assert {e["label"] for e in found[part]} <= known
        assert 0.3 * len(lines) / share <= len(found[part]) <= 2 * len(lines) / share
    if "name" not in name:  # otherwise there are no other rows to hold out
        learnt = {(e["label"], e["caption"]) for e in found["train"]}
        assert not learnt & {(e["label"], e["caption"]) for e in (*found["dev"], *found["test"])}


@pytest.mark.parametrize(("sources", "apart"), [(6, False), (200, True)])
def test_vectors_that_come_again_and_again_are_like_labels(tmp_path, sources, apart):
    draw = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", draw.normal(size=(sources, 3))[np.arange(400) % sources])
    (tmp_path / "names.txt").write_text("".join(f"text {n}\n" for n in range(400)))
    fields = [Numbers("vector"), Text("caption")]
    spec = f"{tmp_path}/x.npy,{tmp_path}/names.txt"
    seen = {
        part: {e["vector"].tobytes() for e in read_examples(f"{spec}@{part}", fields)}
        for part in PARTS
    }
    assert (seen["train"].isdisjoint(seen["dev"])) == apart
    if not apart:
        assert seen["dev"] | seen["test"] <= seen["train"]
        assert len(seen["dev"]) > 1
