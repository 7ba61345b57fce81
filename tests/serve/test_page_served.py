"""The page loads nothing but its own files, and a token opens it once."""

from __future__ import annotations

import re

import pytest
from small_server import Shouter, client_of, quiet_app, shelf_of

from regard import words

TOKEN = "a-token-of-twenty-letters"


@pytest.fixture
def client():
    with shelf_of(Shouter()) as shelf:
        yield client_of(quiet_app(shelf))


@pytest.fixture
def locked():
    with shelf_of(Shouter()) as shelf:
        yield client_of(quiet_app(shelf, token=TOKEN))


def test_the_shell_has_no_inline_script_or_style_and_names_only_files_that_there_are(client):
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert not re.search(r"<style|style=|\son\w+=|<script(?![^>]*\ssrc=)[^>]*>", page.text)
    named = re.findall(r'(?:src|href)="(?!data:)([^"]+)"', page.text)
    assert sorted(named) == ["start.js", "viewer.css"]
    kinds = {name: client.get(f"/{name}").headers["content-type"] for name in [*named, "viewer.js"]}
    assert kinds == {
        "start.js": "text/javascript; charset=utf-8",
        "viewer.css": "text/css; charset=utf-8",
        "viewer.js": "text/javascript; charset=utf-8",
    }


def test_the_start_imports_what_the_viewer_exports(client):
    start, viewer = client.get("/start.js").text, client.get("/viewer.js").text
    (names, module) = re.search(r'import viewer, \{ (.+) \} from "\./(.+)"', start).groups()
    assert module == "viewer.js"
    assert re.search(rf"^export \{{[^}}]*\b{names}\b", viewer, re.MULTILINE)
    assert re.search(r"^export default \{ render", viewer, re.MULTILINE)


def test_the_page_speaks_the_language_of_the_server(client, monkeypatch):
    assert '<html lang="en">' in client.get("/").text
    assert '"lang"' not in client.get("/start.js").text
    assert '<html lang="zh">' in client.get("/", headers={"accept-language": "zh-CN,en;q=.5"}).text
    monkeypatch.setenv("REGARD_LANGUAGE", "zh")
    said = {"Export": "导出", "This page needs JavaScript.": "此页面需要 JavaScript。"}
    monkeypatch.setattr(words, "translations", lambda language: said if language == "zh" else {})
    page = client.get("/").text
    assert '<html lang="zh">' in page
    assert "此页面需要 JavaScript。" in page
    given = '{"lang": "zh", "languages": {"zh": {"Export": "导出"}}}'
    assert given in client.get("/start.js").text
    assert '<html lang="zh">' in client.get("/", headers={"accept-language": "en"}).text


def test_answers_are_in_the_language_that_was_accepted(client, monkeypatch):
    said = {"translate": "翻译"}
    monkeypatch.setattr(words, "translations", lambda language: said if language == "zh" else {})
    chinese = {"accept-language": "fr, zh-CN;q=0.9, en;q=0.8"}
    assert client.get("/models", headers=chinese).json()["models"][0]["verb"] == "翻译"
    assert client.get("/models").json()["models"][0]["verb"] == "translate"


def test_without_the_token_there_is_a_form_that_sends_nothing_elsewhere(locked):
    page = locked.get("/")
    assert page.status_code == 401
    assert 'type="password" name="token"' in page.text
    assert "<script" not in page.text
    assert "form-action 'self'" in page.headers["content-security-policy"]
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert locked.get("/models").status_code == 401


def test_the_token_is_taken_out_of_the_address_and_kept_as_a_cookie(locked):
    opened = locked.get("/", params={"token": TOKEN})
    assert (opened.status_code, opened.headers["location"]) == (303, ".")
    cookie = opened.headers["set-cookie"]
    assert TOKEN not in cookie
    assert {"httponly", "samesite=strict"} <= {x.strip().lower() for x in cookie.split(";")}
    assert "start.js" in locked.get("/").text
    assert locked.get("/models").status_code == 200
    assert locked.post("/translate", json={"texts": ["a"]}).status_code == 200


def test_a_cookie_behind_tls_is_for_tls_alone(locked):
    behind = locked.get("/", params={"token": TOKEN}, headers={"x-forwarded-proto": "https"})
    assert "secure" in behind.headers["set-cookie"].lower()


@pytest.mark.parametrize("wrong", ["", "wrong", TOKEN + "x", "é"])
def test_a_wrong_token_opens_nothing(locked, wrong):
    page = locked.get("/", params={"token": wrong})
    assert page.status_code == 401
    assert "set-cookie" not in page.headers
    assert locked.get("/models").status_code == 401


def test_a_token_for_a_server_without_one_is_no_mistake(client):
    assert "start.js" in client.get("/", params={"token": "x"}).text
