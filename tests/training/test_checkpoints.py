"""Checkpoints: the last two and the best stay, and a damaged one is passed over."""

from __future__ import annotations

import pytest
import torch

from regard.data.checksums import Damaged
from regard.training.checkpoints import Checkpoints


@pytest.fixture
def checkpoints(tmp_path):
    found = Checkpoints(tmp_path)
    for update in (5, 10, 15):
        found.save_best(update, {"w": torch.full((2,), float(update))})
        found.save(update, {"state": update}, best=[5, update])
    return found


def test_the_last_two_and_the_best_stay(checkpoints):
    names = sorted(path.name.split(".")[0] for path in checkpoints.folder.iterdir())
    assert names == ["best-00000005", "best-00000015", "step-00000010", "step-00000015"]
    assert checkpoints.latest() == ({"state": 15}, [])


def test_the_best_that_are_gone_damaged_or_of_another_run_are_told(checkpoints):
    found, complaints = checkpoints.load_best([15, 10, 5], 3, {})
    assert [weights["w"][0] for weights in found.values()] == [15, 5]
    assert [complaint.split("/")[-1] for complaint in complaints] == [
        "best-00000010.safetensors is gone"
    ]
    found, complaints = checkpoints.load_best([15, 5], 1, {15: "of another"})
    assert [weights["w"][0] for weights in found.values()] == [5]
    assert "is not the file that this run wrote" in complaints[0]


def test_a_run_does_not_start_anew_in_silence_when_only_the_best_are_left(checkpoints):
    for path in checkpoints.folder.glob("step-*"):
        path.unlink()
    tree, complaints = checkpoints.latest()
    assert tree is None
    assert "training begins anew" in complaints[0]


def test_a_damaged_one_is_told_and_the_one_before_it_used(checkpoints):
    last = checkpoints.last()
    last.write_bytes(last.read_bytes()[:-20])
    tree, complaints = checkpoints.latest()
    assert tree == {"state": 10}
    assert len(complaints) == 1
    assert "step-00000015" in complaints[0]


def test_a_run_does_not_start_anew_in_silence_when_all_are_damaged(checkpoints):
    for path in checkpoints.folder.glob("step-*"):
        path.write_bytes(b"")
    with pytest.raises(Damaged, match=r"every checkpoint .* is damaged"):
        checkpoints.latest()


def test_no_checkpoint_is_no_damage(tmp_path):
    assert Checkpoints(tmp_path).latest() == (None, [])


def test_weights_alone_are_no_step_to_go_on_from(checkpoints):
    """Whole, but of the other kind: somebody copied the wrong file."""
    best = checkpoints.folder / "best-00000015.safetensors"
    checkpoints.last().write_bytes(best.read_bytes())
    tree, complaints = checkpoints.latest()
    assert tree == {"state": 10}
    assert "holds weights alone" in complaints[0]
