"""Explaining a translation: each row is perturbed alone, and models whose answer is known are found out."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

import regard
from regard.attention.recording import recording
from regard.data.tokenizer import EOS, SPECIALS, Tokenizer
from regard.explanations.embedded_inputs import embedding, times_input
from regard.explanations.measured import MOST_WORK, searches_within
from regard.layers.contracts import Decoded, Encoded
from regard.measures.explanation_measures import rollout
from regard.models import transformer_models as family
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.presets import luong, recurrent, rnnsearch
from regard.search.ensemble import Ensemble
from regard.tasks.translate.text_translator import TextTranslator
from regard.tasks.translate.translate_explain import TranslationReading, explain_translation

LETTERS = Tokenizer.train(["a b c d e f g h"], kind="word")
V, FIRST = len(LETTERS), len(SPECIALS)
SOURCE, SAID = [4, 7, 5, 9], [6, 4, 10, EOS]
EVERY = slice(0, len(SAID))
NEAR = {"region": "window(1)"}
EVERYWHERE = {"gradient", "leave-one-out", "contrast", "erasure"}
STEERED = {"uniform", "permuted", "adversarial"}
STACKED = {"rollout", "flow", "encoder value-zeroing", "encoder norm"}


@pytest.fixture(autouse=True)
def _short_search(monkeypatch, request) -> None:
    """Where it does not matter how far a search for other weights gets."""
    if "thorough" not in request.fixturenames:
        monkeypatch.setattr("regard.explanations.measured.STEPS", 10)


@pytest.fixture
def thorough() -> None:
    """The search as it is."""


def small(**options) -> nn.Module:
    return recurrent(V, V, embedding=6, hidden=8, **options)


def layers(positions: str = "sinusoidal", **options) -> nn.Module:
    shape = {
        "size": 16,
        "heads": 4,
        "inner": 24,
        "norm": "pre",
        "dropout": 0.0,
        "positions": positions,
    }
    return family.transformer(V, V, **shape, encoder_layers=2, decoder_layers=2, **options)


MODELS = {
    "before": small,
    "after": lambda: small(place="after"),
    "between": lambda: small(place="between", cell="lstm"),
    "next": lambda: small(place="next", decoder_layers=2),
    "window": lambda: small(attention={"region": "window(1)"}),
    "predicted-window": lambda: small(attention={"region": "predicted-window(width=2)"}),
    "rnnsearch": lambda: rnnsearch(V, V, embedding=6, hidden=8, maxout=4, init="default"),
    "luong": lambda: luong(V, V, embedding=6, hidden=8, layers=2, init="default"),
    "transformer": layers,
    "learned": lambda: layers("learned"),
    "rotary": lambda: layers("rotary"),
    "windows": lambda: layers(decoder_attention=NEAR, cross_attention=NEAR),
    "ensemble": lambda: Ensemble([filled(small()), filled(small(place="after"))]),
}


def filled(model: nn.Module) -> nn.Module:
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(std=0.5)
    return model.eval()


def reading_of(name: str, dtype: torch.dtype = torch.float32) -> TranslationReading:
    model = filled(MODELS[name]()).to(dtype)
    with torch.no_grad():
        return TranslationReading(model, SOURCE, SAID)


def explained(model: nn.Module, source: list[int] = SOURCE, said: list[int] = SAID) -> dict:
    tokens = LETTERS.encode(LETTERS.decode(source))
    assert tokens.ids == source
    translator = TextTranslator(model, LETTERS, LETTERS)
    found = explain_translation(translator, tokens, said)
    twice = ("norm", "value-zeroing")
    return {
        f"encoder {each.name}" if each.map == "encoder" and each.name in twice else each.name: each
        for each in found
    }


@pytest.mark.parametrize("name", MODELS)
def test_its_own_weights_give_its_own_answers(name):
    reading = reading_of(name)
    with torch.no_grad():
        again = reading.steered(reading.weighed.weights.expand(2, -1, -1, -1), EVERY)
        reported = reading.reported(reading.weighed.weights, EVERY)
    torch.testing.assert_close(again, reading.answers.expand(2, -1, -1), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(reported, reading.weighed.reported, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_other_weights_at_one_row_change_this_row_alone(name):
    reading = reading_of(name)
    weights = reading.weighed.weights.clone()
    weights[1] = weights[1].flip(-1)
    with torch.no_grad():
        changed = (reading.steered(weights[None], EVERY)[0] - reading.answers).abs().amax(-1)
    assert changed[1] > 1e-4
    assert changed[[0, 2, 3]].amax() < 1e-5


@pytest.mark.parametrize("name", ["before", "next", "luong", "transformer", "learned"])
def test_one_step_from_the_state_before_is_as_good_as_a_whole_target(name):
    reading = reading_of(name)
    tries = torch.rand(3, *reading.weighed.weights.shape).softmax(-1)
    with torch.no_grad():
        steps, reported = reading.steered(tries, EVERY), reading.reported(tries[0], EVERY)
        assert reading.steps is not None
        reading.steps = None
        torch.testing.assert_close(reading.steered(tries, EVERY), steps, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(
            reading.reported(tries[0], EVERY), reported, atol=1e-5, rtol=1e-4
        )


@pytest.mark.parametrize("name", MODELS)
def test_measures_in_small_pieces_are_those_of_the_whole(name, monkeypatch):
    reading = reading_of(name)
    weights = reading.weighed.weights.flip(-1)

    def measured(*rows: slice) -> list[Tensor]:
        steered = [reading.steered(weights[None, part], part)[0] for part in rows]
        return [torch.cat(steered), reading.without_each(), reading.gradients()]

    with torch.no_grad():
        whole = measured(EVERY)
        monkeypatch.setattr(
            "regard.explanations.model_work.PIECE", 0.0
        )  # one row, one token at a time
        in_pieces = measured(*(slice(n, n + 1) for n in range(len(SAID))))
    torch.testing.assert_close(in_pieces, whole, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", ["before", "luong", "transformer", "learned", "ensemble"])
def test_gradients_are_what_a_little_more_of_a_token_does(name):
    """log p(y) when the vector of token j grows by a small share ε, less log p(y), over ε."""
    reading, share = reading_of(name, torch.float64), 1e-4
    found = reading.gradients()
    longer = torch.empty_like(found)
    for j in range(len(SOURCE) + 1):

        def grow(_: nn.Module, args: tuple[Tensor], vectors: Tensor, token: int = j) -> Tensor:
            here = args[0] == reading.source[0, token]
            return torch.where(here[..., None], (1 + share) * vectors, vectors)

        tables = [m for m in reading.module.modules() if isinstance(m, nn.Embedding)]
        handles = [table.register_forward_hook(grow) for table in tables]
        with torch.no_grad():
            encoded = reading._encode(reading.source)
            for handle in handles:
                handle.remove()
            outputs = reading.model.decoder.forward(reading.inputs, encoded).outputs
            log_probs = reading.model.decoder.project(outputs).log_softmax(-1)[0]
        longer[:, j] = log_probs.gather(-1, reading.said[:, None]).squeeze(-1)
    before = reading.answers.gather(-1, reading.said[:, None]).log()
    torch.testing.assert_close(
        ((longer - before) / share).float(), found.float(), atol=1e-2, rtol=1e-2
    )


def test_an_embedding_of_something_else_is_refused():
    table = nn.Embedding(5, 3)
    with embedding(table) as kept:
        total = table(torch.tensor([[1, 2, 3]])).sum()
    with pytest.raises(ValueError, match="not those of the source"):
        times_input(total, kept, torch.tensor([[1, 3, 2]]))


@pytest.mark.parametrize("name", ["before", "luong", "transformer"])
def test_leaving_a_token_out_is_scoring_without_it(name):
    reading = reading_of(name)
    translator = TextTranslator(reading.module, LETTERS, LETTERS)
    with torch.no_grad():
        found = reading.without_each()
    for j in range(len(SOURCE)):
        shorter = LETTERS.decode(SOURCE[:j] + SOURCE[j + 1 :])
        (scored,) = translator.score([shorter], [LETTERS.decode(SAID[:-1])])
        assert [math.exp(x) for x in scored.log_probs] == pytest.approx(
            found[:, j].tolist(), abs=1e-5
        )


@pytest.mark.parametrize("name", MODELS)
def test_every_model_that_attends_has_every_measure(name):
    found = explained(filled(MODELS[name]()))
    deep = name in ("transformer", "learned", "rotary", "windows")
    of_one = set() if name == "ensemble" else {"norm", "value-zeroing"}
    assert set(found) == EVERYWHERE | STEERED | of_one | (STACKED if deep else set())
    for key, each in found.items():
        if key not in STACKED:
            assert each.map == "cross"
            assert all(len(row) == len(SAID) for row in each.rows.values())
        assert each.reading.endswith(".")
        assert not any(math.isnan(x) for row in each.rows.values() for x in row)
    shapes = {found[n].matrix.shape for n in ("gradient", "leave-one-out", "adversarial")}
    assert shapes == {(len(SAID), len(SOURCE) + 1)}
    assert found["gradient"].matrix.sum(-1) == pytest.approx([1.0] * len(SAID))
    assert max(found["adversarial"].rows["TVD"]) <= 0.01
    assert ("heads at once" in found["uniform"].reading) == (deep or name == "ensemble")


def test_without_attention_nothing_is_compared_and_this_is_said():
    found = explained(filled(small(attention=None, context="mean", feed=("initial", "step"))))
    assert set(found) == EVERYWHERE
    for name in ("gradient", "leave-one-out"):
        assert "no attention" in found[name].reading
        assert "τ" not in found[name].rows


def test_even_attention_of_a_model_that_has_no_other_changes_nothing():
    found = explained(filled(small(attention={"normalize": "uniform"})))
    for name in ("uniform", "permuted"):
        assert found[name].rows["TVD"] == pytest.approx([0.0] * len(SAID), abs=1e-5)
    assert all(math.isnan(tau) for tau in found["gradient"].rows["τ"])
    assert "orders nothing" in found["gradient"].reading


def test_weights_below_0_are_no_distribution():
    found = explained(filled(small(attention={"normalize": "raw"})))
    assert found["adversarial"].reading.startswith("Left out")
    assert found["adversarial"].matrix is None


def test_a_search_that_would_take_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr("regard.explanations.measured.MOST_WORK", 1e4)
    found = explained(filled(small()))
    assert "takes too long" in found["adversarial"].reading
    assert not found["adversarial"].rows


def test_a_search_that_would_take_long_is_cut_short_and_says_so(monkeypatch):
    whole = explained(filled(small()))["adversarial"]
    assert "short search" not in whole.reading
    monkeypatch.setattr("regard.explanations.measured.searches_within", lambda work: (2, 100))
    short = explained(filled(small()))["adversarial"]
    assert "A short search, 2 starts of 100 steps" in short.reading
    assert max(short.rows["TVD"]) <= 0.01 + 1e-6


@pytest.mark.usefixtures("thorough")
def test_less_is_searched_where_a_step_is_more_work():
    assert searches_within(1.0) == (5, 250)
    assert searches_within(MOST_WORK / 400) == (2, 200)
    assert searches_within(MOST_WORK) is None


class SameStates(nn.Module):
    """Whatever is read, every state is the same: no weights can matter."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.embed, self.output_size = nn.Embedding(V, size), size

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        states = torch.ones_like(self.embed(source))
        return Encoded(states, mask, states[:, 0])


