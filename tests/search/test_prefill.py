"""A beginning that is read at once is what its steps are: outputs, states, and all that a search finds."""

from __future__ import annotations

import pytest
import torch

from regard.data.tokenizer import Tokenizer
from regard.layers.special_tokens import BOS
from regard.models import modes
from regard.models.presets import luong, recurrent
from regard.models.transformer_models import language_model, transformer
from regard.search import Search, search
from regard.search import prefill as prefilling
from regard.tasks.language.language_module import Language

V = 12
SHAPE = {"size": 16, "heads": 2, "inner": 16, "dropout": 0.0}
SMALL = {"embedding": 8, "hidden": 12}
WINDOW = {"region": "window(2)"}
LANGUAGE = {
    **{
        f"transformer, {positions}, {region}": (
            lambda positions=positions, region=region: language_model(
                V, **SHAPE, layers=2, positions=positions, attention={"region": region}
            )
        )
        for positions in ("learned", "sinusoidal", "sinusoidal-halves", "rotary", "none")
        for region in ("everywhere", "window(2)")
    },
    "transformer, atrous": lambda: language_model(
        V, **SHAPE, layers=2, attention={"region": ("atrous(2)", "first(2) | window(3)")}
    ),
    "transformer, additive": lambda: language_model(
        V, **SHAPE, layers=2, attention={"score": "additive", "normalize": "sparsemax"}
    ),
    "gru": lambda: modes.language_model(V, **SMALL, layers=2),
    "lstm": lambda: modes.language_model(V, **SMALL, cell="lstm"),
    "past": lambda: modes.language_model(V, **SMALL, attention={"score": "additive"}),
    "past in a window": lambda: modes.language_model(V, **SMALL, layers=2, attention=WINDOW),
}
TRANSLATORS = {
    "transformer": lambda: transformer(V, V, **SHAPE, encoder_layers=1, decoder_layers=2),
    "before": lambda: recurrent(V, V, **SMALL),
    "after": lambda: recurrent(V, V, **SMALL, place="after"),
    "after in a window": lambda: recurrent(V, V, **SMALL, attention=WINDOW, place="after"),
    "next": lambda: recurrent(V, V, **SMALL, place="next"),
    "static": lambda: recurrent(V, V, **SMALL, attention={"dynamic": False}),
    "input feeding": lambda: luong(V, V, layers=2, **SMALL),
}
ALL = {**LANGUAGE, **{f"translator, {name}": make for name, make in TRANSLATORS.items()}}


def made(name: str):
    torch.manual_seed(0)
    model = ALL[name]()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return model.double().eval()


def started(model):
    source = torch.tensor([[4, 5, 6, 3], [7, 8, 3, 0]])
    return model.encode(source, source != 0)


@pytest.mark.parametrize("name", ALL)
@torch.no_grad()
def test_reading_at_once_is_reading_in_steps(name):
    """In one piece or in several, at any place, with what is attended to and the states that come of it."""
    model = made(name)
    decoder, encoded = model.decoder, started(model)
    tokens = torch.cat([torch.full((2, 1), BOS), torch.randint(4, V, (2, 8))], 1)
    state, logits, weights = decoder.start(encoded), [], []
    for each in tokens.unbind(1):
        step = decoder.step(each, state, weights=True)
        state = step.state
        logits.append(step.logits)
        weights.append(None if step.attended is None else step.attended.weights)
    for cut in (0, 1, 5):
        now, outputs, seen = decoder.start(encoded), [], []
        for part in (tokens[:, :cut], tokens[:, cut:-1]) if cut else (tokens[:, :-1],):
            read = decoder.prefill(part, now, weights=True)
            now = read.state
            outputs.append(decoder.project(read.outputs))
            seen += [] if read.attended is None else [read.attended.weights]
        last = decoder.step(tokens[:, -1], now)
        found = torch.cat([*outputs, last.logits[:, None]], 1)
        torch.testing.assert_close(found, torch.stack(logits, 1), rtol=0, atol=1e-10)
        if seen and seen[0] is not None:
            whole = torch.stack(weights[:-1], 1)
            torch.testing.assert_close(torch.cat(seen, 1), whole, rtol=0, atol=1e-10)


SETTINGS = {
    "greedy": Search(beam=1, max_length=9, max_ratio=9.0),
    "beam": Search(beam=3, nbest=3, max_length=9, max_ratio=9.0, attention=True),
    "sample": Search(method="sample", nbest=3, max_length=9, max_ratio=9.0, seed=2),
    "rules": Search(beam=2, nbest=2, max_length=9, no_repeat_ngram=2, min_length=6),
}


@pytest.mark.parametrize("how", [*SETTINGS, "coverage"])
@pytest.mark.parametrize("name", ["transformer, rotary, window(2)", "past", "translator, before"])
@pytest.mark.parametrize(
    "prefix",
    [[[4, 5, 6, 7, 5], [5, 4, 4, 8, 9]], [[4, 5, 6, 7, 5], [4, 5]], [[], [4, 5]], [[4], [5]]],
)
def test_a_search_finds_the_same(name, how, prefix, monkeypatch):
    model = made(name).float()
    if how == "coverage" and not name.startswith("translator"):
        pytest.skip("there is no source")
    penalised = Search(beam=3, nbest=2, coverage_penalty=0.3, max_length=9, max_ratio=9.0)
    settings, encoded = SETTINGS.get(how, penalised), started(model)
    monkeypatch.setattr(prefilling, "AT_ONCE", 2)
    at_once = search(model.decoder, encoded, settings, prefix=prefix)
    monkeypatch.delattr(type(model.decoder), "prefill")
    in_steps = search(model.decoder, encoded, settings, prefix=prefix)
    for ours, theirs in zip(at_once, in_steps, strict=True):
        assert [one.tokens for one in ours] == [one.tokens for one in theirs]
        for one, other in zip(ours, theirs, strict=True):
            assert one.finished == other.finished
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert one.log_probs == pytest.approx(other.log_probs, abs=1e-5)
            if other.attention is not None:
                torch.testing.assert_close(one.attention, other.attention)


@pytest.mark.parametrize("name", ["transformer, rotary, window(2)", "gru", "past in a window"])
def test_prompts_of_any_lengths_are_continued_as_alone(name):
    tokenizer = Tokenizer.train(["abcd ef\n"], kind="character", verbatim=True)
    module = Language(made(name), tokenizer)
    prompts = ["abcdabcd ef", "a", "", "ab ab", "dcba "]
    together = module.generate(prompts, length=4)
    for prompt, found in zip(prompts, together, strict=True):
        (alone,) = module.generate([prompt], length=4)
        assert found.text == alone.text
        assert found.log_probs == pytest.approx(alone.log_probs, abs=1e-5)
        assert found.text.startswith(prompt)


def test_a_long_prompt_is_read_in_a_few_calls(monkeypatch):
    tokenizer = Tokenizer.train(["abcd ef\n"], kind="character", verbatim=True)
    model = made("gru")
    calls: list[int] = []
    for name in ("step", "prefill"):
        whole = getattr(type(model.decoder), name)

        def counted(decoder, tokens, *given, whole=whole, **options):
            calls.append(tokens.numel())
            return whole(decoder, tokens, *given, **options)

        monkeypatch.setattr(type(model.decoder), name, counted)
    Language(model, tokenizer).generate(["abc" * 500], length=1)
    assert calls == [512, 512, 475, 1, 1]
