"""What is run for texts that tell of something: the rows of their tables, and the lines that fill them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEEDS = (1, 2, 3)


class Experiment(NamedTuple):
    recipe: str
    rows: dict[str, tuple[str, str]]  # what a row is called, and its words
    shared: str = ""


ANY = "data.test=event-histories:test"
SORTED = f"data.train=event-histories-sorted:train data.dev=event-histories-sorted:dev {ANY}"
RECURRENT = "model.embedding=160 model.hidden=160 model.maxout=160 model.init=default"
SETS = {
    "set": ("self-attention without positions", ""),
    "rotary": ("self-attention with positions", "model.positions=rotary"),
    "gru": ("GRU in both directions", "model.encoder=gru"),
    "bag": ("each event by itself", "model.encoder=bag"),
}
EXPERIMENTS = {
    "digits": Experiment(
        "digit-names",
        {
            "first": ("as the first state", ""),
            "every": ("at every step", "model.enters=every"),
            "chosen": ("at steps 1 and 3", "model.enters=[1,3]"),
            "number": ("as the first state, steps with numbers", "model.step_index=learned"),
        },
    ),
    "emoji": Experiment(
        "emoji-names",
        {"first": ("as the first state", ""), "every": ("at every step", "model.enters=every")},
    ),
    "quatrains": Experiment(
        "quatrain",
        {
            "every": ("at every step, with its number", ""),
            "first": ("as the first state, with its number", "model.enters=first"),
            "lines": ("at steps 1 and 13, with its number", "model.enters=[1,13]"),
            "sine": ("at every step, with sines of its number", "model.step_index=sinusoidal"),
            "no-number": ("at every step, without its number", "model.step_index=none"),
            "back": ("at every step, looking back", "model.attention.score=scaled-dot"),
        },
    ),
    "couplets": Experiment(
        "couplets",
        {
            "transformer": ("Transformer", ""),
            "rnnsearch": ("RNNsearch", f"model.kind=rnnsearch {RECURRENT}"),
            "rnnenc": ("one vector of the line (RNNenc)", f"model.kind=rnnenc {RECURRENT}"),
        },
    ),
    "couplets-tang": Experiment(
        "couplets-tang",
        {"transformer": ("Transformer", "")},
        "training.epochs=20 model.dropout=0.1",
    ),
    "films": Experiment(
        "moving-digits",
        {
            "gru": ("GRU in both directions", ""),
            "transformer": ("self-attention with positions", "model.encoder=transformer"),
            "set": (
                "self-attention without positions",
                "model.encoder=transformer model.positions=none",
            ),
            "bag": ("each frame by itself", "model.encoder=bag"),
        },
    ),
    "narrated": Experiment(
        "narrate",
        {
            "gru": ("frames read by a GRU, looked at again", ""),
            "transformer": ("frames read by self-attention", "model.frames=transformer"),
            "apart": ("frames in no order", "model.frames=apart"),
            "vector": ("one vector of the film", "model.kind=one-to-many model.pool=last"),
        },
    ),
    "sets": Experiment("histories", SETS),
    "sets-sorted": Experiment("histories", SETS, SORTED),
    "sets-few": Experiment(
        "histories", SETS, f"data.train=few.histories data.dev=event-histories:dev {ANY}"
    ),
}
# A quarter of the histories, in a file that the commands of sets-few write first.
FEW = 'echo \'{"count": 750, "seed": 1, "kinds": 6, "others": 40}\' > few.histories'


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """(the experiment, a shell line), the first seed of everything first."""
    yield "sets-few", FEW
    for seed in SEEDS:
        for name, experiment in EXPERIMENTS.items():
            for key, (_, words) in experiment.rows.items():
                run = folder / f"{name}-{key}-{seed}"
                parts = (experiment.recipe, words, experiment.shared, f"seed={seed} --run {run}")
                yield name, " ".join(f"regard train {' '.join(parts)}".split())


def comparisons(folder: Path) -> Iterator[str]:
    """Shell lines that ask, of runs that are there, which differences are shown."""
    for name, experiment in EXPERIMENTS.items():
        if len(experiment.rows) > 1:
            runs = (f"{folder}/{name}-{key}-{seed}" for key in experiment.rows for seed in SEEDS)
            yield f"regard compare {' '.join(runs)} --out {folder}/compare-{name}"
