"""Looking at a text as a masked language model reads it, with tokens hidden."""

from __future__ import annotations

from regard.data.tokenizer import MASK, Tokens
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.masked.masked_module import Masked
from regard.tasks.text_look import look_at_itself


def look_at_masked(
    task: Masked, question: Question, *, model: str = "", language: str = ""
) -> AttentionRecord:
    """Map "encoder": each token and all others. The output is the text with its masks filled."""

    def read(tokens: Tokens) -> tuple[str, tuple[str, ...]]:
        if task.mask_token in tokens.ids:
            return task.fill([question.text], top=1)[0].filled, ()
        task.model.encode(*task.padded([tokens.ids]))
        return question.text, (f"nothing was filled in: there is no {MASK} in the text",)

    return look_at_itself(
        task,
        question,
        "encoder",
        read,
        who="a masked language model",
        longest=task.max_length,
        model=model,
        language=language,
    )
