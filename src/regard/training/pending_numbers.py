"""Numbers on their way from the device: asked for now, read some updates later, so that nobody waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


class PendingNumbers(Generic[T]):
    """A queue: each entry is a tensor's numbers, and what they are about."""

    def __init__(self) -> None:
        self._queue: deque[tuple[Tensor, torch.cuda.Event | None, T]] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def send(self, numbers: Tensor, about: T) -> None:
        """Begin to copy them; they may be overwritten on the device afterwards."""
        if numbers.device.type != "cuda":
            self._queue.append((numbers.detach().cpu().clone(), None, about))
            return
        here = torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
        here.copy_(numbers, non_blocking=True)
        arrived = torch.cuda.Event()
        arrived.record(torch.cuda.current_stream(numbers.device))
        self._queue.append((here, arrived, about))

    def read(self, behind: int = 0) -> Iterator[tuple[list[float], T]]:
        """The oldest entries, until `behind` are left: the same ones in every process."""
        while len(self._queue) > behind:
            here, arrived, about = self._queue.popleft()
            if arrived is not None:
                arrived.synchronize()
            yield here.tolist(), about
