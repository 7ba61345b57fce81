"""Digits moved, among clutter, turned and bent: what is drawn, and that nothing but the key decides it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.layers.pictures.draws import keys_of, mixed, normal, salted, uniform, whole
from regard.layers.pictures.scenes import bent, cluttered, laid, moved, projected, turned
from regard.layers.pictures.warps import ProjectiveWarp, corner_numbers


def digits(count: int, seed: int = 0) -> Tensor:
    """Bright blots of steps of 1 / 255 on dark ground."""
    made = torch.Generator().manual_seed(seed)
    inner = torch.randint(100, 256, (count, 1, 12, 10), generator=made) / 255
    return torch.nn.functional.pad(inner, (9, 9, 8, 8))  # (count, 1, 28, 28)


def test_splitmix_gives_its_published_numbers() -> None:
    state, found = torch.tensor(1234567), []
    for step in range(3):
        found.append(int(mixed(state - 7046029254386353131 * step)) % 2**64)
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_drawn_numbers_are_even_and_strangers_to_each_other() -> None:
    drawn = uniform(mixed(torch.arange(20_000)), 4)
    assert float(drawn.min()) >= 0
    assert float(drawn.max()) < 1
    counts = torch.histc(drawn, 10, 0, 1)
    torch.testing.assert_close(counts, torch.full((10,), 8000.0), atol=400, rtol=0)
    together = torch.corrcoef(drawn.T) - torch.eye(4)
    assert float(together.abs().max()) < 0.03
    assert set(whole(torch.arange(500), 2, 3).flatten().tolist()) == {0, 1, 2}


def test_a_key_is_of_the_picture_and_of_nothing_else() -> None:
    shown = digits(6)
    keys = keys_of(shown, 7, 1)
    assert len(set(keys.tolist())) == 6
    torch.testing.assert_close(keys_of(shown[[4, 1]], 7, 1), keys[[4, 1]])
    assert not (keys_of(shown, 7, 2) == keys).any()
    assert not (keys_of(shown, 8, 1) == keys).any()
    assert int(keys_of(shown[:1].to(torch.float64), 7, 1)) == int(keys[0])


def test_a_moved_picture_is_there_as_a_whole_and_its_middle_is_told() -> None:
    shown = digits(40)
    scenes, middle = moved(shown, keys_of(shown, 1), (60, 50))
    torch.testing.assert_close(scenes.sum((1, 2, 3)), shown.sum((1, 2, 3)))
    for scene, picture, (x, y) in zip(scenes, shown, middle.tolist(), strict=True):
        left, top = round((x + 1) * 50 / 2 - 14), round((y + 1) * 60 / 2 - 14)
        torch.testing.assert_close(scene[:, top : top + 28, left : left + 28], picture)
    assert len({tuple(place) for place in middle.tolist()}) > 30


def test_places_are_used_up_to_the_edges() -> None:
    shown = digits(1).expand(4000, -1, -1, -1)
    _, middle = moved(shown, torch.arange(4000), (30, 31))
    assert len({tuple(place) for place in middle.tolist()}) == 3 * 4


def test_clutter_is_cut_from_others_and_covers_nothing_brighter() -> None:
    shown, bank = digits(5), digits(30, seed=1)
    keys = keys_of(shown, 3)
    plain, middle = moved(shown, keys, (60, 60))
    scenes, same = cluttered(shown, keys, (60, 60), bank, pieces=4)
    torch.testing.assert_close(middle, same)
    assert (scenes >= plain).all()
    assert ((scenes > plain).sum((1, 2, 3)) <= 4 * 64).all()
    assert (scenes > plain).any()
    none, _ = cluttered(shown, keys, (60, 60), bank, pieces=0)
    torch.testing.assert_close(none, plain)


def test_a_scene_does_not_depend_on_its_batch() -> None:
    shown, bank = digits(8), digits(9, seed=2)
    keys = keys_of(shown, 5)
    together, _ = cluttered(shown, keys, (60, 60), bank)
    alone = [
        cluttered(s[None], k[None], (60, 60), bank)[0] for s, k in zip(shown, keys, strict=True)
    ]
    torch.testing.assert_close(torch.cat(alone), together, rtol=0, atol=0)


def test_laid_parts_leave_the_ground_as_it_was() -> None:
    ground, part = torch.full((1, 1, 4, 4), 0.5), torch.tensor([[0.2, 0.9]]).reshape(1, 1, 1, 1, 2)
    result = laid(ground, part, torch.tensor([[3]]), torch.tensor([[1]]))
    assert result[0, 0, 3].tolist() == pytest.approx([0.5, 0.5, 0.9, 0.5])
    assert (ground == 0.5).all()


def test_a_turn_is_told_and_can_be_undone() -> None:
    shown = digits(16)
    result, angle = turned(shown, keys_of(shown, 9), degrees=90)
    assert float(angle.abs().max()) <= 90
    assert float(angle.std()) > 20
    for each, picture, degrees in zip(result, shown, angle.tolist(), strict=True):
        quarters = round(degrees / 90)
        if abs(degrees - 90 * quarters) < 4:
            torch.testing.assert_close(each, picture.rot90(-quarters, (-2, -1)), atol=0.5, rtol=0)
    whole_turn, _ = turned(shown, keys_of(shown, 9), degrees=0)
    torch.testing.assert_close(whole_turn, shown)


def test_a_turn_is_clockwise() -> None:
    shown = torch.zeros(512, 1, 21, 21)
    shown[:, :, 10, 20] = 1  # to the right of the middle
    result, angle = turned(shown, torch.arange(512), degrees=180)
    down = result[:, 0, 20, 10]  # below the middle
    near = (angle - 90).abs() < 2
    assert near.any()
    assert (down[near] > 0.3).all()


def test_scaled_and_moved_pictures_stay_on_the_ground() -> None:
    shown = digits(200)
    result, _ = turned(
        shown, keys_of(shown, 2), degrees=45, scale=(0.7, 1.2), size=(42, 42), shift=True
    )
    assert result.shape == (200, 1, 42, 42)
    mass = result.sum((1, 2, 3)) / shown.sum((1, 2, 3))
    assert 0.7**2 * 0.9 < float(mass.min()) < 0.7
    assert 1.2 < float(mass.max()) < 1.2**2 * 1.1
    columns = (result.sum((1, 2)) * torch.arange(42)).sum(-1) / result.sum((1, 2, 3))
    assert float(columns.std()) > 2.5


def test_projected_and_bent_pictures_are_nearly_those() -> None:
    shown = digits(30)
    near = projected(shown, keys_of(shown, 1), pixels=1.5, scale=(0.95, 1.0))
    for result in (near, bent(shown, keys_of(shown, 1))):
        assert result.shape == shown.shape
        assert not torch.equal(result, shown)
        likeness = torch.nn.functional.cosine_similarity(result.flatten(1), shown.flatten(1))
        assert float(likeness.mean()) > 0.6


def test_a_projection_takes_the_corners_where_it_is_told() -> None:
    torch.manual_seed(0)
    square = torch.tensor([[-1.0, -1], [1, -1], [-1, 1], [1, 1]]).double()
    corners = square + 0.2 * torch.randn(5, 4, 2).double()
    numbers = corner_numbers(corners)
    places = torch.cat((square, torch.ones(4, 1).double()), -1)
    torch.testing.assert_close(ProjectiveWarp().moved(numbers, places), corners)
    identity = ProjectiveWarp().identity.double()
    torch.testing.assert_close(corner_numbers(square[None])[0], identity)


def test_a_projected_picture_shrinks_by_its_scale() -> None:
    shown = digits(50)
    result = projected(shown, keys_of(shown, 4), pixels=0.0)
    mass = result.sum((1, 2, 3)) / shown.sum((1, 2, 3))
    assert 0.75**2 * 0.95 < float(mass.min()) < 0.7
    assert 0.9 < float(mass.max()) < 1.05


def test_normal_numbers_are_normal() -> None:
    drawn = normal(mixed(torch.arange(20_000)), 4)
    assert drawn.isfinite().all()
    assert float(drawn.mean()) == pytest.approx(0, abs=0.02)
    assert float(drawn.std()) == pytest.approx(1, abs=0.02)
    assert float((drawn.abs() < 1).float().mean()) == pytest.approx(0.6827, abs=0.01)


def test_a_salt_gives_other_keys() -> None:
    keys = keys_of(digits(6), 0)
    first, second = (salted(keys, torch.tensor([salt])) for salt in (1, 2))
    assert not (first == second).any()
    assert len(set(first.tolist())) == 6


def test_a_ground_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="28 x 28 do not fit into 20 x 60"):
        moved(digits(1), torch.zeros(1, dtype=torch.long), (20, 60))
