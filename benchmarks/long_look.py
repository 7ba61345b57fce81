"""A look at a long text: how long it takes, what memory it adds, how large the page is.

    python benchmarks/long_look.py                          # 8,192 tokens, 4 layers of 4 heads
    python benchmarks/long_look.py --tokens 16384 --layers 2

A language model of random weights reads a text; drawn are blocks of tokens, from tiles of the weights.
"""

from __future__ import annotations

import argparse
import random
import resource
import time

import torch

from regard.data.tokenizer import Tokenizer
from regard.models.transformer_models import language_model
from regard.records.question import Question
from regard.tasks.language.language_look import look_at_language
from regard.tasks.language.language_module import Language
from regard.view.html import page_html


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--size", type=int, default=256)
    asked = parser.parse_args()
    torch.manual_seed(0)
    chance = random.Random(0)
    words = [
        "".join(chance.choices("abcdefgh", k=chance.randint(1, 9))) for _ in range(asked.tokens)
    ]
    text = " ".join(words)[: asked.tokens - 1]
    tokenizer = Tokenizer.train([text], kind="character", verbatim=True)
    model = language_model(
        len(tokenizer),
        size=asked.size,
        heads=asked.heads,
        layers=asked.layers,
        inner=2 * asked.size,
    )
    task = Language(model.eval(), tokenizer)
    look_at_language(task, Question(text[:64]))

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin, worked = time.perf_counter(), time.process_time()
    record = look_at_language(task, Question(text))
    seconds, worked = time.perf_counter() - begin, time.process_time() - worked
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    page = page_html([record])
    print(
        f"{asked.tokens:,} tokens, {asked.layers} × {asked.heads} heads, {torch.get_num_threads()} threads: "
        f"{seconds:.1f} s ({worked:.1f} s of CPU time), {grown:.0f} MB more, "
        f"maps {[each.weights.shape for each in record.maps]}, page {len(page) / 1e6:.1f} MB"
    )


if __name__ == "__main__":
    main()
