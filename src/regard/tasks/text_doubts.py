"""What may be wrong with the way texts are cut into tokens, in a sentence with what mends it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from regard.data.fields import Text
from regard.data.unspaced import LOOKED_AT
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.task_corpus import TaskCorpus

HIGH = 0.1  # of the tokens are unknown: so many that the answers suffer
SOME = 0.01  # so many that scores are to be read with them in mind


def unspaced_texts(
    task: TaskCorpus, examples: Iterable[Mapping[str, Any]], *, any_kind: bool = False
) -> list[str]:
    """Of each field with texts that have no spaces between words, and are cut into words at spaces.

    any_kind: also where this recipe cuts otherwise, since another may not.
    """
    first = list(islice(examples, LOOKED_AT))
    found = []
    for name, field in task.fields.items():
        option, kind = _cut_by(task, name)
        if kind != "word" and not (any_kind and kind != "character"):
            continue
        if not field.unspaced(example[name] for example in first):
            continue
        mend = f"{option}=character"
        if kind == "word":
            said = t(
                "{field}: there are no spaces between the words of this script, so that whole clauses are "
                "taken for words; {option} cuts them",
                field=name,
                option=mend,
            )
        else:
            said = t(
                "{field}: there are no spaces between the words of this script; a recipe that cuts texts "
                "into words, as lstm-mr and han-composed, needs {option}",
                field=name,
                option=mend,
            )
        found.append(said)
    return found


def unknown_tokens(task: TaskCorpus, examples: Sequence[Any], where: str = "") -> list[str]:
    """Of each input whose tokens are often unknown. where: what the examples are of, if it must be said."""
    found = []
    for name in task.inputs:
        if (said := _unknown_share(task, name, examples, where, HIGH)) is None:
            continue
        option, kind = _cut_by(task, name)
        if kind == "word":
            found.append(
                t(
                    "{share} of the {field} tokens ({unknown} of {all}) are unknown: no text to learn from "
                    "has them often enough. {option}, or =character, knows parts of words",
                    option=f"{option}=bpe",
                    **said,
                )
            )
        else:
            found.append(
                t(
                    "{share} of the {field} tokens ({unknown} of {all}) are unknown: no text to learn from "
                    "has them often enough",
                    **said,
                )
            )
    return found


def unknown_answers(
    task: TaskCorpus, examples: Sequence[Any], where: str = "", *, above: float = SOME
) -> list[str]:
    """Of each text that is to be written, how many of its tokens no model can write; where: as above."""
    found = []
    for name, field in task.fields.items():
        if name in task.inputs or not isinstance(field, Text):
            continue
        if (said := _unknown_share(task, name, examples, where, above)) is None:
            continue
        option, kind = _cut_by(task, name)
        if kind == "word":
            found.append(
                t(
                    "{share} of the {field} tokens ({unknown} of {all}) are unknown: they cannot be written, "
                    "and none of them counts as right. {option}, or =character, knows parts of words",
                    option=f"{option}=bpe",
                    **said,
                )
            )
        else:
            found.append(
                t(
                    "{share} of the {field} tokens ({unknown} of {all}) are unknown: they cannot be written, "
                    "and none of them counts as right",
                    **said,
                )
            )
    return found


def idle_tokenizers(task: TaskCorpus) -> list[str]:
    """What is said of a tokenizer that this task learns none by."""
    given = task.recipe.tokenizer
    used = {task.cut_by(name) for name in task.fields}
    plain = type(given)()
    found = []
    for side, other in (("source", "target"), ("target", "source")):
        mine = getattr(given, side)
        if side not in used and mine not in (getattr(plain, side), getattr(given, other)):
            found.append(
                t(
                    "tokenizer.{side} has no effect here: all texts are cut as tokenizer.{other} says",
                    side=side,
                    other=other,
                )
            )
    return found


def _unknown_share(
    task: TaskCorpus, name: str, examples: Sequence[Any], where: str, above: float
) -> dict[str, str] | None:
    """How many tokens of a field are unknown, in words; None: no more than this share."""
    if not all(isinstance(example, Mapping) and name in example for example in examples):
        return None
    unknown, every = task.fields[name].unknown(examples)
    if unknown <= above * every:
        return None
    share = 100 * unknown / every
    return {
        "share": f"{share:.0f} %" if share >= 10 else f"{share:.1f} %",
        "field": f"{where} {name}".strip(),
        "unknown": f"{unknown:,}",
        "all": f"{every:,}",
    }


def _cut_by(task: TaskCorpus, name: str) -> tuple[str, str]:
    """The option that says how a field is cut, and what it says."""
    side = task.cut_by(name)
    return f"tokenizer.{side}.kind", getattr(task.recipe.tokenizer, side).kind
