"""Two records side by side: what each is called there, and the difference of their maps.

Where two models wrote different things, one is given what the other wrote, so that both have the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regard.records.record import AttentionRecord
from regard.view.picked_matrix import Pick, picked
from regard.view.sides.common_words import Common, in_common_words
from regard.words import t


@dataclass(frozen=True)
class SideBySide:
    """The difference of two records: right − left, in the words that both have.

    given: the output that the right was given, because it wrote another one; "" if it was not.
    """

    names: tuple[str, str]
    common: Common
    given: str = ""

    @property
    def title(self) -> str:
        return t("difference: right − left")

    @property
    def lines(self) -> tuple[str, ...]:
        """What it is of, and how much it is."""
        said = [t("{right} − {left}", right=self.names[1], left=self.names[0])]
        if self.given:
            said.append(t("both as they write “{output}”", output=self.given))
        if any(self.common.alone):
            said.append(t("of the words that both have"))
        return (*said, *self.summary)

    @property
    def summary(self) -> tuple[str, ...]:
        rows = self.common.variations
        mean = sum(rows) / len(rows)
        if mean == 0:
            return (t("They are the same: each row has a total variation of 0."),)
        worst = max(range(len(rows)), key=rows.__getitem__)
        word, most = self.common.left.queries[worst], f"{rows[worst]:.3f}"
        return (
            t("total variation of a row: {mean} in the mean", mean=f"{mean:.3f}"),
            t("they differ most at “{word}”: {most}", word=word, most=most),
        )


def side_by_side(
    records: Sequence[AttentionRecord], scored: Sequence[AttentionRecord], pick: Pick
) -> SideBySide | None:
    """Of two records with weights over words; None of others, or where they have no word in common."""
    if len(records) != 2 or not all(record.maps for record in records):
        return None
    left, right = records
    given = next((each for each in scored if is_given(each, right, left.output)), None)
    one, other = picked(left, pick), picked(given or right, pick)
    if one.columns.picture is not None or other.columns.picture is not None:
        return None
    common = in_common_words(one, other)
    if common is None:
        return None
    return SideBySide(names_apart(left, right), common, left.output if given else "")


def is_given(scored: AttentionRecord, record: AttentionRecord, output: str) -> bool:
    """Whether it is the record's question with this output given."""

    def asked(each: AttentionRecord) -> tuple[object, ...]:
        return (each.model, *(each.question.get(part) for part in ("text", "force", "off")))

    return asked(scored) == asked(record) and scored.question.get("target") == output


def names_apart(left: AttentionRecord, right: AttentionRecord) -> tuple[str, str]:
    """What tells them apart: their models, their sentences, what was changed, else only their sides."""
    as_it_is = t("as the model does it")
    for of in (
        lambda each: each.model,
        lambda each: each.title,
        lambda each: " · ".join(each.changes) or as_it_is,
    ):
        if of(left) != of(right):
            return of(left) or t("left"), of(right) or t("right")
    return t("left"), t("right")
