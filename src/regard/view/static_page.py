"""A page that is read without a script, as one HTML file: nothing fetched, light and dark."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from regard import __version__
from regard.view.inset_viewer import InsetViewer
from regard.view.markup import Markup, element
from regard.words import ENGLISH, language, t, translations

NO_VIEWER = InsetViewer()
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:"  # the page may load nothing


def static_page(
    title: str,
    stylesheet: str,
    header: Markup,
    sections: Iterable[tuple[str, Markup]],
    viewer: InsetViewer = NO_VIEWER,
) -> str:
    """The whole page; sections, each with its title, that have nothing in them are left out.

    viewer: on the records that the page has links to.
    """
    parts = [element("section", element("h2", name), body) for name, body in sections if body]
    footer = element(
        "p",
        t(
            "Written on {date} by regard {version}. Opens anywhere, loads nothing.",
            date=f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}".strip(),
            version=__version__,
        ),
    )
    main = element("main", header, *parts)
    body = element("body", main, element("footer", footer), viewer.body)
    spoken = language() if translations(language()) else ENGLISH
    head = page_head(title, stylesheet, viewer)
    return f"<!doctype html>\n{element('html', head, body, lang=spoken)}\n"


def masthead(kind: str) -> Markup:
    """The first line, as the viewer's; kind: what the page is."""
    return element(
        "p",
        element("span", "regard", class_="wordmark"),
        element("span", kind, class_="kind"),
        class_="masthead",
    )


def page_head(title: str, stylesheet: str, viewer: InsetViewer = NO_VIEWER) -> Markup:
    allowed = f"{POLICY}; {viewer.policy}" if viewer.policy else POLICY
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=allowed),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        viewer.styles,
        element("style", Markup(stylesheet), class_="of-the-page"),
    )
