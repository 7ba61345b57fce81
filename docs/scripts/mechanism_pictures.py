"""Draws docs/mechanisms/pictures: every number in them comes out of regard (`make pictures`).

The vectors are set by hand so that the weights can be understood; the attention is the library's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

import regard
from regard import normalizers, pooling, regions, scores
from regard.normalizers import Gumbel, Hard, Raw, Softmax, Sparsemax, Uniform
from regard.regions import Atrous, Causal, Everywhere, First, Sparse, Window
from regard.scores import Cosine, Distance, Dot, ScaledDot
from svg_parts import CELL, ORANGE, PALE, SIGNED, WEIGHT, box, matrix, panels, region_grid, save

FOLDER = Path(__file__).parents[1] / "mechanisms" / "pictures"

# ── what is attended ─────────────────────────────────────────────────────────────────────────────

SENTENCE = ["the", "cat", "walks", "on", "the", "street"]
FEATURES = ["determiner", "noun", "animate", "action", "relation", "place"]
_WORDS = {
    "the": (1.6, 0.3, 0.0, 0.0, 0.0, 0.0),
    "cat": (0.3, 1.2, 1.0, 0.5, 0.0, 0.0),
    "walks": (0.0, 0.0, 0.8, 1.4, 0.6, 0.4),
    "on": (0.2, 0.0, 0.0, 0.5, 1.5, 0.6),
    "street": (0.3, 1.1, 0.0, 0.3, 0.5, 1.3),
}
X = torch.tensor([_WORDS[word] for word in SENTENCE])

ENGLISH, CHINESE = ["I", "am", "a", "student"], ["我", "是", "一个", "学生"]
# speaker, being, one, person; English words have a fifth feature, unknown in Chinese
TARGET = torch.tensor(
    [
        [2.0, 0.3, 0.0, 0.3, 0.5],
        [0.6, 2.0, 0.1, 0.0, 0.2],
        [0.0, 0.2, 1.9, 0.5, 0.9],
        [0.2, 0.0, 0.5, 2.1, 0.1],
    ]
)
SOURCE = torch.tensor(
    [[1.6, 0.3, 0.0, 0.4], [0.4, 1.6, 0.2, 0.0], [0.0, 0.2, 1.6, 0.5], [0.3, 0.0, 0.4, 1.7]]
)


def weights(query: Tensor, key: Tensor, seed: int = 0, **choices: Any) -> Tensor:
    draws = torch.Generator().manual_seed(seed)
    attended = regard.attend(query, key, weights=True, generator=draws, **choices)
    assert attended.weights is not None
    return attended.weights.detach()


def allowed(region: regions.Region, queries: int = 16, keys: int = 16) -> Tensor:
    return weights(torch.zeros(queries, 2), torch.zeros(keys, 2), region=region) > 0


def bilinear() -> scores.Bilinear:
    """W turns English features into Chinese ones."""
    score = scores.Bilinear(5, 4)
    score.weight.data = 0.75 * torch.eye(5, 4)
    return score


def additive() -> scores.Additive:
    """tanh(1.5 q + 1.9 k - 4.5) is an "and": high only where both have the feature."""
    score = scores.Additive(5, 4, bias=True)
    score.query_weight.data, score.key_weight.data = 1.5 * torch.eye(5, 4), 1.9 * torch.eye(4)
    score.vector.data = torch.full((4, 1), 1.6)
    assert score.bias is not None
    score.bias.data = torch.full((1, 4), -4.5)
    return score


def concat() -> scores.Concat:
    """A word matters for being a noun or an action, whoever asks."""
    score = scores.Concat(6, 6)
    score.query_weight.data = torch.tensor([[1.0], [-1.0], [2.0], [0.5], [0.3], [0.2]])
    score.key_weight.data = torch.tensor([[-0.6], [1.0], [0.4], [0.7], [-0.4], [0.5]])
    return score


def location() -> scores.Location:
    """Each feature of the target has its place in the source."""
    score = scores.Location(5, 4)
    score.table.data = 0.9 * torch.eye(4, 5)
    return score


def predicted(*, renormalize: bool = False) -> tuple[Tensor, Tensor]:
    """Weights (12, 16) of a window that moves along the source, and its centres."""
    region = regions.PredictedWindow(4, 1, renormalize=renormalize)
    region.weight.data, region.vector.data = torch.ones(1, 1), torch.full((1, 1), 2.4)
    query = torch.linspace(-1.6, 1.6, 12)[:, None]
    return weights(query, torch.zeros(16, 1), region=region), region.centre(query, 16).detach()


def heads() -> Tensor:
    """Four heads with a task each: the word before, the same word, the action, the nouns."""
    module = regard.MultiHead(11, heads=4, head_size=6, bias=False)
    place, word = torch.eye(6), torch.eye(5)[[0, 1, 2, 3, 0, 4]]
    q, k = torch.zeros(4, 6, 11), torch.zeros(4, 6, 11)
    q[0, :, :6], k[0, :, :6] = 9 * torch.eye(6).roll(1, 1), torch.eye(6)
    q[0, 0, 0], q[0, 5, 0] = 9, 0  # the first word has none before it
    q[1, :5, 6:], k[1, :5, 6:] = 9 * torch.eye(5), torch.eye(5)
    q[2, 0, :6], k[2, 0, 8] = 9, 1
    q[3, 0, :6], k[3, 0, 6:] = 1, torch.tensor([-0.5, 1.5, 1.0, 0.0, 1.5])
    module.query.weight.data, module.key.weight.data = q.flatten(0, 1), k.flatten(0, 1)
    attended = module(torch.cat([place, word], -1), weights=True)
    assert attended.weights is not None
    return attended.weights.detach()


# ── kinds of pictures ────────────────────────────────────────────────────────────────────────────


def sentence(found: dict[str, Tensor], **options: Any) -> Figure:
    """The sentence over itself."""
    axes = panels(len(found), 6 * CELL, 6 * CELL)
    for ax, (title, grid) in zip(axes, found.items(), strict=True):
        matrix(ax, grid, SENTENCE, SENTENCE, title=title, **options)
    return plt.gcf()


def translation(found: dict[str, Tensor], sources: list[list[str]] | None = None) -> Figure:
    """English over Chinese."""
    axes = panels(len(found), 4.8 * CELL, 4.8 * CELL, gap=0.9)
    for ax, (title, grid), source in zip(axes, found.items(), sources or [CHINESE], strict=True):
        matrix(ax, grid, ENGLISH, source, title=title)
    return plt.gcf()


def tokens(found: dict[str, tuple[Tensor, int]]) -> Figure:
    """Which of the pairs of tokens are allowed."""
    for ax, (title, (pairs, row)) in zip(
        panels(len(found), 2.0, 2.0, gap=0.55), found.items(), strict=True
    ):
        region_grid(ax, pairs, title=title, row=row)
    return plt.gcf()


def draw_location() -> Figure:
    order = [2, 0, 3, 1]
    return translation(
        {
            "the source": weights(TARGET, SOURCE, score=location()),
            "its words shuffled": weights(TARGET, SOURCE[order], score=location()),
        },
        [CHINESE, [CHINESE[j] for j in order]],
    )


def draw_predicted_window() -> Figure:
    for ax, renormalize in zip(panels(2, 2.6, 1.95, gap=1.0), (False, True), strict=True):
        grid, centre = predicted(renormalize=renormalize)
        name = "PredictedWindow(4" + (", renormalize=True)" if renormalize else ")")
        matrix(ax, grid, allowed=grid > 0, numbers=False, top=0.35, title=name)
        ax.plot(centre[:, 0], range(12), "o", color=ORANGE, markersize=2.5, clip_on=False)
        ax.text(15.8, -1.1, "sum", size=6.5, color=PALE)
        for i, total in enumerate(grid.sum(-1)):
            ax.text(15.8, i, f"{total:.2f}", va="center", size=6.5, color=PALE)
    return plt.gcf()


def draw_attention() -> Figure:
    module = regard.Attention(5, 4, score=additive())
    memory = module.remember(SOURCE)
    steps = [module(TARGET[i : i + 1], memory, weights=True).weights for i in range(4)]
    rows = torch.cat([row for row in steps if row is not None])
    return translation({"one row per step": rows.detach()})


def draw_pooling() -> Figure:
    one, three = pooling.AttentionPooling(6), pooling.AttentionPooling(6, hops=3)
    one.query.data = torch.tensor([[-0.8, 0.8, 0.6, 0.9, 0.0, 0.3]])
    three.query.data = torch.tensor(
        [[2, 0, -1, -1, 0, 0], [-1, 1, 1.5, 0, -1, -1], [-1, 0, 0, 0.5, 1, 1]]
    )
    rows = {"last": pooling.last(X), "mean": pooling.mean(X), "attention": one(X)}
    found = {name: pooled.weights for name, pooled in rows.items()}
    found |= {f"hop {n}": row for n, row in enumerate(three(X).weights)}
    left, right = panels(2, 6 * CELL, 6 * CELL, gap=1.1)
    left.set_ylabel("")
    left.set_xlabel("")
    grid = torch.stack(list(found.values())).detach()
    matrix(left, grid, list(found), SENTENCE, title="weights of the words")
    best = pooling.max(X).weights.T
    matrix(right, best, FEATURES, SENTENCE, title="max: one word per feature")
    return plt.gcf()


def draw_hierarchical() -> Figure:
    document = ["the food was cold", "we waited an hour", "never again"]
    told = {"cold": 2.0, "waited": 1.6, "hour": 1.0, "never": 2.4, "again": 1.2, "food": 0.8}
    words, mask = torch.zeros(1, 3, 4, 1), torch.zeros(1, 3, 4, dtype=torch.bool)
    for s, line in enumerate(document):
        for w, word in enumerate(line.split()):
            words[0, s, w], mask[0, s, w] = told.get(word, 0.0), True
    module = pooling.Hierarchical(1)
    module.words.query.data = torch.tensor([[1.2]])
    module.sentences.query.data = torch.tensor([[1.5]])
    with torch.no_grad():
        pooled = module(words, mask)
    ax = plt.figure(figsize=(5.6, 1.5)).add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set(xlim=(-1.15, 4), ylim=(3.0, -0.25))
    ax.axis("off")
    ax.text(-0.62, -0.12, "sentence", ha="center", size=7, color=PALE)
    ax.text(2, -0.12, "words, coloured by √p(s) · p(w)", ha="center", size=7, color=PALE)
    for s, line in enumerate(document):
        share = float(pooled.weights[0, s])
        box(ax, -1.1, s + 0.08, share, f"{share:.2f}")
        for w, word in enumerate(line.split()):
            box(ax, w + 0.02, s + 0.08, float(pooled.display[0, s, w]) / 0.7, word)
    return plt.gcf()


def draw_gallery() -> Figure:
    """Every score, region and normaliser once."""
    side, gap, tall = 0.95, 0.2, 1.5
    wide, high = 8 * side + 7 * gap, 3 * tall
    figure = plt.figure(figsize=(wide, high))

    def place(row: int, column: int) -> Axes:
        x, y = column * (side + gap) / wide, 1 - (row * tall + 0.2 + side) / high
        return figure.add_axes((x, y, side / wide, side / high))

    for row, name in enumerate(("scores", "regions", "normalisers")):
        figure.text(0, 1 - row * tall / high, name, weight="bold", color=PALE, va="top")

    across = {"bilinear": bilinear(), "additive": additive(), "location": location()}
    within = {"dot": Dot(), "scaled-dot": ScaledDot(), "cosine(0.1)": Cosine(0.1)}
    within |= {"concat": concat(), "distance": Distance()}
    for n, (name, score) in enumerate((within | across).items()):
        q, k = (X, X) if name in within else (TARGET, SOURCE)
        grid, top = weights(q, k, score=score), 0.5 if name == "distance" else 0.9
        matrix(place(0, n), grid, numbers=False, top=top, title=name)

    for n, region in enumerate((Everywhere(), Causal(), Window(3), Atrous(4), Sparse(4))):
        name = ["everywhere", "causal", "window(3)", "atrous(4)", "sparse(4)"][n]
        region_grid(place(1, n), allowed(region), title=name, row=None)
    grid, _ = predicted()
    last = place(1, 5)
    matrix(last, grid, allowed=grid > 0, numbers=False, top=0.35, title="predicted-\nwindow(4)")

    everyone = (Softmax(), Sparsemax(), Raw(), Uniform(), Hard(), Gumbel(0.5))
    for n, normalize in enumerate(everyone):
        raw = isinstance(normalize, Raw)
        x = X - X.mean(0) if raw else X
        noisy = isinstance(normalize, Gumbel)
        grid = weights(x, x, 1, score=ScaledDot(), normalize=normalize, training=noisy)
        looks: dict[str, Any] = {"colours": SIGNED if raw else WEIGHT, "top": 0.9}
        name = type(normalize).__name__.lower()
        matrix(place(2, n), grid, numbers=False, title=name, **looks)
    for ax in figure.axes:
        ax.set(xticks=[], yticks=[])
    return figure


def softened(normalize: normalizers.Normalizer, seed: int | None = None) -> Tensor:
    """The sentence over itself by scaled dot; with a seed, one draw in training."""
    training = seed is not None
    return weights(X, X, seed or 0, score=ScaledDot(), normalize=normalize, training=training)


WIDE = X.repeat(1, 8)  # the same meaning in 48 features: q · k is eight times as large
CENTRED = X - X.mean(0)
PICTURES: dict[str, Callable[[], Figure]] = {
    "dot": lambda: sentence({"Dot()": weights(X, X, score=Dot())}),
    "scaled-dot": lambda: sentence(
        {f"{s}, 48 features": weights(WIDE, WIDE, score=s) for s in (Dot(), ScaledDot())}
    ),
    "bilinear": lambda: translation({"Bilinear(5, 4)": weights(TARGET, SOURCE, score=bilinear())}),
    "cosine": lambda: sentence(
        {f"Cosine({t})": weights(X, X, score=Cosine(t)) for t in (1, 0.3, 0.1)}
    ),
    "concat": lambda: sentence({"Concat(6, 6)": weights(X, X, score=concat())}),
    "additive": lambda: translation({"Additive(5, 4)": weights(TARGET, SOURCE, score=additive())}),
    "location": draw_location,
    "distance": lambda: sentence(
        {
            "softmax": weights(X, X, score=Distance()),
            "raw: the matrix of ABCNN": weights(X, X, score=Distance(), normalize=Raw()),
        }
    ),
    "everywhere": lambda: tokens({"Everywhere()": (allowed(Everywhere()), 9)}),
    "causal": lambda: tokens(
        {
            "Causal()": (allowed(Causal()), 9),
            "Causal('start')": (allowed(Causal("start"), 6), 3),
            "Causal('end')": (allowed(Causal("end"), 6), 3),
        }
    ),
    "first": lambda: tokens(
        {
            "First(2)": (allowed(First(2)), 9),
            "(First(2) | Window(4)) & Causal()": (
                allowed((First(2) | Window(4)) & Causal()),
                11,
            ),
        }
    ),
    "window": lambda: tokens(
        {
            "Window(3)": (allowed(Window(3)), 9),
            "Window(3, 0)": (allowed(Window(3, 0)), 9),
            "Window(2)": (allowed(Window(2), 16, 10), 13),
            "Window(2, clamp=True)": (allowed(Window(2, clamp=True), 16, 10), 13),
        }
    ),
    "predicted-window": draw_predicted_window,
    "atrous": lambda: tokens(
        {
            "Atrous(4)": (allowed(Atrous(4)), 9),
            "Atrous(4) & Causal()": (allowed(Atrous(4) & Causal()), 9),
        }
    ),
    "sparse": lambda: tokens(
        {
            "Sparse(4)": (allowed(Sparse(4)), 9),
            "Sparse(4) & Causal()": (allowed(Sparse(4) & Causal()), 9),
        }
    ),
    "softmax": lambda: sentence(
        {f"softmax({t})": weights(X, X, score=Dot(), normalize=Softmax(t)) for t in (0.25, 1, 4)}
    ),
    "sparsemax": lambda: sentence(
        {"softmax": softened(Softmax()), "sparsemax": softened(Sparsemax())}
    ),
    "raw": lambda: sentence(
        {"raw": weights(CENTRED, CENTRED, score=Dot(), normalize=Raw())}, colours=SIGNED, top=2.0
    ),
    "uniform": lambda: sentence(
        {"uniform, region=causal": weights(X, X, region=Causal(), normalize=Uniform())},
        allowed=torch.ones(6, 6).tril().bool(),
    ),
    "hard": lambda: sentence(
        {
            "hard, evaluation": softened(Hard()),
            "hard, training": softened(Hard(), 1),
            "hard, training again": softened(Hard(), 2),
        }
    ),
    "gumbel": lambda: sentence(
        {
            "gumbel(1), one draw": softened(Gumbel(1.0), 1),
            "gumbel(0.2), same draw": softened(Gumbel(0.2), 1),
            "straight_through=True": softened(Gumbel(0.2, straight_through=True), 1),
        }
    ),
    "attention": draw_attention,
    "multi-head": lambda: sentence({f"head {n}": grid for n, grid in enumerate(heads())}),
    "pooling": draw_pooling,
    "hierarchical": draw_hierarchical,
    "gallery": draw_gallery,
}


if __name__ == "__main__":
    save({name: PICTURES[name] for name in sys.argv[1:] or PICTURES}, FOLDER)
