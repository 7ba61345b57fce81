"""Draws docs/systems/pictures/joint-models.svg: where the source vectors of tagCNN and of inCNN come from.

python docs/scripts/joint_picture.py runs/meng-tag-cnn runs/meng  # as docs/systems/joint-models.md says
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
TEXT, TARGET = "我每天早上七点起床。", "I get up at seven every morning."
CELL = 0.32  # inches


def draw(runs: dict[str, str]) -> Figure:
    """A panel for each run: the words of the translation, down, over the characters of the source."""
    seen = {
        title: regard.look(regard.load(run), TEXT, target=TARGET).records[0]
        for title, run in runs.items()
    }
    first = next(iter(seen.values()))
    across = [token.strip("()") for token in first.sides["source"].tokens]
    down = [token.strip("()") for token in first.sides["target"].tokens]
    axes = panels(len(seen), CELL * len(across), CELL * len(down))
    for ax, (title, record) in zip(axes, seen.items(), strict=True):
        weights = torch.from_numpy(record.map("cross").weights[0, 0])
        matrix(ax, weights, down, across, title=title, numbers=False)
        ax.set(xlabel="", ylabel="")
    return plt.gcf()


if __name__ == "__main__":
    runs = {"tagCNN": sys.argv[1], "inCNN": sys.argv[2]}
    save({"joint-models": lambda: draw(runs)}, FOLDER)
