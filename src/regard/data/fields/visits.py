"""The visits of one user, one after the other: a place and a time each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.fields.field import Cell, Field, Parts, Unusable
from regard.data.fields.place import Place
from regard.data.fields.time_point import TimePoint

NO_VISITS = '{}lines that are not visits, [["place", "time"], …]'


class Visit(NamedTuple):
    place: str
    hours: float


class Trail(NamedTuple):
    """Visits in the order of their times; `told` of them, the last, are to be told from those before too."""

    visits: Sequence[Visit]
    told: int = 0


class Visits(Field):
    """A cell is [[place, time], …], or [{"place": …, "time": …}, …], also as text; there may be none.

    Of a trail the last `max_length` visits are read. Places that are unknown say nothing and are left out.

    Tensors: NAME (B, L) int64, numbers of places, NAME_hours (B, L) float64, NAME_mask (B, L) bool, True
    where there is a visit, NAME_told (B,) int64.
    """

    parts: ClassVar = ("places", "hours", "told")
    types: ClassVar = ("<i4", "<f8", "<i4")
    any_cell: ClassVar = [["…", "2012-04-03T18:00"]]

    def __init__(
        self, name: str, *, of: Place, at: TimePoint, max_length: int | None = None
    ) -> None:
        super().__init__(name)
        self.of, self.at, self.max_length = of, at, max_length

    def __repr__(self) -> str:
        return f"Visits({self.name!r}, of={self.of!r}, max_length={self.max_length})"

    def read(self, cell: Cell, folder: Path | None = None) -> Trail:
        if isinstance(cell, Trail):
            return cell
        if isinstance(cell, str):
            try:
                cell = json.loads(cell) if cell.strip() else []
            except (ValueError, RecursionError):
                raise Unusable(NO_VISITS) from None
        if not isinstance(cell, Sequence):
            raise Unusable(NO_VISITS)
        return Trail(sorted(map(self._visit, cell), key=lambda visit: visit.hours))

    def _visit(self, cell: Cell) -> Visit:
        match cell:
            case {"place": place, "time": time} | [place, time]:
                return Visit(self.of.read(place), self.at.read(time))
        raise Unusable(NO_VISITS)

    @property
    def size(self) -> int:
        return self.of.size

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        found: list[Parts] = []
        for visits, told in (example[self.name] for example in examples):
            known = [(n, v.hours) for v in visits if (n := self.of.number(v.place))]
            known = known[-self.max_length :] if self.max_length else known
            places, hours = zip(*known, strict=True) if known else ((), ())
            found.append((places, np.array(hours, np.float64), [min(told, len(known))]))
        return found

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        lengths = np.array([len(parts[0]) for parts in several], np.int64)
        shape = len(several), int(lengths.max(initial=0))
        places, hours = np.zeros(shape, np.int64), np.zeros(shape)
        for row, (ids, when, _) in enumerate(several):
            places[row, : len(ids)], hours[row, : len(ids)] = ids, when
        return {
            self.name: torch.from_numpy(places),
            f"{self.name}_hours": torch.from_numpy(hours),
            f"{self.name}_mask": torch.from_numpy(np.arange(shape[1]) < lengths[:, None]),
            f"{self.name}_told": torch.tensor([int(parts[2][0]) for parts in several]),
        }

    def length(self, counts: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return counts["places"] + 1

    def lengths(self, value: Trail) -> dict[str, int]:
        return {"visits": len(value.visits)}

    def show(self, value: Trail) -> str:
        return " ".join(visit.place for visit in value.visits)
