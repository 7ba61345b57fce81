"""Which visits a place was told from: what was attended to, or what a score would lose without them.

Legend: L visits before, C places of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from regard.attention.module import AttentionModule
from regard.attention.recording import Recorded, recording
from regard.records.attention_map import AttentionMap
from regard.records.explanation import Explanation
from regard.records.maps import NOTHING, attention_map, record_of
from regard.records.question import LONGEST_DOCUMENT, BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.tasks.answer import Answer
from regard.tasks.text_look import asked_example, unmeasured_note
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.visit.visit_module import NextPlace
    from regard.tasks.visit.visit_task import VisitTask

LOOKED_AT = 5  # places of an answer that have a row each, where they differ
VISITS, ANSWER = "visits", "answer"  # sides, and the name of the map
SHARES = "shares"  # the map of a model that does not attend


class SeenVisits(NamedTuple):
    """What one question was answered from."""

    lost: (
        Tensor | None
    )  # (C, L + 1): what the score of each place loses, the last of all before the window
    attended: list[Recorded]
    visits: list[tuple[str, float]]  # the place of each, and how many hours before


def seen_visits(
    task: VisitTask,
    module: NextPlace,
    example: Mapping[str, Any],
    answer: Answer,
    *,
    details: bool = False,
) -> SeenVisits:
    """One example by itself, so that no map has padding in it."""
    with module.inference(), recording(module.model, details=details) as attended:
        ((_, batch),) = task.batches([example], module.device, inputs=True, batch=1)
        asked = module.questions(batch).asked
        numbers = [task.place.number(place) for place in answer.answer[:LOOKED_AT]]
        best = torch.tensor(numbers, device=module.device)[None, None]
        found = module.model.contributions(asked, best)
        if found is None:
            module.scores(asked)
    hours = (asked.when[:, :1] - asked.hours)[0].tolist()
    places = [task.place.named(number) for number in asked.places[0].tolist()]
    lost = None
    if found is not None:
        lost = torch.cat([found[0][0, 0], found[1][0, 0, :, None]], -1).float().cpu()
    return SeenVisits(lost, attended, list(zip(places, hours, strict=True)))


def with_visits(
    task: VisitTask, module: NextPlace, example: Mapping[str, Any], answer: Answer
) -> Answer:
    """The answer with what its first place came from; without, if the model cannot tell."""
    seen = seen_visits(task, module, example, answer)
    columns = _labels(seen)
    if seen.lost is not None:
        weights = _shares(seen.lost)[:1]
    elif seen.attended:
        weights = seen.attended[-1].weights[0].float().cpu()
        weights = weights.mean(0) if weights.dim() == 3 else weights
    else:
        return answer
    return replace(answer, attention=weights, rows=answer.answer[:1], columns=columns)


def look_at_visits(
    task: VisitTask, module: NextPlace, question: Question, *, model: str = ""
) -> AttentionRecord:
    """Map "visits": where a model attended; of ST-RNN "shares", of what scores would lose, without
    their signs. A row for each of the best places.
    """
    question.check_text_alone(t("a model of visits"), LONGEST_DOCUMENT)
    example = asked_example(task, question.text)
    (answer,) = task.predict(module, [example], batch=1)
    seen = seen_visits(task, module, example, answer, details=question.details)
    columns = _labels(seen)
    rows = answer.answer[: 1 if seen.lost is None else len(seen.lost)]
    sides = {
        VISITS: Side.of_labels(columns, title=VISITS),
        ANSWER: Side.of_labels(rows, title=ANSWER),
    }
    maps: list[AttentionMap] = []
    told: list[Explanation] = []
    if seen.lost is not None:
        weights = _shares(seen.lost).numpy()[None, None]
        maps.append(AttentionMap(SHARES, ANSWER, VISITS, weights))
        title = t("what the score loses without it")
        reading = t("above 0: the visit speaks for the place; below 0: against it")
        told.append(
            Explanation("lost", title, reading, VISITS, matrix=seen.lost.numpy(), signed=True)
        )
    elif seen.attended and columns:
        modules = dict(module.model.named_modules())
        layers = {one.name: modules[one.name] for one in seen.attended}
        attentions = {n: m for n, m in layers.items() if isinstance(m, AttentionModule)}
        maps.append(attention_map(VISITS, ANSWER, VISITS, attentions, seen.attended))
    else:
        raise BadQuestion(NOTHING if columns else t("there is nothing to look at: no visit before"))
    unknown = len(example["history"].visits) - len(seen.visits)
    left_out = t.plural(
        unknown,
        "{n} visit is not read: it is too long ago, or to an unknown place",
        "{n} visits are not read: they are too long ago, or to unknown places",
        n=unknown,
    )
    return record_of(
        question,
        sides,
        maps,
        title=f"{example['user']}: {' → '.join(place for place, _ in seen.visits)}",
        model=model,
        output=", ".join(answer.answer[:LOOKED_AT]),
        notes=[left_out] if unknown else [],
        after=unmeasured_note(question),
        explanations=tuple(told),
    )


def _labels(seen: SeenVisits) -> list[str]:
    named = [f"{place} −{hours:.1f} h" for place, hours in seen.visits]
    return named if seen.lost is None else [*named, t("(before)")]


def _shares(lost: Tensor) -> Tensor:
    """Of each row, without signs; 0 where nothing is lost."""
    sizes = lost.abs()
    return sizes / sizes.sum(-1, keepdim=True).clamp(min=1e-12)
