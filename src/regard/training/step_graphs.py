"""Work on batches of few shapes, recorded once for each shape and replayed: one launch instead of thousands.

A batch of a new shape is worked on as it comes, which also makes kernels and memory ready. When its shape
comes for the second time the work is recorded, and from then on replayed with the numbers of each batch in
the place of the first ones. Recorded or not, it is the same work: nothing learnt depends on which.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from regard.words import t

MOST = 128  # shapes that are recorded: of thousands of kernels each, they take some gigabytes
SPARE = 1 / 8  # of the device's memory: it is left to work that is not recorded

Tensors = Mapping[str, Tensor]


class Recorder(Protocol):
    def has_room(self) -> bool:
        """Whether there is memory for one more recording."""
        ...

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """What does the same again, with what then stands in the same tensors; it is not done meanwhile."""
        ...


class NothingRecorded:
    """The work itself, every time: for devices without graphs, and for tests of all that is around them."""

    def has_room(self) -> bool:
        return True

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        return work


class CudaGraphs:
    """CUDA graphs, all in one pool of memory: they run one after the other, and leave nothing in it.

    Random numbers of a replay are a function of the generator's seed at that time, as those of a call are.
    """

    def __init__(self, device: torch.device) -> None:
        self.device, self.stream = device, torch.cuda.Stream(device)
        self.pool = torch.cuda.graph_pool_handle()

    def has_room(self) -> bool:
        """What is recorded cannot use memory that other work has left, but that can be given back."""
        if self._free() < SPARE:
            torch.cuda.empty_cache()
        return self._free() >= SPARE

    def _free(self) -> float:
        """The share of the device's memory that nobody has."""
        free, total = torch.cuda.mem_get_info(self.device)
        return free / total

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        graph, here = torch.cuda.CUDAGraph(), torch.cuda.current_stream(self.device)
        self.stream.wait_stream(here)
        with _no_garbage_collection(), torch.cuda.stream(self.stream):
            graph.capture_begin(pool=self.pool, capture_error_mode="thread_local")
            try:
                work()
            except BaseException:
                with suppress(RuntimeError):
                    graph.capture_end()
                self._free_generator()
                raise
            graph.capture_end()
        here.wait_stream(self.stream)
        return graph.replay

    def _free_generator(self) -> None:
        """A recording that failed leaves the generator waiting for its end: it gets another state."""
        with suppress(RuntimeError):
            index = torch.cuda.current_device() if self.device.index is None else self.device.index
            fresh = torch.Generator(self.device).graphsafe_get_state()
            torch.cuda.default_generators[index].graphsafe_set_state(fresh)


class ShapeGraph(NamedTuple):
    inputs: dict[str, Tensor]
    replay: Callable[[], None]


class StepGraphs:
    """`run(batch)` does `work` on the batch, where the device is.

    most: shapes that are recorded, if there is memory for them; those that come later are worked on as they
    come. warn: is told why nothing is recorded any more, if a recording fails.
    """

    def __init__(
        self,
        work: Callable[[Tensors], None],
        device: torch.device,
        recorder: Recorder,
        *,
        warn: Callable[[str], None],
        most: int = MOST,
    ) -> None:
        self.work, self.device, self.warn = work, device, warn
        self.recorder: Recorder | None = recorder
        self.error: BaseException | None = None  # why nothing is recorded any more
        self.most = most
        self._seen: set[object] = set()
        self._recorded: dict[object, ShapeGraph] = {}

    def __len__(self) -> int:
        """How many shapes are recorded."""
        return len(self._recorded)

    def run(self, batch: Tensors) -> None:
        shape = tuple((name, x.shape, x.dtype) for name, x in batch.items())
        if shape not in self._recorded:
            again = shape in self._seen
            self._seen.add(shape)
            if not again or len(self) >= self.most or not self._record(shape, batch):
                self.work({name: self._sent(x) for name, x in batch.items()})
                return
        inputs, replay = self._recorded[shape]
        for name, x in batch.items():
            inputs[name].copy_(self._pinned(x), non_blocking=True)
        replay()

    def _record(self, shape: object, batch: Tensors) -> bool:
        if self.recorder is None:
            return False
        if not self.recorder.has_room():
            self.most = len(self)
            return False
        inputs = {name: self._sent(x) for name, x in batch.items()}
        try:
            replay = self.recorder.record(lambda: self.work(inputs))
        except (RuntimeError, AssertionError) as error:
            self.recorder, self.error = None, error
            self.warn(
                t(
                    "the work of a step could not be recorded, and is done step by step, which is slower: "
                    "{error}",
                    error=str(error).splitlines()[0],
                )
            )
            return False
        self._recorded[shape] = ShapeGraph(inputs, replay)
        return True

    def _sent(self, x: Tensor) -> Tensor:
        """A copy where the device is; nobody waits for it."""
        return torch.empty_like(x, device=self.device).copy_(self._pinned(x), non_blocking=True)

    def _pinned(self, x: Tensor) -> Tensor:
        """In memory that a GPU can read by itself."""
        return x.pin_memory() if self.device.type == "cuda" and x.device.type == "cpu" else x


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """What is collected while a graph is recorded could free memory of the device in the middle of it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
