"""Looking at a judgement of two texts: what each word of one has of each word of the other.

Legend: Q words (or windows) of the first text, K of the second; a window is what one place of a wide
convolution saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from regard.attention.module import AttentionModule
from regard.attention.recording import Recorded
from regard.data.fields import Text
from regard.records.attention_map import AttentionMap
from regard.records.maps import attention_map, record_of, used_sides
from regard.records.pooled_maps import pooling_map
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.records.token_sides import token_side
from regard.tasks.answer import Answer
from regard.tasks.attended_sides import SeenAttention
from regard.tasks.text_look import asked_example, unknown_notes, unmeasured_note
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.match.match_task import MatchTask

MOST_WORDS = 2_000  # of a text that is looked at
FIRST, SECOND, ANSWER = "first", "second", "answer"
EMPTY = "a text has no words, so nothing is attended to"


def with_pair_attention(
    answer: Answer, seen: SeenAttention, first: Sequence[str], second: Sequence[str]
) -> Answer:
    """The answer with the first attention between the texts; of poolings, with the weights of both texts.

    Where a text has no words, nothing is attended to.
    """
    if not first or not second:
        return answer
    for each in first_calls(seen):
        windows = each.weights.shape[-2] - len(first)
        return replace(
            answer,
            attention=each.weights[0].float().cpu(),
            rows=window_names(first, windows),
            columns=window_names(second, windows),
        )
    if len(seen.pooled) == 2:  # the mean over hops, without a column that stands for no words
        parts = [pooled.of(0).mean(0, keepdim=True).float().cpu() for pooled in seen.pooled]
        weights = torch.cat([parts[0][:, : len(first)], parts[1][:, : len(second)]], -1)
        return replace(
            answer,
            attention=weights,
            rows=[answer.line],
            columns=[*first, *second],
            hops=seen.pooled[0].pooling.hops,
        )
    return answer


def look_at_pair(
    task: MatchTask, module: Any, question: Question, *, model: str = ""
) -> AttentionRecord:
    """Maps "pair", between words, "pair windows", between what convolutions saw, and "pooling"s of each text;
    a layer for each block.
    """
    question.check_text_alone("a model of two texts")
    example = asked_example(task, question.text)
    texts: dict[str, tuple[str, Any]] = {}
    tokenizers = []
    for name in (FIRST, SECOND):
        field = task.fields[name]
        assert isinstance(field, Text)
        (tokens,) = field.tokens([example[name]])
        texts[name] = example[name], tokens
        tokenizers.append(field.tokenizer)
    if not all(len(tokens) for _, tokens in texts.values()):
        raise BadQuestion(EMPTY)
    if any(len(tokens) > MOST_WORDS for _, tokens in texts.values()):
        raise BadQuestion(
            t(
                "a text has over {most_words} tokens: shorter ones can be looked at",
                most_words=f"{MOST_WORDS:,}",
            )
        )
    with SeenAttention.by(module.model, details=question.details) as seen:
        (answer,) = task.predict(module, [example], batch=1)
    language = task.recipe.data.source
    read = [(*pair, cut) for pair, cut in zip(texts.values(), tokenizers, strict=True)]
    sides = {
        name: token_side(text, tokens, title=name, language=language)
        for name, (text, tokens) in texts.items()
    }
    sure = isinstance(answer.answer, str) and answer.score is not None  # a number is its own score
    said = f"{answer.line} ({answer.score:.2f})" if sure else answer.line
    sides[ANSWER] = Side.of_labels([answer.line], title="answer")
    maps = [*_pair_maps(module.model, seen, sides), *_poolings(seen, details=question.details)]
    return record_of(
        question,
        used_sides(sides, maps),
        maps,
        title=" ⟷ ".join(text for text, _ in texts.values()),
        model=model,
        output=said,
        notes=unknown_notes(read, language),
        after=unmeasured_note(question),
    )


def first_calls(seen: SeenAttention) -> list[Recorded]:
    """Of every attention the call for the texts as they are; a second one is for what they do not share."""
    found: dict[str, Recorded] = {}
    for each in seen.attended:
        found.setdefault(each.name, each)
    return list(found.values())


def window_names(words: Sequence[str], more: int) -> list[str]:
    """What each place of a wide convolution over more + 1 words sees."""
    return [" ".join(words[max(0, end - more) : end + 1]) for end in range(len(words) + more)]


def _pair_maps(
    model: torch.nn.Module, seen: SeenAttention, sides: dict[str, Side]
) -> list[AttentionMap]:
    """Those of one shape are layers of one map. The sides of windows are added."""
    modules = {n: m for n, m in model.named_modules() if isinstance(m, AttentionModule)}
    calls = first_calls(seen)
    maps = []
    for more in sorted({each.weights.shape[-2] - len(sides[FIRST]) for each in calls}):
        fit = [each for each in calls if each.weights.shape[-2] - len(sides[FIRST]) == more]
        names = (FIRST, SECOND)
        if more:
            names = (f"{FIRST} windows", f"{SECOND} windows")
            for name, of in zip(names, (FIRST, SECOND), strict=True):
                sides[name] = Side.of_labels(window_names(sides[of].tokens, more), title=name)
        attentions = {each.name: modules[each.name] for each in fit}
        maps.append(attention_map("pair windows" if more else "pair", *names, attentions, fit))
    return maps


def _poolings(seen: SeenAttention, *, details: bool) -> list[AttentionMap]:
    return [
        pooling_map(pooled, ANSWER, side, details=details, name=f"pooling {side}")
        for pooled, side in zip(seen.pooled, (FIRST, SECOND), strict=False)
    ]
