"""What holds for every decoder: steps = whole, beams = rows, padded = unpadded."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from regard.layers.contracts import Encoded
from regard.models import modes, presets
from regard.models import transformer_models as family
from regard.models.encoder_decoder import EncoderDecoder

V = 23
SOURCE = torch.tensor([[5, 6, 7, 8, 9, 10, 3], [11, 12, 13, 3, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0]])
MASK = SOURCE != 0
INPUTS = torch.tensor([[2, 4, 5, 6, 7], [2, 8, 9, 10, 11], [2, 12, 13, 14, 15]])


def recurrent_cases() -> Iterator[tuple[str, EncoderDecoder]]:
    sizes = {"hidden": 6, "embedding": 5}
    feeds = ((("initial",), "last"), (("initial", "step", "readout"), "mean"), ((), "last"))
    for cell, place, feeding, (feed, context) in itertools.product(
        ("gru", "lstm", "elman", "gru-reset-before"),
        ("before", "after", "between", "next"),
        (False, True),
        feeds,
    ):
        name = f"{cell}-{place}{'-fed' if feeding else ''}-{'+'.join(feed) or 'unfed'}"
        options = {"cell": cell, "place": place, "input_feeding": feeding, "feed": feed}
        yield (
            name,
            presets.recurrent(
                V, V, **sizes, **options, context=context, decoder_layers=2, readout="maxout"
            ),
        )
    for place, feeding in itertools.product(("before", "after", "between", "next"), (False, True)):
        options = {"place": place, "input_feeding": feeding, "attention": {"dynamic": False}}
        name = f"static-{place}{'-fed' if feeding else ''}"
        yield name, presets.recurrent(V, V, **sizes, **options, decoder_layers=2)
    for context in ("backward", "transform", "max", "ends", "linear", "attention"):
        yield (
            context,
            presets.recurrent(V, V, **sizes, context=context, attention=None, feed=("step",)),
        )
    for score, region in (("dot", "everywhere"), ("additive", "window(1, clamp=True)")):
        attention = {"score": score, "region": region}
        options = {"attention": attention, "bidirectional": False, "place": "after"}
        yield f"{score}-{region}", presets.recurrent(V, V, **sizes, **options)


def preset_cases() -> Iterator[tuple[str, EncoderDecoder]]:
    yield "rnnsearch", presets.rnnsearch(V, V, embedding=5, hidden=6, maxout=4)
    yield "rnnenc", presets.rnnenc(V, V, embedding=5, hidden=6, maxout=4)
    yield "tutorial", presets.tutorial(V, V, hidden=6, max_length=4)
    for attention, score, feed in itertools.product(
        ("global", "local-m", "local-p", "none"),
        ("dot", "general", "concat", "location"),
        (True, False),
    ):
        options = {"attention": attention, "score": score, "feed": feed, "width": 2, "layers": 2}
        yield (
            f"luong-{attention}-{score}{'-fed' if feed else ''}",
            presets.luong(V, V, embedding=6, hidden=6, **options),
        )
    yield "static-rnnsearch", presets.rnnsearch(V, V, hidden=6, attention={"dynamic": False})
    yield "language-model", modes.language_model(V, embedding=5, hidden=6, layers=2)
    for region in ("everywhere", "window(2)"):
        past = modes.language_model(V, embedding=5, hidden=6, attention={"region": region})
        yield f"language-model-past-{region}", past


def transformer_cases() -> Iterator[tuple[str, EncoderDecoder]]:
    shapes = itertools.product(
        ("post", "pre"), ("sinusoidal", "learned", "rotary", "none"), ("relu", "swiglu")
    )
    for norm, positions, activation in shapes:
        shape = {
            "size": 8,
            "heads": 2,
            "key_heads": 1,
            "inner": 12,
            "activation": activation,
            "norm": norm,
            "positions": positions,
            "max_positions": 8,
        }
        yield (
            f"transformer-{norm}-{positions}-{activation}",
            family.transformer(V, V, **shape, encoder_layers=2, decoder_layers=2),
        )
    shape = {"size": 8, "heads": 2, "inner": 12, "norm": "pre", "positions": "rotary"}
    for score, region in itertools.product(
        ("dot", "bilinear", "cosine(0.2)", "concat", "additive", "location(9)", "distance"),
        ("everywhere", "window(1)", "window(2, 0)", "atrous(2)", "sparse(2)"),
    ):
        how = {"score": score, "region": region}
        yield (
            f"transformer-{score}-{region}",
            family.transformer(
                V,
                V,
                **shape,
                encoder_layers=1,
                decoder_layers=2,
                encoder_attention=how,
                decoder_attention=how,
                cross_attention={"score": score},
            ),
        )
    for cross in ("window(2, clamp=True)", "predicted-window(width=2)"):
        options = {
            "encoder_layers": 1,
            "decoder_layers": 2,
            "cross_attention": {"region": cross},
        }
        yield f"transformer-cross-{cross}", family.transformer(V, V, **shape, **options)
    turns = {"score": "cosine(0.3)", "region": ("window(1)", "atrous(2)"), "normalize": "sparsemax"}
    yield "transformer-language", family.language_model(V, **shape, layers=3, attention=turns)


CASES = dict([*recurrent_cases(), *preset_cases(), *transformer_cases()])


@pytest.fixture(params=CASES)
def model(request: pytest.FixtureRequest) -> EncoderDecoder:
    made = CASES[request.param].double().eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in made.parameters():
            p.normal_(std=0.4, generator=generator)
    return made


def steps(model: EncoderDecoder, encoded: Encoded, each: int = 1) -> tuple[Tensor, Tensor | None]:
    """The logits and weights of all steps, with `each` hypotheses for every sentence."""
    rows = torch.arange(len(INPUTS)).repeat_interleave(each)
    state = model.decoder.start(encoded)
    state = state if each == 1 else state.select(rows)
    logits, weights = [], []
    for tokens in INPUTS.unbind(1):
        step = model.decoder.step(tokens.repeat_interleave(each), state, weights=True)
        state = step.state
        logits.append(step.logits)
        if step.attended is not None:
            weights.append(step.attended.weights)
    return torch.stack(logits, 1), torch.stack(weights, 1) if weights else None


def test_the_steps_equal_the_whole(model: EncoderDecoder) -> None:
    encoded = model.encode(SOURCE, MASK)
    whole = model.decoder(INPUTS, encoded, weights=True)
    logits, weights = steps(model, encoded)
    torch.testing.assert_close(model.decoder.project(whole.outputs), logits)
    if whole.attended is not None:
        torch.testing.assert_close(whole.attended.weights, weights)
        assert bool((weights[~MASK[:, None].expand_as(weights)] == 0).all())


def test_hypotheses_of_a_sentence_do_not_touch_each_other(model: EncoderDecoder) -> None:
    encoded = model.encode(SOURCE, MASK)
    alone, _ = steps(model, encoded)
    together, _ = steps(model, encoded, each=3)
    torch.testing.assert_close(together, alone.repeat_interleave(3, 0))


def test_padding_changes_nothing(model: EncoderDecoder) -> None:
    whole = model.decoder.project(model(SOURCE, MASK, INPUTS).outputs)
    for row, length in enumerate(MASK.sum(-1).tolist()):
        one = slice(row, row + 1)
        alone = model(SOURCE[one, :length], MASK[one, :length], INPUTS[one])
        torch.testing.assert_close(model.decoder.project(alone.outputs), whole[one])


def test_a_state_is_selected_as_a_whole(model: EncoderDecoder) -> None:
    """Re-ordering in mid-sentence: two beams of sentences 2 and 0 go on as if they had been alone."""
    encoded = model.encode(SOURCE, MASK)
    full, _ = steps(model, encoded)
    state = model.decoder.start(encoded)
    for t in range(2):
        state = model.decoder.step(INPUTS[:, t], state).state
    sentences = torch.tensor([2, 0])
    rows = sentences.repeat_interleave(2)
    state = state.select(rows, sentences)
    for t in range(2, 5):
        step = model.decoder.step(INPUTS[rows, t], state)
        state = step.state
        torch.testing.assert_close(step.logits, full[rows, t])


def test_every_parameter_learns(model: EncoderDecoder) -> None:
    """…in float32, where the weight gradients are made at once: finite, and equal to float64's."""
    exact = model.decoder.project(model(SOURCE, MASK, INPUTS).outputs).log_softmax(-1)[..., 4].sum()
    gradients = dict(
        zip(
            (name for name, _ in model.named_parameters()),
            torch.autograd.grad(exact, list(model.parameters()), allow_unused=True),
            strict=True,
        )
    )
    model.float()
    loss = model.decoder.project(model(SOURCE, MASK, INPUTS).outputs).log_softmax(-1)[..., 4].sum()
    loss.backward()
    for name, parameter in model.named_parameters():
        expected = gradients[name]
        if expected is None:
            assert parameter.grad is None or not bool(parameter.grad.any()), name
            continue
        torch.testing.assert_close(
            parameter.grad.double(),
            expected,
            atol=2e-4,
            rtol=2e-3,
            msg=lambda m, n=name: f"{n}: {m}",
        )


