"""One HTML file with everything in it: the page, its records and nothing to fetch.

It opens from disk and offline. A content-security policy allows the one script and the one stylesheet
by their hashes, so that nothing in a record could ever run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from regard.records.record import AttentionRecord
from regard.view.bundle import module, stylesheet
from regard.view.markup import text
from regard.view.page_language import page_language
from regard.view.terminal_cells import visible
from regard.words import ENGLISH, t

START = """
render({
  model: staticModel(JSON.parse(document.getElementById("regard-data").textContent)),
  el: document.getElementById("regard"),
});
"""
PAGE = """\
<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div id="regard"><noscript>{needs_script}</noscript></div>
<script type="application/json" id="regard-data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def page_html(
    records: Sequence[AttentionRecord],
    *,
    state: Mapping[str, Any] | None = None,
    scored: Sequence[AttentionRecord] = (),
) -> str:
    """state: what is shown first, as page/host/view_state.js has it. scored: outputs given to others."""
    # "</script" would end the element, in a string of the code as well
    script = (module() + START).replace("</script", "<\\/script")
    style = stylesheet()
    spoken = page_language()
    given = {
        "records": [record.to_dict() for record in records],
        **({"scored": [record.to_dict() for record in scored]} if scored else {}),
        "state": dict(state or {}),
        **spoken,
    }
    data = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    titles = " · ".join(dict.fromkeys(r.name or r.model for r in records if r.name or r.model))
    return PAGE.format(
        language=spoken.get("lang", ENGLISH),
        needs_script=text(t("This page needs JavaScript.")),
        policy=text(content_policy(script, style)),
        title=text(visible(titles or t("attention"))),
        style=style,
        data=harmless(data),
        script=script,
    )


def content_policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src '{hash_of(script)}'; style-src '{hash_of(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def harmless(data: str) -> str:
    r"""JSON in which no text can end the element: < is written \u003c; halves of pairs as well."""
    written = data.replace("<", "\\u003c")
    return "".join(
        f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" or c in "\u2028\u2029" else c
        for c in written
    )


def hash_of(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
