"""Two launches of a kernel by Triton, and two past it, under a driver that only writes them down.

Run by `test_launch` in a process of its own, with the driver's library as argument: prints what was launched.
"""

# ruff: noqa: N803  (compile-time constants are capitals)

import ctypes
import json
import sys

import torch
import triton
import triton.language as tl
from triton.backends.nvidia.driver import CudaDriver
from triton.runtime import driver

from regard.attention.kernels import on_trial
from regard.attention.kernels.launch import Launch


@triton.jit(do_not_specialize=["length"])
def scaled(x, y, stride, length, one, shift, scale, BLOCK: tl.constexpr, TWICE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(x + at * stride, mask=at < length, other=0.0) * scale + shift * one
    tl.store(y + at * stride, row + row if TWICE else row, mask=at < length)


def main(library: str) -> None:
    recorder = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    cuda = CudaDriver()
    cuda.get_current_device = lambda: 0
    cuda.get_current_stream = torch._C._cuda_getCurrentRawStream = lambda device: 5
    cuda.get_device_capability = lambda device: (9, 0)
    driver.set_active(cuda)

    x, y = torch.zeros(64), torch.zeros(64)
    launch = Launch(scaled, 3, (16, 7, 1, 3, 0.5), {"BLOCK": 32, "TWICE": True, "num_warps": 2})
    asked = []
    ordinary = triton.JITFunction.run
    triton.JITFunction.run = lambda *given, **more: asked.append(1) or ordinary(*given, **more)
    on_trial.ON.discard(on_trial.DIRECT_LAUNCH)
    launch(x, y)
    launch(x, y)
    on_trial.ON.add(on_trial.DIRECT_LAUNCH)
    launch(x, y)
    launch(x, y)
    launch(y, x)

    def written(kind, name, columns):
        rows = (kind * columns * 8).in_dll(recorder, name)
        return [list(row) for row in rows][: ctypes.c_int.in_dll(recorder, "launches").value]

    said = {
        "asked": len(asked),
        "launched": written(ctypes.c_int64, "launched", 8),
        "arguments": written(ctypes.c_uint32, "arguments", 8),
        "addresses": written(ctypes.c_uint64, "addresses", 2),
        "x": x.data_ptr(),
        "y": y.data_ptr(),
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1])