@pytest.mark.usefixtures("thorough")
def test_constant_values_can_be_read_in_any_way():
    model = filled(small(attention={"score": "location(9)"}))
    model.encoder = SameStates(model.encoder.output_size)
    model.decoder.summary.kind = "mean"
    found = explained(model)
    for name in ("uniform", "permuted"):
        assert found[name].rows["TVD"] == pytest.approx([0.0] * len(SAID), abs=1e-5)
    assert found["adversarial"].rows["TVD"] == pytest.approx([0.0] * len(SAID), abs=1e-5)
    assert min(found["adversarial"].rows["JSD"]) > 0.6 * math.log(2)
    assert abs(found["leave-one-out"].matrix).max() < 1e-5


class OneHot(nn.Module):
    """The tokens themselves, each in a direction of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(torch.eye(V))

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        states = self.embed(source)
        return Encoded(states, mask, states[:, 0])


class SortDecoder(nn.Module):
    """After each letter says the next of the alphabet, if attention finds it in the source."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = regard.Attention(V, V, score="dot")

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        wanted = (inputs + 1).clamp(min=FIRST) % V
        query = 4.0 * nn.functional.one_hot(wanted, V).float()
        memory = self.attention.remember(encoded.states, encoded.mask)
        attended = self.attention(query, memory, offset=0, weights=weights)
        return Decoded(attended.context, attended)

    def project(self, outputs: Tensor) -> Tensor:
        return 6.0 * outputs


