"""The viewer inside a page that is read without it: one file, in which a link opens it on a record.

The page and the viewer take turns: `#record=3` in the address shows the viewer, anything else the page, so
that Back, Forward and a pasted link work.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from regard.records.record import AttentionRecord
from regard.view.bundle import module, stylesheet
from regard.view.html import harmless, hash_of
from regard.view.markup import Markup, element, join
from regard.view.page_language import page_language
from regard.view.page_palette import palette
from regard.words import t


class InsetViewer(NamedTuple):
    """What a page needs for it; a page without records has none of it."""

    styles: Markup = Markup()  # before those of the page: the viewer's is the first
    body: Markup = Markup()  # after the rest
    policy: str = ""  # of its scripts


def inset_viewer(records: Sequence[AttentionRecord]) -> InsetViewer:
    if not records:
        return InsetViewer()
    script = f"{module()}\n{_text('inset_viewer.js')}".replace("</script", "<\\/script")
    # a state in which no record is the first one shown: each is in the address
    given = {
        "records": [record.to_dict() for record in records],
        "state": {"record": len(records)},
        **page_language(),
    }
    data = harmless(json.dumps(given, ensure_ascii=False, separators=(",", ":")))
    back = element("a", t("← Back to the report"), href="#")
    body = (
        f'<nav id="way-back" hidden="">{back}</nav><div id="regard" hidden=""></div>'
        f'<script type="application/json" id="regard-data">{data}</script>'
        f'<script type="module">{script}</script>'
    )
    return InsetViewer(
        join(
            [
                element("style", Markup(stylesheet()), id="viewer-style", media="not all"),
                element("style", Markup(f"{palette()}{_text('inset_viewer.css')}")),
            ]
        ),
        Markup(body),
        f"script-src '{hash_of(script)}'; base-uri 'none'; form-action 'none'",
    )


def _text(name: str) -> str:
    return resources.files("regard.view").joinpath(name).read_text("utf-8")
