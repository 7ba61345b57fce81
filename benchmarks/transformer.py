"""How fast the Transformer trains and translates, beside torch's own and three toolkits, in one run.

    python benchmarks/transformer.py                                   # trains two small models first
    python benchmarks/transformer.py --runs FOLDER                     # keeps them there, or finds them there
    python benchmarks/transformer.py --joeynmt VENV/bin/python         # its own environment's Python
    python benchmarks/transformer.py --only translation
    python benchmarks/transformer.py --profile                         # where the search spends its time

d 256, 4 heads, inner 1,024, 4 + 4 layers, 6,000 + 6,000 tokens, the embedded Chinese-English corpus,
float32 on the CPU. Contenders take turns, so that a change of the machine's mood hits them alike; a ratio
of 2 means: regard does twice as much in the same time.

Training: one loop, the same batches (of like lengths), loss, optimiser and projection of real positions
only for all. regard drops out embeddings and sublayers, as the paper; "all dropouts": attention weights
and the inside of the feed-forward network too, where `nn.Transformer` has them unless they are set to 0.

Translation: the test set by beam 5, 64 sentences at a time, at most 60 tokens. All rank by log p alone,
since with a length penalty every toolkit ranks by another formula. regard is asked in text and answers
in text; the others are given tokens. JoeyNMT and CTranslate2 have the weights of a pre-norm model,
Hugging Face those of a post-norm one, which is what its Marian can be.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from regard.data.examples import read_pairs
from regard.data.store import Store
from regard.export import load_engine
from regard.runs.loaded_run import LoadedRun, load
from regard.runs.run_folder import RunFolder
from regard.search import Search
from regard.training.allocator import keep_memory
from toolkit import Contender, in_turns, table
from toolkit_parts.peers import BEAM, LONGEST, TEST, JoeyNMT, Turn, timed, write_for_joeynmt
from toolkit_parts.regard_translator import BATCH
from transformer_parts.learners import Learner, training_table, turns_of
from transformer_parts.regard_transformer import (
    RegardLearner,
    profile_operators,
    profile_parts,
    section,
    trained,
)
from transformer_parts.transformer_peers import (
    CTranslate2,
    HuggingFace,
    TorchTransformer,
    joeynmt_transformer,
)

TRAINING_ROUNDS, BATCHES_A_TURN = 20, 1
ROUNDS = 5  # of translation
COMPILED = "`nn.Transformer`, all dropouts, compiled"
SETTINGS = Search(beam=BEAM, length_penalty=0.0, max_length=LONGEST, max_ratio=LONGEST)

Translated = list[list[int]]


def training(run: LoadedRun, *, compiled: bool, rounds: int) -> None:
    sizes = len(run.tokenizers[0]), len(run.tokenizers[1])
    folder = run.folder.path
    paper, everywhere = section("pre"), section("pre", everywhere=True)
    learners = {
        "regard": Learner(RegardLearner(paper, *sizes), folder),
        "regard, all dropouts": Learner(RegardLearner(everywhere, *sizes), folder),
        "`nn.Transformer`": Learner(TorchTransformer(paper, *sizes), folder),
        "`nn.Transformer`, all dropouts": Learner(TorchTransformer(everywhere, *sizes), folder),
    }
    if compiled:
        made = TorchTransformer(everywhere, *sizes)
        learners[COMPILED] = Learner(made, folder, compiled=True)
    turns = in_turns(turns_of(learners, BATCHES_A_TURN), rounds)
    first = ("regard", "`nn.Transformer`", "`nn.Transformer`, all dropouts")
    print("\n".join(["", "## Training, target tokens a second", ""]))
    print("\n".join(training_table({name: turns[name] for name in first})))
    alike = [name for name in learners if "all dropouts" in name]
    print("\n".join(["", *training_table({name: turns[name] for name in alike})]), flush=True)


class Translations:
    """Contenders that translate the test set, and what each of them said last."""

    def __init__(self, run: LoadedRun) -> None:
        self.run, self.said = run, dict[str, Translated]()
        self.settings = SETTINGS
        self.texts = [pair.source for pair in read_pairs(TEST)]
        self.sources = run.tokenizers[0].encode_ids(self.texts)

    def by_regard(self, name: str, run: LoadedRun) -> Contender:
        def translate() -> Translated:
            found = run.translator.predict(self.texts, self.settings, batch=BATCH)
            return [one.tokens.ids for one in found]

        return self._timed(name, translate)

    def by_peer(self, name: str, translate: Callable[[list[list[int]]], Translated]) -> Contender:
        return self._timed(name, lambda: translate(self.sources))

    def _timed(self, name: str, translate: Callable[[], Translated]) -> Contender:
        def work() -> int:
            self.said[name] = translate()
            return len(self.said[name])

        return lambda: timed(work)

    def compare(self, contenders: dict[str, Contender], rounds: int) -> None:
        turns = in_turns(contenders, rounds)
        (first, *_) = contenders
        notes = {
            name: f"{sum(map(len, lines)) / len(lines):.1f} tokens a sentence, "
            f"{sum(map(list.__eq__, lines, self.said[first])) / len(lines):.1%} the same as regard's"
            for name, lines in self.said.items()
        }
        print("\n".join(["", *table(turns, "sentences", notes)]), flush=True)


def translation(pre: LoadedRun, post: LoadedRun, rounds: int) -> None:
    print("\n".join(["", f"## Translation, beam {BEAM}, at most {LONGEST} tokens", ""]))
    threads = torch.get_num_threads()
    engine = load_engine(pre.folder.path, "ctranslate2", device="cpu")
    work = Translations(pre)
    contenders = {"regard": work.by_regard("regard", pre)}
    for precision in ("float32", "int8"):
        direct = CTranslate2(engine.folder.path, pre, threads, precision)
        name = f"CTranslate2, {precision}"
        contenders[name] = work.by_peer(name, direct.translate)
    through, rounded = "regard through CTranslate2", "regard, int8"
    contenders[through] = work.by_regard(through, engine)
    contenders[rounded] = work.by_regard(rounded, load(pre.folder.path, quantize="int8"))
    work.compare(contenders, rounds)
    marian, work_post = HuggingFace(post), Translations(post)
    work_post.compare(
        {
            "regard, post-norm": work_post.by_regard("regard, post-norm", post),
            "Hugging Face `generate`": work_post.by_peer(
                "Hugging Face `generate`", marian.translate
            ),
        },
        rounds,
    )


def beside_joeynmt(python: str, run: LoadedRun, rounds: int) -> None:
    work, name = Translations(run), "JoeyNMT 2.3.0"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_for_joeynmt(folder, Store.open(RunFolder(run.folder.path).store), *run.tokenizers)
        joeynmt = JoeyNMT(python, folder, "joeynmt_transformer.py")
        joeynmt.load(joeynmt_transformer(run))

        def by_joeynmt() -> Turn:
            turn, work.said[name] = joeynmt.translate()
            return turn

        work.compare({"regard": work.by_regard("regard", run), name: by_joeynmt}, rounds)
        joeynmt.close()


def show_profile(run: LoadedRun) -> None:
    work = Translations(run)
    translate = work.by_regard("regard", run)
    translate()
    print("\n".join(["", "## The native search, by parts", "", *profile_parts(translate)]))
    print("\n".join(["", "## The native search, by operators", "", *profile_operators(translate)]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", metavar="FOLDER", help="where the runs `pre` and `post` are kept")
    parser.add_argument("--joeynmt", metavar="PYTHON", help="of an environment that has it")
    parser.add_argument("--only", choices=["training", "joeynmt", "translation"])
    parser.add_argument(
        "--compile", action="store_true", help="torch's under torch.compile as well"
    )
    parser.add_argument("--profile", action="store_true", help="nothing but the profile")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, help="fewer are quicker")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_memory()  # as `regard train` does; all others in this process have it too
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as place:
        measure(Path(options.runs or place), options)


def measure(folder: Path, options: argparse.Namespace) -> None:
    pre = trained("pre", folder / "pre")
    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    if options.profile:
        show_profile(pre)
        return
    if options.only in (None, "training"):
        training(pre, compiled=options.compile, rounds=options.rounds or TRAINING_ROUNDS)
    if options.joeynmt is None:
        print("\nJoeyNMT is left out: --joeynmt says where it is installed")
    elif options.only in (None, "joeynmt"):  # before other engines' threads are in this process
        beside_joeynmt(options.joeynmt, pre, options.rounds or ROUNDS)
    if options.only in (None, "translation"):
        translation(pre, trained("post", folder / "post"), options.rounds or ROUNDS)


if __name__ == "__main__":
    main()
