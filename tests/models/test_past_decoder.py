"""A recurrent language model that attends to its past: the formula, steps, hypotheses, ragged texts."""

from __future__ import annotations

import pytest
import torch

from regard.models.modes import language_model, one_to_many
from regard.search import Search, search

CASES = [
    {"score": "additive"},
    {"score": "scaled-dot", "region": "window(2)"},
    {"score": "bilinear", "normalize": "sparsemax"},
    {"score": "additive", "region": "atrous(2)"},
]


def made(attention: dict, cell: str = "gru", **options):
    torch.manual_seed(0)
    model = language_model(9, embedding=4, hidden=6, cell=cell, attention=attention, **options)
    return model.double().eval()


def whole(model, inputs):
    encoded = model.encode(inputs, inputs != 0)
    return model.decoder.project(model.decoder.forward(inputs, encoded).outputs)


TEXTS = torch.tensor([[2, 4, 5, 6, 7, 8, 4, 4], [2, 8, 8, 5, 4, 6, 7, 5]])


def test_it_is_its_formula():
    model = made({"score": "scaled-dot"})
    decoder = model.decoder
    states = decoder.network(decoder.embed(TEXTS)).outputs  # (B, T, n)
    rows = []
    for t in range(TEXTS.shape[1]):
        past = states[:, : t + 1]
        weights = ((past @ states[:, t, :, None]) / 6**0.5).softmax(1)
        context = (weights * past).sum(1)
        mixed = decoder.readout.mix(torch.cat([states[:, t], context], -1)).tanh()
        rows.append(decoder.output(mixed))
    torch.testing.assert_close(whole(model, TEXTS), torch.stack(rows, 1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("cell", ["elman", "gru", "gru-reset-before", "lstm"])
@pytest.mark.parametrize("attention", CASES)
def test_steps_are_the_whole(attention, cell):
    model = made(attention, cell, layers=2)
    state = model.decoder.start(model.encode(TEXTS, TEXTS != 0))
    rows = []
    for tokens in TEXTS.unbind(1):
        step = model.decoder.step(tokens, state)
        state = step.state
        rows.append(step.logits)
    torch.testing.assert_close(torch.stack(rows, 1), whole(model, TEXTS), rtol=0, atol=1e-12)


@pytest.mark.parametrize("attention", CASES)
def test_hypotheses_keep_their_own_past(attention):
    model = made(attention)
    state = model.decoder.start(model.encode(TEXTS, TEXTS != 0))
    for tokens in TEXTS[:, :4].unbind(1):
        state = model.decoder.step(tokens, state).state
    swapped = state.select(torch.tensor([1, 0]), torch.tensor([1, 0]))
    logits = model.decoder.step(TEXTS[:, 4].flip(0), swapped).logits
    torch.testing.assert_close(logits.flip(0), whole(model, TEXTS)[:, 4], rtol=0, atol=1e-12)


def test_later_tokens_are_not_seen_and_earlier_ones_are():
    model = made({"score": "additive"})
    other = TEXTS.clone()
    other[:, 5] = 3
    here, there = whole(model, TEXTS), whole(model, other)
    torch.testing.assert_close(here[:, :5], there[:, :5])
    assert not torch.allclose(here[:, 7], there[:, 7])


def test_a_text_is_scored_alike_alone_and_beside_longer_ones():
    model = made({"score": "additive"})
    ragged = torch.tensor([[2, 4, 5, 0, 0], [2, 8, 8, 5, 4]])
    torch.testing.assert_close(
        whole(model, ragged)[:1, :3], whole(model, ragged[:1, :3]), rtol=0, atol=1e-12
    )


def test_a_beam_finds_scores_that_the_whole_confirms():
    model = made({"score": "additive"})
    nothing = model.encode(torch.zeros(2, 1).long(), torch.zeros(2, 1).bool())
    settings = Search(beam=3, max_length=6, max_ratio=6.0, length_penalty=0.0)
    for answers in search(model.decoder, nothing, settings):
        for one in answers:
            ids = list(one.tokens)
            inputs = torch.tensor([[2, *ids[:-1]]])
            logits = whole(model, inputs).log_softmax(-1)[0]
            total = sum(logits[t, token].item() for t, token in enumerate(ids))
            assert one.log_prob == pytest.approx(total, abs=1e-4)


def test_what_a_language_model_cannot_attend_by_is_refused():
    with pytest.raises(ValueError, match="take gumbel"):
        made({"normalize": "hard"})
    with pytest.raises(ValueError, match="cannot be joined"):
        made({"region": "predicted-window(width=2)"})
    with pytest.raises(ValueError, match="leave `attention` out"):
        one_to_many(3, 9, attention={})
