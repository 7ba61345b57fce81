"""idx and npy: every row once; what the head of a file says is not believed."""

from __future__ import annotations

import gzip
import lzma
import struct
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image as Pillow

from regard.data.examples import read_examples
from regard.data.fields import Image, Label, Numbers, Text
from regard.data.formats import arrays
from regard.data.problems import CorpusError, Problems

IMAGES = np.random.default_rng(0).integers(0, 256, (700, 5, 4), np.uint8)
LABELS = (np.arange(700) % 3).astype(np.uint8)
FIELDS = [Image("image"), Label("label")]


@contextmanager
def memory_below(most: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def idx(array: np.ndarray, kind: int = 8, sizes: tuple[int, ...] | None = None) -> bytes:
    sizes = array.shape if sizes is None else sizes
    return (
        bytes([0, 0, kind, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + array.tobytes()
    )


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REGARD_DATA", raising=False)
    np.save("images.npy", IMAGES)
    np.save("labels.npy", LABELS)
    (tmp_path / "images.npy.xz").write_bytes(lzma.compress((tmp_path / "images.npy").read_bytes()))
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(IMAGES)))
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(IMAGES))
    (tmp_path / "labels.idx1-ubyte").write_bytes(idx(LABELS))
    (tmp_path / "labels.idx").write_bytes(idx(LABELS.astype(">i4"), 12))
    (tmp_path / "labels.txt").write_text("".join(f"{label}\n" for label in LABELS))
    return tmp_path


@pytest.mark.parametrize(
    "spec",
    [
        "images.npy,labels.npy",
        "images.npy.xz,labels.idx",
        "train-images-idx3-ubyte.gz,labels.txt",
        "train-images-idx3-ubyte,labels.idx1-ubyte",
        ["images.npy", "labels.idx"],
    ],
    ids=str,
)
def test_all_forms_give_the_same_examples(spec, monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK", 3000)  # several, the last one incomplete
    problems = Problems()
    found = list(read_examples(spec, FIELDS, problems))
    assert np.array_equal(np.stack([e["image"][..., 0] for e in found]), IMAGES)
    assert [e["label"] for e in found] == [str(label) for label in LABELS]
    assert [e.line for e in found] == list(range(1, 701))
    assert not problems


def test_files_of_different_lengths(tmp_path):
    np.save("few.npy", LABELS[:697])
    problems = Problems()
    assert len(list(read_examples("images.npy,few.npy", FIELDS, problems))) == 697
    assert problems.lines("image lines without a label") == [698, 699, 700]


def test_parts_are_told_by_the_pictures():
    double = np.concatenate([IMAGES, IMAGES[::-1]])
    np.save("images.npy", double)
    parts = {
        p: list(read_examples(f"images.npy@{p}", FIELDS[:1])) for p in ("train", "dev", "test")
    }
    assert sorted(e.line for found in parts.values() for e in found) == list(range(1, 1401))
    seen = [{FIELDS[0].identity(e["image"]) for e in found} for found in parts.values()]
    assert sum(map(len, seen)) == 700
    assert all(seen)


def test_a_list_of_pictures_is_no_running_text(tmp_path):
    for number in range(300):
        Pillow.fromarray(IMAGES[number]).save(f"{number}.png")
    names = [f"{number % 300}.png" for number in range(900)]
    (tmp_path / "list.txt").write_text("\n".join(names))
    parts = [list(read_examples(f"list.txt@{p}", FIELDS[:1])) for p in ("train", "dev", "test")]
    seen = [{FIELDS[0].identity(e["image"]) for e in found} for found in parts]
    assert sum(map(len, parts)) == 900
    assert sum(map(len, seen)) == 300


def test_columns_of_a_table_of_numbers():
    np.save("visits.npy", np.array([[1, 2.5], [3, 4]]))
    number = [Numbers("a"), Numbers("b")]
    found = list(read_examples("visits.npy#1,0", number))
    assert [(e["a"].tolist(), e["b"].tolist()) for e in found] == [([2.5], [1]), ([4], [3])]
    problems = Problems()
    assert not list(read_examples("visits.npy#1,2", number, problems))
    assert problems.count("lines without a column 2") == 2
    assert len(list(read_examples("labels.npy,labels.npy", number))) == 700
    assert next(read_examples("visits.npy", number[:1]))["a"].tolist() == [1, 2.5]
    with pytest.raises(CorpusError, match=r"holds one array: name a file for each of a, b"):
        list(read_examples("visits.npy", number))


def test_texts_and_truth_values():
    np.save("t.npy", np.array(["a b", "学"]))
    np.save("b.npy", np.array([True, False]))
    found = list(read_examples("t.npy,b.npy", [Text("text"), Label("label")]))
    assert [tuple(e.values()) for e in found] == [("a b", "1"), ("学", "0")]
    np.save("t.npy", np.array(["a b", "学"], ">U3"))
    assert [e["text"] for e in read_examples("t.npy", [Text("text")])] == ["a b", "学"]
    with open("u.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<U2", "fortran_order": False, "shape": (1,)}
        )
        file.write(struct.pack("<II", 0x7FFFFFFF, 98))  # a character that is none
    problems = Problems()
    assert not list(read_examples("u.npy", [Text("text")], problems))
    assert problems.count("lines not in UTF-8") == 1


