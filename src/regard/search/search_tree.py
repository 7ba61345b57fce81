"""The tree of a search: every candidate it looked at, and what became of it.

    hypotheses, trees = search_trees(decoder, encoded, Search(beam=5, nbest=5, attention=True))
    [node.token for node in trees[0] if node.fate == "ended"]

At each step a beam search looks at the 2 · beam best continuations of its open hypotheses: these are
the nodes. What is less probable than all of them is in no tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from regard.layers.contracts import Decoder, Encoded
from regard.layers.special_tokens import EOS
from regard.search.beam import explore
from regard.search.hypothesis import Hypothesis, Moment, assemble
from regard.search.settings import Search

Fate = Literal["open", "ended", "dropped"]


@dataclass(frozen=True)
class TreeNode:
    """One token; the path to the root is what came before it."""

    parent: int  # the number of another node, which stands before this one; -1: a first token
    token: int
    log_prob: float  # of this token
    total: float  # of all tokens up to this one
    fate: Fate  # open: it was continued, ended: a whole hypothesis, dropped: others were better
    score: float | None = None  # of a whole hypothesis: what it was ranked by
    rank: int | None = None  # of a hypothesis that was returned; 0: the best
    attention: Tensor | None = None  # (S,) over the real source positions, on the CPU


def search_trees(
    decoder: Decoder,
    encoded: Encoded,
    settings: Search,
    *,
    prefix: Sequence[Sequence[int]] | None = None,
) -> tuple[list[list[Hypothesis]], list[list[TreeNode]]]:
    """What `search` finds, and the tree of each sentence in the order of the steps."""
    history = explore(decoder, encoded, settings, prefix=prefix)
    found = assemble(history, encoded.mask, settings.nbest)
    trees = [
        _ranked(_grown(history, sentence, real), hypotheses)
        for sentence, (hypotheses, real) in enumerate(zip(found, encoded.mask.cpu(), strict=True))
    ]
    return found, trees


def path(nodes: Sequence[TreeNode], end: int) -> list[int]:
    """The numbers of the nodes from the first token to node number `end`."""
    numbers = [end]
    while (parent := nodes[numbers[-1]].parent) >= 0:
        numbers.append(parent)
    return numbers[::-1]


def _grown(history: Sequence[Moment], sentence: int, real: Tensor) -> list[TreeNode]:
    """The nodes of one sentence, without ranks."""
    nodes: list[TreeNode] = []
    heads = [-1]  # the node of each open hypothesis
    mine = [moment for moment in history if sentence in moment.sentences]
    for step, moment in enumerate(mine):
        row = moment.sentences.index(sentence)
        attended = None if moment.weights is None else moment.weights[row].float().cpu()[:, real]
        kept = moment.kept[row].tolist()
        going = kept if step + 1 < len(mine) else []
        numbers: dict[int, int] = {}  # of the nodes that go on
        for place, parent, token, log_prob, score in _candidates(moment, row):
            head, ended = heads[parent], score > -math.inf
            goes_on = place in going and token != EOS
            if goes_on:
                numbers[place] = len(nodes)
            node = TreeNode(
                head,
                token,
                log_prob,
                total=log_prob + (nodes[head].total if head >= 0 else 0.0),
                fate="ended" if ended else "open" if goes_on else "dropped",
                score=score if ended else None,
                attention=None if attended is None else attended[parent],
            )
            nodes.append(node)
        heads = [numbers.get(place, -1) for place in kept]
    return nodes


def _candidates(moment: Moment, row: int) -> Iterator[tuple[int, int, int, float, float]]:
    """Place, the open hypothesis that it continues, token, log-probability, and score if it ended."""
    parts = (moment.parents, moment.tokens, moment.log_probs, moment.scores, moment.totals)
    for place, (*candidate, total) in enumerate(
        zip(*(part[row].tolist() for part in parts), strict=True)
    ):
        if total > -math.inf:
            yield place, *candidate


def _ranked(nodes: list[TreeNode], hypotheses: Sequence[Hypothesis]) -> list[TreeNode]:
    """The nodes, with their ranks where their paths are hypotheses; of equal paths the best has it."""
    ranks = {tuple(one.tokens): rank for rank, one in enumerate(hypotheses)}
    ended = [number for number, node in enumerate(nodes) if node.fate == "ended"]
    for number in sorted(ended, key=lambda number: -(nodes[number].score or 0.0)):
        tokens = tuple(nodes[place].token for place in path(nodes, number))
        nodes[number] = replace(nodes[number], rank=ranks.pop(tokens, None))
    return nodes
