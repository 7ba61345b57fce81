"""The presets against the papers' formulas, written out by hand for one sentence and a few steps."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from regard.attention.scores import Additive
from regard.models import presets
from regard.models.encoder_decoder import EncoderDecoder

V, E, N, L = 11, 4, 3, 2  # vocabulary, embedding, hidden, maxout
SOURCE = torch.tensor([[5, 6, 7, 3]])
MASK = torch.ones_like(SOURCE, dtype=torch.bool)
INPUTS = torch.tensor([[2, 4, 8]])


def filled(model: EncoderDecoder, std: float = 0.7) -> EncoderDecoder:
    generator = torch.Generator().manual_seed(3)
    model = model.double().eval()
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(std=std, generator=generator)
    return model


def logits(model: EncoderDecoder) -> Tensor:
    return model.decoder.project(model(SOURCE, MASK, INPUTS).outputs)[0]


def reset_before(cell: torch.nn.Module, projected: Tensor, h: Tensor) -> Tensor:
    """The gates of Cho et al. 2014, with `projected` = W x + b (and what else enters all gates)."""
    r, z, n = projected.chunk(3, -1)
    u_r, u_z = cell.weight_hh.chunk(2)
    r, z = torch.sigmoid(r + u_r @ h), torch.sigmoid(z + u_z @ h)
    return (1 - z) * h + z * torch.tanh(n + cell.weight_hn @ (r * h))


def maxout(t: Tensor) -> Tensor:
    return torch.stack([torch.maximum(t[2 * j], t[2 * j + 1]) for j in range(len(t) // 2)])


def rnnsearch_states(model: EncoderDecoder) -> tuple[Tensor, Tensor]:
    """h_j = [fwd_j; bwd_j] (S, 2n), and bwd_1."""
    network, embedded = model.encoder.network, model.encoder.embed(SOURCE[0])
    ahead, back = network.forwards[0], network.backwards[0]
    h, forwards = torch.zeros(N).double(), []
    for x in embedded:
        h = reset_before(ahead, ahead.weight_ih @ x + ahead.bias_ih, h)
        forwards.append(h)
    h, backwards = torch.zeros(N).double(), []
    for x in embedded.flip(0):
        h = reset_before(back, back.weight_ih @ x + back.bias_ih, h)
        backwards.insert(0, h)
    return torch.stack([torch.cat(p) for p in zip(forwards, backwards, strict=True)]), backwards[0]


@pytest.mark.parametrize("sees", ["previous", "current"])
def test_rnnsearch_is_the_paper(sees: str) -> None:
    model = filled(
        presets.rnnsearch(V, V, embedding=E, hidden=N, alignment=5, maxout=L, readout_sees=sees)
    )
    states, backward_1 = rnnsearch_states(model)
    decoder, score = model.decoder, model.decoder.attention.score
    cell, mix = decoder.network.forwards[0], decoder.readout.mix
    s = torch.tanh(decoder.bridge.transform.weight @ backward_1 + decoder.bridge.transform.bias)
    expected = []
    for y in decoder.embed(INPUTS[0]):
        e = torch.stack(
            [
                score.vector[:, 0] @ torch.tanh(s @ score.query_weight + h @ score.key_weight)
                for h in states
            ]
        )
        c = torch.softmax(e, 0) @ states
        new = reset_before(cell, cell.weight_ih @ torch.cat([y, c]) + cell.bias_ih, s)
        seen = s if sees == "previous" else new
        t = maxout(mix.weight @ torch.cat([seen, y, c]) + mix.bias)
        expected.append(decoder.output.weight @ t + decoder.output.bias)
        s = new
    torch.testing.assert_close(logits(model), torch.stack(expected))


def test_rnnenc_is_the_paper() -> None:
    model = filled(presets.rnnenc(V, V, embedding=E, hidden=N, maxout=L))
    encoder, decoder = model.encoder, model.decoder
    cell, h = encoder.network.forwards[0], torch.zeros(N).double()
    for x in encoder.embed(SOURCE[0]):
        h = reset_before(cell, cell.weight_ih @ x + cell.bias_ih, h)
    c = torch.tanh(decoder.summary.transform.weight @ h + decoder.summary.transform.bias)
    s = torch.tanh(decoder.bridge.transform.weight @ c + decoder.bridge.transform.bias)
    cell, mix = decoder.network.forwards[0], decoder.readout.mix
    expected = []
    for y in decoder.embed(INPUTS[0]):
        x_r, x_z, x_n = (cell.weight_ih @ y + cell.bias_ih).chunk(3)
        h_r, h_z, h_n = (cell.weight_hh @ s + cell.weight_ch @ c + cell.bias_hh).chunk(3)
        r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
        s = z * s + (1 - z) * torch.tanh(x_n + r * h_n)
        t = maxout(mix.weight @ torch.cat([s, y, c]) + mix.bias)
        expected.append(decoder.output.weight @ t + decoder.output.bias)
    torch.testing.assert_close(logits(model), torch.stack(expected))


@pytest.mark.parametrize("feed", [True, False])
@pytest.mark.parametrize("attention", ["global", "local-m", "local-p"])
def test_luong_is_the_paper(attention: str, feed: bool) -> None:
    """One layer, general score: a_t from h_t, h~_t = tanh(W_c [c_t; h_t]), h~ fed and never cut."""
    width = 1
    model = filled(
        presets.luong(
            V, V, attention=attention, feed=feed, layers=1, embedding=N, hidden=N, width=width
        )
    )
    encoder, decoder = model.encoder, model.decoder
    lstm = torch.nn.LSTM(N, N, batch_first=True).double()
    lstm.load_state_dict(
        {f"{k}_l0": v for k, v in encoder.network.forwards[0].state_dict().items()}
    )
    outputs, (h, c) = lstm(encoder.embed(SOURCE.flip(1)))  # the source is read from its end …
    states = outputs[0].flip(0)  # … and its states are back in the order of the source
    cell = torch.nn.LSTMCell(2 * N if feed else N, N).double()
    cell.load_state_dict(decoder.network.forwards[0].state_dict())
    h, c, fed = h[0], c[0], torch.zeros(1, N).double()
    region, expected = decoder.attention.region, []
    for t, y in enumerate(decoder.embed(INPUTS[0])):
        h, c = cell(torch.cat([y[None], fed], -1) if feed else y[None], (h, c))
        scores = h[0] @ decoder.attention.score.weight @ states.T
        s = torch.arange(len(states)).double()
        if attention == "local-m":
            inside = (s - min(t, len(states) - 1)).abs() <= width
            a = torch.softmax(scores.masked_fill(~inside, -math.inf), 0)
        elif attention == "local-p":
            place = torch.tanh(h[0] @ region.weight) @ region.vector[:, 0]
            p = len(states) * torch.sigmoid(
                place
            )  # a real number: rounding would kill its gradient
            inside = (s - p).abs() <= width
            a = torch.softmax(scores.masked_fill(~inside, -math.inf), 0)
            a = a * torch.exp(-((s - p) ** 2) / (2 * (width / 2) ** 2))  # not renormalised
        else:
            a = torch.softmax(scores, 0)
        fed = decoder.readout(h, (a @ states)[None])
        mixed = decoder.readout.mix
        torch.testing.assert_close(
            fed[0], torch.tanh(mixed.weight @ torch.cat([h[0], a @ states]) + mixed.bias)
        )
        expected.append(decoder.output(fed)[0])
    torch.testing.assert_close(logits(model), torch.stack(expected))


def test_tutorial_attends_by_position_and_not_by_word() -> None:
    """Permuting the encoder's states leaves its weights; those of content attention move."""
    order = torch.tensor([2, 0, 3, 1])
    for model, moves in (
        (presets.tutorial(V, V, hidden=N, max_length=6), False),
        (presets.rnnsearch(V, V, embedding=E, hidden=N, maxout=L), True),
    ):
        filled(model)
        encoded = model.encode(SOURCE, MASK)
        state = model.decoder.start(encoded)
        mixed = model.decoder.attention.remember(encoded.states[:, order], encoded.mask)
        token = INPUTS[:, 0]
        here = model.decoder.step(token, state, weights=True).attended.weights
        moved = type(state)(state.cells, state.fed, state.context, mixed)
        there = model.decoder.step(token, moved, weights=True).attended.weights
        assert torch.allclose(here, there) is not moves
        if moves:
            torch.testing.assert_close(here[:, order], there)


