"""Records of answers that hold their attention already: a translation, a label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regard.chances import with_chance
from regard.records.attention_map import AttentionMap
from regard.records.beam_tree import Beam, BeamNode
from regard.records.record import AttentionRecord
from regard.records.side import END, NotARecord, Side
from regard.records.token_sides import label_of, token_side
from regard.tasks.classify.classify_module import Classification
from regard.tasks.prediction import Prediction
from regard.words import t


def prediction_record(
    prediction: Prediction, *, title: str = "", model: str = ""
) -> AttentionRecord:
    """What each token of a translation looked at; its n-best list as a tree."""
    if prediction.attention is None:
        raise NotARecord(
            t(
                "this prediction holds no attention: ask for it, run.translate([…], "
                "attention=True), {live}",
                live=t("or look at the run itself: regard.look(run, text)"),
            )
        )
    source = token_side(prediction.source, prediction.source_tokens, end=True, title="source")
    target = token_side(prediction.text, prediction.tokens, end=prediction.finished, title="target")
    weights = prediction.attention.float().cpu().numpy()
    if not weights.size:
        raise NotARecord(t("this prediction is of a blank text: there is nothing to look at"))
    return AttentionRecord(
        {"source": source, "target": target},
        (AttentionMap("cross", "target", "source", weights[None, None]),),
        title=title or prediction.source,
        model=model,
        output=prediction.text,
        beam=_tree((prediction, *prediction.alternatives)) if prediction.alternatives else None,
        question={"text": prediction.source},
    )


def classification_record(
    classification: Classification, *, title: str = "", model: str = ""
) -> AttentionRecord:
    """How much each token weighed in the vector that was judged."""
    if classification.attention is None:
        raise NotARecord(
            t(
                "this classification holds no attention: ask for it, run.classify([…], "
                "attention=True); a model that does not pool by attention has none. Its other "
                "attentions are seen if you {removeprefix}",
                removeprefix=t("look at the run itself: regard.look(run, text)"),
            )
        )
    answer = with_chance(classification.label, classification.probability)
    weights = classification.attention.float().cpu().numpy()
    tokens = classification.tokens
    has_end = len(weights) > len(tokens)  # a document has none
    text = token_side(classification.text, tokens, end=has_end, title="text")
    label = Side.of_labels([classification.label], title="label")
    return AttentionRecord(
        {"text": text, "label": label},
        (AttentionMap("pooling", "label", "text", weights[None, None, None]),),
        title=title or classification.text,
        model=model,
        output=answer,
        question={"text": classification.text},
    )


def _tree(best: Sequence[Prediction]) -> Beam:
    """Hypotheses that begin alike share the nodes of their beginning."""
    nodes: list[BeamNode] = []
    rows: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = []
    places: dict[tuple[str, ...], int] = {}
    for rank, each in enumerate(best):
        parent, total = -1, 0.0
        path: tuple[str, ...] = ()
        steps = [*_spelt(each), *([END] if each.finished else [])]
        for number, (token, log_prob) in enumerate(zip(steps, each.log_probs, strict=True)):
            last = number == len(steps) - 1
            path, total = (*path, token), total + log_prob
            if path not in places or last:
                places[path] = len(nodes)
                fate, score, place = ("ended", each.score, rank) if last else ("open", None, None)
                nodes.append(BeamNode(parent, token, log_prob, total, fate, score, place))
                if each.attention is not None:
                    rows.append(each.attention[number].float().cpu().numpy())
            parent = places[path]
    return Beam(tuple(nodes), np.stack(rows) if len(rows) == len(nodes) else None)


def _spelt(prediction: Prediction) -> list[str]:
    """Each token with what stands before it, so that those of a path, joined, are its text."""
    ends = [0, *(end for _, end in prediction.tokens.offsets)]
    return [
        label_of(prediction.text[begin:end], token)
        for begin, end, token in zip(ends, ends[1:], prediction.tokens.ids, strict=False)
    ]
