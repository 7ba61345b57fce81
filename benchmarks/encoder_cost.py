"""What encoders of sentences cost that judge them alike: weights, an update, an answer.

    python benchmarks/encoder_cost.py                     # a minute of one core

The classifiers of sentences from film reviews (MR), which three seeds do not tell apart: a bag of words,
convolutions, recurrent networks, self-attention. Weights without the vectors of words; milliseconds forward
and backward through them for 50 sentences, and of an answer to one, 20 words each: one thread's own time on
a CPU, the least of some rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from regard.recipe.recipe_files import read_recipe
from run_folders import head, row

WORDS, LABELS, BATCH, LENGTH = 12_000, 2, 50, 20
SYSTEMS = {
    "bag of words": ("cnn-mr", ["model.encoder=bag", "model.pool=mean"]),
    "convolutions, max": ("cnn-mr", []),
    "LSTM, last state": ("lstm-mr", ["model.pool=last"]),
    "LSTM, attention": ("lstm-mr", []),
    "two self-attentive layers on an LSTM": ("self-attentive-mr", []),
    "Transformer, attention": ("mr", []),
}


def milliseconds(run: Callable[[], object], rounds: int) -> float:
    """The least of some rounds."""
    found = []
    for _ in range(rounds):
        start = time.thread_time()
        run()
        found.append(time.thread_time() - start)
    return 1000 * min(found[1:])


def forward_and_back(model: nn.Module) -> Callable[[], object]:
    texts = torch.randint(4, WORDS, (BATCH, LENGTH))
    wanted = torch.randint(LABELS, (BATCH,))

    def run() -> None:
        F.cross_entropy(model(texts, torch.ones_like(texts, dtype=torch.bool)), wanted).backward()

    return run


def answer(model: nn.Module) -> Callable[[], object]:
    text = torch.randint(4, WORDS, (1, LENGTH))
    return lambda: model(text, torch.ones_like(text, dtype=torch.bool))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    torch.set_num_threads(1)
    print("\n".join(head("", "weights", "ms, 50 sentences", "ms, an answer")))
    for name, (recipe, words) in SYSTEMS.items():
        torch.manual_seed(1)
        options = read_recipe(recipe, words).model
        model = options.build({"text": WORDS, "label": LABELS})
        for part in model.modules():
            if isinstance(part, nn.Embedding):
                part.requires_grad_(False)
        weights = sum(p.numel() for p in model.parameters() if p.requires_grad)
        took = milliseconds(forward_and_back(model), given.rounds)
        with torch.no_grad():
            said = milliseconds(answer(model.eval()), given.rounds)
        print(row(name, f"{weights:,}", f"{took:.1f}", f"{said:.2f}"))


if __name__ == "__main__":
    main()
