"""What a step of a Transformer's beam search costs on the CPU, beside CTranslate2: no training is needed.

    python benchmarks/decode_cpu.py                                 # 2 threads
    python benchmarks/decode_cpu.py --threads 1 --sentences 128     # where others use the machine too
    python benchmarks/decode_cpu.py --only regard                   # without the other engine's threads
    python benchmarks/decode_cpu.py --run RUN                       # a trained run, also through the engine

d 256, 4 heads, inner 1,024, 4 + 4 layers, 6,000 + 6,000 tokens, float32 or int8; the first sentences of the
embedded test set, 64 at a time, beam 5, ranked by log p. The weights are random and cannot end a sentence, so
that all contenders take the same number of steps. They take turns; ratios are medians of the rounds: above 1
is in regard's favour. By CPU time, of all threads, they hardly depend on what else runs, with one thread.
With two, the threads of two engines get in each other's way: `--only regard`, `--only CTranslate2`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

import torch

from regard.attention import beam_steps
from regard.data.tokenizer import BOS, EOS, PAD
from regard.export import load_engine
from regard.recipe.recipe_files import dump_recipe
from regard.runs.loaded_run import LoadedRun, load
from regard.runs.model_file import save_model
from regard.runs.run_folder import RunFolder
from regard.search import Search
from regard.training.allocator import keep_memory
from regard.training.progress_display import ProgressLines
from regard.training.run_preparation import load_task, prepare_data
from toolkit import Contender, in_turns
from toolkit_parts.peers import BEAM, Turn
from toolkit_parts.regard_translator import BATCH, make_recipe
from transformer import Translations
from transformer_parts.regard_transformer import section
from transformer_parts.transformer_peers import CTranslate2

NEVER = -1e4  # a bias: nothing that has it is ever said


def untrained(folder: Path) -> Path:
    """A run with random weights that says anything but an end."""
    recipe, run = make_recipe(section("pre")), RunFolder(folder)
    run.recipe.write_text(dump_recipe(recipe), encoding="utf-8")
    prepare_data(recipe, run, ProgressLines(quiet=True))
    task = load_task(recipe, run)
    torch.manual_seed(0)
    weights = recipe.model.build(task.sizes).state_dict()
    weights["decoder.output.bias"][[PAD, BOS, EOS]] = NEVER
    save_model(run, task, weights)
    return folder


class FirstSentences(Translations):
    """The first of the test set, up to a number of tokens."""

    def __init__(self, run: LoadedRun, sentences: int, tokens: int) -> None:
        super().__init__(run)
        self.texts, self.sources = self.texts[:sentences], self.sources[:sentences]
        self.settings = Search(beam=BEAM, length_penalty=0.0, max_length=tokens, max_ratio=tokens)


def rows(turns: dict[str, list[Turn]], said: dict[str, list[list[int]]]) -> list[str]:
    first = next(iter(turns))
    found = []
    for name, its in turns.items():
        speed = median(turn.done / turn.seconds for turn in its)
        pairs = list(zip(turns[first], its, strict=True))
        wall, cpu = (
            median(getattr(b, clock) / getattr(a, clock) for a, b in pairs)
            for clock in ("seconds", "cpu")
        )
        same = sum(map(list.__eq__, said[name], said[first])) / len(said[name])
        found.append(f"| {name} | {speed:.1f} | {wall:.2f} | {cpu:.2f} | {same:.1%} |")
    return found


def measure(folder: Path, options: argparse.Namespace) -> None:
    native, rounded = load(folder, device="cpu"), load(folder, quantize="int8")
    engine = load_engine(folder, "ctranslate2", device="cpu")
    work = FirstSentences(native, options.sentences, options.tokens)
    contenders: dict[str, Contender] = {"regard": work.by_regard("regard", native)}
    contenders["regard, int8"] = work.by_regard("regard, int8", rounded)
    for precision in ("float32", "int8"):
        direct = CTranslate2(engine.folder.path, native, options.threads, precision, options.tokens)
        name = f"CTranslate2, {precision}"
        contenders[name] = work.by_peer(name, direct.translate)
    if options.run:  # which searches again what was cut
        name = "regard through CTranslate2"
        contenders[name] = work.by_regard(name, engine)
    beam_steps.begin(beam_steps.PATIENCE + 1)  # as after some hundred sentences
    beam_steps.wait()
    chosen = {name: run for name, run in contenders.items() if name.startswith(options.only)}
    turns = in_turns(chosen, options.rounds)
    lines = [
        f"torch {torch.__version__}, {options.threads} threads, {len(work.texts)} sentences of at most "
        f"{options.tokens} tokens, {BATCH} at a time",
        "",
        "| | sentences a second | regard's ratio | by CPU time | the same as regard's |",
        "| --- | --- | --- | --- | --- |",
        *rows(turns, work.said),
    ]
    print("\n".join(lines), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", metavar="RUN", type=Path, help="a Transformer that was trained")
    parser.add_argument("--only", default="", help="contenders whose names begin so")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=844)
    parser.add_argument("--tokens", type=int, default=12, help="at most, of a translation")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_memory()
    with tempfile.TemporaryDirectory() as place:
        measure(options.run or untrained(Path(place)), options)


if __name__ == "__main__":
    main()
