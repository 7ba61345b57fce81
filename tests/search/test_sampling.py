"""Draws: from the right distribution, and the same whatever stands beside the sentence."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from small_decoders import EOS, TableDecoder, sources

from regard.search import Search, search

DRAWS = 4000


def first_tokens(decoder, **settings) -> dict[int, float]:
    """How often each token came first in many draws, one draw for each number."""
    encoded = sources([3]).select(torch.zeros(DRAWS, dtype=torch.long))
    found = search(decoder, encoded, Search(method="sample", max_length=1, **settings))
    counts = Counter(h.tokens[0] for (h,) in found)
    return {token: n / DRAWS for token, n in counts.items()}


def first_probs(decoder) -> torch.Tensor:
    step = decoder.step(torch.tensor([2]), decoder.start(sources([3])))
    return step.logits[0].log_softmax(-1).index_fill(0, torch.tensor([0, 2]), -torch.inf)


def assert_drawn_from(frequencies: dict[int, float], probs: torch.Tensor) -> None:
    assert {*frequencies} <= {*probs.nonzero().flatten().tolist()}
    for token, p in enumerate((probs / probs.sum()).tolist()):
        assert frequencies.get(token, 0.0) == pytest.approx(p, abs=0.035)  # > 4 sd of 4,000 draws


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_drawn_by_their_probability(temperature):
    decoder = TableDecoder(9)
    probs = (first_probs(decoder) / temperature).softmax(-1)
    assert_drawn_from(first_tokens(decoder, temperature=temperature), probs)


def test_top_k():
    decoder = TableDecoder(90)
    probs = first_probs(decoder).exp()
    probs[probs.argsort(descending=True)[3:]] = 0.0
    drawn = first_tokens(decoder, top_k=3)
    assert len(drawn) == 3
    assert_drawn_from(drawn, probs)


def test_top_p_keeps_the_fewest_tokens_that_reach_p():
    decoder = TableDecoder(90)
    probs = first_probs(decoder).softmax(-1)
    order = probs.argsort(descending=True)
    mass = probs[order].cumsum(0)
    kept = int((mass < 0.6).sum()) + 1
    assert 1 < kept < 80
    probs[order[kept:]] = 0.0
    drawn = first_tokens(decoder, top_p=0.6)
    assert len(drawn) == kept
    assert_drawn_from(drawn, probs)


@pytest.mark.parametrize("filters", [{}, {"top_k": 5}, {"top_p": 0.8, "temperature": 1.5}])
def test_a_draw_depends_on_the_number_of_the_sentence_and_not_on_its_neighbours(filters):
    decoder, encoded = TableDecoder(60), sources([3, 5, 2, 8])
    settings = Search(method="sample", nbest=3, max_length=12, attention=True, **filters)
    together = search(decoder, encoded, settings, numbers=[70, 71, 72, 73])
    for row in range(4):
        one = encoded.select(torch.tensor([row]))
        alone = search(decoder, one, settings, numbers=[70 + row])[0]
        assert [h.tokens for h in alone] == [h.tokens for h in together[row]]
        assert [h.score for h in alone] == [h.score for h in together[row]]
    backwards = search(decoder, encoded.select(torch.tensor([3, 2, 1, 0])), settings,
                       numbers=[73, 72, 71, 70])  # fmt: skip
    assert [[h.tokens for h in found] for found in reversed(backwards)] == [
        [h.tokens for h in found] for found in together
    ]


def test_seed_number_step_and_sample_each_make_a_difference():
    decoder = TableDecoder(60)
    decoder.table[:] = 0.0  # every token as probable as the next
    same = sources([3]).select(torch.zeros(2, dtype=torch.long))
    a, b = search(decoder, same, Search(method="sample", nbest=2, max_length=8))
    c, _ = search(decoder, same, Search(method="sample", nbest=2, max_length=8, seed=1))
    told = [tuple(h.tokens) for h in (*a, *b, *c)]
    assert len({*told}) == 6
    assert len({*told[0]}) > 2
    again, _ = search(decoder, same, Search(method="sample", nbest=2, max_length=8))
    assert again == a


def test_every_sentence_needs_a_number():
    with pytest.raises(ValueError, match="3 numbers were given for 2 sentences"):
        search(TableDecoder(), sources([3, 5]), Search(method="sample"), numbers=[1, 2, 3])


def test_more_samples_keep_those_there_were():
    decoder, encoded = TableDecoder(60), sources([3])
    few, many = (
        search(decoder, encoded, Search(method="sample", nbest=n, max_length=12))[0] for n in (2, 6)
    )
    assert {tuple(h.tokens) for h in few} <= {tuple(h.tokens) for h in many}


def test_repeated_draws_are_returned_once():
    decoder = TableDecoder(60)
    decoder.table[:, EOS] = 30.0
    (found,) = search(decoder, sources([3]), Search(method="sample", nbest=5))
    assert [h.tokens for h in found] == [[EOS]]


def test_the_log_probs_are_the_models_own():
    decoder, encoded = TableDecoder(60), sources([3])
    settings = Search(method="sample", temperature=0.3, top_k=4, max_length=1)
    ((h,),) = search(decoder, encoded, settings)
    assert h.log_prob == pytest.approx(first_probs(decoder)[h.tokens[0]].item(), abs=1e-5)


def test_a_very_low_temperature_is_greedy():
    decoder, encoded = TableDecoder(60), sources([3, 5, 2])
    cold = search(decoder, encoded, Search(method="sample", temperature=1e-4, max_length=12))
    greedy = search(decoder, encoded, Search(beam=1, max_length=12))
    assert [h.tokens for (h,) in cold] == [h.tokens for (h,) in greedy]
