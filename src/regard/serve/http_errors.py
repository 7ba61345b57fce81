"""Answers that say no: one shape, `{"error": "…"}`, one line, and nothing about internals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from regard.words import say, t

GONE = 499  # the client hung up: nobody reads the answer, but the log shows it
BODIES = {  # what is asked, by path
    "/translate": '{"texts": ["…"]}',
    "/score": '{"sources": ["…"], "targets": ["…"]}',
    "/predict": '{"examples": ["…"]}',
    "/attention": '{"text": "…"}',
}


class Refused(HTTPException):
    """A request that is not served: the status, the reason, what would help."""

    def __init__(self, status: int, reason: str, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(status, reason, headers=named or None)


def refusal(status: int, reason: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": say(reason)}, status, headers)


def in_words(mistakes: Iterable[Mapping[str, Any]], path: str) -> tuple[int, str]:
    """Status and reason of what pydantic says is wrong with a request; its input is not repeated."""
    every = list(mistakes)
    for mistake in every:
        if mistake["type"] == "json_invalid":
            return 400, t("the body is not JSON: {error}", error=mistake["ctx"]["error"])
        if mistake["type"] == "missing" and mistake["loc"] == ("body",):
            return 422, t(
                "the body is empty: it is a JSON object such as {example}", example=BODIES[path]
            )
    return 422, "; ".join(f"{_place(each['loc'])}: {_said(each)}" for each in every[:5])


def unread(error: BaseException | None) -> str:
    """Why a body was not read that FastAPI says no more of."""
    match error:
        case RecursionError():
            return t("the body is nested too deeply")
        case UnicodeDecodeError():
            return t("the body is not UTF-8")
        case ValueError() if "digits" in str(error):
            return t("the body holds a whole number of too many digits")
        case _:
            return t("the body cannot be read: it is a JSON object")


def _place(location: tuple[Any, ...]) -> str:
    """texts[3] of ("body", "texts", 3)"""
    inside = location[1:] if location[:1] == ("body",) else location
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in inside]
    return "".join(parts).lstrip(".") or "body"


def _said(mistake: Mapping[str, Any]) -> str:
    message = " ".join(str(mistake["msg"]).removeprefix("Value error, ").split())
    return message[:1].lower() + message[1:]
