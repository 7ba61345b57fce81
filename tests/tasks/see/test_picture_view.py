"""Views of pictures: of the picture alone outside of training, anew in every batch of it."""

from __future__ import annotations

import pytest
import torch
from scribbles import scribbles
from torch import Tensor

from regard.tasks.see.picture_view import PictureView

VIEWS = ["translated", "cluttered", "rotated", "rotated-scaled", "projected", "bent"]


def pictures(count: int = 6, seed: int = 0) -> Tensor:
    """Of 28 × 28, with the scribble in the middle."""
    shown = torch.from_numpy(scribbles(count, seed)[0] / 255).float()[:, None]
    return torch.nn.functional.pad(shown, (8, 8, 8, 8))


def view(name: str, **options) -> PictureView:
    bank = scribbles(9, seed=7)[0][..., None]
    return PictureView(name, piece=4, bank=bank, **options)


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_outside_of_training_is_of_the_picture_alone(name):
    made, shown = view(name).eval(), pictures()
    together = made(shown)
    assert tuple(together.pictures.shape[1:]) == made.size((1, 28, 28))
    assert 0 <= float(together.pictures.min()) < float(together.pictures.max()) <= 1 + 1e-6
    for number in (0, 3):
        alone = made(shown[number : number + 1])
        assert torch.equal(alone.pictures[0], together.pictures[number])
    torch.manual_seed(5)  # and of no chance
    assert torch.equal(made(shown).pictures, together.pictures)
    assert (together.pictures.flatten(1).sum(1) > 0).all()


@pytest.mark.parametrize("name", VIEWS)
def test_in_training_it_is_another_in_every_batch_and_follows_from_chance(name):
    made, shown = view(name).train(), pictures()

    def seeded(seed: int, given: Tensor) -> Tensor:
        torch.manual_seed(seed)
        return made(given).pictures

    first = seeded(1, shown)
    assert torch.equal(first, seeded(1, shown))
    assert not torch.equal(first, seeded(2, shown))
    assert not torch.equal(first, made.eval()(shown).pictures)
    made.train()
    assert torch.equal(
        seeded(1, shown.flip(0)).flip(0), first
    )  # whatever place it has in the batch
    assert torch.equal(seeded(1, shown[2:3])[0], first[2])


def test_what_is_known_of_a_scene_is_told():
    shown = pictures()
    assert view("plain")(shown).pictures is shown
    assert view("translated")(shown).middle.shape == (6, 2)
    assert view("rotated")(shown).angle.shape == (6,)
    assert float(view("rotated-scaled")(shown).angle.abs().max()) <= 45


def test_clutter_is_cut_from_the_bank():
    shown = torch.zeros(4, 1, 28, 28)
    bright = view("cluttered").eval()
    assert (bright(shown).pictures.flatten(1).sum(1) > 0).any()
    without = view("cluttered", pieces=0).eval()(pictures())
    assert torch.equal(without.pictures, view("translated").eval()(pictures()).pictures)


def test_a_sum_is_of_two_that_stand_side_by_side():
    made = PictureView("sum")
    shown, label = pictures(), torch.tensor([0, 1, 2, 0, 1, 2])
    wide, total = made.train().paired(shown, label)
    assert wide.shape == (6, 1, 28, 56)
    assert torch.equal(wide[..., :28], shown)
    for row in range(6):
        other = next(n for n in range(6) if torch.equal(wide[row, ..., 28:], shown[n]))
        assert int(total[row]) == int(label[row] + label[other])
    assert made(wide).pictures.shape == (6, *made.size((1, 28, 28))) == (6, 2, 42, 42)
    centred = made.on_ground(wide)
    assert torch.equal(centred[:, :1, 7:35, 7:35], shown)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"task\.ground=20 is smaller than pictures of 28x28"):
        PictureView("translated", ground=20).size((1, 28, 28))
    with pytest.raises(ValueError, match=r"task\.piece=8 is larger than pictures of 6x6"):
        PictureView("cluttered").size((1, 6, 6))


@pytest.mark.parametrize("name", VIEWS)
def test_what_is_done_to_pictures_grows_in_training_alone(name):
    made, shown = view(name, grows=4, **({"pieces": 0} if name == "cluttered" else {})), pictures()

    def seeded(given: PictureView) -> Tensor:
        torch.manual_seed(1)
        return given(shown).pictures

    made.train().batches.fill_(-1)
    nothing = seeded(made)
    torch.testing.assert_close(nothing, made.on_ground(shown), atol=1e-5, rtol=0)
    apart = []
    for _ in range(6):
        apart.append(float((seeded(made) - nothing).abs().sum()))
    whole = view(name, **({"pieces": 0} if name == "cluttered" else {})).train()
    assert torch.equal(seeded(made), seeded(whole))
    assert 0 < apart[0] < apart[2]
    assert apart[3] == apart[5], "the fourth batch shows all of it"
    assert torch.equal(made.eval()(shown).pictures, whole.eval()(shown).pictures)
    assert made.state_dict()["batches"] == 7, "a run that goes on knows where it stood"
