"""Pictures in a request: how many characters of it they are, and how many pixels, before any is decoded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from regard.data.picture_files import MOST_SENT, bytes_in, count_pixels
from regard.data.problems import Unusable
from regard.records.question import PICTURE
from regard.serve.http_errors import Refused
from regard.words import t

PIXELS = 64  # of a picture that take as much memory as a character of a text, about


def without_pictures(value: Any) -> Any:
    """What is asked, with nothing in the place of its pictures."""
    if isinstance(value, str):
        return PICTURE.sub("", value)
    if isinstance(value, list):
        return [without_pictures(each) for each in value]
    if isinstance(value, dict):
        return {name: without_pictures(each) for name, each in value.items()}
    return value


def check_pixels(*values: Any) -> int:
    """How many pixels there are in a request; Refused if they are too many to be decoded."""
    total = 0
    for text in _pictures(values):
        try:
            total += count_pixels(bytes_in(text))
        except Unusable:  # it is told when it is read
            continue
    if total > MOST_SENT:
        raise Refused(
            413,
            t(
                "pictures of {total} pixels in a request, and {most_sent} may be: make them "
                "smaller",
                total=f"{total:,}",
                most_sent=f"{MOST_SENT:,}",
            ),
        )
    return total


def _pictures(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from PICTURE.findall(value)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _pictures(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _pictures(each)