@pytest.mark.usefixtures("thorough")
def test_where_one_token_decides_each_row_every_measure_says_so():
    """A model that sorts: row t can come from nowhere but from the place of its own letter."""
    source, said = [6, 4, 8, 5, 7], [4, 5, 6, 7, 8]
    found = explained(EncoderDecoder(OneHot(), SortDecoder()), source, said)
    places = [source.index(token) for token in said]
    for name in ("gradient", "leave-one-out", "adversarial"):
        assert found[name].matrix.argmax(-1).tolist() == places
    losses = found["leave-one-out"].matrix
    assert all(losses[row, place] > 0.5 for row, place in enumerate(places))
    assert min(found["uniform"].rows["TVD"]) > 0.3
    assert min(found["permuted"].rows["TVD"]) > 0.3
    assert 0 < max(found["adversarial"].rows["JSD"]) < 0.1
    assert "5 of 5 would be another" in found["uniform"].reading


def test_the_rollout_is_that_of_the_encoder():
    model = filled(layers())
    (each,) = (e for n, e in explained(model).items() if n == "rollout")
    ids = torch.tensor([[*SOURCE, EOS]])
    with torch.no_grad(), recording(model.encoder) as recorded:
        model.encode(ids, ids > 0)
    assert each.map == "encoder"
    wanted = rollout([r.weights[0] for r in recorded])
    assert torch.from_numpy(each.matrix).allclose(wanted, atol=1e-6)
    assert "not reach from an encoder through its decoder" in each.reading


def test_nothing_said_or_nothing_read_is_nothing_to_explain():
    translator = TextTranslator(filled(small()), LETTERS, LETTERS)
    assert explain_translation(translator, LETTERS.encode(""), SAID) == ()
    assert explain_translation(translator, LETTERS.encode("a b"), []) == ()


def test_the_model_is_left_as_it_was():
    model = small().train()
    explained(model)
    assert model.training
    assert all(p.grad is None for p in model.parameters())
    assert not any(part._forward_hooks for part in model.modules())
