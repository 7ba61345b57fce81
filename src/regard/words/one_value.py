"""What is said of lines that cannot be used, as it is said of one line, and of one value alone."""

from __future__ import annotations

# What is said of lines, and what of the value in one of them; the first that fits.
OF_VALUES = (
    ("lines without a text '{}'", "no text"),
    ("empty {}lines", "empty"),
    ("lines that are not where they are said to be in their", "not where it is said to be in its"),
    ("lines that are not ", "not "),
    ("lines that do not occur in their", "it does not occur in its"),
    ("lines that name files without an", "it names a file without an"),
    ("lines that name ", "it names "),
    ("lines whose ", "its "),
    ("lines without a time (2012-04-03T18:00) or", "neither a time (2012-04-03T18:00) nor"),
    ("lines without one ", "not one "),
    ("lines without two ", "fewer than two "),
    ("lines without a ", "no "),
    *((f"{many} {word}", "") for many in ("lines", "sentences") for word in ("with ", "of ", "")),
)


def of_value(kind: str) -> str:
    """A kind of problem as it is said of one value: `{}: not numbers`, of "{}lines that are not numbers"."""
    for lines, value in OF_VALUES:
        if kind.startswith((lines, f"{{}}{lines}")):
            return "{}: " + kind.replace(lines, value, 1).removeprefix("{}")
    return kind


def of_line(kind: str) -> str:
    """What is said of lines, of one of them."""
    for many, one in (("are", "is"), ("name", "names"), ("do", "does")):
        kind = kind.replace(f"lines that {many} ", f"line that {one} ", 1)
    return kind.replace("lines", "line", 1)