def test_tutorial_is_the_tutorial() -> None:
    model = filled(presets.tutorial(V, V, hidden=N, max_length=6))
    encoder, decoder = model.encoder, model.decoder
    gru = torch.nn.GRU(N, N, batch_first=True).double()
    gru.load_state_dict({f"{k}_l0": v for k, v in encoder.network.forwards[0].state_dict().items()})
    states, h = gru(encoder.embed(SOURCE))
    cell = torch.nn.GRUCell(N, N).double()
    cell.load_state_dict(decoder.network.forwards[0].state_dict())
    h, expected = h[0], []
    for y in decoder.embed(INPUTS[0]):
        every = decoder.attention.score.table @ torch.cat([y, h[0]])
        weights = torch.softmax(every[: states.shape[1]], 0)  # masked before the softmax
        x = torch.relu(decoder.enter(torch.cat([y, weights @ states[0]])))
        h = cell(x[None], h)
        expected.append(decoder.output(h)[0])
    torch.testing.assert_close(logits(model), torch.stack(expected))


def test_the_query_is_the_state_before_the_step_or_after_it() -> None:
    """Another y_(i-1) does not alter alpha_i in RNNsearch, and does in Luong's."""
    for model, alters in (
        (presets.rnnsearch(V, V, embedding=E, hidden=N, maxout=L), False),
        (presets.luong(V, V, layers=1, embedding=N, hidden=N), True),
        (presets.recurrent(V, V, embedding=E, hidden=N, place="between"), True),
    ):
        filled(model)
        state = model.decoder.start(model.encode(SOURCE, MASK))
        one, two = (
            model.decoder.step(torch.tensor([y]), state, weights=True).attended.weights
            for y in (4, 9)
        )
        assert torch.allclose(one, two) is not alters


