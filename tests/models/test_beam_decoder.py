"""A search by the kernels of a step finds what the modules find."""

from __future__ import annotations

import pytest
import torch

from regard.attention import beam_steps
from regard.attention.recording import recording
from regard.layers.contracts import Encoded
from regard.layers.packed_linear import pack
from regard.models import beam_decoder
from regard.models.beam_decoder import BeamDecoder
from regard.models.transformer_options import Transformer, TransformerLanguage
from regard.search import Search, search

pytest.importorskip("regard.attention.kernels.step_cpu")
pytest.importorskip("regard.search.candidates_cpu")
V = 50
SMALL = {"size": 32, "heads": 4, "inner": 64, "encoder_layers": 1, "decoder_layers": 3}


@pytest.fixture(autouse=True)
def ready(monkeypatch):
    monkeypatch.setattr(beam_steps, "_ready", True)


def made(precision="float32", **options):
    torch.manual_seed(3)
    model = Transformer(**SMALL | options).build({"source": V, "target": V}).eval()
    for parameter in model.parameters():  # so that no answer is nearly as good as another
        torch.nn.init.normal_(parameter, std=0.5)
    return pack(model, precision)


def encoded(model, lengths=(7, 1, 4, 9)) -> Encoded:
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    source = torch.randint(4, V, real.shape, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        return model.encode(source * real, real)


def found_by(decoder, source, settings):
    return [[(h.tokens, h.score) for h in each] for each in search(decoder, source, settings)]


class Plain:
    """The decoder as it is, for a search without kernels."""

    def __init__(self, decoder):
        self.start, self.step = decoder.start, decoder.step


def check_same(model, settings, source=None):
    source = encoded(model) if source is None else source
    with torch.no_grad():
        assert isinstance(model.decoder.for_search(source), BeamDecoder)
    quick = found_by(model.decoder, source, settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beam_steps, "_ready", False)
        plain = found_by(Plain(model.decoder), source, settings)
    for one, other in zip(quick, plain, strict=True):
        assert [tokens for tokens, _ in one] == [tokens for tokens, _ in other]
        for (_, score), (_, wanted) in zip(one, other, strict=True):
            assert score == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"norm": "post"},
        {"activation": "gelu", "scaled": False},
        {"activation": "swiglu", "positions": "learned"},
        {"heads": 1, "positions": "none"},
        {"positions": "rotary"},
        {"share": "all"},
        {"feed_forward": False},
    ],
    ids=str,
)
def test_it_finds_what_the_modules_find(options):
    check_same(made(**options), Search(beam=4, nbest=4, max_length=20))


@pytest.mark.parametrize(
    "settings",
    [
        Search(beam=1),
        Search(
            beam=5, length_penalty=0.0, max_length=40
        ),  # more positions than a room has at first
        Search(method="sample", nbest=3, max_length=25, seed=7),
        Search(beam=3, no_repeat_ngram=2, min_length=12),
    ],
    ids=["greedy", "long", "sample", "rules"],
)
def test_it_finds_the_same_by_any_search(settings):
    check_same(made(), settings)


def test_of_larger_matrices_and_in_8_bits():
    settings = Search(beam=3, max_length=12)
    check_same(made(size=128, inner=128), settings)
    check_same(made("int8", size=128, inner=128), settings)


def test_a_language_model_has_no_source():
    torch.manual_seed(3)
    options = TransformerLanguage(size=32, heads=4, inner=64, layers=2)
    model = pack(options.build({"text": V}).eval())
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    nothing = torch.ones(3, 1, dtype=torch.bool)
    states = torch.zeros(3, 1, 32)
    check_same(model, Search(beam=3, max_length=15), Encoded(states, nothing, states[:, 0]))


@torch.no_grad()
def test_a_state_can_be_gone_on_from_twice(monkeypatch):
    monkeypatch.setattr(beam_decoder, "PLACES", 2)
    model = made()
    decoder = model.decoder.for_search(encoded(model))
    state, plain = decoder.start(encoded(model)), model.decoder.start(encoded(model))
    rows, tokens = torch.tensor([1, 1, 0, 3, 2, 2, 2, 3]), torch.arange(4, 8)
    for _ in range(3):
        state, plain = decoder.step(tokens, state).state, model.decoder.step(tokens, plain).state
    one, other = decoder.step(tokens, state), decoder.step(tokens + 9, state)
    for said, quick in ((tokens, one), (tokens + 9, other)):
        wanted = model.decoder.step(said, plain)
        torch.testing.assert_close(quick.logits, wanted.logits, rtol=1e-4, atol=1e-4)
        wide = torch.arange(4).repeat_interleave(2)
        quick = decoder.step(
            tokens.repeat(2), quick.state.select(rows[:4].repeat_interleave(2), wide)
        )
        wide_plain = wanted.state.select(rows[:4].repeat_interleave(2), wide)
        again = model.decoder.step(tokens.repeat(2), wide_plain)
        torch.testing.assert_close(quick.logits, again.logits, rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_what_is_looked_at_or_not_plain_runs_as_it_is():
    model = made()
    source = encoded(model)
    with recording(model.decoder):
        assert model.decoder.for_search(source) is model.decoder
    for options in (
        {"key_heads": 2},
        {"decoder_attention": {"region": "window(2)"}},
        {"cross_attention": {"score": "cosine"}},
        {"cross_attention": {"normalize": "sparsemax"}},
        {"cross_attention": {"cap": 5.0}},
        {"decoder_attention": {"sinks": True}},
    ):
        other = made(**options).decoder
        assert other.for_search(source) is other, options
    double = made().double()
    assert double.decoder.for_search(encoded(double)) is double.decoder
    model.train()
    assert model.decoder.for_search(source) is model.decoder


@torch.no_grad()
def test_few_sentences_do_not_wait_for_the_kernels(monkeypatch):
    monkeypatch.setattr(beam_steps, "_ready", False)
    monkeypatch.setattr(beam_steps, "_asked", 0)
    begun = []
    monkeypatch.setattr(beam_steps.threading, "Thread", lambda **_: begun.append(1) or Begun())
    monkeypatch.setattr(beam_steps, "_thread", None)
    model = made()
    for _ in range(beam_steps.PATIENCE // 4):
        search(model.decoder, encoded(model), Search(beam=1, max_length=1))
    assert not begun
    search(model.decoder, encoded(model), Search(beam=1, max_length=1))
    assert begun == [1]


class Begun:
    def start(self):
        pass

    def join(self):
        pass
