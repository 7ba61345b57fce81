"""A kernel of Triton, launched again and again with arguments that differ in their addresses alone.

At every launch Triton looks at each argument to find the code that was compiled for such ones; for a kernel
with sixty of them that takes longer than a small attention does. A `Launch` asks once, and from then on
goes where Triton would have gone; with a Triton that it does not know, or that does not answer as it should,
it asks every time.
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
    """kernel[(grid,)](*tensors, *numbers, **constants), for any tensors of the same shapes and dtypes.

    All are on the current device; a kernel is given bool as uint8.
    """

    def __init__(
        self, kernel: Any, grid: int, numbers: Sequence[float], constants: Mapping[str, Any]
    ) -> None:
        self.kernel, self.grid = kernel, grid
        self.numbers, self.constants = tuple(numbers), constants
        self.again: Callable[..., Any] | None = None  # with a stream and addresses
        self.refused = False  # Triton did not take such a launch

    def __call__(self, *tensors: Tensor) -> None:
        if self.again is not None:
            places = [x.data_ptr() for x in tensors]
            if not functools.reduce(or_, places) & ALIGNED:
                stream = torch._C._cuda_getCurrentRawStream(tensors[0].get_device())
                try:
                    self.again(stream, *places)
                except TypeError:  # about its arguments, before it has launched anything
                    self.again, self.refused = None, True
                else:
                    return
        if self.grid:
            self._ask(tensors)

    def _ask(self, tensors: Sequence[Tensor]) -> None:
        """Let Triton launch it, and keep what it has found if that goes for all such tensors."""
        given = [x.view(torch.uint8) if x.dtype == torch.bool else x for x in tensors]
        compiled = self.kernel[(self.grid,)](*given, *self.numbers, **self.constants)
        if compiled is None or self.refused:  # None under the interpreter
            return
        aligned = not functools.reduce(or_, [x.data_ptr() for x in tensors]) & ALIGNED
        if aligned and on_trial.DIRECT_LAUNCH in on_trial.ON and _is_known():
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
