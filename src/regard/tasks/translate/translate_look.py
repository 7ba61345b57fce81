"""Looking at a translation: the search, and everything that was attended to on the way to its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn

from regard.attention.recording import Recorded, recording
from regard.data.padding import pad
from regard.data.tokenizer import BOS, EOS, Tokens
from regard.layers.contracts import Encoded
from regard.records.maps import (
    attention_map,
    attentions_in,
    check_attends,
    check_size,
    within_budget,
)
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionMap, AttentionRecord, Beam, BeamNode, Explanation
from regard.records.side import END, Side
from regard.records.token_sides import label_of, token_side, unknown_note
from regard.search import Ensemble, Search, TreeNode, search_trees
from regard.search.search_tree import path
from regard.tasks.decoded_tokens import spell
from regard.tasks.translate.forced_attention import forced_note, forcing
from regard.tasks.translate.text_translator import TextTranslator

SHOWN = 5  # hypotheses that have a rank if nobody says how many
AXES = {  # the sides of the queries and of the keys
    "cross": ("target", "source"),
    "encoder": ("source", "source"),
    "decoder": ("target", "prefix"),
}


@dataclass(frozen=True)
class ChosenTarget:
    """The translation that is looked at, and the tree it was found in."""

    text: str
    tokens: Tokens  # without EOS
    finished: bool
    tree: list[TreeNode]

    @property
    def ids(self) -> list[int]:
        return [*self.tokens.ids, EOS] if self.finished else self.tokens.ids


def look_at_translation(
    translator: TextTranslator,
    question: Question,
    settings: Search,
    *,
    model: str = "",
    languages: tuple[str, str] = ("", ""),
) -> AttentionRecord:
    """What the model attends to while it translates the text, or (question.target) writes that.

    The best hypothesis of the search is read once more, all of it at once: the maps are of that.
    """
    if isinstance(translator.model, Ensemble):
        raise BadQuestion("several models together have no one attention: look at one of them")
    question.check_length()
    if not question.text.strip():
        raise BadQuestion("there is nothing to translate: the text is blank")
    module = cast(nn.Module, translator.model)
    attentions = attentions_in(module)
    check_attends(attentions)
    if _is_static(translator) and (question.force is not None or question.explain):
        raise BadQuestion(
            "this model attends once for a whole translation (model.attention.dynamic=false): no token of "
            "it can be forced or explained by itself"
        )
    source = translator.source_tokenizer.encode(question.text)
    check_size(attentions["encoder"], len(source) + 1)

    steps = question.force, attentions["cross"], len(source) + 1
    with translator.inference():
        with forcing(module, *steps):
            chosen = _choose(translator, source, question, settings)
        with forcing(module, *steps):
            recorded = _read(translator, source, chosen.ids, details=question.details)

    sides = _sides(question.text, source, chosen, languages)
    maps, notes = within_budget(
        [
            attention_map(kind, *AXES[kind], layers, recorded)
            for kind, layers in attentions.items()
            if layers
        ]
    )
    if maps[0].name == "cross":
        maps = (_reported(maps[0], translator), *maps[1:])
    return AttentionRecord(
        sides,
        maps,
        title=question.text,
        model=model,
        output=chosen.text,
        notes=(*forced_note(question, sides), *unknown_note(question.text, source), *notes),
        beam=_beam(translator, chosen.tree),
        explanations=_explanations(translator, source, chosen) if question.explain else (),
        question=question.to_dict(),
    )


def _choose(
    translator: TextTranslator, source: Tokens, question: Question, settings: Search
) -> ChosenTarget:
    settings = _settings(question, settings)
    if question.target is not None:
        return _given(translator, question.text, question.target, settings)
    prefix = translator.target_tokenizer.encode(question.prefix).ids
    encoded = _encode(translator, source)
    decoder = translator.model.decoder
    (found,), (tree,) = search_trees(decoder, encoded, settings, prefix=[prefix])
    best = found[0]
    ids = best.tokens[:-1] if best.finished else best.tokens
    return ChosenTarget(*spell(translator.target_tokenizer, ids), best.finished, tree)


def _settings(question: Question, settings: Search) -> Search:
    """Those of the run, with what the question changes; more hypotheses need a wider beam."""
    beam = question.beam or max(settings.beam, question.nbest or 1)
    return replace(settings, beam=beam, nbest=question.nbest or min(beam, SHOWN), attention=True)


def _given(translator: TextTranslator, text: str, target: str, settings: Search) -> ChosenTarget:
    """A translation that nobody searched for: its tree has one path."""
    (scored,) = translator.score([text], [target], settings)
    tree: list[TreeNode] = []
    total = 0.0
    for step, (token, log_prob) in enumerate(
        zip([*scored.tokens.ids, EOS], scored.log_probs, strict=True)
    ):
        total += log_prob
        weights = None if scored.attention is None else scored.attention[step]
        tree.append(TreeNode(step - 1, token, log_prob, total, "open", attention=weights))
    tree[-1] = replace(tree[-1], fate="ended", score=scored.score, rank=0)
    return ChosenTarget(target, scored.tokens, True, tree)


def _read(
    translator: TextTranslator, source: Tokens, ids: Sequence[int], *, details: bool
) -> list[Recorded]:
    """What the model attends to when it is told what to write."""
    inputs = torch.tensor([[BOS, *ids[:-1]]], device=translator.device)
    model = cast(nn.Module, translator.model)
    with recording(model, details=details) as recorded:
        translator.model.decoder.forward(inputs, _encode(translator, source))
    if _is_static(translator):
        recorded = [_for_every_token(each, len(ids)) for each in recorded]
    return recorded


def _is_static(translator: TextTranslator) -> bool:
    """Whether all tokens of a translation have the same weights."""
    return getattr(translator.model.decoder, "static", False)


def _for_every_token(recorded: Recorded, tokens: int) -> Recorded:
    """(..., 1, Lk) -> (..., tokens, Lk)"""

    def spread(x: Tensor) -> Tensor:
        return x.expand(*x.shape[:-2], tokens, -1)

    scores = recorded.scores
    return recorded._replace(
        weights=spread(recorded.weights), scores=None if scores is None else spread(scores)
    )


def _encode(translator: TextTranslator, source: Tokens) -> Encoded:
    ids, mask = (x.to(translator.device) for x in pad([source.ids]))
    return translator.model.encode(ids, mask)


def _reported(cross: AttentionMap, translator: TextTranslator) -> AttentionMap:
    """Which of the cross-attentions the model itself reports."""
    layer: int | None = getattr(translator.model.decoder, "reported", None)
    if layer is None:
        return replace(cross, reported="layer 1")
    return replace(cross, reported=f"layer {layer + 1}, mean over heads", shown=(layer, "mean"))


def _sides(
    text: str, source: Tokens, chosen: ChosenTarget, languages: tuple[str, str]
) -> dict[str, Side]:
    before = chosen.tokens
    if not chosen.finished:  # nothing was predicted after the last token
        before = Tokens(before.ids[:-1], before.pieces[:-1], before.offsets[:-1])
    return {
        "source": token_side(text, source, end=True, title="source", language=languages[0]),
        "target": token_side(
            chosen.text,
            chosen.tokens,
            end=chosen.finished,
            title="target",
            language=languages[1],
        ),
        "prefix": token_side(
            chosen.text,
            before,
            start=True,
            title="what was written before",
            language=languages[1],
        ),
    }


def _beam(translator: TextTranslator, tree: Sequence[TreeNode]) -> Beam:
    nodes = tuple(
        BeamNode(
            node.parent,
            _spelt(translator, [tree[place].token for place in path(tree, number)]),
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


def _spelt(translator: TextTranslator, ids: Sequence[int]) -> str:
    """The last of these tokens as the text has it: with the space before it, if there is one."""
    if ids[-1] == EOS:
        return END
    decode = translator.target_tokenizer.decode
    return label_of(decode(ids)[len(decode(ids[:-1])) :], ids[-1])


def _explanations(
    translator: TextTranslator, source: Tokens, chosen: ChosenTarget
) -> tuple[Explanation, ...]:
    from regard.tasks.translate.translate_explain import explain_translation

    return explain_translation(translator, source, chosen.ids)
