"""What may be wrong with the way texts are cut into tokens, in a sentence with what mends it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from regard.data.unspaced import LOOKED_AT
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.task_corpus import TaskCorpus

HIGH = 0.1  # of the tokens are unknown: so many that the answers suffer


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
        if not all(isinstance(example, Mapping) and name in example for example in examples):
            continue
        unknown, every = task.fields[name].unknown(examples)
        if unknown <= HIGH * every:
            continue
        option, kind = _cut_by(task, name)
        said = {
            "share": f"{100 * unknown / every:.0f} %",
            "field": f"{where} {name}".strip(),
            "unknown": f"{unknown:,}",
            "all": f"{every:,}",
        }
        if kind == "word":
            finer = f"{option}=bpe"
            found.append(
                t(
                    "{share} of the {field} tokens ({unknown} of {all}) are unknown: no text to learn from "
                    "has them often enough. {option}, or =character, knows parts of words",
                    option=finer,
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


def _cut_by(task: TaskCorpus, name: str) -> tuple[str, str]:
    """The option that says how a field is cut, and what it says."""
    given = task.recipe.tokenizer
    side = "target" if name == "target" or given.shared else "source"
    return f"tokenizer.{side}.kind", getattr(given, side).kind
