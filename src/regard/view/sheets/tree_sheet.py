"""The beam: the tree of the search, and what one of its hypotheses looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from regard.records.attention_map import AttentionMap
from regard.records.beam_tree import BeamNode
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord, Side
from regard.view.picked_matrix import Matrix
from regard.view.sheets.sheet_blocks import (
    Branch,
    ColourMap,
    SearchTree,
    TabSheet,
    largest,
    number_text,
)
from regard.words import t

HIGHEST = 700.0  # whose exponential is still a number


def tree_sheet(record: AttentionRecord, node: int | None = None, dropped: bool = False) -> TabSheet:
    """node: the one whose path is marked; None: the end of the best. dropped: what others beat is shown."""
    if record.beam is None or not record.beam.nodes:
        raise NotARecord(t("no search was recorded: this output was given or scored"))
    nodes, target = record.beam.nodes, record.sides.get("target")
    leads = leads_to_end(nodes)
    shown = [True] * len(nodes) if dropped else leads
    if node is None or not (0 <= node < len(nodes) and shown[node]):
        node = next((n for n, each in enumerate(nodes) if each.rank == 0), 0)
    depth, row = tree_layout(nodes, shown)
    path = path_to(nodes, node)
    kept = [n for n in range(len(nodes)) if shown[n]]
    number = {n: place for place, n in enumerate(kept)}
    branches = [
        Branch(
            number.get(nodes[n].parent, -1),
            nodes[n].token,
            math.exp(min(nodes[n].log_prob, HIGHEST)),
            nodes[n].fate,
            _end(nodes[n]),
            depth[n],
            row[n],
            n in path,
        )
        for n in kept
    ]
    language = target.language if target else ""
    sections: list[list[SearchTree | ColourMap]] = [[SearchTree(branches, language)]]
    if looked := _looked(record, path if nodes[node].fate == "ended" else [node]):
        sections.append([looked])
    small = (record.output, record.model, t("beam search: {n} hypotheses ended", n=_ended(nodes)))
    return TabSheet(record.name or record.model, small, sections, ("", language))


def _ended(nodes: Sequence[BeamNode]) -> int:
    return sum(each.fate == "ended" for each in nodes)


def _end(node: BeamNode) -> str:
    if node.rank is None:
        return ""
    return f"{node.rank + 1}. {'' if node.score is None else number_text(node.score)}"


def _looked(record: AttentionRecord, path: Sequence[int]) -> ColourMap | None:
    """A row for each token of the path, over the keys of the search."""
    beam = record.beam
    if beam is None or beam.weights is None or beam.keys not in record.sides:
        return None
    keys, target = record.sides[beam.keys], record.sides.get("target")
    weights = beam.weights[list(path)]
    names = tuple(beam.nodes[n].token for n in path)
    rows = target or Side.of_labels(names)
    whole = AttentionMap("beam", "target", beam.keys, beam.weights[None, None])
    allowed = np.ones(weights.shape, bool)
    matrix = Matrix(weights, allowed, names, keys.tokens, rows, keys, "", whole)
    one, many = t("What this token looked at"), t("What this hypothesis looked at")
    return ColourMap(matrix, largest(weights), title=many if len(path) > 1 else one)


def leads_to_end(nodes: Sequence[BeamNode]) -> list[bool]:
    """Which nodes lead to the end of a hypothesis; all of them where none does."""
    leads = [each.fate == "ended" for each in nodes]
    if not any(leads):
        return [True] * len(nodes)
    for n in reversed(range(len(nodes))):
        if leads[n] and nodes[n].parent >= 0:
            leads[nodes[n].parent] = True
    return leads


def tree_layout(nodes: Sequence[BeamNode], shown: Sequence[bool]) -> tuple[list[int], list[int]]:
    """Depth from the left, and a row: a leaf takes the next free row, a parent that of its best child."""
    children = _children(nodes, shown)
    depth, row, rows = [0] * len(nodes), [0] * len(nodes), 0
    waiting = children.get(-1, [])[::-1]
    while waiting:
        n = waiting.pop()
        parent = nodes[n].parent
        depth[n] = 0 if parent < 0 else depth[parent] + 1
        if parent >= 0 and children[parent][0] == n:
            row[n] = row[parent]
        else:
            row[n], rows = rows, rows + 1
        waiting += children.get(n, [])[::-1]
    return depth, row


def _children(nodes: Sequence[BeamNode], shown: Sequence[bool]) -> dict[int, list[int]]:
    """Under each node, the likeliest first, so that the best hypothesis runs along the top."""
    last = len(nodes)
    best = [math.inf if each.rank is None else each.rank for each in nodes]
    for n in reversed(range(last)):
        if (parent := nodes[n].parent) >= 0:
            best[parent] = min(best[parent], best[n])
    ranks = [last if rank == math.inf else rank for rank in best]
    families: dict[int, list[int]] = {}
    for n, each in enumerate(nodes):
        if shown[n]:
            families.setdefault(each.parent, []).append(n)
    for family in families.values():
        family.sort(key=lambda n: (ranks[n], -nodes[n].total))
    return families


def path_to(nodes: Sequence[BeamNode], node: int) -> list[int]:
    """From the first token to this one."""
    path = []
    while node >= 0:
        path.append(node)
        node = nodes[node].parent
    return path[::-1]
