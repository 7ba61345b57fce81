"""The tree of a search: its ended paths are the hypotheses, and nothing that was looked at is missing."""

from __future__ import annotations

import itertools

import pytest
import torch
from small_decoders import BOS, EOS, PAD, GruDecoder, TableDecoder, sources

from regard.search import Search, TreeNode, search, search_trees
from regard.search.search_tree import path

LENGTHS = [3, 5, 1]


def found_by(decoder, settings: Search, prefix=None):
    encoded = sources(LENGTHS)
    hypotheses, trees = search_trees(decoder, encoded, settings, prefix=prefix)
    plain = search(decoder, encoded, settings, prefix=prefix)
    for mine, theirs in zip(hypotheses, plain, strict=True):
        assert [h.tokens for h in mine] == [h.tokens for h in theirs]
        assert [h.score for h in mine] == [h.score for h in theirs]
    return hypotheses, trees


def ranked(nodes: list[TreeNode]) -> list[int]:
    """The numbers of the returned hypotheses' last nodes, the best first."""
    ended = [number for number, node in enumerate(nodes) if node.rank is not None]
    return sorted(ended, key=lambda number: nodes[number].rank)


CASES = {
    "beam": (Search(beam=4, nbest=4, max_length=8, attention=True), None),
    "greedy": (Search(beam=1, max_length=8, attention=True), None),
    "prefix": (Search(beam=3, nbest=2, max_length=8, attention=True), [[4, 5], [], [5]]),
    "coverage": (
        Search(beam=3, nbest=3, max_length=8, coverage_penalty=0.2, attention=True),
        None,
    ),
    "cut": (Search(beam=3, nbest=3, max_length=3, min_length=2, attention=True), None),
    "sample": (Search(method="sample", nbest=6, max_length=5, attention=True), None),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("decoder", [TableDecoder(), TableDecoder(30, levels=2), GruDecoder()])
def test_the_paths_that_were_returned_are_the_hypotheses(decoder, case):
    hypotheses, trees = found_by(decoder, *CASES[case])
    for answers, nodes in zip(hypotheses, trees, strict=True):
        assert [nodes[n].rank for n in ranked(nodes)] == list(range(len(answers)))
        for answer, number in zip(answers, ranked(nodes), strict=True):
            way = [nodes[n] for n in path(nodes, number)]
            assert [node.token for node in way] == answer.tokens
            assert [node.log_prob for node in way] == answer.log_probs
            assert way[-1].total == answer.log_prob
            assert way[-1].score == answer.score
            assert {node.fate for node in way[:-1]} <= {"open"}
            torch.testing.assert_close(torch.stack([n.attention for n in way]), answer.attention)


@pytest.mark.parametrize("case", CASES)
def test_totals_add_up_and_only_what_went_on_has_children(case):
    _, trees = found_by(TableDecoder(), *CASES[case])
    for nodes in trees:
        for number, node in enumerate(nodes):
            assert node.parent < number
            before = nodes[node.parent].total if node.parent >= 0 else 0.0
            assert node.total == before + node.log_prob
            assert (node.score is not None) == (node.fate == "ended")
            assert node.fate == "ended" or node.rank is None
            assert node.parent < 0 or nodes[node.parent].fate == "open"


def test_what_was_dropped_is_no_better_than_what_went_on_in_its_step():
    _, trees = found_by(GruDecoder(), Search(beam=3, nbest=3, max_length=8))
    for nodes in trees:
        depth = [len(path(nodes, number)) for number in range(len(nodes))]
        assert "dropped" in {node.fate for node in nodes}
        for step in range(1, max(depth)):  # of the last step nothing goes on
            here = [n for n, d in zip(nodes, depth, strict=True) if d == step]
            dropped = [n.total for n in here if n.fate == "dropped" and n.token != EOS]
            least = min(n.total for n in here if n.fate == "open")
            assert max(dropped, default=least) <= least
            assert len(here) == 6  # 2 · beam of them were looked at


def test_a_search_wide_enough_for_everything_drops_nothing_before_its_end():
    """Six tokens, at most two of them: every sentence there is, each once."""
    settings = Search(beam=64, nbest=64, max_length=2)
    _, trees = found_by(TableDecoder(6), settings)
    said = [token for token in range(6) if token not in (PAD, BOS)]
    first = {(token,) for token in said}
    second = {pair for pair in itertools.product(said, said) if pair[0] != EOS}
    for nodes in trees:
        ways = [tuple(nodes[n].token for n in path(nodes, end)) for end in range(len(nodes))]
        assert sorted(ways) == sorted(first | second)
        fates = dict(zip(ways, (node.fate for node in nodes), strict=True))
        assert all(fates[way] == "ended" for way in second | {(EOS,)})
        assert all(fates[way] == "open" for way in first - {(EOS,)})


def test_a_forced_prefix_has_no_rivals():
    _, trees = found_by(TableDecoder(), Search(beam=2, max_length=6), [[4, 5], [4, 4], [5, 4]])
    for nodes, prefix in zip(trees, [[4, 5], [4, 4], [5, 4]], strict=True):
        roots = [node for node in nodes if node.parent < 0]
        assert [node.token for node in roots] == prefix[:1]
        assert [node.token for node in nodes if node.parent == 0] == prefix[1:]


def test_a_decoder_that_attends_to_nothing_has_a_tree_too():
    _, trees = found_by(TableDecoder(attends=False), Search(beam=2, max_length=6, attention=True))
    assert all(node.attention is None for nodes in trees for node in nodes)


def test_no_sentence_no_tree():
    encoded = sources([2]).select(torch.tensor([], dtype=torch.long))
    assert search_trees(TableDecoder(), encoded, Search()) == ([], [])
