"""What `regard.look` gives: records, and every way to show or keep them."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.view.captions import own_shade_name
from regard.view.html import page_html
from regard.view.pdf.svg_to_pdf import drawn_pdf
from regard.view.picked_matrix import Matrix, Pick, by_hop, over_cells, picked
from regard.view.saved_records import written_records
from regard.view.shaded.level_lines import level_lines, shown_levels
from regard.view.shaded.shaded_sentences import shaded_sentences
from regard.view.sheets.number_files import arrays_npz, matrices_csv
from regard.view.sheets.tab_sheets import Focus, draw_tab
from regard.view.sides.side_by_side import SideBySide, side_by_side
from regard.view.stills.moving_picture import film
from regard.view.stills.png import drawn_png
from regard.view.stills.several_heads import chosen_heads
from regard.view.stills.still_picture import draw, shows_sight
from regard.view.terminal import beside, heat_map
from regard.view.terminal_cells import harmless
from regard.view.terminal_cells import width as cells_of
from regard.view.terminal_sights import pictured_text, sight_text
from regard.view.widget import Live, widget
from regard.words import t

MOST_ROWS = 60  # that are printed as text
EVERYTHING = Pick()
SUFFIXES = (".html", ".svg", ".png", ".gif", ".apng", ".pdf", ".json", ".csv", ".npz")


@dataclass(frozen=True)
class View:
    """In a notebook the last line of a cell shows it; elsewhere `show` opens a browser.

    pick: which map, layer and head are shown first, and whether in words or tokens.
    live: models that answer what the page asks, where there are any.
    scored: where records wrote different things, each as it writes what the other wrote.
    """

    records: tuple[AttentionRecord, ...]
    pick: Pick = EVERYTHING
    live: Live | None = None
    scored: tuple[AttentionRecord, ...] = ()

    def __post_init__(self) -> None:
        if not self.records:
            raise NotARecord(t("there is nothing to look at"))
        for record in self.records:
            if not shows_sight(record, self.pick):
                picked(record, self.pick)  # a layer that there is not is told now, not in the page
                chosen_heads(record, self.pick)

    def __repr__(self) -> str:
        return f"<View of {', '.join(repr(r.name or r.model or 'a record') for r in self.records)}>"

    def picking(self, **changes: Any) -> View:
        """The same records with another map, layer, head, heads="1.2,3.1", or tokens=True."""
        return replace(self, pick=replace(self.pick, **changes))

    def to_html(self) -> str:
        """A page that needs nothing else: it opens from disk, offline."""
        return page_html(self.records, state=self._state, scored=self.scored)

    def to_svg(
        self,
        *,
        style: str | None = None,
        theme: str = "light",
        tab: str | None = None,
        focus: Focus | None = None,
    ) -> str:
        """A still picture; style: cells, lines, text, or what suits best; theme: light or dark.

        tab: steps, beam, compare, explain, picture or table, as the page has it; focus: what is chosen in it.
        """
        if tab is not None:
            return draw_tab(self.records, self.pick, tab, focus, theme=theme, scored=self.scored)
        return draw(self.records, self.pick, style=style, theme=theme, scored=self.scored)

    def to_png(self, *, zoom: float = 2.0, **options: Any) -> bytes:
        """The same in pixels, with the fonts of this system and the embedded one."""
        return drawn_png(lambda: self.to_svg(**options), zoom=zoom)

    def to_pdf(self, **options: Any) -> bytes:
        """The same on a page: shapes and Latin letters as such, other letters as fine pixels."""
        return drawn_pdf(lambda: self.to_svg(**options))

    def to_gif(self, *, theme: str = "light") -> bytes:
        """A film of the first record: glimpse by glimpse, canvas by canvas, word by word over a picture."""
        return film(self.records[0], self.pick, "gif", theme=theme)

    def to_apng(self, *, theme: str = "light") -> bytes:
        """The same with all its colours."""
        return film(self.records[0], self.pick, "apng", theme=theme)

    def to_json(self) -> str:
        """The record; several as a list, with their readings of one another. `regard.look(path)` reads it."""
        return written_records(self.records, self.scored)

    def to_csv(self) -> str:
        """The matrix that is shown, whole: a line of keys, then a line for each query."""
        return matrices_csv(self.records, self.pick)

    def to_npz(self) -> bytes:
        """All arrays of all layers and heads for `numpy.load`: "cross/weights", "source/tokens", …"""
        return arrays_npz(self.records)

    def to_text(self, *, colour: bool | None = False) -> str:
        """Heat maps for a terminal, next to each other where there is room; of two, their difference too."""
        texts = [self._text(record, colour) for record in self.records]
        if compared := self._side_by_side:
            difference = compared.common.difference
            shown = difference.weights[:MOST_ROWS]
            texts.append(
                heat_map(
                    shown.tolist(),
                    difference.queries[:MOST_ROWS],
                    difference.keys,
                    title=compared.title,
                    colour=colour,
                )
            )
            return harmless("\n\n".join((beside(*texts), "\n".join(compared.lines))))
        return harmless("\n\n".join(texts))

    def save(self, path: str | Path, **options: Any) -> Path:
        """By the end of its name, one of SUFFIXES; options as those of to_svg, …

        What stood there stays until the new file is whole.
        """
        from regard.data.atomic_files import write_whole

        path = Path(path)
        if path.suffix not in SUFFIXES:
            raise NotARecord(
                t(
                    "{name} does not say what to write: it ends in {endings}",
                    name=repr(path.name),
                    endings=", ".join(SUFFIXES),
                )
            )
        content = getattr(self, f"to_{path.suffix[1:]}")(**options)
        if isinstance(content, str):  # half of a pair is written as JSON does it, \ud800
            content = content.encode("utf-8", "backslashreplace")
        if path.exists() and not path.is_file():  # a pipe, a terminal
            path.write_bytes(content)
        else:
            write_whole(path.resolve(), content)
        return path

    def show(self) -> Path:
        """Open it in a browser, as a file that stays until the system clears its temporary ones."""
        with tempfile.NamedTemporaryFile("wb", suffix=".html", prefix="regard-", delete=False) as f:
            f.write(self.to_html().encode("utf-8"))
        path = Path(f.name)
        opened = webbrowser.open(path.as_uri())
        print(
            path
            if opened
            else t("no browser could be opened here: open {file} with one", file=path)
        )
        return path

    def widget(self) -> Any:
        """For a notebook; needs the extra `notebook`."""
        return widget(self.records, state=self._state, live=self.live, scored=self.scored)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """A widget where there can be one, else the page in a frame; a still picture for the rest."""
        bundle: dict[str, Any] = {"image/svg+xml": self.to_svg(), "text/plain": self.to_text()}
        if importlib.util.find_spec("anywidget") is not None:
            shown = self.widget()._repr_mimebundle_()
            data = shown[0] if isinstance(shown, tuple) else shown
            return {**bundle, **{kind: x for kind, x in data.items() if kind != "text/plain"}}
        frame = (
            f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{escape(self.to_html())}" '
            'style="width: 100%; height: 720px; border: 0" title="attention"></iframe>'
        )
        return {"text/html": frame, **bundle}

    @property
    def _state(self) -> dict[str, Any]:
        """What a page shows first: several records side by side."""
        several = len(self.records) > 1 and all(record.maps for record in self.records)
        return page_state(self.pick) | ({"panel": "compare"} if several else {})

    @property
    def _side_by_side(self) -> SideBySide | None:
        if self.pick.heads or any(
            shows_sight(each, self.pick) or shown_levels(each, self.pick) for each in self.records
        ):
            return None
        return side_by_side(self.records, self.scored, self.pick)

    def _text(self, record: AttentionRecord, colour: bool | None) -> str:
        if shows_sight(record, self.pick):
            return sight_text(record, colour=colour)
        if shown_levels(record, self.pick):
            return shaded_sentences(level_lines(record, tokens=self.pick.tokens), colour=colour)
        if heads := chosen_heads(record, self.pick):
            return "\n\n".join(self._one_map(record, each, colour) for each in heads.values())
        return self._one_map(record, by_hop(record, self.pick), colour)

    def _one_map(self, record: AttentionRecord, matrix: Matrix, colour: bool | None) -> str:
        shown = matrix.weights[:MOST_ROWS]
        picture = matrix.columns.picture
        if picture is not None:
            cells = over_cells(matrix)
            if len(cells.keys) == picture.rows * picture.columns:
                title = " — ".join(filter(None, (record.name, matrix.aggregation)))
                return pictured_text(cells, title, colour=colour)
        name = " — ".join(filter(None, (self._who(record), record.name)))
        title = " — ".join(filter(None, (name, matrix.aggregation)))
        if name and cells_of(title) > shutil.get_terminal_size().columns:
            title = f"{name}\n{matrix.aggregation}"
        drawn = heat_map(
            shown.tolist(),
            matrix.queries[:MOST_ROWS],
            matrix.keys,
            title=title,
            colour=colour,
            shade=own_shade_name(matrix.map.name),
        )
        hidden = len(matrix.weights) - len(shown)
        return (
            t("{drawn}\n… {hidden} more queries", drawn=drawn, hidden=hidden) if hidden else drawn
        )

    def _who(self, record: AttentionRecord) -> str:
        """The model, where there are several."""
        return record.model if len({each.model for each in self.records}) > 1 else ""


def page_state(pick: Pick) -> dict[str, Any]:
    """What the page shows first, as it says it itself: layers and heads from 0."""
    place = {
        name: wish - 1 if isinstance(wish, int) else wish
        for name, wish in (("layer", pick.layer), ("head", pick.head))
        if wish is not None
    }
    state = {"map": pick.map or "", **place, "units": "tokens" if pick.tokens else "words"}
    state |= {} if pick.between is None else {"between": pick.between}
    return state | ({"heads": pick.heads} if pick.heads else {})


def counted(state: Mapping[str, Any]) -> dict[str, Any]:
    """The same for an address, which counts layers and heads from 1, as people do."""
    return {
        name: value + 1 if name in ("layer", "head") and isinstance(value, int) else value
        for name, value in state.items()
    }
