"""The application: page and API behind the guard, and one shape for every error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import regard
from regard.serve.access import Access
from regard.serve.api import api_routes
from regard.serve.guard import Guard, write_line
from regard.serve.http_errors import in_words, refusal, unread
from regard.serve.models import Shelf
from regard.serve.served_page import page_routes
from regard.suggestions import meant
from regard.words import t

ABOUT = "Translations, scores and attention of the models that this server was started with."
# FastAPI tells an OpenTelemetry collector what it does where there is one; this server tells nobody
SILENT: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


def make_app(shelf: Shelf, access: Access, log: Callable[[str], None] = write_line) -> Guard:
    app = FastAPI(
        title="regard",
        version=regard.__version__,
        description=ABOUT,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        telemetry=SILENT,
    )
    app.include_router(page_routes(access))
    api = api_routes(shelf)
    app.include_router(api)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _failed)
    if access.token is not None:
        _say_that_a_token_is_needed(app)
    asked = {r.path for r in api.routes if isinstance(r, APIRoute) and "POST" in (r.methods or ())}
    return Guard(app, access, shelf.limits, asked, log)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return refusal(*in_words(error.errors(), request.url.path))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path, reason = request.url.path[:80], error.detail
    if error.status_code == 404 and reason == "Not Found":
        known = [
            "/predict",
            "/translate",
            "/score",
            "/attention",
            "/progress",
            "/models",
            "/health",
            "/openapi.json",
        ]
        reason = t(
            "nothing at {path}.{meant} /openapi.json says what there is",
            path=repr(path),
            meant=meant(path, known),
        )
    if error.status_code == 400 and error.__cause__ is not None:  # FastAPI's own words say nothing
        reason = unread(error.__cause__)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        reason = t(
            "{path} does not take {method}, but {allowed}",
            path=path,
            method=request.method[:20],
            allowed=allowed,
        )
    return refusal(error.status_code, reason, error.headers)


async def _failed(_: Request, error: Exception) -> Response:
    """The reason goes to the server's log, not to the client: it may reveal internals."""
    return refusal(500, t("the server failed at this request; its log says why"))


def _say_that_a_token_is_needed(app: FastAPI) -> None:
    described = app.openapi

    def openapi() -> dict[str, Any]:
        schema = described()
        schema.setdefault("components", {})["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"}
        }
        schema["security"] = [{"token": []}]
        return schema

    app.openapi = openapi  # type: ignore[method-assign]
