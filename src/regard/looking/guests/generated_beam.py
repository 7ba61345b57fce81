"""What `generate` wrote, with the tree of hypotheses that it searched through.

Every step of a search shows its hypotheses to processors of logits, its candidates to stopping criteria:
there they are noted down.
Legend: w hypotheses that are kept open, C candidates of a step (2 w, or more), V tokens, T steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.hf.attention_capture import Captured, capture
from regard.hf.modules import Kind
from regard.looking.token_text import BROKEN, token_name
from regard.records.attention_map import Array
from regard.records.beam_tree import Beam, BeamNode
from regard.records.side import END

SHOWN = 5  # hypotheses that are returned, if nobody says how many


Sequence_ = tuple[int, ...]  # ids from the start


class Generated(NamedTuple):
    ids: Tensor  # (T,): with what the decoder was started with
    beam: Beam | None  # None: it was not a search that could be noted down


class _Noted:
    """What a search shows on its way: the hypotheses that a step begins with, and its candidates."""

    def __init__(self) -> None:
        self.open: list[list[Sequence_]] = []  # in the order of the rows of the batch
        self.candidates: list[list[Sequence_]] = []  # the likeliest first

    def note_open(self, ids: Tensor, scores: Tensor) -> Tensor:
        """A processor of logits that changes nothing."""
        self.open.append([tuple(row) for row in ids.tolist()])
        return scores

    def note_candidates(self, ids: Tensor, scores: Any, **_: Any) -> Tensor:
        """A stopping criterion that stops nothing."""
        self.candidates.append([tuple(row) for row in ids.tolist()])
        return torch.zeros(len(ids), dtype=torch.bool, device=ids.device)


def generated(
    model: Any,
    tokenizer: Any,
    inputs: Mapping[str, Tensor],
    *,
    most: int,
    beam: int | None,
    nbest: int | None = None,
    weights_of: Kind | None,
    keys: str,
) -> Generated:
    """The best sequence for one input, and the search for it.

    most: tokens that are written. weights_of: the kind of attention whose weights the nodes have, which
    are over the side `keys`; None: they have none.
    """
    width = beam or model.generation_config.num_beams or 1
    noted = _Noted()
    asked: dict[str, Any] = {
        "max_new_tokens": most,
        "do_sample": False,
        "num_beams": width,
        "num_return_sequences": min(nbest or SHOWN, width),
        "logits_processor": [noted.note_open],
        "stopping_criteria": [noted.note_candidates],
        "return_dict_in_generate": True,
        "output_scores": True,
        "output_logits": True,
    }
    if weights_of is None:
        found = model.generate(**inputs, **asked)
        return Generated(found.sequences[0], _tree(tokenizer, noted, found, None, keys))
    with capture(model, kinds=[weights_of]) as captured:
        found = model.generate(**inputs, **asked)
    tree = _tree(tokenizer, noted, found, _seen(captured, weights_of), keys)
    return Generated(found.sequences[0], tree)


def plainly_generated(model: Any, inputs: Mapping[str, Tensor], most: int) -> Generated:
    """By a `generate` of the model's own, which has another search: Whisper's."""
    written = model.generate(**inputs, max_new_tokens=most, do_sample=False)
    ids = written["sequences"] if isinstance(written, Mapping) else written
    return Generated(ids[0], None)


def _seen(captured: Captured, kind: Kind) -> list[Tensor]:
    """(w, K) at each step: what the newest query of each row looked at, last layer, mean of heads."""
    each = (captured.weights(kind, step) for step in range(captured.steps))
    return [weights[-1, :, :, -1].mean(1).float().cpu() for weights in each]


def _tree(
    tokenizer: Any, noted: _Noted, found: Any, seen: Sequence[Tensor] | None, keys: str
) -> Beam | None:
    """A node for every candidate, in the order of the steps."""
    if not noted.candidates or len(noted.candidates) != len(found.scores):
        return None
    nodes: list[BeamNode] = []
    weights: list[Array] = []
    places: dict[Sequence_, int] = {noted.open[0][0]: -1}
    going_on = [set(rows) for rows in noted.open[1:]] + [set()]
    for step, (scores, logits) in enumerate(zip(found.scores, found.logits, strict=True)):
        log_probs = logits.float().log_softmax(-1)  # scores are so with a beam alone
        rows = {sequence: row for row, sequence in reversed([*enumerate(noted.open[step])])}
        for sequence in noted.candidates[step]:
            row = rows[sequence[:-1]]
            log_prob = float(log_probs[row, sequence[-1]])
            if sequence in places or not np.isfinite(float(scores[row, sequence[-1]])):
                continue  # of rows that are not different yet, or forbidden
            parent = places[sequence[:-1]]
            places[sequence] = len(nodes)
            total = log_prob + (nodes[parent].total if parent >= 0 else 0.0)
            fate = "open" if sequence in going_on[step] else "dropped"
            name = _spelt(tokenizer, sequence[len(noted.open[0][0]) :])
            nodes.append(BeamNode(parent, name, log_prob, total, fate))
            if seen is not None:
                weights.append(seen[step][row].numpy())
    _rank(nodes, places, found)
    return Beam(tuple(nodes), _even(weights) if weights else None, keys)


def _spelt(tokenizer: Any, ids: Sequence[int]) -> str:
    """The last of these as the text has it, with the blank before it if there is one; (end), or its name."""
    if ids[-1] == tokenizer.eos_token_id:
        return END
    whole, before = (
        str(tokenizer.decode(list(part), skip_special_tokens=True)) for part in (ids, ids[:-1])
    )
    piece = whole[len(before) :] if whole.startswith(before) else ""
    return piece if piece.strip() and BROKEN not in piece else token_name(tokenizer, ids[-1])


def _even(rows: Sequence[Array]) -> Array:
    """Of rows of several lengths, as a decoder has them over its own past: 0 behind the shorter ones."""
    longest = max(map(len, rows))
    return np.stack([np.pad(row, (0, longest - len(row))) for row in rows])


def _rank(nodes: list[BeamNode], places: Mapping[Sequence_, int], found: Any) -> None:
    """Whole hypotheses get their score and their place among those that were returned."""
    scores = getattr(found, "sequences_scores", None)
    for rank, sequence in enumerate(map(tuple, found.sequences.tolist())):
        while sequence and sequence not in places:
            sequence = sequence[:-1]  # what fills at the end
        place = places.get(sequence, -1)
        if place >= 0:
            score = nodes[place].total if scores is None else float(scores[rank])
            nodes[place] = replace(nodes[place], fate="ended", score=score, rank=rank)
