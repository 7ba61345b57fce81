"""The page: a shell without inline script or style, and the three files that it loads."""

from __future__ import annotations

import json

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from regard.serve.access import Access
from regard.serve.guard import CONTENT_POLICY
from regard.view import bundle
from regard.view.page_language import page_language
from regard.words import ENGLISH, t

SHELL = """\
<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>regard</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="viewer.css">
{script}</head>
<body>
{body}
</body>
</html>
"""
STARTED = '<script type="module" src="start.js"></script>\n'
EMPTY = '<div id="regard"></div>\n<noscript>{needs_script}</noscript>'
SIGN_IN = """\
<main id="regard">
<div class="regard">
<p class="masthead"><span class="wordmark">regard</span></p>
<p class="headline"><label for="token">{said}</label></p>
<form class="asking-line" method="get" action="">
<input class="question" id="token" type="password" name="token" autocomplete="off" autofocus required>
<button>{open}</button>
</form>
</div>
</main>"""
START = """\
import viewer, { servedModel } from "./viewer.js";

const el = document.getElementById("regard");
servedModel(new URL(".", import.meta.url), %s).then(
  (model) => viewer.render({ model, el }),
  (error) => (el.textContent = error.message),
);
"""
SIGN_IN_POLICY = {
    "content-security-policy": CONTENT_POLICY.replace("form-action 'none'", "form-action 'self'")
}


def page_routes(access: Access) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    async def page(request: Request) -> Response:
        shown = request.query_params.get("token")
        if shown is not None and access.token is not None:
            return _signed_in(access, request) if access.accepts(shown) else _ask(wrong=True)
        return _page() if access.knows(request.headers) else _ask(wrong=False)

    @routes.get("/viewer.js")
    async def viewer() -> Response:
        return Response(bundle.module(), media_type="text/javascript")

    @routes.get("/viewer.css")
    async def stylesheet() -> Response:
        return Response(bundle.stylesheet(), media_type="text/css")

    @routes.get("/start.js")
    async def start() -> Response:
        given = json.dumps(page_language(), ensure_ascii=False)
        return Response(START % given, media_type="text/javascript")

    return routes


def _page() -> Response:
    return HTMLResponse(
        _shell(STARTED, EMPTY.format(needs_script=t("This page needs JavaScript.")))
    )


def _ask(*, wrong: bool) -> Response:
    """The form that asks for the token; wrong: what was given is not it."""
    said = (
        t("That is not the token. It is what --token or REGARD_TOKEN said when the server started.")
        if wrong
        else t("This server answers those who know its token: what --token or REGARD_TOKEN said.")
    )
    return HTMLResponse(_shell("", SIGN_IN.format(said=said, open=t("Open"))), 401, SIGN_IN_POLICY)


def _shell(script: str, body: str) -> str:
    return SHELL.format(language=page_language().get("lang", ENGLISH), script=script, body=body)


def _signed_in(access: Access, request: Request) -> Response:
    """To the same address without the token, which so stays out of the history and of links."""
    answer = RedirectResponse(".", 303)
    name, value = access.cookie
    secure = request.headers.get("x-forwarded-proto") == "https"  # said by a proxy in front
    answer.set_cookie(name, value, httponly=True, samesite="strict", secure=secure)
    return answer