def test_unused_parameters_are_few() -> None:
    """Nothing is built that the forward pass does not use."""
    for name, made in CASES.items():
        if "unfed" in name or "local-p" in name or "transformer-location" in name:
            continue
        made.double().zero_grad()
        made.decoder.project(made(SOURCE, MASK, INPUTS).outputs).square().sum().backward()
        idle = [n for n, p in made.named_parameters() if p.grad is None]
        assert not idle, (name, idle)


def test_mistakes_are_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="Did you mean 'before'"):
        presets.recurrent(V, V, place="befor")
    with pytest.raises(ValueError, match="Did you mean 'mean'"):
        presets.recurrent(V, V, context="meen")
    model = presets.luong(V, V, layers=2, hidden=4, embedding=4)
    model.encoder = presets.luong(V, V, layers=1, hidden=4, embedding=4).encoder
    with pytest.raises(ValueError, match="copies the encoder's last"):
        model(SOURCE, MASK, INPUTS)


@pytest.mark.parametrize("place", ["before", "after", "between", "next"])
def test_a_static_attention_is_that_of_the_first_state(place: str) -> None:
    sizes = {"hidden": 6, "embedding": 5}
    model = presets.recurrent(V, V, **sizes, place=place, attention={"dynamic": False}).double()
    encoded = model.encode(SOURCE, MASK)
    first = model.decoder.start(encoded).cells[-1][0]  # (B, n)
    wanted = model.decoder.attention(first[:, None], encoded.states, mask=MASK, weights=True)
    found = model(SOURCE, MASK, INPUTS, weights=True).attended
    for t in range(INPUTS.shape[1]):
        torch.testing.assert_close(found.weights[:, t], wanted.weights[:, 0])
        torch.testing.assert_close(found.context[:, t], wanted.context[:, 0])
    other = INPUTS.clone()
    other[:, 1:] = 4
    again = model(SOURCE, MASK, other, weights=True).attended
    torch.testing.assert_close(again.weights, found.weights)


def test_a_dynamic_attention_moves_with_the_target() -> None:
    model = presets.recurrent(V, V, hidden=6, embedding=5).double()
    weights = model(SOURCE, MASK, INPUTS, weights=True).attended.weights
    assert not torch.allclose(weights[0, 1], weights[0, 2])


def test_what_a_static_attention_draws_holds_for_the_whole_target() -> None:
    how = {"dynamic": False, "normalize": "gumbel(0.5)"}
    model = presets.recurrent(V, V, hidden=6, embedding=5, attention=how).double().train()
    weights = model(SOURCE, MASK, INPUTS, weights=True).attended.weights
    torch.testing.assert_close(weights, weights[:, :1].expand_as(weights))
    hard = presets.recurrent(V, V, hidden=6, attention={**how, "normalize": "hard"}).train()
    index = hard(SOURCE, MASK, INPUTS).attended.choice.index
    assert (index == index[:, :1]).all()
