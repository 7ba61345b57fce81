"""Trees on disk: what was written comes back, and a file that was touched does not."""

from __future__ import annotations

import random

import pytest
import torch
from safetensors import safe_open

from regard.data.checksums import Damaged
from regard.runs.tensor_tree import read_tree, write_tree


def make_tree() -> dict:
    torch.manual_seed(1)
    shared = torch.randn(3, 2)
    return {
        "step": 7,
        "nothing": None,
        "yes": True,
        "rate": 1e-3,
        "name": "名",
        "big": 2**70,
        "infinite": float("inf"),
        "optimizer": {"state": {0: {"step": torch.tensor(3.0)}, 1: {}}, "betas": (0.9, 0.999)},
        "several": [shared, shared, torch.zeros(0), torch.arange(4), torch.tensor(True)],
        "half": torch.randn(5).bfloat16(),
        "strided": torch.randn(4, 6)[:, ::2],
        "empty": [(), [], {}],
    }


def test_every_kind_of_value_comes_back_as_it_was(tmp_path):
    path, tree = tmp_path / "a.safetensors", make_tree()
    write_tree(path, tree)
    found = read_tree(path)
    assert repr(found) == repr(tree)
    for one, other in zip(found["several"], tree["several"], strict=True):
        assert one.equal(other)
        assert one.dtype == other.dtype


def test_an_optimiser_goes_on_from_it(tmp_path):
    weights = [torch.nn.Parameter(torch.randn(3)) for _ in range(2)]
    optimizer = torch.optim.Adam(weights, fused=True)
    for weight in weights:
        weight.grad = torch.randn(3)
    optimizer.step()
    write_tree(tmp_path / "o", optimizer.state_dict())
    again = torch.optim.Adam(weights, lr=5.0)
    again.load_state_dict(read_tree(tmp_path / "o"))
    assert repr(again.state_dict()) == repr(optimizer.state_dict())


def test_it_is_a_safetensors_file_and_tied_tensors_are_written_once(tmp_path):
    path = tmp_path / "a.safetensors"
    tied = torch.randn(1000)
    write_tree(path, [tied, tied])
    with safe_open(path, framework="pt") as file:
        assert len(file.keys()) == 1


def test_every_flipped_bit_and_every_cut_is_noticed(tmp_path):
    path = tmp_path / "a.safetensors"
    write_tree(path, make_tree())
    whole = path.read_bytes()
    draw = random.Random(0)
    for _ in range(200):
        place = draw.randrange(len(whole))
        touched = bytearray(whole)
        touched[place] ^= 1 << draw.randrange(8)
        path.write_bytes(touched)
        try:
            found = read_tree(path)
        except Damaged:
            continue
        assert repr(found) == repr(make_tree()), place  # padding of the header means nothing
    for length in [0, 5, 8, 100, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(Damaged):
            read_tree(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(Damaged):
        read_tree(path)


def test_what_is_neither_tensor_nor_plain_is_refused(tmp_path):
    with pytest.raises(TypeError, match="not set"):
        write_tree(tmp_path / "a", {"x": {1, 2}})
    assert not list(tmp_path.iterdir())
