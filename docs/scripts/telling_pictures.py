"""Draws docs/systems/pictures/{answering-lines,films}.svg: what is looked at while something is told.

python docs/scripts/telling_pictures.py embedded:couplets runs/narrate      # as their pages say
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure

import regard
from svg_parts import matrix, panels, save

FOLDER = Path(__file__).parents[1] / "systems" / "pictures"
LINE = "白日依山尽"
FILM = 3  # of the test set
DARK = 0.1  # no feature of a frame without light is above it
CELL = 0.34  # inches


def couplet(run: str) -> Figure:
    """The characters of the answer, down; those of the line, across: the last layer, a mean over heads."""
    (record,) = regard.look(regard.load(run), LINE).records
    seen = record.map("cross")
    across, down = (record.sides[side].tokens for side in (seen.keys, seen.queries))
    (ax,) = panels(1, CELL * len(across), CELL * len(down))
    weights = torch.from_numpy(seen.weights[-1].mean(0))
    matrix(ax, weights, _plain(down), _plain(across), title=LINE, numbers=False)
    ax.set(xlabel="", ylabel="")
    return plt.gcf()


def film(run: str) -> Figure:
    """The words of what is told, down; the frames, across, those without light with a bullet."""
    loaded = regard.load(run)
    example = loaded.task.examples(loaded.recipe.data.test)[FILM]
    frames = example["image"]
    (found,) = loaded.predict([frames], attention=True)
    across = [f"{n}{'' if frame.max() > DARK else ' ●'}" for n, frame in enumerate(frames, 1)]
    (ax,) = panels(1, CELL * len(across), CELL * len(found.rows))
    matrix(ax, found.attention, _plain(found.rows), across, title=example["caption"], numbers=False)
    ax.set(xlabel="frames; ●: no light", ylabel="")
    return plt.gcf()


def _plain(tokens: list[str] | tuple[str, ...]) -> list[str]:
    return ["end" if token in ("EOS", "(end)") else token.strip("()") for token in tokens]


if __name__ == "__main__":
    couplets, narrate = sys.argv[1:]
    drawn = {"answering-lines": lambda: couplet(couplets), "films": lambda: film(narrate)}
    save(drawn, FOLDER)
