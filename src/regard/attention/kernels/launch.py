"""A kernel of Triton, launched again and again with arguments that differ in their addresses alone.

At every launch Triton looks at each argument to find the code that was compiled for such ones; for a kernel
with sixty of them that takes longer than a small attention does. A `Launch` can ask once (`on_trial`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from operator import or_
from typing import Any

import torch
from torch import Tensor

from regard.attention.kernels import on_trial

TRITONS = ("3.6.", "3.7.")  # whose own launch is known to be this one: `test_launch`
ALIGNED = 15  # bits of an address that are 0 where Triton reads 16 bytes at a time


@functools.cache
def _is_known() -> bool:
    import triton

    return triton.__version__.startswith(TRITONS)


class Launch:
    """kernel[(grid,)](*tensors, *numbers, **constants), for any tensors of the same shapes and dtypes."""

    def __init__(
        self, kernel: Any, grid: int, numbers: Sequence[float], constants: Mapping[str, Any]
    ) -> None:
        self.kernel, self.grid = kernel, grid
        self.numbers, self.constants = tuple(numbers), constants
        self.again: Callable[..., Any] | None = None  # with a stream and addresses

    def __call__(self, *tensors: Tensor) -> None:
        if not self.grid:
            return
        first = tensors[0]
        if first.is_cuda and torch.cuda.current_device() != first.get_device():
            with torch.cuda.device(first.device):
                self(*tensors)
            return
        if on_trial.DIRECT_LAUNCH not in on_trial.ON:
            self.kernel[(self.grid,)](*tensors, *self.numbers, **self.constants)
            return
        places = [x.data_ptr() for x in tensors]
        aligned = not functools.reduce(or_, places) & ALIGNED
        if self.again is not None and aligned:
            self.again(torch._C._cuda_getCurrentRawStream(first.get_device()), *places)
            return
        compiled = self.kernel[(self.grid,)](*tensors, *self.numbers, **self.constants)
        if aligned and compiled is not None and _is_known():  # None under the interpreter
            self.again = self._repeated(compiled, len(tensors))

    def _repeated(self, compiled: Any, tensors: int) -> Callable[..., Any]:
        """Triton's own launch, past its look at the arguments; constants only hold their places."""
        run, function, metadata = compiled.run, compiled.function, compiled.packed_metadata
        grid = self.grid
        constants = (None,) * (len(self.kernel.arg_names) - tensors - len(self.numbers))
        rest = (*self.numbers, *constants)

        def again(stream: int, *places: int) -> None:
            run(grid, 1, 1, stream, function, metadata, None, None, None, *places, *rest)

        return again
