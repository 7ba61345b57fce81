"""What is said of a scene: in a few words or with every place, all of it or one side, English or Chinese."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from regard.data.scenes.digit_scenes import DigitScene, PlacedDigit, SceneSettings
from regard.words import t

ENGLISH = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
CHINESE = "零一二三四五六七八九"
Piece = str | tuple[str, PlacedDigit]  # a word that names a digit stands with it


@dataclass(frozen=True)
class SceneCaption:
    text: str
    boxes: list[tuple[float, ...]]  # of each word that names a digit, see `Boxes`
    prompt: str = ""  # what was asked


def short(scene: DigitScene, settings: SceneSettings) -> list[Piece]:
    """three, seven and nine"""
    named: list[Piece] = [(ENGLISH[one.label], one) for one in scene.digits]
    return _joined(named, ", ", " and ")


def long(scene: DigitScene, settings: SceneSettings) -> list[Piece]:
    """a three on the upper left, an eight on the lower right"""
    said: list[Piece] = []
    for one in scene.digits:
        word = ENGLISH[one.label]
        article = "an " if word == "eight" else "a "
        where = f" on the {_place(one, settings)}"
        said += [", " if said else "", article, (word, one), where]
    return said


def short_zh(scene: DigitScene, settings: SceneSettings) -> list[Piece]:
    """三、七和九"""
    named: list[Piece] = [(CHINESE[one.label], one) for one in scene.digits]
    return _joined(named, "、", "和")


def long_zh(scene: DigitScene, settings: SceneSettings) -> list[Piece]:
    """左上是三，右下是八"""
    said: list[Piece] = []
    for one in scene.digits:
        said += ["，" if said else "", f"{_place_zh(one, settings)}是", (CHINESE[one.label], one)]
    return said


def of_side(right: bool, over: str) -> Callable[[DigitScene, SceneSettings], list[Piece]]:
    """three over seven: of the first or last column, from above."""

    def said(scene: DigitScene, settings: SceneSettings) -> list[Piece]:
        words = ENGLISH if over.isascii() else CHINESE
        column = (settings.grid or (3, 3))[1] - 1 if right else 0
        chosen = [one for one in scene.digits if one.column == column]
        return _joined([(words[one.label], one) for one in chosen], over, over)

    return said


Style = dict[str, Callable[[DigitScene, SceneSettings], list[Piece]]]  # what is said, by the prompt
STYLES: dict[str, Style] = {
    "short": {"": short},
    "long": {"": long},
    "short_zh": {"": short_zh},
    "long_zh": {"": long_zh},
    "detail": {"short": short, "long": long},
    "detail_zh": {"简": short_zh, "详": long_zh},
    "side": {"left": of_side(False, " over "), "right": of_side(True, " over ")},
    "side_zh": {"左": of_side(False, "在上，"), "右": of_side(True, "在上，")},
}


def scene_caption(scene: DigitScene, style: str, settings: SceneSettings) -> SceneCaption:
    """In a style of `STYLES`; the scene says which of those of its prompts that there is an answer to."""
    said = {prompt: of(scene, settings) for prompt, of in STYLES[style].items()}
    there = [prompt for prompt, pieces in said.items() if pieces]
    if not there:
        raise ValueError(
            t(
                "of a scene with nothing at its sides, there is no caption {style}",
                style=repr(style),
            )
        )
    prompt = there[int(scene.draw * len(there))]
    text, boxes = "", list[tuple[float, ...]]()
    height, width = settings.canvas
    for piece in said[prompt]:
        word, digit = (piece, None) if isinstance(piece, str) else piece
        if digit is not None:
            box = (digit.left / width, digit.top / height)
            size = (settings.digit / width, settings.digit / height)
            boxes.append((float(len(text)), float(len(text) + len(word)), *box, *size))
        text += word
    return SceneCaption(text, boxes, prompt)


def _joined(named: Sequence[Piece], comma: str, last: str) -> list[Piece]:
    said: list[Piece] = []
    for number, one in enumerate(named):
        between = last if number == len(named) - 1 else comma
        said += [between, one] if said else [one]
    return said


def _place(one: PlacedDigit, settings: SceneSettings) -> str:
    """upper left, right, bottom, …"""
    rows, columns = settings.grid or (3, 3)
    down = _named(one.row, rows, ("upper", "", "lower"))
    across = _named(one.column, columns, ("left", "", "right"))
    if down and across:
        return f"{down} {across}"
    return across or {"upper": "top", "lower": "bottom"}.get(down, "middle")


def _place_zh(one: PlacedDigit, settings: SceneSettings) -> str:
    rows, columns = settings.grid or (3, 3)
    across = _named(one.column, columns, ("左", "", "右"))
    down = _named(one.row, rows, ("上", "", "下"))
    return across + down or "中间"


def _named(number: int, count: int, names: tuple[str, str, str]) -> str:
    """Of one row there is no name, of two the outer ones."""
    if count == 1:
        return ""
    return names[2 * number] if count == 2 else names[number]
