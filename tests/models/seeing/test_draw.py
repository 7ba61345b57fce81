"""DRAW: the bound is one, with and without windows; what it imagines; what a reader of windows sees."""

from __future__ import annotations

import math
import warnings
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from regard.layers.pictures.gaussian_window import GaussianWindow
from regard.models.seeing import draw as draw_module
from regard.models.seeing import draw_step
from regard.models.seeing.draw import Draw, WindowReader, divergence

SIZE = (1, 7, 6)


def pictures(batch: int = 3) -> Tensor:
    return torch.randint(0, 2, (batch, *SIZE), generator=torch.Generator().manual_seed(1)).float()


def model(**changes: object) -> Draw:
    torch.manual_seed(0)
    settings = {"steps": 3, "features": 12, "latent": 5, "read": 2, "write": 3}
    return Draw(SIZE, **{**settings, **changes})  # type: ignore[arg-type]


def test_the_divergence_is_that_of_two_normal_laws() -> None:
    mean, log_deviation = torch.randn(4, 5).double(), torch.randn(4, 5).double()
    law = Normal(mean, log_deviation.exp())
    wanted = kl_divergence(law, Normal(torch.zeros(5).double(), torch.ones(5).double())).sum(-1)
    torch.testing.assert_close(divergence(mean, log_deviation), wanted)


WINDOWS = [{}, {"read": None, "write": None}, {"read": None}, {"write": None}]


