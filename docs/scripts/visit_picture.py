"""Draws docs/systems/pictures/st-rnn.svg: the places of a city by their score, soon after a visit and later.

python docs/scripts/visit_picture.py runs/visit      # trained as docs/systems/st-rnn.md says
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

import regard
from svg_parts import panels, save

FOLDER = Path(__file__).parents[1] / "systems" / "pictures"
USER, VISITS = "u7", 8  # whose trail, and how many visits of it
SIDE = 3.6  # inches
BEST = 30  # places in orange
DASH = 4e-4  # degrees


def draw(run: str) -> Figure:
    """One trail, asked about an hour after its last visit, and a day after it."""
    loaded = regard.load(run)
    task, module = loaded.task, loaded.module
    example = [one for one in task.read(loaded.recipe.data.train) if one["user"] == USER][VISITS]
    where = task.place.coordinates[:, ::-1]  # longitude across, latitude up
    last = example["history"].visits[-1]
    for ax, hours in zip(panels(2, SIDE, SIDE), (1.0, 24.0), strict=True):
        asked = {**example, "time": last.hours + hours}
        ((_, batch),) = task.batches([asked], module.device, inputs=True)
        with module.inference():
            scores = module.scores(module.questions(batch).asked)[0, 0]
        best = torch.topk(scores, BEST).indices.numpy()
        _places(ax, where, best, where[task.place.number(last.place) - 1])
        ax.set_title(f"{hours:g} h after the visit at ×", fontsize=9)
    return plt.gcf()


def _places(ax: Axes, where: np.ndarray, best: np.ndarray, here: np.ndarray) -> None:
    half = np.array([DASH, 0.0])
    ends = np.stack([where - half, where + half], 1).reshape(-1, 2)
    dashes = Outline(
        ends, [Outline.MOVETO, Outline.LINETO] * len(where)
    )  # a file of one shape is small
    ax.add_patch(PathPatch(dashes, edgecolor="#bbbbbb", linewidth=1.2))
    ax.scatter(*where[best].T, s=14, color="#d95f02", linewidths=0)
    ax.plot(*here, "x", color="black", markersize=9, markeredgewidth=2)
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    ax.set_aspect(1 / np.cos(np.radians(where[:, 1].mean())))


if __name__ == "__main__":
    save({"st-rnn": lambda: draw(sys.argv[1])}, FOLDER)