def npy(
    shape: str, descr: str = "'|u1'", order: str = "False", data: bytes = b"", version: int = 1
) -> bytes:
    head = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(head))
    return b"\x93NUMPY" + bytes([version, 0]) + length + head + data


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (npy("(99999999999, 99)"), "damaged or cut off after row 0"),
        (npy("(4,)", data=b"abc"), "but it holds 3"),
        (npy("(1, 99999999999999)"), "a row is 99,999,999,999,999 bytes long"),
        (npy("(10**9,)"), "cannot be read"),
        (npy("(99999999999, 0)"), "a row is 0 bytes long"),
        (npy("()"), "the first axis is the examples"),
        (npy("(2,) * 9"), "cannot be read"),
        (npy(str((1,) * 40), data=b"a"), "the first axis is the examples"),
        (npy("(-1,)"), "cannot be read"),
        (npy("(True,)"), "cannot be read"),
        (npy("[2]"), "cannot be read"),
        (npy("(1,)", "'|O'", data=b"cos\nsystem\n(S'x'\ntR."), "arrays of object"),
        (npy("(1,)", "[('a', '<i4')]", data=bytes(4)), "cannot be read"),
        (npy("(1,)", "'<M8[s]'", data=bytes(8)), "arrays of datetime64"),
        (npy("(1,)", "'<c8'", data=bytes(8)), "arrays of complex64"),
        (npy("(1,)", "'nonsense'"), "cannot be read"),
        (npy("(1,)", "'<U99999999'", data=bytes(8)), "bytes long"),
        (npy("(2, 2)", order="True", data=bytes(4)), "column by column"),
        (npy("(1,)", "__import__('os').abort()"), "cannot be read"),
        (b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16, "cannot be read"),
        (b"\x93NUMPY\x02\x00" + struct.pack("<I", 9000) + b"[" * 9000, "cannot be read"),
        (b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31), "2,147,483,648 bytes long"),
        (b"\x93NUMPY\x01\x00", "damaged or cut off"),
        (b"\x93NUM", "no npy file"),
        (b"", "no npy file"),
        (b"PK\x03\x04 an npz", "no npy file"),
    ],
    ids=lambda x: str(x)[:40],
)
@pytest.mark.parametrize("packed", [False, True])
def test_hostile_npy(tmp_path, content, said, packed):
    name = "x.npy.gz" if packed else "x.npy"
    (tmp_path / name).write_bytes(gzip.compress(content) if packed else content)
    if packed and "holds 3" in said:
        said = "damaged or cut off after row 3"
    with memory_below(8 << 20), pytest.raises(CorpusError, match=said):
        list(read_examples(name, FIELDS[:1], Problems()))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (idx(IMAGES, sizes=(2**32 - 1, 2, 2)), "damaged or cut off after row"),
        (idx(IMAGES, sizes=(1, 2**32 - 1, 2**32 - 1)), "bytes long, over the limit of"),
        (idx(IMAGES, sizes=(2**32 - 1, 0)), "a row is 0 bytes long"),
        (idx(IMAGES, sizes=()), "the first axis is the examples"),
        (
            bytes([0, 0, 8, 255]) + bytes([0, 0, 0, 1]) * 255 + b"a",
            "the first axis is the examples",
        ),
        (bytes([0, 0, 8, 3, 0]), "damaged or cut off"),
        (bytes([0, 0, 7, 1, 0, 0, 0, 0]), "no idx file"),
        (b"1234567", "no idx file"),
        (b"", "damaged or cut off after row 0"),
    ],
    ids=lambda x: str(x)[:40],
)
def test_hostile_idx(tmp_path, content, said):
    (tmp_path / "x.idx").write_bytes(content)
    with pytest.raises(CorpusError, match=said):
        list(read_examples("x.idx", FIELDS[:1], Problems()))


def test_a_cut_file_gives_its_rows_and_then_says_so(tmp_path):
    whole = (tmp_path / "train-images-idx3-ubyte.gz").read_bytes()
    (tmp_path / "cut.idx.gz").write_bytes(whole[:-2000])
    rows = read_examples("cut.idx.gz", FIELDS[:1])
    with pytest.raises(CorpusError, match=r"cut\.idx\.gz is damaged or cut off after row"):
        list(rows)
    (tmp_path / "no.idx.gz").write_bytes(b"not gzip")
    with pytest.raises(CorpusError, match="damaged"):
        list(read_examples("no.idx.gz", FIELDS[:1]))


def test_a_file_need_not_fit_in_memory(tmp_path):
    with gzip.open("large.npy.gz", "wb", compresslevel=1) as file:
        file.write(npy("(3000, 64, 1024)"))
        for _ in range(3000):
            file.write(bytes(64 * 1024))
    with memory_below(16 << 20):
        assert sum(1 for _ in read_examples("large.npy.gz", FIELDS[:1])) == 3000