def test_input_feeding_starts_at_zero_and_carries_a_gradient() -> None:
    """h~_0 = 0 for every sentence, and the loss at step 2 reaches W_c through h~_1."""
    model = filled(presets.luong(V, V, layers=1, embedding=N, hidden=N))
    state = model.decoder.start(model.encode(SOURCE, MASK))
    assert bool((state.fed == 0).all())
    first = model.decoder.step(INPUTS[:, 0], state)
    fed = first.state.fed
    second = model.decoder.step(INPUTS[:, 1], first.state)
    (gradient,) = torch.autograd.grad(second.logits.sum(), fed)
    assert bool(gradient.abs().sum() > 0)


def test_bahdanau_fills_the_weights_as_the_paper_says() -> None:
    model = presets.rnnsearch(50, 50, embedding=40, hidden=30, maxout=20)
    score = model.decoder.attention.score
    assert isinstance(score, Additive)
    assert bool((score.vector == 0).all())
    assert 0.0008 < float(score.key_weight.detach().std()) < 0.0012
    assert 0.009 < float(model.decoder.output.weight.detach().std()) < 0.011
    for cell in (model.encoder.network.forwards[0], model.decoder.network.forwards[0]):
        for block in (*cell.weight_hh.split(30), cell.weight_hn):
            torch.testing.assert_close(block @ block.T, torch.eye(30), atol=1e-5, rtol=0)
    assert not any(bool(p.any()) for n, p in model.named_parameters() if p.dim() == 1)


def test_luong_fills_the_weights_as_the_paper_says() -> None:
    model = presets.luong(50, 50, embedding=20, hidden=20, layers=2)
    every = torch.cat([p.detach().flatten() for p in model.parameters()])
    assert -0.1 <= float(every.min()) < -0.099
    assert 0.099 < float(every.max()) <= 0.1
