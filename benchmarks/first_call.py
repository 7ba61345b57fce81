"""What a first `attend` costs in a new process, beyond importing torch: seconds, CPU, float32.

    python benchmarks/first_call.py                  # compiled kernels are found in the cache
    python benchmarks/first_call.py --new            # as on a machine where regard never ran

Every row is of processes of its own, in shuffled rounds: the median of the seconds on the clock, and in
brackets of those that the calling thread computed, which is the same on a machine that is idle. What counts
is import + first call; the kernel is ready so long after the first call, where torch answers meanwhile.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile

CALLS = {
    "dot": "",
    "causal": "region='causal'",
    "window(4)": "region='window(4)'",
    "key mask": "mask=torch.ones(4, 1, 128, dtype=torch.bool)",
    "additive": "score=regard.scores.Additive(64, 64)",
    "additive, with gradients": "score=regard.scores.Additive(64, 64)",
    "Weights": "weights=regard.Weights(sums=True, entropy=True, largest=4)",
}
PROGRAM = """
import time
import torch
torch.softmax(torch.randn(2, 8, 8) @ torch.randn(2, 8, 8), -1)  # what torch itself does once
def now():
    return time.perf_counter(), time.thread_time()
times = [now()]
import regard
regard.attend, regard.scores.Additive, regard.Weights
times.append(now())
torch.set_grad_enabled({learns})
x = torch.randn(4, 128, 64, requires_grad={learns})
given = dict({options})
times.append(now())
for _ in range(2):
    regard.attend(x, x, **given)
    times.append(now())
from regard.attention.kernels.kernel_modules import wait
wait()
times.append(now())
for clock in zip(*times):
    zero, imported, begin, first, second, ready = clock
    print(imported - zero, first - begin, second - first, ready - first)
"""


def measured(name: str, cache: str | None) -> list[float]:
    """Import, first call, second call and kernel ready: on the clock, then of the thread."""
    program = PROGRAM.format(options=CALLS[name], learns="gradients" in name)
    environment = {**os.environ, **({} if cache is None else {"NUMBA_CACHE_DIR": cache})}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True
    )
    return [float(number) for number in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--new", action="store_true", help="with an empty cache of kernels")
    asked = parser.parse_args()
    random.seed(0)
    times: dict[str, list[list[float]]] = {name: [] for name in CALLS}
    if not asked.new:
        measured("additive, with gradients", None)  # so that its code is there
    for _ in range(asked.rounds):
        for name in random.sample(list(CALLS), len(CALLS)):
            with tempfile.TemporaryDirectory() as folder:
                times[name].append(measured(name, folder if asked.new else None))
    print("| call | import regard | first call | both | second call | kernel ready |")
    print("| --- " * 6 + "|")
    for name, rounds in times.items():
        rows = [[*each, each[0] + each[1], each[4] + each[5]] for each in rounds]
        middle = [statistics.median(column) for column in zip(*rows, strict=True)]
        pairs = ((0, 4), (1, 5), (8, 9), (2, 6))
        shown = [f"{middle[wall]:.3f} ({middle[own]:.3f})" for wall, own in pairs]
        ready = f"{middle[3]:.2f}" if name == "additive" else ""
        print(f"| {name} | {' | '.join(shown)} | {ready} |")


if __name__ == "__main__":
    main()