def plain_bound(draw: Draw, shown: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Reconstruction (B,) and divergence (B, T), as the paper writes them, cell by cell."""
    one, two, three, four = (each.expand(len(shown), -1) for each in draw.before)
    encoder, decoder, canvas = (one, two), (three, four), draw.canvas.expand(shown.shape)
    divergences = []
    for step in range(draw.steps):
        both = torch.cat((shown, shown - canvas.sigmoid()), 1)
        if draw.read_window is not None:
            numbers = draw.read_window(decoder[0])
            both = GaussianWindow.of(numbers, draw.read, SIZE[1:]).read(both)
        encoder = draw.encoder(torch.cat((both.flatten(1), decoder[0]), 1), encoder)
        law = Normal(draw.mean(encoder[0]), draw.log_deviation(encoder[0]).exp())
        divergences.append(kl_divergence(law, Normal(0.0, 1.0)).sum(-1))
        decoder = draw.decoder(law.mean + law.stddev * noise[:, step], decoder)
        stroke = draw.stroke(decoder[0])
        if draw.write_window is None:
            canvas = canvas + stroke.reshape(shown.shape)
        else:
            window = GaussianWindow.of(draw.write_window(decoder[0]), draw.write, SIZE[1:])
            canvas = canvas + window.write(stroke.reshape(len(shown), -1, draw.write, draw.write))
    chance = canvas.sigmoid()
    pixels = shown * chance.log() + (1 - shown) * (1 - chance).log()
    return -pixels.flatten(1).sum(1), torch.stack(divergences, 1)


@pytest.mark.parametrize("windows", WINDOWS)
def test_the_bound_and_its_gradient_are_those_of_the_definition(windows: dict[str, None]) -> None:
    draw, shown = model(**windows).double(), pictures().double()
    torch.nn.init.normal_(draw.before, std=0.5)
    noise = torch.randn(3, 3, 5, dtype=torch.double)
    drawn = draw(shown, noise)
    reconstruction, divergences = plain_bound(draw, shown, noise)
    close = {"rtol": 1e-10, "atol": 1e-10}
    torch.testing.assert_close(drawn.reconstruction, reconstruction, **close)
    torch.testing.assert_close(drawn.divergence, divergences, **close)
    weights = list(draw.parameters())
    wanted = torch.autograd.grad(reconstruction.sum() + divergences.sum(), weights)
    found = torch.autograd.grad(drawn.bound.sum(), weights)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, **close)


@pytest.mark.parametrize("windows", WINDOWS)
def test_a_trace_has_canvases_and_windows(windows: dict[str, None]) -> None:
    draw, shown, noise = model(**windows), pictures(), torch.randn(3, 3, 5)
    drawn, bare = draw(shown, noise, trace=True), draw(shown, noise)
    torch.testing.assert_close(drawn.bound, bare.bound)
    assert drawn.canvases is not None
    assert bare.canvases is bare.reads is bare.writes is None
    last = drawn.canvases[:, -1]
    nats = -(shown * last.log() + (1 - shown) * (1 - last).log()).flatten(1).sum(1)
    torch.testing.assert_close(drawn.reconstruction, nats, rtol=1e-4, atol=1e-4)
    assert (drawn.reads is None) == (draw.read is None)
    assert (drawn.writes is None) == (draw.write is None)
    if drawn.reads is not None:  # the first is told by a state that is the same for all
        torch.testing.assert_close(drawn.reads[:, 0], drawn.reads[:1, 0].expand(3, -1))


def test_weights_of_draws_estimate_the_likelihood() -> None:
    """log w is log p(x | z) + log p(z) - log q(z | x), of the normal laws themselves."""
    draw, shown = model().double(), pictures(2).double()
    noise = torch.randn(2, 3, 5, dtype=torch.double)
    told: list[Tensor] = []
    one, two, three, four = (each.expand(2, -1) for each in draw.before)
    encoder, decoder, canvas = (one, two), (three, four), draw.canvas.expand(shown.shape)
    for step in range(draw.steps):
        window = GaussianWindow.of(draw.read_window(decoder[0]), draw.read, SIZE[1:])
        both = window.read(torch.cat((shown, shown - canvas.sigmoid()), 1)).flatten(1)
        encoder = draw.encoder(torch.cat((both, decoder[0]), 1), encoder)
        law = Normal(draw.mean(encoder[0]), draw.log_deviation(encoder[0]).exp())
        z = law.mean + law.stddev * noise[:, step]
        told.append((law.log_prob(z) - Normal(0.0, 1.0).log_prob(z)).sum(-1))
        decoder = draw.decoder(z, decoder)
        window = GaussianWindow.of(draw.write_window(decoder[0]), draw.write, SIZE[1:])
        canvas = canvas + window.write(draw.stroke(decoder[0]).reshape(2, -1, 3, 3))
    drawn = draw(shown, noise)
    torch.testing.assert_close(drawn.ratio, torch.stack(told).sum(0))
    torch.testing.assert_close(drawn.weight, -drawn.reconstruction - drawn.ratio)


def test_the_bound_holds() -> None:
    """-log p(x) of a tiny model, by the mean of p(x | z) over many z, is not above the bound."""
    torch.manual_seed(0)
    draw = Draw((1, 2, 2), steps=2, features=6, latent=2, read=2, write=2).eval()
    shown = torch.tensor([[[[1.0, 0.0], [0.0, 1.0]]]])
    with torch.no_grad():
        bound = draw(shown.expand(4000, -1, -1, -1)).bound.mean().item()
        noise = torch.randn(20_000, 2, 2, generator=torch.Generator().manual_seed(2))
        canvases, _ = draw.imagine(noise)
    last = canvases[:, -1]
    chances = torch.where(shown.bool(), last, 1 - last).flatten(1).prod(1)
    assert -math.log(chances.mean().item()) <= bound + 0.05


def test_every_weight_learns() -> None:
    draw = model()
    draw(pictures()).bound.sum().backward()
    still = {
        name
        for name, weight in draw.named_parameters()
        if weight.grad is None or not weight.grad.any()
    }
    assert not still


def test_it_learns_to_draw_bars() -> None:
    torch.manual_seed(0)
    shown = torch.zeros(7, *SIZE)
    shown[torch.arange(7), 0, torch.arange(7)] = 1  # one row each
    draw = Draw(SIZE, steps=4, features=24, latent=6, read=3, write=4)
    optimizer = torch.optim.Adam(draw.parameters(), 0.02)
    for _ in range(300):
        optimizer.zero_grad()
        draw(shown).bound.mean().backward()
        torch.nn.utils.clip_grad_norm_(draw.parameters(), 10.0, error_if_nonfinite=True)
        optimizer.step()
    drawn = draw(shown.repeat(20, 1, 1, 1))
    assert drawn.bound.mean().item() < 12  # 29 at first; by how often a pixel is lit, 17
    assert drawn.divergence.sum(1).mean().item() > 1


def test_a_picture_costs_the_same_beside_others() -> None:
    draw, shown, noise = model().double(), pictures().double(), torch.randn(3, 3, 5).double()
    together = draw(shown, noise, trace=True)
    alone = draw(shown[1:2], noise[1:2], trace=True)
    for one, other in zip(alone, together, strict=True):
        torch.testing.assert_close(one[0], other[1], rtol=1e-10, atol=1e-10)


def test_the_same_noise_imagines_the_same() -> None:
    draw, noise = model(), torch.randn(2, 3, 5)
    first, boxes = draw.imagine(noise)
    again, _ = draw.imagine(noise[:1])
    torch.testing.assert_close(first[:1], again)
    assert first.shape == (2, 3, *SIZE)
    assert boxes is not None
    assert boxes.shape == (2, 3, 4)
    assert draw.imagine(noise[:0])[0].shape == (0, 3, *SIZE)


def test_a_reader_of_windows_sees_the_whole_picture_first() -> None:
    torch.manual_seed(0)
    reader = WindowReader(SIZE, 4, steps=2, filters=3, features=10)
    logits, boxes = reader(pictures())
    assert logits.shape == (3, 4)
    torch.testing.assert_close(boxes[:, 0, :3], torch.tensor([3.5, 4.0, 3.0]).expand(3, -1))
    logits.sum().backward()
    assert reader.window.weight.grad is not None
    assert reader.window.weight.grad.any()


def test_parts_of_a_step_are_compiled_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a break in the graph, and with the same numbers; no kernel is made here."""
    torch._dynamo.reset()
    compile_as_is = partial(torch.compile, backend="aot_eager")
    monkeypatch.setattr(draw_step.torch, "compile", compile_as_is)
    draw_step.compiled_parts.cache_clear()
    model_, shown, noise = model().double(), pictures().double(), torch.randn(3, 3, 5).double()
    weights = list(model_.parameters())
    plain = model_(shown, noise).bound.sum()
    wanted = torch.autograd.grad(plain, weights)
    try:
        monkeypatch.setattr(draw_module, "plain_parts", draw_step.compiled_parts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message="model.fused")
            compiled = model_(shown, noise).bound.sum()
        found = torch.autograd.grad(compiled, weights)
    finally:
        draw_step.compiled_parts.cache_clear()
        torch._dynamo.reset()
    torch.testing.assert_close(compiled, plain)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_what_cannot_be_compiled_is_done_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> object:
        def call(*_: object) -> None:
            raise RuntimeError("no compiler here\nmore of it")

        return call

    monkeypatch.setattr(draw_step.torch, "compile", broken)
    draw_step.compiled_parts.cache_clear()
    try:
        monkeypatch.setattr(draw_module, "plain_parts", draw_step.compiled_parts)
        with pytest.warns(UserWarning, match="no compiler here$"):
            drawn = model()(pictures())
    finally:
        draw_step.compiled_parts.cache_clear()
    assert drawn.bound.isfinite().all()
