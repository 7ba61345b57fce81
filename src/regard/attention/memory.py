"""What an attention remembers of its source, from one step to the next.

Legend: Lk keys, H heads, D features, ... leading axes.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regard.attention.select import is_at_hand

if TYPE_CHECKING:
    from regard.attention.module import AttentionModule


MOST_SPARE = 8  # places behind the keys: reordering a beam copies them too
_ONE_AT_A_TIME = threading.Lock()  # who takes places in a room


@dataclass
class Room:
    """Places for keys and values to come. Who appends first has them; others move to a room of their own."""

    keys: Tensor  # (..., places, D)
    values: Tensor
    filled: int

    @classmethod
    def around(cls, keys: Tensor, values: Tensor, wanted: int) -> Room:
        """A larger one, with these keys and values at its beginning, for `wanted` places at least."""
        filled = keys.shape[-2]
        places = wanted + min(wanted, MOST_SPARE)

        def widened(old: Tensor) -> Tensor:
            wide = old.new_empty(*old.shape[:-2], places, old.shape[-1])
            wide[..., :filled, :] = old
            return wide

        return cls(widened(keys), widened(values), filled)

    def takes(self, length: int, more: int) -> bool:
        """Take the `more` places behind the first `length`; False: somebody has them, or they are too few."""
        if self.keys.is_inference() and not torch.is_inference_mode_enabled():
            return False  # which nobody may write to any more
        with _ONE_AT_A_TIME:
            free = self.filled == length and length + more <= self.keys.shape[-2]
            self.filled += more * free
        return free

    def put(self, at: int, keys: Tensor, values: Tensor) -> None:
        """Past autograd: what was saved of this room for a gradient are the places before these."""
        end = at + keys.shape[-2]
        self.keys.data[..., at:end, :] = keys.detach()
        self.values.data[..., at:end, :] = values.detach()


@dataclass(frozen=True)
class Memory:
    """What an attention remembers of its source: keys projected once, values, and which are real.

    It is never changed: `append` and `select` give a new one.
    """

    attention: AttentionModule
    keys: Tensor  # (..., Lk, D), with heads (..., H, Lk, D)
    values: Tensor
    mask: Tensor | None  # (..., Lk); None: all are real
    start: int = 0  # the position of the first key: those before it have been forgotten
    # (..., Lk): which were not finite, and are 0 now; None: not checked
    spoilt: Tensor | None = None
    # that keys and values are in
    room: Room | None = field(default=None, repr=False, compare=False)

    @property
    def length(self) -> int:
        return self.keys.shape[-2]

    @property
    def _own_room(self) -> Room | None:
        """The room, unless other keys or values were put in the place of those in it."""
        room = self.room
        if room is None:
            return None
        pairs = ((self.keys, room.keys), (self.values, room.values))
        return room if all(_begins(part, wide) for part, wide in pairs) else None

    def append(
        self, states: Tensor, mask: Tensor | None = None, *, values: Tensor | None = None
    ) -> Memory:
        """With more states at the end: the next steps of incremental decoding."""
        new = self.attention.remember(states, mask, values=values, start=self.start + self.length)
        if self.mask is None and new.mask is None:
            joined = None
        else:
            masks = (m.mask if m.mask is not None else m._all_real(states) for m in (self, new))
            joined = torch.cat(list(masks), -1)
        keys, values, room = self._joined(new)
        spoilt = None
        if self.spoilt is not None and new.spoilt is not None:
            spoilt = torch.cat([self.spoilt, new.spoilt], -1)
        return replace(self, keys=keys, values=values, mask=joined, spoilt=spoilt, room=room)

    def _joined(self, new: Memory) -> tuple[Tensor, Tensor, Room | None]:
        """Keys and values with the new ones behind them; in a room, unless somebody learns from them."""
        keys, values = (self.keys, new.keys), (self.values, new.values)
        if not (_can_be_written(*keys) and _can_be_written(*values)):
            return torch.cat(keys, -2), torch.cat(values, -2), None
        room, length = self._own_room, self.length + new.length
        if room is None or not room.takes(self.length, new.length):
            room = Room.around(self.keys, self.values, length)
            room.filled = length
        room.put(self.length, new.keys, new.values)
        return room.keys[..., :length, :], room.values[..., :length, :], room

    def advance(self, states: Tensor) -> Memory:
        """`append`, without the keys that no query at one of the new states or later can see."""
        memory, reach = self.append(states), self.attention.reach
        past = memory.length - states.shape[-2] - reach
        if past <= 0:
            return memory
        first = int(past)
        return replace(
            memory,
            keys=memory.keys[..., first:, :],
            values=memory.values[..., first:, :],
            mask=None if memory.mask is None else memory.mask[..., first:],
            spoilt=None if memory.spoilt is None else memory.spoilt[..., first:],
            start=memory.start + first,
            room=None,
        )

    def select(self, rows: Tensor) -> Memory:
        """With its batch rows (the first axis) reordered, repeated or dropped: what a beam needs."""
        mask, spoilt = (
            None if x is None else x.index_select(0, rows) for x in (self.mask, self.spoilt)
        )
        room = self._own_room
        if room is None:
            keys, values = self.keys.index_select(0, rows), self.values.index_select(0, rows)
        else:
            room = Room(
                room.keys.index_select(0, rows), room.values.index_select(0, rows), self.length
            )
            keys, values = (x[..., : self.length, :] for x in (room.keys, room.values))
        return replace(self, keys=keys, values=values, mask=mask, spoilt=spoilt, room=room)

    def _all_real(self, states: Tensor) -> Tensor:
        return torch.ones(*states.shape[:-2], self.length, dtype=torch.bool, device=states.device)


def _can_be_written(old: Tensor, more: Tensor) -> bool:
    """Whether numbers can be put beside others: here, alike, not in a graph, and nobody learns from them."""
    return (
        old.device.type == "cpu"
        and old.dtype == more.dtype
        and not (torch.is_grad_enabled() and (old.requires_grad or more.requires_grad))
        and is_at_hand(old)
        and is_at_hand(more)
    )


def _begins(part: Tensor, wide: Tensor) -> bool:
    """Whether it is wide[..., :n, :], and no other view of it, such as an expanded one."""
    return (
        part.data_ptr() == wide.data_ptr()
        and part.stride() == wide.stride()
        and part.shape[:-2] == wide.shape[:-2]
    )
