"""A short tour of attention with vectors set by hand, so that every weight can be checked by eye.

Each step is the very text that is shown: it is executed, and the weights it names are drawn.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from typing import Any

from torch import tensor

from regard.view import colours
from regard.view.terminal import beside, heat_map
from regard.words import t

words = ["the", "cat", "walks", "on", "the", "street"]
x = tensor(
    [  # who, does, where, joins
        [0.2, 0.0, 0.2, 1.0],  # the
        [1.8, 1.0, 0.0, 0.2],  # cat: someone, who may do something
        [1.0, 1.6, 0.8, 0.0],  # walks: somebody does it, somewhere
        [0.0, 0.4, 1.2, 0.8],  # on
        [0.2, 0.0, 0.2, 1.0],  # the
        [0.0, 0.8, 1.8, 0.2],  # street: a place where something is done
    ]
)

english, chinese = ["I", "am", "a", "student"], ["我", "是", "一个", "学生"]
q = tensor(
    [  # person, being, one, studies
        [1.8, 0.6, 0.0, 0.2],  # I
        [0.8, 1.8, 0.0, 0.0],  # am: its person is the first
        [0.0, 0.2, 1.8, 0.8],  # a
        [0.6, 0.0, 0.4, 1.8],  # student: a person
    ]
)
k = tensor(
    [
        [1.8, 0.4, 0.0, 0.2],  # 我
        [0.2, 1.8, 0.2, 0.0],  # 是
        [0.0, 0.0, 1.8, 0.4],  # 一个
        [0.6, 0.0, 0.2, 1.8],  # 学生
    ]
)

SETTING = """\
import torch
from regard import attend, explain, scores
from regard.view import heat_map
from regard.view.tour import words, x, english, q, chinese, k"""

SELF = """\
everywhere = attend(x, x, score="dot", weights=True).weights
causal = attend(x, x, score="dot", region="causal", weights=True).weights
near = attend(x, x, score="dot", region="window(1)", weights=True).weights"""

CROSS = """\
soft = attend(q, k, score="dot", weights=True).weights
warm = attend(q, k, score="dot", normalize="softmax(4)", weights=True).weights
hard = attend(q, k, score="dot", normalize="hard", weights=True).weights"""

ADDITIVE = """\
M, v = torch.eye(4).repeat(1, 2), torch.full((4,), -6.0)
score = scores.Additive.from_matrix(M, v, query_size=4)
additive = attend(q, k, score=score, weights=True).weights"""

EXPLAIN = "print(explain(q, k, score=score))"

LONG_WINDOW = """\
python -c "import torch, regard; x = torch.randn(1, 8192, 64); \\
  print(regard.explain(x, x, region='window(64) & causal'))\""""


def tour(*, width: int | None = None) -> Iterator[str]:
    """The tour, a paragraph at a time: the first can be read while the last are being computed."""
    space = width or shutil.get_terminal_size().columns
    names: dict[str, Any] = {}

    def draw(queries: list[str], keys: list[str], **titles: str) -> str:
        maps = (
            heat_map(names[name], queries, keys, title=f"{name}: {title}", width=space)
            for name, title in titles.items()
        )
        return beside(*maps, width=space)

    first = t("Everything below can be pasted into Python. First:")
    yield f"{first}\n\n{_code(SETTING)}"
    exec(SETTING, names)

    asks = t(
        "1. Self-attention: each word (row) asks every word (column); a row sums to 1.\n"
        "   The region says whom it may ask: a dot is a weight of exactly 0."
    )
    yield f"{asks}\n\n{_code(SELF)}"
    exec(SELF, names)
    yield draw(
        words,
        words,
        everywhere=t("all words"),
        causal=t("none to the right"),
        near=t("one to each side"),
    )
    yield t(
        "   The two 'the' are one vector and ask alike: dot products know no positions.\n"
        "   To draw one yourself:  {command}",
        command="print(heat_map(causal, words, words))",
    )

    looks = t(
        "2. Cross attention: to write 'I am a student', where to look in 我是一个学生?\n"
        "   The normaliser says how scores become weights: soft, warmer, or hard.\n"
        "   Another score is v · tanh(M [q; k]), the additive one of Bahdanau: as tanh\n"
        "   levels off, a feature of both words counts once, and v < 0 makes that best."
    )
    yield f"{looks}\n\n{_code(CROSS)}\n{_code(ADDITIVE)}"
    exec(CROSS, names)
    yield draw(english, chinese, soft="softmax", warm=t("temperature 4"))
    exec(ADDITIVE, names)
    yield draw(english, chinese, hard=t("the best key alone"), additive="v · tanh(M [q; k])")

    plan = eval(EXPLAIN.removeprefix("print"), names)
    which = t("3. Which path computes it, and why? Ask with the same arguments.")
    yield f"{which}\n\n{_code(EXPLAIN)}\n{_indent(str(plan))}"
    yield f"{t('What next:')}\n\n{_indent(_next())}"


def _next() -> str:
    gap = " " * 28
    return "\n".join(
        [
            f"{'README.md, docs/README.md':28}{t('the guide, with a page for every mechanism')}",
            f"{'make test':28}{t('what holds, checked on this machine')}",
            LONG_WINDOW,
            f"{gap}{t('what a long window costs, and which path it takes')}",
        ]
    )


def _code(text: str) -> str:
    """Unindented and without prompts, so that it can be pasted."""
    if not colours.colour_bits(sys.stdout):
        return text
    return "\n".join(f"{colours.CODE}{line}{colours.RESET}" for line in text.splitlines())


def _indent(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.splitlines())
