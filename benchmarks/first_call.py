"""What a first `attend` costs in a new process, beyond importing torch: seconds, CPU, float32.

    python benchmarks/first_call.py                  # compiled kernels are found in the cache
    python benchmarks/first_call.py --new            # as on a machine where regard never ran

Every row is of processes of its own, in shuffled rounds: the median, and in brackets the least. What counts
is import + first call. The second call says what of the first was waiting; ready: how long after the first
call the kernel answers, where one is made ready meanwhile.
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
begin = time.perf_counter()
import regard
regard.attend, regard.scores.Additive, regard.Weights
imported = time.perf_counter()
torch.set_grad_enabled({learns})
x = torch.randn(4, 128, 64, requires_grad={learns})
given = dict({options})
times = [time.perf_counter()]
for _ in range(2):
    regard.attend(x, x, **given)
    times.append(time.perf_counter())
from regard.attention.kernels.kernel_modules import wait
wait()
ready = time.perf_counter() - times[1]
print(imported - begin, times[1] - times[0], times[2] - times[1], ready)
"""


def measured(name: str, cache: str | None) -> list[float]:
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
        columns = [*zip(*rounds, strict=True)]
        both = [a + b for a, b in zip(columns[0], columns[1], strict=True)]
        row = [columns[0], columns[1], both, columns[2]]
        shown = [f"{statistics.median(x):.3f} ({min(x):.3f})" for x in row]
        ready = f"{statistics.median(columns[3]):.2f}" if name == "additive" else ""
        print(f"| {name} | {' | '.join(shown)} | {ready} |")


if __name__ == "__main__":
    main()
