"""ABS and the pointer-generator: their formulas, and what holds for every decoder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from regard.attention.recording import recording
from regard.layers.special_tokens import BOS, EOS, UNK
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.summarisers.abs_model import abs_model
from regard.models.summarisers.extractive import ExtractiveFeatures
from regard.models.summarisers.pointer import PointerDecoder, pointer_generator
from regard.models.summarisers.source_vectors import Tdnn, smoothed
from regard.search import Search, search

V = 23
SOURCE = torch.tensor([[5, 6, V, 8, V + 1, V, 3], [11, V, 13, 3, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0]])
KNOWN = SOURCE.masked_fill(SOURCE >= V, UNK)
MASK = SOURCE != 0
INPUTS = torch.tensor([[2, 4, V + 1, 6, V], [2, 8, V, 10, 11], [2, 12, 13, 14, 15]])
SMALL = {"embedding": 6, "hidden": 7}


def cases() -> Iterator[tuple[str, EncoderDecoder]]:
    for encoder in ("attention", "tdnn", "bow", "none"):
        yield f"abs-{encoder}", abs_model(V, V, encoder=encoder, window=3, **SMALL)
    yield "abs-plus", abs_model(V, V, extractive=True, window=3, **SMALL)
    yield "pointer", pointer_generator(V, coverage=None, **SMALL)
    yield "pointer-coverage", pointer_generator(V, cell="gru", **SMALL)


CASES = dict(cases())
POINTERS = [name for name in CASES if "pointer" in name]


def drawn(model: EncoderDecoder) -> EncoderDecoder:
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.double().eval().parameters():
            parameter.normal_(std=0.5, generator=generator)
    return model


@pytest.fixture(params=CASES)
def model(request: pytest.FixtureRequest) -> EncoderDecoder:
    return drawn(CASES[request.param])


def texts(model: EncoderDecoder) -> tuple[Tensor, Tensor]:
    """Only what copies knows of words behind the vocabulary."""
    if isinstance(model.decoder, PointerDecoder):
        return SOURCE, INPUTS
    return KNOWN, INPUTS.masked_fill(INPUTS >= V, UNK)


def steps(model: EncoderDecoder, each: int = 1) -> Tensor:
    source, inputs = texts(model)
    state = model.decoder.start(model.encode(source, MASK))
    rows = torch.arange(len(source)).repeat_interleave(each)
    state = state if each == 1 else state.select(rows)
    logits = []
    for tokens in inputs.unbind(1):
        step = model.decoder.step(tokens.repeat_interleave(each), state, weights=True)
        state = step.state
        logits.append(step.logits)
    return torch.stack(logits, 1)


def test_steps_equal_the_whole_and_hypotheses_do_not_touch(model: EncoderDecoder) -> None:
    source, inputs = texts(model)
    whole = model.decoder.project(model(source, MASK, inputs).outputs)
    torch.testing.assert_close(steps(model), whole)
    torch.testing.assert_close(steps(model, each=3), whole.repeat_interleave(3, 0))


def test_nothing_depends_on_the_batch(model: EncoderDecoder) -> None:
    source, inputs = texts(model)
    whole = model.decoder.project(model(source, MASK, inputs).outputs)
    for row, length in enumerate(MASK.sum(-1).tolist()):
        one = slice(row, row + 1)
        alone = model(source[one, :length], MASK[one, :length], inputs[one])
        logits = model.decoder.project(alone.outputs)
        size = logits.shape[-1]
        torch.testing.assert_close(logits, whole[one, ..., :size], rtol=1e-10, atol=1e-10)
        assert (whole[one, ..., size:] == -torch.inf).all()


def test_a_state_is_selected_as_a_whole(model: EncoderDecoder) -> None:
    source, inputs = texts(model)
    full = steps(model)
    state = model.decoder.start(model.encode(source, MASK))
    for t in range(2):
        state = model.decoder.step(inputs[:, t], state).state
    sentences = torch.tensor([2, 0])
    rows = sentences.repeat_interleave(2)
    state = state.select(rows, sentences)
    for t in range(2, 5):
        step = model.decoder.step(inputs[rows, t], state)
        state = step.state
        torch.testing.assert_close(step.logits, full[rows, t])


def test_an_empty_source_gives_numbers_and_finite_gradients(model: EncoderDecoder) -> None:
    source, inputs = texts(model)
    for mask in (MASK & (torch.arange(3) != 1)[:, None], torch.zeros_like(MASK)):
        model.zero_grad()
        decoded = model(source, mask, inputs)
        logits = model.decoder.project(decoded.outputs)
        assert not logits.isnan().any()
        logits.log_softmax(-1)[..., 4].sum().backward()
        assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_beams_are_the_same_alone_and_together(model: EncoderDecoder) -> None:
    source, _ = texts(model)
    if getattr(model.decoder, "extractive", None) is not None:
        model.decoder.extractive.alpha.copy_(torch.tensor([1.0, 2.0, 0.5, -1.0]))
    settings = Search(beam=3, nbest=3, max_length=6)
    together = search(model.decoder, model.encode(source, MASK), settings)
    for row, length in enumerate(MASK.sum(-1).tolist()):
        one = slice(row, row + 1)
        encoded = model.encode(source[one, :length], MASK[one, :length])
        (alone,) = search(model.decoder, encoded, settings)
        assert [h.tokens for h in alone] == [h.tokens for h in together[row]]
        assert [h.score for h in alone] == pytest.approx([h.score for h in together[row]], abs=1e-5)


# ABS


def test_abs_is_its_formula() -> None:
    model = drawn(CASES["abs-attention"])
    decoder, embed = model.decoder, model.encoder.embed.weight
    source, inputs = KNOWN[:1], torch.tensor([[BOS, 4, 7]])
    got = decoder.project(model(source, MASK[:1], inputs).outputs)[0, 2]
    window = [BOS, 4, 7]
    h = torch.tanh(decoder.hidden(torch.cat([decoder.embed.weight[y] for y in window])))
    asked = torch.cat([decoder.embed_context.weight[y] for y in window])
    words = embed[source[0]]
    attention = torch.softmax(words @ decoder.attention.score.weight.T @ asked, 0)
    near = torch.stack([words[max(0, j - 2) : j + 3].mean(0) for j in range(len(words))])
    wanted = decoder.output(torch.cat([h, attention @ near]))
    torch.testing.assert_close(got, wanted)


def test_smoothing_sees_only_what_is_real() -> None:
    x = torch.randn(1, 5, 2, dtype=torch.float64)
    mask = torch.tensor([[True, True, True, False, False]])
    got = smoothed(x, mask, 1)[0]
    for j, (first, end) in enumerate([(0, 2), (0, 3), (1, 3)]):
        torch.testing.assert_close(got[j], x[0, first:end].mean(0))
    assert smoothed(x, torch.zeros_like(mask), 1).isfinite().all()


@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_tdnn_is_its_definition(length: int) -> None:
    torch.manual_seed(0)
    net, x = Tdnn(3, 1, 2).double(), torch.randn(1, length, 3, dtype=torch.float64)

    def convolved(rows: list[Tensor], layer: int) -> list[Tensor]:
        weight, bias = net.convolutions[layer].weight, net.convolutions[layer].bias
        zero = torch.zeros_like(rows[0])
        padded = [zero, *rows, zero]
        return [
            sum(weight[:, :, k] @ padded[i + k] for k in range(3)) + bias for i in range(len(rows))
        ]

    first = convolved([*x[0]], 0)
    halves = [torch.stack(first[i : i + 2]).amax(0).tanh() for i in range(0, length, 2)]
    wanted = torch.stack(convolved(halves, 1)).amax(0)
    mask = torch.arange(length + 3)[None] < length
    padded = torch.cat([x, torch.randn(1, 3, 3, dtype=torch.float64)], 1)
    padded = padded.masked_fill(~mask[..., None], 0.0)
    torch.testing.assert_close(net(padded, mask)[0], wanted)


def test_abs_attends_and_can_be_recorded() -> None:
    model = drawn(CASES["abs-attention"])
    with recording(model) as recorded:
        model(KNOWN, MASK, INPUTS.clamp(max=V - 1))
    (one,) = recorded
    assert one.weights.shape == (3, 5, 7)
    torch.testing.assert_close(one.weights.sum(-1), torch.ones(3, 5).double())


# ABS+


def by_definition(source: list[int], before: tuple[int, int], word: int) -> list[float]:
    places = [j for j, x in enumerate(source) if x == word]
    pairs = [j for j in places if j >= 1 and source[j - 1] == before[1]]
    triples = [j for j in pairs if j >= 2 and source[j - 2] == before[0]]
    later = [j for j in places if before[1] in source[j + 1 :]]
    return [float(bool(x)) for x in (places, pairs, triples, later)]


def test_extractive_features_are_their_definition() -> None:
    model = drawn(CASES["abs-plus"])
    inputs = torch.tensor([[BOS, 5, 6, UNK], [BOS, 13, 11, UNK], [BOS, 4, 3, 3]])
    wanted = torch.tensor([[5, 6, UNK, 8], [13, 11, UNK, 13], [4, 3, 3, 4]])
    encoded = model.encode(KNOWN, MASK)
    got = model.decoder.features(inputs, wanted, encoded)
    for row in range(3):
        source = KNOWN[row][MASK[row]].tolist()
        said = [BOS, *inputs[row].tolist()]
        for t in range(4):
            assert got[row, t].tolist() == by_definition(
                source, (said[t], said[t + 1]), int(wanted[row, t])
            )
    assert got.sum((0, 1)).gt(0).all(), "every feature is seen"


def test_the_bonus_of_a_step_is_that_of_its_features_and_never_above_0() -> None:
    extractive = ExtractiveFeatures()
    extractive.alpha.copy_(torch.tensor([1.0, -2.0, 0.5, 3.0]))
    before = torch.tensor([[5, 6], [13, 3], [4, 4]])
    every = extractive.every_bonus(before, KNOWN, MASK, V)
    assert every.max() <= 0
    for word in range(3, V):
        features = extractive.features(before, torch.full((3,), word), KNOWN, MASK)
        torch.testing.assert_close(every[:, word], extractive.bonus(features))


def test_without_weights_the_features_change_nothing() -> None:
    model, settings = drawn(CASES["abs-plus"]), Search(beam=4, nbest=4, max_length=5)
    model.decoder.extractive.alpha.zero_()
    encoded = model.encode(KNOWN, MASK)
    found = search(model.decoder, encoded, settings)
    extractive, model.decoder.extractive = model.decoder.extractive, None
    try:
        plain = search(model.decoder, encoded, settings)
    finally:
        model.decoder.extractive = extractive
    assert found == plain


def test_weights_rank_and_log_probabilities_stay_the_models() -> None:
    model = drawn(CASES["abs-plus"])
    decoder, encoded = model.decoder, model.encode(KNOWN[:1], MASK[:1])
    decoder.extractive.alpha.copy_(torch.tensor([9.0, 9.0, 0.0, 0.0]))
    (found,) = search(decoder, encoded, Search(beam=2, length_penalty=0, max_length=4))
    best = found[0]
    assert set(best.tokens) <= set(KNOWN[0].tolist()), "words of the source"
    inputs = torch.tensor([[BOS, *best.tokens[:-1]]])
    wanted = torch.tensor([best.tokens])
    log_probs = decoder.project(decoder(inputs, encoded).outputs).log_softmax(-1)
    each = log_probs.gather(-1, wanted[..., None])[0, :, 0]
    assert best.log_probs == pytest.approx(each.tolist(), abs=1e-4)
    bonus = decoder.extractive.bonus(decoder.features(inputs, wanted, encoded)).sum()
    assert best.score == pytest.approx(float(each.sum() + bonus), abs=1e-4)


# the pointer-generator


@pytest.mark.parametrize("name", POINTERS)
def test_probabilities_sum_to_one_over_the_extended_vocabulary(name: str) -> None:
    logits = steps(drawn(CASES[name]))
    assert logits.shape[-1] == V + SOURCE.shape[1]
    torch.testing.assert_close(logits.exp().sum(-1), torch.ones(3, 5).double())
    words = (SOURCE - V + 1).clamp(min=0).amax(-1)  # unknown ones of each source: 2, 1, 0
    for row, count in enumerate(words.tolist()):
        assert logits[row, :, : V + count].isfinite().all()
        assert (logits[row, :, V + count :] == -torch.inf).all()


@pytest.mark.parametrize("name", POINTERS)
def test_the_mixture_is_its_formula(name: str) -> None:
    model = drawn(CASES[name])
    decoder = model.decoder
    decoded = model(SOURCE, MASK, INPUTS, weights=True)
    weights, shares = decoded.attended.weights, decoded.generated
    assert decoded.outputs.exp()[0, :, V].tolist() == pytest.approx(
        ((1 - shares) * (weights[..., 2] + weights[..., 5]))[0].tolist()
    )
    with torch.no_grad():
        decoder.gate.bias.fill_(-60.0)  # only copies
    copied = model(SOURCE, MASK, INPUTS, weights=True)
    everything = torch.zeros(3, 5, V + 7).double()
    tokens = SOURCE[:, None].expand(-1, 5, -1)
    everything = everything.scatter_add(-1, tokens, copied.attended.weights)
    torch.testing.assert_close(copied.outputs.exp(), everything)


def test_coverage_is_in_the_score_and_in_the_loss() -> None:
    model = drawn(CASES["pointer-coverage"])
    decoder, attention = model.decoder, model.decoder.attention
    asked: list[Tensor] = []
    handle = attention.register_forward_pre_hook(lambda _, args: asked.append(args[0]))
    decoded = model(SOURCE, MASK, INPUTS, weights=True)
    handle.remove()
    weights, states = decoded.attended.weights, model.encode(SOURCE, MASK).states
    score, coverage = attention.score, torch.zeros(3, 7).double()
    total = torch.zeros(3).double()
    for t, query in enumerate(asked):
        seen = coverage[..., None] * decoder.seen_before.weight[:, 0]
        inside = query @ score.query_weight + states @ score.key_weight + seen
        scores = (inside.tanh() @ score.vector).squeeze(-1).masked_fill(~MASK, -torch.inf)
        torch.testing.assert_close(weights[:, t], scores.softmax(-1))
        total += torch.minimum(weights[:, t], coverage).sum(-1)
        coverage = coverage + weights[:, t]
    torch.testing.assert_close(decoded.penalty, decoder.covered * total)


def test_padded_targets_pay_no_penalty() -> None:
    model = drawn(CASES["pointer-coverage"])
    short = model(SOURCE, MASK, INPUTS[:, :2]).penalty
    padded = torch.cat([INPUTS[:, :2], torch.tensor([[EOS, 0]] * 3)], 1)
    torch.testing.assert_close(model(SOURCE, MASK, padded).penalty, short)


@pytest.mark.parametrize("name", POINTERS)
def test_gradients_are_those_of_the_formula(name: str) -> None:
    """…also where a word has no probability at all: nothing is NaN, and finite differences agree."""
    model = drawn(CASES[name])

    def loss() -> Tensor:
        decoded = model(SOURCE, MASK, INPUTS)
        logits = model.decoder.project(decoded.outputs)
        wanted = torch.tensor([[4, V + 1, 6, V, 3], [8, V, 10, 11, 3], [12, 13, 14, 15, 3]])
        total = torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())
        return total if decoded.penalty is None else total + decoded.penalty.sum()

    model.zero_grad()
    loss().backward()
    for weight in (model.decoder.gate.weight, model.encoder.embed.weight):
        place = int(weight.grad.abs().argmax())
        with torch.no_grad():
            flat = weight.view(-1)
            flat[place] += 1e-6
            up = loss()
            flat[place] -= 2e-6
            down = loss()
            flat[place] += 1e-6
        assert float((up - down) / 2e-6) == pytest.approx(
            float(weight.grad.view(-1)[place]), rel=1e-4
        )
        weight.grad = None
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
