"""Draws docs/systems/pictures/numbers.svg: a series of numbers, and which step of it a number came from.

python docs/scripts/series_picture.py runs/marked      # trained as docs/systems/numbers.md says
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure

import regard
from svg_parts import BLUE, CELL, ORANGE, PALE, matrix, save

FOLDER = Path(__file__).parents[1] / "systems" / "pictures"
VALUES = [0.31, -0.72, 0.88, 0.12, -0.25, 0.54, -0.91, 0.07, 0.43, -0.38]
MARKED = 5
HIGH = 1.1  # inches, of the series


def draw(run: str) -> Figure:
    """The series over the weights of its steps."""
    steps = [[value, float(step == MARKED)] for step, value in enumerate(VALUES)]
    (record,) = regard.look(regard.load(run), json.dumps(steps)).records
    weights = torch.from_numpy(record.maps[0].weights[0, 0])  # (1, steps)
    wide, count = CELL * len(VALUES), len(VALUES)
    figure = plt.figure(figsize=(wide, HIGH + 2 * CELL))
    above = figure.add_axes((0.0, 2 * CELL / (HIGH + 2 * CELL), 1.0, HIGH / (HIGH + 2 * CELL)))
    above.axhline(0, color=PALE, linewidth=0.6)
    above.bar(
        range(count), VALUES, 0.5, color=[ORANGE if n == MARKED else BLUE for n in range(count)]
    )
    above.set(xlim=(-0.5, count - 0.5), ylim=(-1.05, 1.05), xticks=[], yticks=[-1, 0, 1])
    above.tick_params(length=0, labelcolor=PALE, labelsize=7)
    for spine in above.spines.values():
        spine.set_visible(False)
    below = figure.add_axes((0.0, 0.0, 1.0, CELL / (HIGH + 2 * CELL)))
    names = [str(n + 1) for n in range(count)]
    title = f"wanted {VALUES[MARKED]}, answered {record.output}"
    matrix(below, weights, ["weight"], names, title=title)
    return figure


if __name__ == "__main__":
    save({"numbers": lambda: draw(sys.argv[1])}, FOLDER)
