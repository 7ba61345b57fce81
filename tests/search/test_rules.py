"""What may be said: lengths, repetitions, forced beginnings."""

from __future__ import annotations

import pytest
import torch
from small_decoders import BOS, EOS, PAD, GruDecoder, TableDecoder, sources

from regard.search import Search, score, search


@pytest.mark.parametrize("method", ["beam", "sample"])
def test_min_length_counts_what_comes_before_the_end(method):
    decoder = TableDecoder()
    decoder.table[:, EOS] = 30.0
    for least in (0, 1, 4):
        settings = Search(method=method, nbest=3, min_length=least, max_length=9)
        for h in [h for found in search(decoder, sources([3, 5]), settings) for h in found]:
            assert len(h.tokens) >= least + 1
        assert search(decoder, sources([3]), settings)[0][0].tokens.index(EOS) == least


def test_padding_and_begin_are_never_said():
    decoder = TableDecoder()
    decoder.table[:, [PAD, BOS]] = 30.0
    for method in ("beam", "sample"):
        settings = Search(method=method, nbest=4)
        for h in [h for found in search(decoder, sources([3, 5]), settings) for h in found]:
            assert not {PAD, BOS} & {*h.tokens}
            assert h.log_prob < -10  # their probability is not given to others


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_ngram_comes_twice(n):
    decoder = TableDecoder(9)
    decoder.table[:, EOS] = -30.0
    decoder.table[:, 4:7] += 4.0
    free = search(decoder, sources([3, 5]), Search(nbest=5, max_length=12))
    settings = Search(nbest=5, max_length=12 if n > 1 else 6, no_repeat_ngram=n)
    ruled = search(decoder, sources([3, 5]), settings)

    def repeats(found) -> bool:
        for tokens in (h.tokens for hypotheses in found for h in hypotheses):
            grams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
            if len({*grams}) < len(grams):
                return True
        return False

    assert repeats(free)
    assert not repeats(ruled)


@pytest.mark.parametrize("method", ["beam", "sample"])
def test_a_prefix_is_forced_and_scored(method):
    decoder, encoded = GruDecoder(90), sources([3, 5, 2])
    prefix = [[7, 7, 7, 80], [], [9]]
    settings = Search(method=method, nbest=3, no_repeat_ngram=1, max_length=10)
    found = search(decoder, encoded, settings, prefix=prefix)
    for row, hypotheses in enumerate(found):
        for h in hypotheses:
            assert h.tokens[: len(prefix[row])] == prefix[row]
            one = encoded.select(torch.tensor([row]))
            targets = torch.tensor([h.tokens])
            log_probs = score(decoder, one, targets, torch.ones_like(targets, dtype=torch.bool))
            assert h.log_probs == pytest.approx(log_probs[0].tolist(), abs=1e-5)
    free = search(decoder, encoded, settings)
    assert [h.tokens for h in found[1]] == [h.tokens for h in free[1]]


def test_what_would_be_said_anyway_can_be_forced():
    decoder, encoded = TableDecoder(150), sources([3, 5, 2])
    greedy = Search(beam=1, max_length=10)
    free = search(decoder, encoded, greedy)
    prefix = [found[0].tokens[:2] for found in free]
    prefix = [[token for token in tokens if token != EOS] for tokens in prefix]
    assert search(decoder, encoded, greedy, prefix=prefix) == free


def test_prefixes_that_cannot_be():
    decoder, encoded = TableDecoder(), sources([3, 5])
    with pytest.raises(ValueError, match="1 prefixes were given for 2 sentences"):
        search(decoder, encoded, prefix=[[4]])
    with pytest.raises(ValueError, match="prefix of sentence 1 holds the token 3"):
        search(decoder, encoded, prefix=[[4], [4, EOS]])
    with pytest.raises(
        ValueError, match=r"sentence 0 has 4 tokens, but at most 3 .* search\.max_length"
    ):
        search(decoder, encoded, Search(max_length=3), prefix=[[4] * 4, []])
