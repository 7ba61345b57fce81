"""Records in a file, as docs/viewer/record.md has it: one, or a list of those that are compared.

Where two wrote different things, each brings along how it reads the output of the other, as `scored`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from regard.records.json_text import json_text
from regard.records.kinds import listed
from regard.records.record import AttentionRecord, parsed
from regard.records.side import NotARecord
from regard.view.sides.side_by_side import is_given
from regard.words import t


class Saved(NamedTuple):
    records: tuple[AttentionRecord, ...]
    scored: tuple[AttentionRecord, ...] = ()  # each with an output that another of them wrote


def written_records(records: Sequence[AttentionRecord], scored: Sequence[AttentionRecord]) -> str:
    """The text of the file: `read_saved` makes the same of it."""
    outputs = [record.output for record in records]
    written = []
    placed: set[int] = set()
    for record in records:
        own = [
            each
            for each in scored
            if id(each) not in placed and any(is_given(each, record, said) for said in outputs)
        ]
        placed |= set(map(id, own))
        brought = {"scored": [each.to_dict() for each in own]} if own else {}
        written.append(json_text({**record.to_dict(), **brought}))
    return written[0] if len(written) == 1 else f"[\n{','.join(written)}]\n"


def read_saved(text: str) -> Saved:
    """Of a file that `View.save` wrote, or another program; each record may lack `scored`."""
    given = parsed(text)
    every = given if isinstance(given, list) else [given]
    records = tuple(map(_record, every))
    return Saved(records, tuple(_record(each) for one in every for each in _brought(one)))


def _brought(given: Mapping[str, Any]) -> Sequence[Any]:
    try:
        return listed(given.get("scored", []), "scored")
    except ValueError as error:
        raise NotARecord(str(error)) from None


def _record(given: Any) -> AttentionRecord:
    if not isinstance(given, dict):
        raise NotARecord(t("a record is a JSON object, or a list of them"))
    return AttentionRecord.from_dict(given)
