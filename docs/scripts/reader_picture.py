"""Draws docs/systems/pictures/reading.svg: where readers looked in a story, once or for every word asked.

python docs/scripts/reader_picture.py runs/reader-attentive runs/reader-impatient
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

import regard
from svg_parts import matrix, panels, save

FOLDER = Path(__file__).parents[1] / "systems" / "pictures"
ASKED = {
    "story": "Mary moved to the bathroom. John went to the hallway. Mary travelled to the office.",
    "question": "Where is Mary?",
    "candidates": ["bathroom", "garden", "hallway", "office"],
}
WIDEST = 5.2  # inches, of a grid


def draw(runs: list[str]) -> Figure:
    """A grid for each run: the answer, or the words of the question, down; the story across."""
    axes = panels(len(runs), WIDEST, 1.6, gap=1.3)
    axes[0].set_xlabel("story")
    axes[0].set_ylabel("")  # the title says whose rows they are
    for ax, path in zip(axes, runs, strict=True):
        run = regard.load(path)
        (found,) = run.predict([ASKED], attention=True)
        title = f"{run.recipe.model.focus}: {found.answer} ({found.score:.2f})"
        rows, columns = ([*map(_shown, words)] for words in (found.rows, found.columns))
        matrix(ax, found.attention, rows, columns, title=title, numbers=False)
    return plt.gcf()


def _shown(word: str) -> str:
    return "end" if word == "EOS" else word


if __name__ == "__main__":
    save({"reading": lambda: draw(sys.argv[1:])}, FOLDER)
