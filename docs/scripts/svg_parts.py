"""How the pictures of the documentation look: weights as grids of squares, in one style.

Text stays text in the SVG, so that Chinese is drawn by the fonts of the reader's browser; and the
same numbers give the same file.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Outline
from torch import Tensor

# One hue from light to dark for weights, blue against orange where they have a sign: colour-blind
# eyes read both alike. Grey is "not allowed", which is not the same as a small weight.
INK, PALE, GREY, ORANGE, BLUE = "#1c2430", "#6b7583", "#dcdad5", "#d1661b", "#2f62b5"
_TO_BLUE = ["#c3d6f2", "#7ba3dd", BLUE, "#0c2a60"]
WEIGHT = LinearSegmentedColormap.from_list("weight", ["#f3f6fc", *_TO_BLUE])
SIGNED = LinearSegmentedColormap.from_list(
    "signed", ["#7d3604", ORANGE, "#eba873", "#f8dfc8", "#f6f6f6", *_TO_BLUE]
)
STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC"],
    "font.monospace": ["DejaVu Sans Mono"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": PALE,
    "axes.labelsize": 8,
    "axes.linewidth": 0,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "regard",
}
CELL = 0.4  # inches, of a square with a number in it


def matrix(
    ax: Axes,
    weights: Tensor,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    title: str = "",
    allowed: Tensor | None = None,
    numbers: bool = True,
    colours: Colormap = WEIGHT,
    top: float = 1.0,
) -> None:
    """Weights (Lq, Lk) as a grid of squares: queries down, keys across; `top` is the darkest."""
    height, width = weights.shape
    low = -top if colours is SIGNED else 0.0
    cells: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for i, row in enumerate(weights.tolist()):
        for j, weight in enumerate(row):
            if allowed is not None and not allowed[i, j]:
                cells[GREY].append((i, j))
                continue
            share = min(max((weight - low) / (top - low), 0.0), 1.0)
            cells[to_hex(colours(round(share, 2)))].append((i, j))
            if numbers:
                dark = not 0.15 < share < 0.8 if colours is SIGNED else share > 0.55
                shown = f"{weight:.2f}".replace("-0.00", "0.00")
                ink = "white" if dark else INK
                ax.text(j, i, shown, ha="center", va="center", size=7.5, color=ink)
    for colour, places in cells.items():
        squares(ax, places, colour)
    ax.set_xlim(-0.5, width - 0.5)
    ax.set_ylim(height - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    _ticks(ax.set_xticks, columns, width)
    _ticks(ax.set_yticks, rows, height)
    ax.tick_params(length=0, pad=3)
    if columns is not None and max(map(len, columns)) > 4:
        ax.tick_params(axis="x", rotation=45)
        plt.setp(ax.get_xticklabels(), ha="left", rotation_mode="anchor")
    below = {"xycoords": "axes fraction", "textcoords": "offset points"}
    font = {"family": "monospace", "size": 8.5, "ha": "center", "va": "top"}
    ax.annotate(title, (0.5, 0.0), xytext=(0, -7), **below, **font)


def squares(ax: Axes, places: list[tuple[int, int]], colour: str) -> None:
    """All squares of one colour as one shape, so that the file stays small."""
    if places:
        corners = [(-0.46, -0.46), (0.46, -0.46), (0.46, 0.46), (-0.46, 0.46), (-0.46, -0.46)]
        points = [(j + x, i + y) for i, j in places for x, y in corners]
        codes = [Outline.MOVETO, *[Outline.LINETO] * 3, Outline.CLOSEPOLY] * len(places)
        ax.add_patch(PathPatch(Outline(points, codes), facecolor=colour, linewidth=0))


def region_grid(ax: Axes, allowed: Tensor, *, title: str = "", row: int | None = 9) -> None:
    """Which pairs (Lq, Lk) are allowed, with what one query sees in orange."""
    matrix(ax, allowed * 0.75, allowed=allowed, numbers=False, title=title)
    if row is not None:
        squares(ax, [(row, j) for j in range(allowed.shape[1]) if allowed[row, j]], ORANGE)
        place, width = (-0.5, row - 0.5), allowed.shape[1]
        ax.add_patch(Rectangle(place, width, 1, fill=False, edgecolor=ORANGE, linewidth=1))


def box(ax: Axes, x: float, y: float, share: float, text: str) -> None:
    """A word on its weight."""
    ax.add_patch(Rectangle((x, y), 0.96, 0.8, facecolor=to_hex(WEIGHT(round(share, 2)))))
    ink = "white" if share > 0.55 else INK
    ax.text(x + 0.48, y + 0.4, text, ha="center", va="center", color=ink)


def panels(count: int, width: float, height: float, *, gap: float = 0.75) -> list[Axes]:
    """`count` axes of this size in inches, side by side in one figure."""
    total = count * width + (count - 1) * gap
    figure = plt.figure(figsize=(total, height))
    lefts = [n * (width + gap) / total for n in range(count)]
    axes = [figure.add_axes((left, 0.0, width / total, 1.0)) for left in lefts]
    axes[0].set_ylabel("queries")
    axes[0].set_xlabel("keys")
    return axes


def _ticks(put: Callable[..., object], names: Sequence[str] | None, count: int) -> None:
    if names is not None:
        put(range(count), names)
    else:  # positions
        put(range(0, count, 5), [str(p) for p in range(0, count, 5)], color=PALE, size=7)


def save(figures: dict[str, Callable[[], Figure]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # the reader's fonts need not be on this machine
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", message="Glyph .* missing from")
    with plt.rc_context(STYLE):
        for name, draw in figures.items():
            text, figure = io.StringIO(), draw()
            no_date = {"Date": None, "Creator": "regard"}
            figure.savefig(text, bbox_inches="tight", pad_inches=0.12, metadata=no_date)
            plt.close(figure)
            # a hundredth of a point is fine enough
            shorter = re.sub(r"(\d\.\d\d)\d+", r"\1", text.getvalue())
            shorter = re.sub(r"[ \t]+\n", "\n", shorter)
            (folder / f"{name}.svg").write_text(shorter, encoding="utf-8")
