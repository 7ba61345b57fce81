"""Words a second of CBOW, ours and gensim's, in one run on the same text, one after the other.

python benchmarks/embed/words_a_second.py TEXT --gensim FOLDER [--threads 2] [--epochs 1]

TEXT: lines of words between blanks. FOLDER: where `pip install --target FOLDER gensim` has put it. Both know
the same words (those that occur five times), draw 5 words against each, leave out frequent ones (1e-3), and
have vectors of 100 numbers. Both count the words of the text, before any are left out. Ours is the loop of
the operator and the optimiser, over numbers that are in memory, as gensim's words are.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import torch

from regard.models.embedding.embedding_options import Cbow, SkipGram
from regard.models.embedding.word_vectors_model import CbowModel, SkipGramModel
from regard.tasks.embed.embed_module import Embed

SIZE, NEGATIVES, SUBSAMPLE, RARE, SPECIALS = 100, 5, 1e-3, 5, 4
THEIRS = """
import sys, time, json
sys.path.insert(0, {folder!r})
from gensim.models import Word2Vec
text = [line.split() for line in open({text!r}, encoding="utf-8")]
given = dict(vector_size=100, window={window}, min_count=5, negative=5, sample=1e-3)
model = Word2Vec(**given, workers={threads}, sg=0)
model.build_vocab(text)
start = time.perf_counter()
model.train(text, total_examples=len(text), epochs={epochs})
print(json.dumps(time.perf_counter() - start))
"""


def ours(
    lines: list[list[str]], model: str, window: int, batch_words: int, epochs: int, lr: float
) -> float:
    """Seconds of training."""
    counted = Counter(word for line in lines for word in line)
    known = [word for word, n in counted.most_common() if n >= RARE]
    numbers = {word: row for row, word in enumerate(known, SPECIALS)}
    counts = np.array([0] * SPECIALS + [counted[word] for word in known])
    flat = [(numbers[w], row) for row, line in enumerate(lines) for w in line if w in numbers]
    words, rows = (torch.tensor(column) for column in zip(*flat, strict=True))
    torch.manual_seed(0)
    if model == "skip-gram":
        network = SkipGramModel(len(counts), SkipGram(size=SIZE, window=window))
    else:
        network = CbowModel(len(counts), Cbow(size=SIZE, window=window, attention=model))
    module = Embed(network, counts, negatives=NEGATIVES, subsample=SUBSAMPLE, shrink=True)
    optimizer = torch.optim.Adagrad(network.parameters(), lr=lr)
    start = time.perf_counter()
    for _ in range(epochs):
        for some, row in zip(words.split(batch_words), rows.split(batch_words), strict=True):
            optimizer.zero_grad()
            kept = torch.rand(len(some)) < module.kept[some]
            found = module.windows(some[kept], row[kept], shrink=True)
            loss = module.loss_of(found)
            (loss.total / loss.tokens).backward()
            optimizer.step()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("--gensim", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch-words", type=int, default=8192)
    parser.add_argument("--windows", type=int, nargs="+", default=[5])
    parser.add_argument("--models", nargs="+", default=["uniform", "variable"])
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    lines = [line.split() for line in given.text.read_text("utf-8").splitlines()]
    total = given.epochs * sum(map(len, lines))
    for window in given.windows:
        for model in given.models:
            seconds = ours(lines, model, window, given.batch_words, given.epochs, 0.1)
            print(
                f"window {window:2}  ours, {model:9}  {total / seconds:10,.0f} words/s", flush=True
            )
        if given.gensim is not None:
            code = THEIRS.format(
                folder=str(given.gensim), text=str(given.text), window=window,
                threads=given.threads, epochs=given.epochs,
            )  # fmt: skip
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stderr)
            seconds = json.loads(done.stdout.splitlines()[-1])
            print(
                f"window {window:2}  gensim, CBOW      {total / seconds:10,.0f} words/s", flush=True
            )


if __name__ == "__main__":
    main()
