"""A page without a script, as one HTML file: nothing fetched, light and dark."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from regard import __version__
from regard.view.markup import Markup, element
from regard.words import ENGLISH, language, t, translations

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # the page may load nothing


def static_page(
    title: str, stylesheet: str, header: Markup, sections: Iterable[tuple[str, Markup]]
) -> str:
    """The whole page; sections, each with its title, that have nothing in them are left out."""
    parts = [element("section", element("h2", name), body) for name, body in sections if body]
    footer = element(
        "p",
        t(
            "Written on {date} by regard {version}. Opens anywhere, loads nothing.",
            date=f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}".strip(),
            version=__version__,
        ),
    )
    body = element("body", element("main", header, *parts), element("footer", footer))
    spoken = language() if translations(language()) else ENGLISH
    return f"<!doctype html>\n{element('html', page_head(title, stylesheet), body, lang=spoken)}\n"


def masthead(kind: str) -> Markup:
    """The first line, as the viewer's; kind: what the page is."""
    return element(
        "p",
        element("span", "regard", class_="wordmark"),
        element("span", kind, class_="kind"),
        class_="masthead",
    )


def page_head(title: str, stylesheet: str) -> Markup:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(stylesheet)),
    )
