"""Beam search: it finds what a plain one finds, whatever stands beside the sentence."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from small_decoders import (
    EOS,
    GruDecoder,
    TableDecoder,
    continuations,
    plain_score,
    plain_search,
    sources,
)

from regard.search import Hypothesis, Search, score, search

PENALTIES = [(0.0, 0.0), (1.0, 0.0), (0.6, 0.3), (-0.5, 0.0)]


def same(a: Hypothesis, b: Hypothesis) -> None:
    assert a.tokens == b.tokens
    assert a.finished == b.finished
    assert a.score == pytest.approx(b.score, abs=1e-5)
    assert a.log_probs == pytest.approx(b.log_probs, abs=1e-5)
    torch.testing.assert_close(a.attention, b.attention)


def alone(encoded, row):
    """One sentence without the others and without padding."""
    length = int(encoded.mask[row].sum())
    one = encoded.select(torch.tensor([row]))
    return dataclasses.replace(one, states=one.states[:, :length], mask=one.mask[:, :length])


@pytest.mark.parametrize(("alpha", "beta"), PENALTIES)
@pytest.mark.parametrize("rules", [{}, {"min_length": 2}, {"no_repeat_ngram": 1}])
def test_a_beam_as_wide_as_the_space_finds_the_best_there_is(alpha, beta, rules):
    decoder, encoded = TableDecoder(), sources([3, 5])
    settings = Search(
        beam=128, nbest=8, length_penalty=alpha, coverage_penalty=beta, max_length=4, **rules
    )
    found = search(decoder, encoded, settings)
    for row, hypotheses in enumerate(found):
        wanted = plain_search(decoder, alone(encoded, row), settings, everything=True)
        assert [h.tokens for h in hypotheses] == [[*w.tokens] for w in wanted]
        scores = [plain_score(w, encoded.mask[row, : [3, 5][row]], settings) for w in wanted]
        assert [h.score for h in hypotheses] == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("levels", [0, 2], ids=["", "ties"])
@pytest.mark.parametrize(("alpha", "beta"), PENALTIES)
@pytest.mark.parametrize("beam", [1, 2, 5])
def test_it_equals_a_plain_beam_search(beam, alpha, beta, levels):
    """The bound stops early and changes nothing; equal candidates are taken in order."""
    settings = Search(
        beam=beam,
        nbest=min(beam, 3),
        length_penalty=alpha,
        coverage_penalty=beta,
        max_length=8,
        min_length=2,
    )
    decoder = TableDecoder(150, levels=levels, seed=beam)
    decoder.table[:, EOS] += 3
    encoded = sources([2, 9, 4, 1, 6])
    for row, hypotheses in enumerate(search(decoder, encoded, settings)):
        wanted = plain_search(decoder, alone(encoded, row), settings)
        assert [h.tokens for h in hypotheses] == [[*w.tokens] for w in wanted]


def test_greedy_takes_the_most_probable_token_each_time():
    decoder, encoded = TableDecoder(20), sources([4, 2, 7])
    for row, (found,) in enumerate(search(decoder, encoded, Search(beam=1, max_length=12))):
        state, said = decoder.start(alone(encoded, row)), [2]
        for token in found.tokens:
            step = decoder.step(torch.tensor(said[-1:]), state)
            step.logits[:, [0, 2]] = -torch.inf
            assert token == step.logits.argmax()
            state, said = step.state, [*said, token]


@pytest.mark.parametrize("settings", [Search(beam=1), Search(beam=4, nbest=4), Search(beam=3)])
@pytest.mark.parametrize("make", [TableDecoder, GruDecoder])
def test_the_neighbours_and_the_padding_change_nothing(make, settings):
    settings = dataclasses.replace(
        settings, attention=True, coverage_penalty=0.2, no_repeat_ngram=2, max_length=15
    )
    decoder, lengths = make(150), [5, 1, 8, 3, 8, 2]
    encoded = sources(lengths)
    together = search(decoder, encoded, settings)
    order = torch.tensor([4, 0, 5, 2, 1, 3])
    shuffled = search(decoder, encoded.select(order), settings)
    padded = search(decoder, sources(lengths, pad_to=13), settings)
    for row in range(6):
        by_itself = search(decoder, alone(encoded, row), settings)[0]
        others = together[row], shuffled[order.tolist().index(row)], padded[row]
        for other in others:
            assert len(other) == len(by_itself) == settings.nbest
            for a, b in zip(other, by_itself, strict=True):
                same(a, b)


@pytest.mark.parametrize("make", [TableDecoder, GruDecoder])
def test_scoring_the_answer_gives_the_reported_score(make):
    decoder, encoded = make(150), sources([5, 2, 8])
    settings = Search(beam=4, nbest=4, length_penalty=0.7, max_length=12)
    found = search(decoder, encoded, settings)
    for row, hypotheses in enumerate(found):
        for h in hypotheses:
            targets = torch.tensor([h.tokens + [0] * 3])
            mask = torch.arange(targets.shape[1])[None] < len(h.tokens)
            log_probs = score(decoder, alone(encoded, row), targets, mask)[0]
            assert h.log_probs == pytest.approx(log_probs[: len(h.tokens)].tolist(), abs=1e-5)
            assert not log_probs[len(h.tokens) :].any()
            assert sum(h.log_probs) == h.log_prob
            again = settings.score(log_probs.sum(), len(h.tokens))
            assert h.score == pytest.approx(again.item(), abs=1e-5)


def test_the_attention_is_that_of_the_tokens_that_were_said():
    decoder, encoded = TableDecoder(150), sources([5, 2, 8])
    for row, hypotheses in enumerate(
        search(decoder, encoded, Search(beam=4, nbest=4, attention=True, max_length=12))
    ):
        one = alone(encoded, row)
        for h in hypotheses:
            state, last, rows = decoder.start(one), 2, []
            for token in h.tokens:
                step = decoder.step(torch.tensor([last]), state, weights=True)
                rows.append(step.attended.weights[0])
                state, last = step.state, token
            torch.testing.assert_close(h.attention, torch.stack(rows))
            assert h.attention.shape == (len(h.tokens), [5, 2, 8][row])


def test_no_attention_unless_asked_for_or_there_is_none():
    encoded = sources([3])
    assert search(TableDecoder(), encoded)[0][0].attention is None
    silent = TableDecoder(attends=False)
    assert search(silent, encoded, Search(attention=True))[0][0].attention is None
    with pytest.raises(ValueError, match="coverage_penalty needs a decoder that attends"):
        search(silent, encoded, Search(coverage_penalty=0.1))


def test_hypotheses_differ_and_are_sorted():
    for hypotheses in search(TableDecoder(30), sources([3, 6]), Search(beam=6, nbest=6)):
        assert len({tuple(h.tokens) for h in hypotheses}) == 6
        keys = [(not h.finished, -h.score) for h in hypotheses]
        assert keys == sorted(keys)
        for h in hypotheses:
            assert h.finished == (h.tokens[-1] == EOS)
            assert EOS not in h.tokens[:-1]


def test_what_reaches_the_limit_is_returned_unfinished():
    decoder = TableDecoder()
    decoder.table[:, EOS] = -30.0
    (short, long) = search(decoder, sources([1, 9]), Search(beam=2, max_length=20, max_ratio=1))
    assert len(short[0].tokens) == 10 + 1
    assert len(long[0].tokens) == 10 + 9
    assert not short[0].finished
    assert not long[0].finished


def test_finished_hypotheses_come_before_longer_probable_ones_without_an_end():
    decoder = TableDecoder()
    decoder.table[:, 4] += 20.0  # babbles on at log-probability 0, nearly
    found = search(decoder, sources([4]), Search(beam=4, nbest=4, max_length=5))[0]
    ends = [h.finished for h in found]
    assert ends == sorted(ends, reverse=True)
    assert 0 < sum(ends) < 4
    assert max(h.score for h in found) == found[sum(ends)].score


def test_one_row_for_each_sentence_at_first_and_none_for_those_that_are_done():
    decoder, encoded = TableDecoder(40), sources([3, 5, 2, 7, 4])
    search(decoder, encoded, Search(beam=3, max_length=9))
    assert decoder.rows[:2] == [5, 15]
    assert decoder.rows == [decoder.rows[0], *sorted(decoder.rows[1:], reverse=True)]
    assert decoder.rows[-1] < 15


def test_the_search_stops_when_nothing_can_overtake():
    decoder = TableDecoder(40)
    decoder.table[:, EOS] = 30.0
    search(decoder, sources([3, 5]), Search(beam=5, max_length=50))
    assert len(decoder.rows) == 1


@pytest.mark.parametrize("alpha", [-0.5, 0.0, 1.0, 2.0])
def test_the_bound_holds(alpha):
    settings = Search(length_penalty=alpha, max_length=6)
    decoder, one = TableDecoder(), sources([4])
    limits = settings.limits(one.mask.sum(1))
    for start in plain_search(decoder, one, Search(beam=9, nbest=9, max_length=2)):
        if start.finished:
            continue
        bound = settings.bound(torch.tensor([start.total]), 2, settings.penalty(limits)).item()
        alive = [start]
        for _ in range(3, 7):
            alive = [more for o in alive for more in continuations(decoder, o, settings)]
            for more in alive:
                assert plain_score(more, one.mask[0], settings) <= bound + 1e-6
            alive = [more for more in alive if not more.finished]


def test_an_empty_batch_and_an_empty_source():
    assert search(TableDecoder(), sources([1, 2]).select(torch.arange(0))) == []
    encoded = sources([3, 0])
    encoded.summary[1] = 0.0
    found = search(TableDecoder(), encoded, Search(attention=True))
    assert found[1][0].attention.shape == (len(found[1][0].tokens), 0)


def test_a_decoder_that_gives_nan_is_reported():
    decoder = TableDecoder()
    decoder.table[:] = torch.nan
    with pytest.raises(ValueError, match=r"sentence 0 of the batch: the decoder's logits are NaN"):
        search(decoder, sources([3]))


def test_lower_precision_and_inference_mode():
    decoder = TableDecoder(70)
    wanted = search(decoder, sources([3, 5]))
    with torch.inference_mode():
        found = search(decoder, sources([3, 5]))
    assert found == wanted
    decoder.table = decoder.table.bfloat16()
    (h, *_), *_ = search(decoder, sources([3, 5]))
    assert sum(h.log_probs) == pytest.approx(h.log_prob)
    assert h.score == pytest.approx(h.log_prob / ((5 + len(h.tokens)) / 6))


def test_a_search_ends_where_the_decoder_has_learnt_no_further():
    decoder = TableDecoder()
    decoder.longest = 4
    found = search(decoder, sources([3, 5]), Search(beam=2, min_length=20, max_length=30))
    assert [len(one[0].tokens) for one in found] == [4, 4]
    assert not any(one[0].finished for one in found)
