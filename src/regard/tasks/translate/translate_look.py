"""Looking at a translation: the search, and everything that was attended to on the way to its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import cast

import torch
from torch import Tensor, nn

from regard.attention.recording import Recorded, recording
from regard.data.tokenizer import BOS, Tokenizer, Tokens
from regard.layers.contracts import Decoded
from regard.records.attention_map import AttentionMap
from regard.records.beam_tree import Beam, BeamNode
from regard.records.explanation import Explanation
from regard.records.forced_note import forced_note
from regard.records.maps import (
    attention_map,
    attentions_in,
    check_attends,
    check_size,
    record_of,
)
from regard.records.question import BadQuestion, Question
from regard.records.reading_notes import reading_notes
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.records.token_sides import token_side
from regard.records.what_ifs import change_notes
from regard.search import Ensemble, Search, TreeNode, search_trees
from regard.search.search_tree import path
from regard.tasks.decoded_tokens import last_label
from regard.tasks.prediction import Prediction
from regard.tasks.translate.forced_attention import forcing
from regard.tasks.translate.silenced_heads import silencing
from regard.tasks.translate.text_translator import TextTranslator
from regard.tasks.translate.translate_explain import explain_translation
from regard.words import t

SHOWN = 5  # hypotheses that have a rank if nobody says how many
AXES = {  # the sides of the queries and of the keys
    "cross": ("target", "source"),
    "encoder": ("source", "source"),
    "decoder": ("target", "prefix"),
}


def look_at_translation(
    translator: TextTranslator,
    question: Question,
    settings: Search,
    *,
    model: str = "",
    languages: tuple[str, str] = ("", ""),
    longest: int | None = None,
) -> AttentionRecord:
    """What the model attends to while it translates the text, or (question.target) writes that.

    longest: tokens of a source that it was trained on.

    The best hypothesis of the search is read once more, all of it at once: the maps are of that.
    """
    if isinstance(translator.model, Ensemble):
        raise BadQuestion(t("several models together have no one attention: look at one of them"))
    question.check_length()
    if not question.text.strip():
        raise BadQuestion(t("there is nothing to translate: the text is blank"))
    module = cast(nn.Module, translator.model)
    attentions = attentions_in(module)
    check_attends(attentions)
    one_token = question.force is not None or question.explain
    if _is_static(translator) and (one_token or question.off):
        raise BadQuestion(
            t(
                "this model attends once for a whole translation "
                "(model.attention.dynamic=false): no token of it can be forced or explained by "
                "itself, and no head switched off"
            )
        )
    (source,) = translator.read([question.text])
    check_size(attentions["encoder"], len(source) + 1)

    keys = len(source) + 1

    @contextmanager
    def changed() -> Iterator[None]:
        """A run of the model as the question wants it."""
        off = silencing(module, question.off, attentions, keys)
        with off, forcing(module, question.force, attentions["cross"], keys):
            yield

    with translator.inference():
        with changed():
            chosen, tree = _choose(translator, source, question, settings)
        with changed():
            recorded, decoded = _read(translator, source, chosen.ids, details=question.details)

    sides = _sides(question.text, source, chosen, languages)
    read = question.text, source, translator.source_tokenizer
    doubts = reading_notes(*read, language=languages[0], longest=longest)
    there = [(kind, layers) for kind, layers in attentions.items() if layers]
    maps = [attention_map(kind, *AXES[kind], layers, recorded) for kind, layers in there]
    if maps[0].name == "cross":
        maps[0] = _reported(maps[0], translator)
    why: tuple[Explanation, ...] = ()
    if question.explain:
        why = explain_translation(translator, source, chosen.ids, question.foil)
    return record_of(
        question,
        sides,
        maps,
        model=model,
        output=chosen.text,
        notes=(
            *forced_note(
                question.force, sides["target"], sides["source"], t("every cross-attention")
            ),
            *change_notes(question),
            *doubts,
        ),
        beam=_beam(translator.writer(question.text, source), tree),
        explanations=(*_shares_copied(decoded), *why),
    )


def _choose(
    translator: TextTranslator, source: Tokens, question: Question, settings: Search
) -> tuple[Prediction, list[TreeNode]]:
    """The translation that is looked at, and the tree it was found in."""
    settings, tokenizer = _settings(question, settings), translator.writer(question.text, source)
    if question.target is not None:
        (given,) = translator.score([question.text], [question.target], settings)
        return given, _path(given)
    encoded, prefix = translator.encode([source]), tokenizer.encode(question.prefix).ids
    decoder = translator.model.decoder
    (found,), (tree,) = search_trees(decoder, encoded, settings, prefix=[prefix])
    return Prediction.of(found[0], question.text, source, tokenizer), tree


def _settings(question: Question, settings: Search) -> Search:
    """Those of the run, with what the question changes; more hypotheses need a wider beam."""
    beam = question.beam or max(settings.beam, question.nbest or 1)
    return replace(settings, beam=beam, nbest=question.nbest or min(beam, SHOWN), attention=True)


def _path(given: Prediction) -> list[TreeNode]:
    """The tree of a translation that nobody searched for."""
    each, seen = given.log_probs, given.attention
    tree: list[TreeNode] = []
    for step, made in enumerate(zip(given.ids, each, accumulate(each), strict=True)):
        weights = None if seen is None else seen[step]
        tree.append(TreeNode(step - 1, *made, "open", attention=weights))
    tree[-1] = replace(tree[-1], fate="ended", score=given.score, rank=0)
    return tree


def _read(
    translator: TextTranslator, source: Tokens, ids: Sequence[int], *, details: bool
) -> tuple[list[Recorded], Decoded]:
    """What the model attends to when it is told what to write, and what it makes of that."""
    inputs = torch.tensor([[BOS, *ids[:-1]]], device=translator.device)
    model = cast(nn.Module, translator.model)
    with recording(model, details=details) as recorded:
        decoded = translator.model.decoder.forward(inputs, translator.encode([source]))
    if _is_static(translator):
        recorded = [_for_every_token(each, len(ids)) for each in recorded]
    return recorded, decoded


def _shares_copied(decoded: Decoded) -> tuple[Explanation, ...]:
    """p_gen of every token, of a model that copies."""
    if decoded.generated is None:
        return ()
    shares = decoded.generated[0].tolist()
    least = min(range(len(shares)), key=shares.__getitem__)
    return (
        Explanation(
            "p_gen",
            t("Said or copied"),
            t(
                "{shares} of {count} tokens are rather said than copied; token {least} is "
                "copied most, with p_gen {value}",
                shares=sum(share > 0.5 for share in shares),
                count=len(shares),
                least=least,
                value=f"{shares[least]:.2f}",
            ),
            "cross",
            rows={"p_gen": shares},
        ),
    )


def _is_static(translator: TextTranslator) -> bool:
    """Whether all tokens of a translation have the same weights."""
    return getattr(translator.model.decoder, "static", False)


def _for_every_token(recorded: Recorded, tokens: int) -> Recorded:
    """(..., 1, Lk) -> (..., tokens, Lk)"""

    def spread(x: Tensor) -> Tensor:
        return x.expand(*x.shape[:-2], tokens, -1)

    scores, summands = recorded.scores, recorded.summands
    return recorded._replace(
        weights=spread(recorded.weights),
        scores=None if scores is None else spread(scores),
        summands=None if summands is None else summands._replace(query=spread(summands.query)),
    )


def _reported(cross: AttentionMap, translator: TextTranslator) -> AttentionMap:
    """Which of the cross-attentions the model itself reports."""
    layer: int | None = getattr(translator.model.decoder, "reported", None)
    if layer is None:
        return replace(cross, reported="layer 1")
    return replace(cross, reported=f"layer {layer + 1}, mean over heads", shown=(layer, "mean"))


def _sides(
    text: str, source: Tokens, chosen: Prediction, languages: tuple[str, str]
) -> dict[str, Side]:
    before = chosen.tokens
    if not chosen.finished:  # nothing was predicted after the last token
        before = before[:-1]
    written = partial(token_side, chosen.text, language=languages[1])
    return {
        "source": token_side(text, source, end=True, title="source", language=languages[0]),
        "target": written(chosen.tokens, end=chosen.finished, title="target"),
        "prefix": written(before, start=True, title="what was written before"),
    }


def _beam(tokenizer: Tokenizer, tree: Sequence[TreeNode]) -> Beam:
    nodes = tuple(
        BeamNode(
            node.parent,
            last_label(tokenizer, [tree[place].token for place in path(tree, number)]),
            node.log_prob,
            node.total,
            node.fate,
            node.score,
            node.rank,
        )
        for number, node in enumerate(tree)
    )
    rows = [node.attention for node in tree if node.attention is not None]
    return Beam(nodes, torch.stack(rows).numpy() if len(rows) == len(nodes) else None)
