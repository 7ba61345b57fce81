"""One-to-many: where a vector enters, what a step knows, and that neither padding nor company matters."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.layers.special_tokens import BOS
from regard.models import modes
from regard.models.attention_options import AttentionOptions
from regard.models.tellers.one_to_many import Teller, one_to_many
from regard.search import Search, search

SIZES = {"embedding": 6, "hidden": 8, "size": 6, "filters": (4,)}
SOURCES = {"vector": 5, "label": 4, "text": 11, "numbers": 5, "image": (1, None, None)}
INPUTS = torch.tensor([[BOS, 4, 5, 6, 7, 8], [BOS, 7, 4, 4, 5, 9], [BOS, 9, 9, 5, 4, 6]])


def built(reads: str, **options) -> Teller:
    torch.manual_seed(0)
    model = one_to_many(SOURCES[reads], 12, reads=reads, **{**SIZES, **options}).double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.6)
    return model


def sources(reads: str) -> tuple[Tensor, Tensor | None]:
    """Three, of ragged lengths where they have any; what is not real is NaN, or any token."""
    draw = torch.Generator().manual_seed(1)
    lengths = torch.tensor([4, 1, 3])
    mask = torch.arange(4) < lengths[:, None]
    if reads == "label":
        return torch.tensor([3, 0, 2]), None
    if reads == "vector":
        return torch.randn(3, 5, generator=draw, dtype=torch.double), None
    if reads == "text":
        return torch.randint(3, 11, (3, 4), generator=draw), mask
    if reads == "numbers":
        x = torch.randn(3, 4, 5, generator=draw, dtype=torch.double)
        return x.masked_fill(~mask[..., None], float("nan")), mask
    pictures = torch.randn(3, 1, 4, 4, generator=draw, dtype=torch.double)
    return pictures * mask[:, None, None], mask[:, None].expand(-1, 4, -1).clone()


def logits(model: Teller, source: Tensor, mask: Tensor | None, inputs: Tensor) -> Tensor:
    encoded = model.encode(source, mask)
    return model.decoder.project(model.decoder(inputs, encoded).outputs)


@pytest.mark.parametrize("pool", ["last", "mean", "max", "attention"])
@pytest.mark.parametrize("reads", SOURCES)
def test_each_is_told_of_alone_as_among_others(reads, pool):
    model = built(reads, pool=pool, enters=[1, 3], step_index="learned")
    source, mask = sources(reads)
    together = logits(model, source, mask, INPUTS)
    assert together.isfinite().all()
    for n in range(3):
        alone, real = source[n : n + 1], None if mask is None else mask[n : n + 1]
        if real is not None:  # without its padding
            wide = int(real.reshape(-1, real.shape[-1])[0].sum())
            alone = alone[..., :wide] if reads != "numbers" else alone[:, :wide]
            real = real[..., :wide]
        found = logits(model, alone, real, INPUTS[n : n + 1])
        torch.testing.assert_close(found[0], together[n], atol=1e-10, rtol=0)


@pytest.mark.parametrize("attention", [None, AttentionOptions(score="scaled-dot")])
@pytest.mark.parametrize("step_index", ["none", "sinusoidal", "learned"])
@pytest.mark.parametrize("enters", ["first", "every", [2, 5]])
def test_steps_are_what_whole_sequences_are(enters, step_index, attention):
    model = built("vector", enters=enters, step_index=step_index, attention=attention, cell="lstm")
    source, _ = sources("vector")
    whole = logits(model, source, None, INPUTS)
    state = model.decoder.start(model.encode(source))
    for at in range(INPUTS.shape[1]):
        logits_at, state, _, _ = model.decoder.step(INPUTS[:, at], state)
        torch.testing.assert_close(logits_at, whole[:, at], atol=1e-10, rtol=0)


def test_a_step_is_what_its_formula_says():
    """h_t = tanh(W [E y; p_t; e_t x] + U h + b), the vector at the chosen steps alone"""
    model = built("vector", enters=[1, 4], step_index="learned", cell="elman")
    decoder, (source, _) = model.decoder, sources("vector")
    (cell,) = decoder.network.cells
    h = torch.zeros(3, 8, dtype=torch.double)
    found = logits(model, source, None, INPUTS)
    for t in range(1, INPUTS.shape[1] + 1):
        there = source if t in (1, 4) else torch.zeros_like(source)
        number = decoder.index.table.weight[t - 1].expand(3, -1)
        x = torch.cat([decoder.embed(INPUTS[:, t - 1]), number, there], -1)
        h = (x @ cell.weight_ih.T + cell.bias_ih + h @ cell.weight_hh.T + cell.bias_hh).tanh()
        torch.testing.assert_close(found[:, t - 1], decoder.output(h), atol=1e-10, rtol=0)


def test_only_the_chosen_steps_know_the_vector_where_nothing_is_remembered():
    model = built("vector", enters=[2], cell="elman")
    with torch.no_grad():
        model.decoder.network.forwards[0].weight_hh.zero_()
    source, _ = sources("vector")
    here, there = (logits(model, x, None, INPUTS) for x in (source, source + 1))
    same = [torch.allclose(here[:, t], there[:, t]) for t in range(INPUTS.shape[1])]
    assert same == [True, False, True, True, True, True]


def test_with_its_number_a_step_tells_equal_tokens_apart():
    """Without recurrence and without a number, a token is followed by the same wherever it stands."""
    inputs = torch.full((3, 5), 4)
    source, _ = sources("vector")
    for step_index, alike in (("none", True), ("sinusoidal", False), ("learned", False)):
        model = built("vector", enters="every", step_index=step_index, cell="elman")
        with torch.no_grad():
            model.decoder.network.forwards[0].weight_hh.zero_()
        found = logits(model, source, None, inputs)
        assert torch.allclose(found[:, 0], found[:, 3]) is alike


def test_a_search_tells_each_hypothesis_of_its_own_vector():
    model = built("vector", enters="every", step_index="learned", max_steps=9)
    source, _ = sources("vector")
    settings = Search(beam=4, max_length=20, max_ratio=20.0)
    together = search(model.decoder, model.encode(source), settings, numbers=[0, 1, 2])
    for n, ranked in enumerate(together):
        (alone,) = search(model.decoder, model.encode(source[n : n + 1]), settings, numbers=[n])
        assert [one.tokens for one in alone] == [one.tokens for one in ranked]
        assert all(
            len(one.tokens) <= 9 for one in ranked
        )  # there are no more steps that have a number


def test_nothing_is_told_of_nothing():
    for reads in SOURCES:
        model = built(reads, enters="every")
        source, mask = sources(reads)
        none = logits(model, source[:0], None if mask is None else mask[:0], INPUTS[:0])
        assert none.shape == (0, 6, 12)
    model = built("text", pool="attention")
    blank = logits(model, torch.zeros(1, 2).long(), torch.zeros(1, 2).bool(), INPUTS[:1])
    assert blank.isfinite().all()


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="counted from 1"):
        modes.one_to_many(3, 9, enters=[0])
    with pytest.raises(ValueError, match="labels are"):
        built("label").encode(torch.randn(2, 3))
