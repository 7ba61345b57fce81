"""Glimpses, windows and warps against their formulas, point by point, in float64, with gradients."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from regard.layers import (
    AffineWarp,
    GaussianWindow,
    ProjectiveWarp,
    Retina,
    ScaledWarp,
    ThinPlateWarp,
    Warp,
)
from regard.layers.pictures.sample import sample

DOUBLE = torch.float64
SIZES = [(5, 7), (8, 3), (1, 1), (1, 6)]
WARPS: list[Warp] = [
    ScaledWarp(),
    AffineWarp(),
    ProjectiveWarp(),
    ThinPlateWarp(2),
    ThinPlateWarp(4),
]


def pictures(batch: int, channels: int, height: int, width: int, seed: int = 0) -> Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.randn(batch, channels, height, width, dtype=DOUBLE, generator=made)


def read(picture: Tensor, row: float, column: float) -> Tensor:
    """(C,): one point between the pixels of (C, H, W), by the formula."""
    total = torch.zeros(len(picture), dtype=DOUBLE)
    for i in range(picture.shape[1]):
        for j in range(picture.shape[2]):
            weight = max(0.0, 1 - abs(i - row)) * max(0.0, 1 - abs(j - column))
            total += weight * picture[:, i, j]
    return total


def pixel(place: Tensor, size: tuple[int, int]) -> tuple[float, float]:
    """The row and the column of (x, y)."""
    return ((float(place[1]) + 1) * size[0] - 1) / 2, ((float(place[0]) + 1) * size[1] - 1) / 2


def glimpse(picture: Tensor, place: Tensor, width: int, scales: int) -> Tensor:
    row, column = pixel(place, (picture.shape[1], picture.shape[2]))
    seen = torch.zeros(scales, len(picture), width, width, dtype=DOUBLE)
    for s in range(scales):
        f = 2**s
        for i in range(width):
            for j in range(width):
                y, x = row + f * (i - (width - 1) / 2), column + f * (j - (width - 1) / 2)
                points = [
                    read(picture, y + a - (f - 1) / 2, x + b - (f - 1) / 2)
                    for a in range(f)
                    for b in range(f)
                ]
                seen[s, :, i, j] = torch.stack(points).mean(0)
    return seen.flatten(0, 1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("width", "scales"), [(1, 1), (3, 2), (2, 3)])
def test_a_glimpse_is_the_mean_of_points_around_a_place(
    size: tuple[int, int], width: int, scales: int
) -> None:
    shown = pictures(3, 2, *size)
    places = torch.tensor([[0.0, 0.0], [-0.83, 0.4], [1.0, -1.4]], dtype=DOUBLE)
    seen = Retina(width, scales)(shown, places)
    for each, picture, place in zip(seen, shown, places, strict=True):
        torch.testing.assert_close(each, glimpse(picture, place, width, scales))


def test_x_runs_along_a_row_and_y_down() -> None:
    shown = torch.zeros(1, 1, 4, 6)
    shown[0, 0, 0, 5] = 1  # the upper right corner
    upper_right = torch.tensor([[1 - 1 / 6, -1 + 1 / 4]])
    assert Retina(1)(shown, upper_right).item() == pytest.approx(1)
    assert Retina(1)(shown, upper_right.flip(-1)).item() == 0


def test_several_glimpses_of_a_pyramid_are_those_one_by_one() -> None:
    shown, retina = pictures(2, 3, 9, 8), Retina(4, 3)
    places = torch.rand(2, 5, 2, dtype=DOUBLE) * 2 - 1
    pyramid = retina.pyramid(shown)
    together = retina(pyramid, places)
    assert together.shape == (2, 5, 9, 4, 4)
    for m in range(5):
        torch.testing.assert_close(together[:, m], retina(shown, places[:, m]))


def test_far_away_there_is_nothing_and_nowhere_is_no_number() -> None:
    shown = torch.ones(3, 1, 4, 4)
    places = torch.tensor([[50.0, 0.0], [math.inf, 0.0], [math.nan, 0.0]])
    far, endless, nowhere = Retina(2, 2)(shown, places)
    assert not far.any()
    assert endless.isnan().all()
    assert nowhere.isnan().all()


def test_glimpses_have_gradients() -> None:
    shown = pictures(2, 1, 5, 6).requires_grad_()
    places = torch.tensor([[0.13, -0.21], [0.77, 0.63]], dtype=DOUBLE, requires_grad=True)
    assert torch.autograd.gradcheck(Retina(3, 2), (shown, places))


@pytest.mark.parametrize("batch", [0, 1])
def test_no_pictures_no_glimpses(batch: int) -> None:
    assert Retina(3, 2)(torch.ones(batch, 2, 5, 5), torch.zeros(batch, 0, 2)).shape == (
        batch,
        0,
        4,
        3,
        3,
    )


@pytest.mark.parametrize("others", [1, 3, 4])
def test_places_of_other_pictures_are_refused(others: int) -> None:
    shown = torch.ones(2, 1, 4, 4)
    with pytest.raises(ValueError, match=f"2 pictures, and places or a warp for {others}"):
        Retina(2)(shown, torch.zeros(others, 2))
    with pytest.raises(ValueError, match=f"2 pictures, and places or a warp for {others}"):
        AffineWarp()(shown, AffineWarp().identity.expand(others, -1))


def test_what_a_retina_refuses() -> None:
    with pytest.raises(ValueError, match="a width of 1 pixel or more"):
        Retina(0)
    with pytest.raises(ValueError, match="batch, channels"):
        Retina(2)(torch.ones(3, 4, 4), torch.zeros(3, 2))
    with pytest.raises(ValueError, match="batch, several, 2"):
        Retina(2)(torch.ones(1, 1, 4, 4), torch.zeros(1, 3))


# windows


def filter_row(
    centre: float, spacing: float, blur: float, i: int, count: int, length: int
) -> Tensor:
    mean = centre + (i - count / 2 - 0.5) * spacing
    found = [math.exp(-((a - mean) ** 2) / (2 * blur)) for a in range(1, length + 1)]
    return torch.tensor(found, dtype=DOUBLE) / sum(found)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_window_is_what_the_paper_writes(size: tuple[int, int], count: int) -> None:
    height, width = size
    numbers = torch.tensor([[0.2, -0.4, 0.3, -0.7, 0.5], [-0.9, 0.9, 2.0, 0.4, -1.0]], dtype=DOUBLE)
    window = GaussianWindow.of(numbers, count, size)
    shown, patches = pictures(2, 3, *size), pictures(2, 3, count, count, seed=1)
    for b, (x, y, log_blur, log_spacing, log_strength) in enumerate(numbers.tolist()):
        spacing = (max(size) - 1) / max(count - 1, 1) * math.exp(log_spacing)
        blur, strength = math.exp(log_blur), math.exp(log_strength)
        centre_x, centre_y = (width + 1) / 2 * (x + 1), (height + 1) / 2 * (y + 1)
        rows = [filter_row(centre_y, spacing, blur, i, count, height) for i in range(1, count + 1)]
        columns = [
            filter_row(centre_x, spacing, blur, i, count, width) for i in range(1, count + 1)
        ]
        for i in range(count):
            for j in range(count):
                seen = strength * torch.einsum("cyx,y,x->c", shown[b], rows[i], columns[j])
                torch.testing.assert_close(window.read(shown)[b, :, i, j], seen)
        drawn = torch.einsum("cij,iy,jx->cyx", patches[b], torch.stack(rows), torch.stack(columns))
        torch.testing.assert_close(window.write(patches)[b], drawn / strength)


def test_zeros_are_a_window_over_the_whole_picture() -> None:
    window = GaussianWindow.of(torch.zeros(1, 5), 4, (10, 10))
    torch.testing.assert_close(window.box[0], torch.tensor([5.5, 5.5, 3.0, 1.0]))
    means = (window.columns[0] * torch.arange(1, 11)).sum(-1)
    torch.testing.assert_close(means, torch.tensor([1.0, 4.0, 7.0, 10.0]), atol=0.7, rtol=0)


@pytest.mark.parametrize(
    "numbers", [[40.0, -40, -80, 3, 0], [0.0, 0, -200, -200, 0], [1e6, 1e6, 0, 0, 0]]
)
def test_a_window_far_outside_or_without_width_has_numbers_and_gradients(
    numbers: list[float],
) -> None:
    told = torch.tensor([numbers], requires_grad=True)
    window = GaussianWindow.of(told, 3, (6, 6))
    torch.testing.assert_close(window.rows.sum(-1), torch.ones(1, 3))
    window.read(torch.rand(1, 1, 6, 6)).sum().backward()
    assert told.grad is not None
    assert told.grad.isfinite().all()


def test_windows_have_gradients() -> None:
    numbers = torch.tensor([[0.1, -0.2, 0.3, -0.4, 0.2]], dtype=DOUBLE, requires_grad=True)
    shown, patch = pictures(1, 2, 5, 4).requires_grad_(), pictures(1, 2, 3, 3).requires_grad_()

    def both(told: Tensor, picture: Tensor, written: Tensor) -> tuple[Tensor, Tensor]:
        window = GaussianWindow.of(told, 3, (5, 4))
        return window.read(picture), window.write(written)

    assert torch.autograd.gradcheck(both, (numbers, shown, patch))


def test_what_a_window_refuses() -> None:
    with pytest.raises(ValueError, match="batch, 5"):
        GaussianWindow.of(torch.zeros(2, 4), 3, (5, 5))
    with pytest.raises(ValueError, match="1 filter or more"):
        GaussianWindow.of(torch.zeros(2, 5), 0, (5, 5))


# warps


@pytest.mark.parametrize("warp", WARPS, ids=repr)
@pytest.mark.parametrize("size", SIZES)
def test_the_identity_leaves_a_picture_as_it_is(warp: Warp, size: tuple[int, int]) -> None:
    shown = pictures(2, 3, *size)
    theta = warp.identity.to(DOUBLE).expand(2, -1)
    assert len(warp.identity) == warp.numbers
    torch.testing.assert_close(warp(shown, theta), shown)


def plate(theta: Tensor, held: int, x: float, y: float) -> Tensor:
    """(2,): where a plate bends a point to, by solving for its weights anew."""
    at = torch.linspace(-1, 1, held, dtype=DOUBLE).tolist()
    points = [(a, b) for b in at for a in at]
    count = len(points)

    def phi(p: tuple[float, float], q: tuple[float, float]) -> float:
        r = math.hypot(p[0] - q[0], p[1] - q[1])
        return r * r * math.log(r) if r else 0.0

    system, wanted = (
        torch.zeros(count + 3, count + 3, dtype=DOUBLE),
        torch.zeros(count + 3, 2, dtype=DOUBLE),
    )
    for k, p in enumerate(points):
        for m, q in enumerate(points):
            system[k, m] = phi(p, q)
        system[k, count:] = system[count:, k] = torch.tensor([1.0, *p], dtype=DOUBLE)
        wanted[k] = theta[2 * k : 2 * k + 2]
    weights = torch.linalg.solve(system, wanted)
    features = [*(phi((x, y), p) for p in points), 1.0, x, y]
    return torch.tensor(features, dtype=DOUBLE) @ weights


def moved(warp: Warp, theta: Tensor, x: float, y: float) -> Tensor:
    """(2,): the formula of each warp, for one point."""
    match warp:
        case ScaledWarp():
            return torch.stack((theta[0] * x + theta[1], theta[0] * y + theta[2]))
        case AffineWarp():
            a, b, c, d, e, f = theta
            return torch.stack((a * x + b * y + c, d * x + e * y + f))
        case ProjectiveWarp():
            a, b, c, d, e, f, g, h = theta
            depth = (g * x + h * y + 1).clamp_min(1e-3)
            return torch.stack(((a * x + b * y + c) / depth, (d * x + e * y + f) / depth))
        case ThinPlateWarp():
            return plate(theta, warp.points, x, y)
    raise AssertionError(warp)


@pytest.mark.parametrize("warp", WARPS, ids=repr)
def test_a_warp_reads_each_pixel_where_its_formula_says(warp: Warp) -> None:
    made = torch.Generator().manual_seed(3)
    shown, size = pictures(2, 2, 5, 6), (4, 3)
    noise = torch.randn(2, warp.numbers, dtype=DOUBLE, generator=made)
    theta = warp.identity.to(DOUBLE) + 0.3 * noise
    result, grid = warp(shown, theta, size), warp.grid(theta, size)
    for b in range(2):
        for i in range(size[0]):
            for j in range(size[1]):
                place = moved(warp, theta[b], (2 * j + 1) / size[1] - 1, (2 * i + 1) / size[0] - 1)
                torch.testing.assert_close(grid[b, i, j], place)
                torch.testing.assert_close(
                    result[b, :, i, j], read(shown[b], *pixel(place, (5, 6)))
                )


@pytest.mark.parametrize("warp", WARPS, ids=repr)
def test_warps_have_gradients(warp: Warp) -> None:
    made = torch.Generator().manual_seed(5)
    noise = 0.2 * torch.randn(2, warp.numbers, dtype=DOUBLE, generator=made)
    theta = (warp.identity.to(DOUBLE) + noise).requires_grad_()
    assert torch.autograd.gradcheck(warp, (pictures(2, 1, 4, 5).requires_grad_(), theta))


def test_a_picture_seen_edge_on_or_from_behind_has_numbers_and_gradients() -> None:
    theta = ProjectiveWarp().identity.repeat(2, 1)
    theta[0, 6], theta[1, 7] = -1.0, 5.0
    theta.requires_grad_()
    result = ProjectiveWarp()(torch.rand(2, 1, 6, 6), theta)
    result.sum().backward()
    assert result.isfinite().all()
    assert theta.grad is not None
    assert theta.grad.isfinite().all()


def test_a_quarter_turn_is_a_quarter_turn() -> None:
    shown = pictures(1, 1, 5, 5)
    turn = torch.tensor([[0.0, -1.0, 0.0, 1.0, 0.0, 0.0]], dtype=DOUBLE)  # x' = -y, y' = x
    torch.testing.assert_close(AffineWarp()(shown, turn), shown.rot90(1, (-2, -1)))


@pytest.mark.parametrize("warp", WARPS, ids=repr)
def test_a_first_call_without_gradients_spoils_no_later_one(warp: Warp) -> None:
    size = (3, 11)  # of no other test
    with torch.inference_mode():
        warp.grid(warp.identity[None], size)
    theta = warp.identity[None].clone().requires_grad_()
    warp.grid(theta, size).sum().backward()
    assert theta.grad is not None


def test_a_warp_says_how_many_numbers_tell_it() -> None:
    with pytest.raises(ValueError, match=r"AffineWarp is told by \(batch, 6\) numbers"):
        AffineWarp()(torch.ones(1, 1, 3, 3), torch.zeros(1, 5))
    with pytest.raises(ValueError, match="2 × 2 points"):
        ThinPlateWarp(1)


def test_reading_keeps_the_axes_of_places() -> None:
    places = torch.zeros(2, 3, 4, 5, 2)
    assert sample(torch.ones(2, 7, 6, 6), places).shape == (2, 7, 3, 4, 5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_every_float_is_taken(dtype: torch.dtype) -> None:
    shown = torch.rand(2, 1, 6, 6).to(dtype)
    assert Retina(2, 2)(shown, torch.zeros(2, 2, dtype=dtype)).dtype == dtype
    assert GaussianWindow.of(torch.zeros(2, 5, dtype=dtype), 2, (6, 6)).read(shown).dtype == dtype
    for warp in WARPS:
        assert warp(shown, warp.identity.to(dtype).expand(2, -1)).dtype == dtype


@pytest.mark.parametrize("number", [2, 3, 4])
@pytest.mark.parametrize("log", [44.0, 90.0, 1000.0, -90.0])
def test_a_window_of_any_logarithm_is_finite(number, log):
    numbers = torch.zeros(1, 5)
    numbers[0, number] = log
    numbers.requires_grad_()
    window = GaussianWindow.of(numbers, 3, (8, 9))
    written = window.write(window.read(torch.ones(1, 1, 8, 9)))
    written.sum().backward()
    assert written.isfinite().all()
    assert numbers.grad is not None
    assert numbers.grad.isfinite().all()


@pytest.mark.parametrize("shape", [(2, 8, 9), (1, 1, 8, 9), (2, 1, 9, 8)])
def test_pictures_that_a_window_is_not_of_are_refused(shape):
    window = GaussianWindow.of(torch.zeros(2, 5), 3, (8, 9))
    with pytest.raises(ValueError, match=r"2 such windows are \(2, channels, 8, 9\)"):
        window.read(torch.ones(shape))


def test_a_retina_reads_its_own_pyramid_and_has_few_scales():
    pyramid = Retina(4, scales=3).pyramid(torch.ones(1, 1, 9, 9))
    with pytest.raises(ValueError, match="3 scales, not of 2"):
        Retina(4, scales=2)(pyramid, torch.zeros(1, 2))
    with pytest.raises(ValueError, match="1 to 10 scales"):
        Retina(4, scales=40)


@pytest.mark.parametrize("warp", [ProjectiveWarp(), AffineWarp(), ThinPlateWarp()])
@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_warp_of_numbers_that_are_not_finite_sees_nothing_and_says_so(warp, number):
    pictures = torch.rand(3, 1, 4, 4)
    theta = warp.identity.repeat(3, 1)
    whole = warp(pictures, theta)
    assert whole.isfinite().all()
    for place in range(warp.numbers):
        spoilt = theta.clone()
        spoilt[1, place] = number
        seen = warp(pictures, spoilt)
        assert seen[1].isnan().all(), place
        assert seen[[0, 2]].equal(whole[[0, 2]])


@pytest.mark.parametrize("given", [(2.5, 1), ("3", 1), (3, 1.0), (True, 1), (None, 2)])
def test_a_retina_is_told_in_whole_numbers(given):
    with pytest.raises(ValueError, match="in whole numbers, not"):
        Retina(*given)


@pytest.mark.parametrize(
    ("count", "size", "said"),
    [
        (2.5, (8, 8), "1 filter or more each way, a whole number, not 2.5"),
        (0, (8, 8), "1 filter or more each way"),
        (2, (8.0, 8), "in whole numbers, not"),
        (2, (8, 0), "1 pixel or more"),
        (2, (8,), "a height and a width"),
    ],
)
def test_a_window_is_told_in_whole_numbers(count, size, said):
    for made, numbers in ((GaussianWindow.of, 5), (GaussianWindow.of_box, 4)):
        with pytest.raises(ValueError, match=said):
            made(torch.zeros(2, numbers), count, size)


def test_bytes_are_refused_in_words():
    pictures = torch.zeros(2, 1, 9, 9, dtype=torch.uint8)
    window = GaussianWindow.of(torch.zeros(2, 5), 3, (9, 9))
    for read in (
        lambda: Retina(3)(pictures, torch.zeros(2, 2)),
        lambda: Retina(3, scales=2).pyramid(pictures),
        lambda: window.read(pictures),
        lambda: window.write(pictures[..., :3, :3]),
        lambda: AffineWarp()(pictures, AffineWarp().identity.expand(2, -1)),
    ):
        with pytest.raises(ValueError, match=r"not torch.uint8: (pictures|patches) / 255"):
            read()


def test_the_channels_of_a_scale_are_together():
    """Red, green and blue of the finest scale, then those of the next."""
    pictures = torch.stack([torch.full((9, 9), float(n)) for n in range(3)])[None]
    seen = Retina(3, scales=2)(pictures, torch.zeros(1, 2))
    assert seen[0].mean((1, 2)).tolist() == [0, 1, 2, 0, 1, 2]


def test_the_points_of_a_plate_go_row_by_row():
    """From the upper left corner, at (-1, -1), to the right; x before y."""
    points = ThinPlateWarp(3).identity.unflatten(0, (9, 2)).tolist()
    assert points[:4] == [[-1, -1], [0, -1], [1, -1], [-1, 0]]
