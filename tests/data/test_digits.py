"""The embedded digits: as their README says, and nothing held out is in training; MNIST's files."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from regard.data.corpora.build_digits import written
from regard.data.examples import read_examples
from regard.data.fields import Image, Label
from regard.data.problems import CorpusError
from regard.data.spec import EMBEDDED_FOLDER

PARTS = ("train", "dev", "test")
FIELDS = (Image("image", standardise=False), Label("label"))
FOLDER = EMBEDDED_FOLDER / "digits"


@pytest.fixture(scope="module")
def digits():
    return {part: list(read_examples(f"digits:{part}", FIELDS)) for part in PARTS}


def test_counts_and_licence_are_as_the_readme_says(digits):
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "CC BY-SA 3.0" in readme
    assert "by-sa/3.0/legalcode" in (FOLDER / "LICENSE.txt").read_text(encoding="utf-8")
    for part, found in digits.items():
        assert re.search(rf"^\| {part} \| {len(found):,} \|$", readme, re.MULTILINE)
        assert {example["label"] for example in found} == set("0123456789")
        assert {example["image"].shape for example in found} == {(28, 28, 1)}
    assert sum(path.stat().st_size for path in FOLDER.glob("*.xz")) < 1_200_000


def test_no_digit_is_in_two_parts(digits):
    train, dev, test = (
        {FIELDS[0].identity(example["image"]) for example in digits[part]} for part in PARTS
    )
    assert not train & (dev | test)
    assert not dev & test


def test_mnist_is_read_as_published_and_split(digits, tmp_path, monkeypatch):
    """The files of MNIST under REGARD_DATA; a dev part is held out of its training part."""
    (tmp_path / "mnist").mkdir()
    images = np.stack([example["image"][..., 0] for example in digits["dev"]])
    labels = np.array([int(example["label"]) for example in digits["dev"]], np.uint8)
    for name, rows in (("images-idx3", images), ("labels-idx1", labels)):
        file = tmp_path / "mnist" / f"train-{name}-ubyte.gz"
        file.write_bytes(gzip.compress(written(rows), 1))
    spec = "mnist/train-images-idx3-ubyte,mnist/train-labels-idx1-ubyte"
    with pytest.raises(FileNotFoundError, match="set REGARD_DATA to the folder that holds mnist/"):
        list(read_examples(spec, FIELDS))
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    assert len(list(read_examples(spec, FIELDS))) == 1000
    parts = {part: list(read_examples(f"{spec}@{part}", FIELDS)) for part in PARTS}
    assert sum(map(len, parts.values())) == 1000
    assert len(parts["train"]) > 900 > 50 > len(parts["dev"]) > 0
    lines = [{example.line for example in found} for found in parts.values()]
    assert len(set.union(*lines)) == 1000
    file = tmp_path / "mnist" / "train-images-idx3-ubyte.gz"
    file.write_bytes(gzip.compress(written(images)[:-100], 1))
    with pytest.raises(CorpusError, match="damaged or cut off after row 999"):
        list(read_examples(spec, FIELDS))
