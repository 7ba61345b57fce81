"""How fast regard trains and translates, beside JoeyNMT 2.3.0 and plain PyTorch, in one run.

    python benchmarks/toolkit.py                                        # against plain PyTorch alone
    python benchmarks/toolkit.py --joeynmt VENV/bin/python              # its own environment's Python
    python benchmarks/toolkit.py --only translation
    python benchmarks/toolkit.py --threads 1                            # where others use the machine too

GRU-256 with additive attention and input feeding (what JoeyNMT calls recurrent), batches of 64,
6,000 + 6,000 tokens, the embedded Chinese-English corpus, float32. All read the same tokens. They
differ in how: JoeyNMT and the plain loop draw batches at random and translate sentences as they come,
regard puts like lengths together.

Contenders take turns, so that a change of the machine's mood hits them alike; numbers are medians of
the turns. Target tokens count EOS, not padding. A ratio of 3 means: regard does 3 times as much in the
same time. By CPU time, of all threads, it hardly depends on what else runs, with one thread. Under the
table of training stands what share of this machine's float32 matrix product, which takes its turns as
well, the matrix products of a training are. All translate with the same weights: those of the plain
model, trained for a while.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import cast

import torch

from regard.data.examples import read_pairs
from regard.data.store import Store
from regard.runs.run_folder import RunFolder
from regard.search import Search
from regard.tasks.translate.translate_task import TranslateTask
from regard.training.allocator import keep_memory
from regard.training.run_preparation import load_task
from toolkit_parts.peers import (
    BEAM,
    LONGEST,
    TEST,
    JoeyNMT,
    PlainLoop,
    Turn,
    joeynmt_weights,
    timed,
    write_for_joeynmt,
)
from toolkit_parts.regard_translator import (
    BATCH,
    FROM_THE_PAPER,
    SAME_MODEL,
    BareLoop,
    WholeRun,
    make_recipe,
    prepare,
    translator_like,
)
from toolkit_parts.sgemm_share import flop_a_token, sgemm, share

ROUNDS = 5
SGEMM = "sgemm"  # takes its turns beside the loops, and is the unit of their shares
LEARNT = 150_000  # target tokens that the weights for translation are trained on

Contender = Callable[[], Turn]


# ── measuring ────────────────────────────────────────────────────────────────────────────────────


def in_turns(contenders: dict[str, Contender], rounds: int) -> dict[str, list[Turn]]:
    """One turn to warm up, then as many as there are rounds, every other round backwards."""
    turns: dict[str, list[Turn]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name in list(contenders) if number % 2 else list(contenders)[::-1]:
            turn = contenders[name]()
            if number:
                turns[name].append(turn)
        print(f"round {number} of {rounds}", file=sys.stderr, flush=True)
    return turns


def table(turns: dict[str, list[Turn]], unit: str, notes: dict[str, str]) -> Iterator[str]:
    """The ratio of a round is that of neighbours in time, so it is steadier than the times are."""
    yield f"| | {unit} a second | regard's ratio | by CPU time | |"
    yield "| --- | --- | --- | --- | --- |"
    (first, *_) = turns
    for name, its in turns.items():
        speed = median(turn.done / turn.seconds for turn in its)
        pairs = list(zip(turns[first], its, strict=True))
        wall = median(a.done / a.seconds * b.seconds / b.done for a, b in pairs)
        cpu = median(a.done / a.cpu * b.cpu / b.done for a, b in pairs)
        yield f"| {name} | {speed:,.0f} | {wall:.2f} | {cpu:.2f} | {notes.get(name, '')} |"


# ── the two tables ───────────────────────────────────────────────────────────────────────────────


def training(folder: Path, plain: PlainLoop, joeynmt: JoeyNMT | None, seconds: float) -> None:
    each = seconds / ROUNDS
    loops: dict[str, BareLoop | WholeRun | PlainLoop] = {
        "regard": BareLoop(SAME_MODEL, folder),
        "regard, as `regard train` runs it": WholeRun(SAME_MODEL, folder),
        "regard, rnnsearch as in the paper": BareLoop(FROM_THE_PAPER, folder),
        "plain PyTorch loop": plain,
    }
    contenders: dict[str, Contender] = {
        name: lambda loop=loop: timed(lambda: loop.train(each))  # type: ignore[misc]
        for name, loop in loops.items()
    }
    if joeynmt is not None:
        contenders["JoeyNMT 2.3.0"] = lambda: joeynmt.train(each)
    counted = {name: flop_a_token(loop) for name, loop in loops.items() if type(loop) is BareLoop}
    contenders[SGEMM] = sgemm
    print("\n".join(["", "## Training", ""]))
    notes = {
        "regard, rnnsearch as in the paper": "another model: attention before the cell, maxout"
    }
    turns = in_turns(contenders, ROUNDS)
    products = turns.pop(SGEMM)
    print("\n".join([*table(turns, "target tokens", notes), ""]))
    for name, flop in counted.items():
        print(f"- {name}: {share(turns[name], products, flop)}", flush=True)


def translation(folder: Path, plain: PlainLoop, joeynmt: JoeyNMT | None) -> None:
    print(f"training weights on {LEARNT:,} tokens", file=sys.stderr, flush=True)
    learnt = 0
    while learnt < LEARNT:
        learnt += plain.train(1.0)
    translator = translator_like(plain.model, folder)
    texts = [pair.source for pair in read_pairs(TEST)]
    sources = translator.source_tokenizer.encode_ids(texts)
    settings = Search(beam=BEAM, min_length=1, max_length=LONGEST, max_ratio=LONGEST)
    said: dict[str, list[list[int]]] = {}

    def by_regard() -> int:
        found = translator.predict(texts, settings, batch=BATCH)
        said["regard"] = [one.tokens.ids for one in found]
        return len(found)

    def by_plain() -> int:
        said["plain PyTorch search"] = plain.translate(sources)
        return len(sources)

    contenders: dict[str, Contender] = {
        "regard": lambda: timed(by_regard),
        "plain PyTorch search": lambda: timed(by_plain),
    }
    if joeynmt is not None:
        joeynmt.load(joeynmt_weights(plain.model))

        def by_joeynmt() -> Turn:
            turn, said["JoeyNMT 2.3.0"] = joeynmt.translate()
            return turn

        contenders["JoeyNMT 2.3.0"] = by_joeynmt
    print("\n".join(["", f"## Translation, beam {BEAM}, at most {LONGEST} tokens", ""]))
    turns = in_turns(contenders, ROUNDS)
    notes = {
        name: f"{sum(map(len, lines)) / len(lines):.1f} tokens a sentence, "
        f"{sum(map(list.__eq__, lines, said['regard'])) / len(lines):.0%} the same as regard's"
        for name, lines in said.items()
    }
    print("\n".join(table(turns, "sentences", notes)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--joeynmt", metavar="PYTHON", help="of an environment that has it")
    parser.add_argument("--only", choices=["training", "translation"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="of training, for each contender")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_memory()  # as `regard train` does; the plain loop has it too
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        store = prepare(folder)
        measure(folder, store, options)


def measure(folder: Path, store: Store, options: argparse.Namespace) -> None:
    task = cast(TranslateTask, load_task(make_recipe(SAME_MODEL), RunFolder(folder)))
    tokenizers = task.tokenizers
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {len(store):,} pairs")
    joeynmt = None
    if options.joeynmt:
        write_for_joeynmt(folder, store, *tokenizers)
        joeynmt = JoeyNMT(options.joeynmt, folder)
    else:
        print("JoeyNMT is left out: --joeynmt says where it is installed")
    plain = PlainLoop(store, *map(len, tokenizers))
    if options.only in (None, "training"):
        training(folder, plain, joeynmt, options.seconds)
    if options.only in (None, "translation"):
        translation(folder, plain, joeynmt)
    if joeynmt is not None:
        joeynmt.close()


if __name__ == "__main__":
    main()
