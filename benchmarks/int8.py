"""What matrices of 8 bits gain in speed and lose in BLEU: the test set by beam search, on the CPU.

    python benchmarks/int8.py                            # the model that comes with regard
    python benchmarks/int8.py -m RUN -m RUN              # other translators, of any kind
    python benchmarks/int8.py --threads 1 --rounds 3     # where others use the machine too

float32 and int8 take turns over the whole test set, with the search of the recipe; ratios are medians of
the rounds. By CPU time, of all threads, a ratio hardly depends on what else runs, with one thread.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median

import torch

from regard.data.examples import read_pairs
from regard.measures.translation import bleu
from regard.runs.loaded_run import EMBEDDED, LoadedRun, load
from regard.training.allocator import keep_memory
from toolkit import Contender, in_turns
from toolkit_parts.peers import TEST, timed

HEAD = (
    "| model | float32, sentences a second | int8 | × float32 | by CPU time "
    "| BLEU, float32 | int8 | loss | the same |"
)


def measured(folder: Path, rounds: int, sentences: int | None) -> str:
    """A row of the table."""
    runs = {"float32": load(folder, device="cpu"), "int8": load(folder, quantize="int8")}
    pairs = list(read_pairs(TEST))[:sentences]
    texts, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    said: dict[str, list[str]] = {}

    def contender(name: str, run: LoadedRun) -> Contender:
        def work() -> int:
            said[name] = [one.text for one in run.translate(texts)]
            return len(texts)

        return lambda: timed(work)

    turns = in_turns({name: contender(name, run) for name, run in runs.items()}, rounds)
    speed = {name: median(t.done / t.seconds for t in its) for name, its in turns.items()}
    both = list(zip(turns["float32"], turns["int8"], strict=True))
    wall, cpu = (
        median(a.seconds / b.seconds for a, b in both),
        median(a.cpu / b.cpu for a, b in both),
    )
    scores = {name: bleu(lines, references).value for name, lines in said.items()}
    same = sum(map(str.__eq__, *said.values())) / len(texts)
    kind = runs["int8"].recipe.model.kind
    return (
        f"| {kind}, {folder.name} | {speed['float32']:.0f} | {speed['int8']:.0f} | {wall:.2f} | {cpu:.2f} "
        f"| {scores['float32']:.2f} | {scores['int8']:.2f} | {scores['float32'] - scores['int8']:+.2f} "
        f"| {same:.1%} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-m", "--model", metavar="RUN", action="append", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, help="of the test set, if not all")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_memory()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads\n\n{HEAD}")
    print("| --- " * 9 + "|", flush=True)
    for folder in options.model or [EMBEDDED]:
        print(measured(folder, options.rounds, options.sentences), flush=True)


if __name__ == "__main__":
    main()
