"""Looking at words that are tagged: what each of them attends to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regard.attention.recording import recording
from regard.records.maps import (
    attention_map,
    attentions_in,
    check_attends,
    check_size,
    within_budget,
)
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.records.token_sides import token_side, unknown_note
from regard.tasks.tag.tag_module import Tag

if TYPE_CHECKING:
    from regard.tasks.tag.tag_task import TagTask


def look_at_tags(
    task: TagTask, module: Tag, question: Question, *, model: str = ""
) -> AttentionRecord:
    """Map "encoder": each word and all others. The output is every word with its label."""
    question.check_text_alone("a tagger")
    attentions = attentions_in(module.model)
    check_attends(attentions)
    words = task.words_field.read(question.text)
    text = " ".join(words)
    (tokens,) = task.words_field.tokens([text])
    layers = attentions["encoder"]
    check_size(layers, len(tokens))
    with recording(module.model, details=question.details) as recorded:
        (answer,) = task.predict(module, [{"words": words}], batch=1)
    maps, notes = within_budget([attention_map("encoder", "words", "words", layers, recorded)])
    side = token_side(text, tokens, title="words", language=task.recipe.data.source)
    pairs = zip(words, answer.answer, strict=True)
    return AttentionRecord(
        {"words": side},
        maps,
        title=question.text,
        model=model,
        output="  ".join(f"{word}/{tag}" for word, tag in pairs),
        notes=(*unknown_note(text, tokens), *notes),
        question=question.to_dict(),
    )
