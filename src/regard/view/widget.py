"""The page in a notebook: an anywidget, whose questions a live run answers where there is one.

A message of the page is {id, kind, payload, language}; its answer is {id, answer} or {id, error}.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.records.record import AttentionRecord
from regard.view.bundle import module, stylesheet
from regard.view.page_language import page_language
from regard.words import speaking, t


@dataclass(frozen=True)
class Live:
    """Models that can be asked, by name, and what makes a record of a question to one of them."""

    models: tuple[str, ...]
    look: Callable[[Mapping[str, Any]], AttentionRecord]
    pictures: tuple[str, ...] = ()  # those that are asked about a picture
    lookers: tuple[Any, ...] = ()  # who they are, for a server


def widget(
    records: Sequence[AttentionRecord],
    *,
    state: Mapping[str, Any] | None = None,
    live: Live | None = None,
    scored: Sequence[AttentionRecord] = (),
) -> Any:
    """state: what is shown first. live: who answers; without it nothing can be asked."""
    made = _widget_class()(
        records=[record.to_dict() for record in records],
        scored=[record.to_dict() for record in scored],
        state=dict(state or {}),
        abilities=[] if live is None else ["ask"],
        models=[] if live is None else list(live.models),
        pictures=[] if live is None else list(live.pictures),
        **page_language(),
    )

    def hear(_: Any, message: Any, __: Any) -> None:
        if isinstance(message, Mapping) and "id" in message:
            made.send(reply(message, live))

    made.on_msg(hear)
    return made


def reply(message: Mapping[str, Any], live: Live | None) -> dict[str, Any]:
    """The answer to a message of the page, or what was wrong with it, in the page's language."""
    with speaking(str(message.get("language") or "")):
        return _reply(message, live)


def _reply(message: Mapping[str, Any], live: Live | None) -> dict[str, Any]:
    try:
        if live is None:
            raise ValueError(t("needs a running model: regard.look(run, text)"))
        if message.get("kind") != "look":
            raise ValueError(
                t("nothing answers {kind}: ask to 'look'", kind=repr(message.get("kind")))
            )
        return {"id": message["id"], "answer": live.look(message.get("payload") or {}).to_dict()}
    except Exception as error:  # a mistake in a question must reach the page, whatever it is
        return {"id": message["id"], "error": str(error) or type(error).__name__}


@functools.cache
def _widget_class() -> type[Any]:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError(
            t(
                'a widget needs anywidget: pip install "regard[notebook]"; to_html() and show() do '
                "without it"
            )
        ) from error

    class AttentionWidget(anywidget.AnyWidget):
        _esm = module()
        _css = stylesheet()
        records: Any = traitlets.List().tag(sync=True)
        scored: Any = traitlets.List().tag(sync=True)
        state: Any = traitlets.Dict().tag(sync=True)
        abilities: Any = traitlets.List().tag(sync=True)
        models: Any = traitlets.List().tag(sync=True)
        pictures: Any = traitlets.List().tag(sync=True)
        lang: Any = traitlets.Unicode("").tag(sync=True)
        languages: Any = traitlets.Dict().tag(sync=True)

    return AttentionWidget
