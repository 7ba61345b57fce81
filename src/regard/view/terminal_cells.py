"""Text measured in the cells of a terminal: 学 takes two, a combining accent none."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

JOINERS = "\u200c\u200d"  # Persian and Indic spelling and joined emoji need these
ISOLATE, END_ISOLATE = "\u2068", "\u2069"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def width(text: str) -> int:
    """The cells that text takes on one line; colours and the marks of `isolate` take none."""
    return cell_len(ESCAPES.sub("", text).replace(ISOLATE, "").replace(END_ISOLATE, ""))


BLANKS, BLANK = {"\n": "↵", "\r": "↵", "\t": "⇥"}, "␣"
_OBEYED = re.compile(r"(?!\x1b\[[0-9;]*m)[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible(label: object) -> str:
    """A label that shows what it is, as the page does: ␣ for a blank, ∅ for nothing.

    Control characters are written as in Python.
    """
    text = str(label)
    if not text.strip():
        return "".join(BLANKS.get(c, BLANK) for c in text) or "∅"
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode() for c in text
    )


def harmless(text: str) -> str:
    """What a terminal would obey is written as in Python, but for line ends, tabs and colours."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def isolate(text: str) -> str:
    """Right-to-left text kept from reordering the columns around it."""
    if any(unicodedata.bidirectional(c) in ("R", "AL") for c in text):
        return f"{ISOLATE}{text}{END_ISOLATE}"
    return text


def characters(text: str) -> Iterator[str]:
    """What a reader calls characters: each with its accents, joined emoji in one piece."""
    last = ""
    for c in text:
        joined = last and (
            cell_len(c) == 0
            or unicodedata.category(c).startswith("M")
            or c in JOINERS
            or last.endswith("\u200d")
        )
        if last and not joined:
            yield last
            last = ""
        last += c
    if last:
        yield last


def fold(text: str, cells: int, lines: int) -> list[str]:
    """Text in lines of at most `cells`; what does not fit in `lines` of them ends in an ellipsis."""
    if width(text) <= cells:
        return [text]
    folded = [""]
    for c in characters(text):
        if width(folded[-1] + c) > cells and folded[-1]:
            if len(folded) == lines:  # the rest of a very long text is never measured
                break
            folded.append("")
        folded[-1] += c
    else:
        return folded
    kept = list(characters(folded[lines - 1]))
    while kept and width("".join(kept)) >= cells:
        kept.pop()
    return [*folded[:-1], "".join(kept) + "…"]


def broken(text: str, cells: int) -> list[str]:
    """Text in lines of at most `cells`, broken between words; longer words are lines of their own."""
    found = [""]
    for word in text.split(" "):
        joined = f"{found[-1]} {word}".lstrip()
        if width(joined) <= cells:
            found[-1] = joined
        else:
            found += [word]
    return found


def shorten(text: str, cells: int) -> str:
    """Text in at most `cells`, with an ellipsis for what is missing."""
    return fold(text, cells, lines=1)[0]


def pad(text: str, cells: int, align: str = "<") -> str:
    """Text filled with blanks to `cells`: at its right (<), its left (>), or both (^)."""
    free = max(cells - width(text), 0)
    left = {"<": 0, ">": free, "^": free // 2}[align]
    return " " * left + isolate(text) + " " * (free - left)


def words_over(words: Sequence[str], labels: Sequence[str], room: int | None = None) -> str:
    """Words, and under each its label, in pairs of lines of at most `room` cells: those of the terminal."""
    space = room or shutil.get_terminal_size().columns
    lines: list[list[str]] = []
    used = space + 1
    for word, label in zip(map(visible, words), map(visible, labels), strict=True):
        cells = max(width(word), width(label))
        if used + cells > space:
            lines += [[], []]
            used = 0
        lines[-2].append(pad(word, cells))
        lines[-1].append(pad(label, cells))
        used += cells + 1
    return "\n".join(" ".join(line).rstrip() for line in lines)
