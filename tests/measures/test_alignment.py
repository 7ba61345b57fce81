"""AER by hand, and over a corpus."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from regard.measures import Alignment, aer

links = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)
alignments = st.builds(Alignment, links, links)


def test_by_hand():
    gold = Alignment(frozenset({(0, 0), (1, 1), (2, 2)}), frozenset({(2, 3), (3, 3)}))
    predicted = frozenset({(0, 0), (1, 1), (2, 3), (4, 4)})
    score = aer([predicted], [gold])
    # A∩S = 2, A∩P = 3, A = 4, S = 3
    assert score.aer == pytest.approx(1 - (2 + 3) / (4 + 3))
    assert score.precision == pytest.approx(3 / 4)
    assert score.recall == pytest.approx(2 / 3)
    assert score.text.startswith("AER 0.286  precision 0.750, recall 0.667 (1 sentences, 4 links")


@given(links, links)
def test_every_sure_link_is_possible(sure, possible):
    alignment = Alignment(sure, possible)
    assert alignment.sure <= alignment.possible == sure | possible


@given(st.lists(alignments, min_size=1, max_size=5))
def test_anything_between_sure_and_possible_is_perfect(gold):
    assume(any(g.possible for g in gold))
    assume(any(g.sure for g in gold))
    for predicted in ([g.sure for g in gold], [g.possible for g in gold]):
        assert aer(predicted, gold).aer == pytest.approx(0)


def test_without_possible_links_it_is_one_minus_f1():
    predicted, sure = frozenset({(0, 0), (1, 0), (2, 2)}), frozenset({(0, 0), (1, 1)})
    score = aer([predicted], [Alignment(sure)])
    f1 = 2 * score.precision * score.recall / (score.precision + score.recall)
    assert score.aer == pytest.approx(1 - f1)


def test_the_corpus_is_summed_not_averaged():
    gold = [Alignment(frozenset({(0, 0)})), Alignment(frozenset({(i, i) for i in range(9)}))]
    predicted = [frozenset({(0, 1)}), gold[1].sure]
    each = [aer([p], [g]).aer for p, g in zip(predicted, gold, strict=True)]
    assert each == [1, 0]
    assert aer(predicted, gold).aer == pytest.approx(1 - 18 / 20)


def test_no_predicted_link_is_all_wrong():
    score = aer([frozenset()], [Alignment(frozenset({(0, 0)}))])
    assert (score.aer, score.precision, score.recall) == (1, 0, 0)


def test_mistakes():
    with pytest.raises(ValueError, match="1 predicted alignments but 0 gold"):
        aer([frozenset()], [])
    with pytest.raises(ValueError, match="neither a predicted nor a sure link"):
        aer([frozenset()], [Alignment(frozenset())])
