"""`regard look`: see what a model attends to, in the browser, in a file or in the terminal."""

from __future__ import annotations

import errno
import json
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.look_page import serve_page
from regard.cli.options import Beam, ComparedRuns, Device, Guests
from regard.cli.texts import is_picture
from regard.cli.typed_command import typed_again
from regard.words import t

if TYPE_CHECKING:
    from regard.view.attention_view import View

SHOWN_HERE = ("terminal", "no_browser", "port")  # what a page in a file has no use for
MOST_ASKED = 12  # questions that an address has room for


def look(
    context: typer.Context,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT",
            help="What to look at, TABs between several inputs, JSON, a picture; two are compared. "
            "Or a saved .json.",
        ),
    ] = None,
    models: ComparedRuns = None,
    guests: Guests = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page that needs nothing else.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture.")] = None,
    png: Annotated[Path | None, typer.Option(metavar="FILE", help="The same in pixels.")] = None,
    pdf: Annotated[Path | None, typer.Option(metavar="FILE", help="The same on a page.")] = None,
    gif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A film of a picture that is looked at.")
    ] = None,
    apng: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The same with all its colours.")
    ] = None,
    as_json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the numbers; look FILE reopens them."),
    ] = None,
    as_csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="The matrix that is shown.")
    ] = None,
    npz: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Every array, for numpy.load.")
    ] = None,
    layer: Annotated[
        str | None, typer.Option(metavar="N", help="Show layer N first, or mean, or max.")
    ] = None,
    head: Annotated[
        str | None,
        typer.Option("--head", "--hop", metavar="N", help="Head or hop N, or mean, or max."),
    ] = None,
    heads: Annotated[
        str | None,
        typer.Option(metavar="L.H,…", help="Several heads at once: layer.head, 1.2,1.3,2.1."),
    ] = None,
    which: Annotated[
        str | None, typer.Option("--map", metavar="NAME", help="cross, encoder, decoder, …")
    ] = None,
    tokens: Annotated[bool, typer.Option("--tokens", help="Show tokens, not words.")] = False,
    tab: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Draw a tab of the page: steps, beam, compare, explain, picture, table, lens.",
        ),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            metavar="WORD", help="Of --tab steps and lens: the token that asks, or its place."
        ),
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Draw lines, not cells.")] = False,
    dark: Annotated[bool, typer.Option("--dark", help="A dark picture.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Measure how far the weights explain the output.")
    ] = False,
    foil: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="With --explain: why not this word, or this label?"),
    ] = None,
    foil_step: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="… instead of output token N, counted from 0."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Look at this translation.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The output has to begin with this.")
    ] = None,
    force: Annotated[
        str | None,
        typer.Option(
            metavar="WORD=KEYS",
            help="Where it writes WORD it looks at KEYS: store=图书馆, or by number, 5=11,12.",
        ),
    ] = None,
    off: Annotated[
        str | None,
        typer.Option(metavar="L.H,…", help="Heads that are switched off: 1.2, encoder.1, …"),
    ] = None,
    before: Annotated[
        bool,
        typer.Option("--before", help="Beside such a what-if, what the model does by itself."),
    ] = False,
    beam: Beam = None,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="A heat map in the terminal.")
    ] = False,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Serve the page, but open no browser.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port of the page; 0: a free one.")
    ] = 0,
    device: Device = None,
) -> None:
    """See what a model attends to while it works on TEXT.

    Example: regard look 我是一个学生。

    Example: regard look -m runs/zh-en 我是一个学生。 --svg attention.svg

    Example: regard look -m runs/ram digit.png --gif digit.gif

    Example: regard look --hf bert-base-uncased "The cat sat."
    """
    picks = {"map": which, "layer": _place(layer), "head": _place(head), "tokens": tokens}
    picks["heads"] = _several(heads, alone=layer is head is tab is None)
    if foil is None and foil_step is not None:
        raise typer.BadParameter(t("--foil-step is the place of a --foil: give one"))
    explain = explain or foil is not None or tab == "explain"
    asked: dict[str, Any] = {"target": target, "beam": beam, "explain": explain}
    if foil is not None:
        asked |= {"foil": foil, "foil_step": foil_step}
    wished = {"prefix": prefix, "force": force, "off": off}
    what_if = {name: value for name, value in wished.items() if value is not None}
    if before and not what_if:
        raise typer.BadParameter(
            t("--before stands beside a what-if: give --prefix, --force or --off")
        )
    written = {"--html": html, "--svg": svg, "--png": png, "--pdf": pdf, "--gif": gif}
    written["--apng"] = apng
    written |= {"--json": as_json, "--csv": as_csv, "--npz": npz}
    files = [path for path in written.values() if path is not None]
    _check_files(written)
    _check_tab(tab, query, drawn=any((svg, png, pdf)))
    given = texts or []
    for file in files:
        if any(is_picture(text) and Path(text).resolve() == file.resolve() for text in given):
            raise typer.BadParameter(
                t("{path} is the picture that is looked at: write another file", path=file)
            )
    records = [text for text in given if _is_saved(text)]
    saved = bool(records)
    if saved and (models or guests or what_if or records != given):
        raise typer.BadParameter(t("saved records need no model and no text: give them alone"))
    if files and not given:
        raise typer.BadParameter(t("give a TEXT to look at"))
    seen_here = terminal or (saved if no_browser else not _has_browser())
    asked_for = explain or target is not None or bool(what_if)
    asked_for = asked_for or max(len(given), 1) * max(len(models or []), 1) > MOST_ASKED
    asked_for = asked_for or any(map(is_picture, given))  # which an address has no room for
    if not (files or saved or seen_here) and (no_browser or not asked_for):
        typed = [text for text in given if not is_picture(text)]
        serve_page(
            models or [], guests or [], typed, picks, port, beam, device, open_it=not no_browser
        )
        return
    if not given:
        raise typer.BadParameter(t("give a TEXT to look at: there is no browser to type it in"))
    what_ifs = [{}, what_if] if before else [what_if]
    view = _view(given, models, guests, saved, [asked | each for each in what_ifs], picks, device)
    if files:
        theme = {"theme": "dark" if dark else "light"}
        styles: dict[Path | None, dict[str, Any]] = dict.fromkeys((gif, apng), theme)
        drawn = theme | ({"style": "lines"} if lines else {}) | _tab(view, tab, query)
        styles |= dict.fromkeys((svg, png, pdf), drawn)
        for path in files:
            _save(view, path, styles.get(path, {}))
        if not (terminal or saved):
            _tell_notes(view)
        if as_json is not None:
            _tell_packed(view)
    if terminal or (seen_here and not files):
        _print(view, explain=explain)
        if not files:
            page = typed_again(context, "--html", "attention.html", without=SHOWN_HERE)
            told = t("the whole page in a file: {command}", command=page)
            print(f"\n{told}", file=sys.stderr)
    elif not files:
        view.show()


def _several(heads: str | None, *, alone: bool) -> str:
    if heads is None:
        return ""
    if not alone:
        raise typer.BadParameter(
            t("--heads says which layers and heads are drawn: leave --layer, --head and --tab out")
        )
    return heads.replace(" ", "")


def _check_tab(tab: str | None, query: str | None, *, drawn: bool) -> None:
    if query is not None and tab not in ("steps", "lens"):
        raise typer.BadParameter(t("--query goes with --tab steps or lens"))
    if tab is not None and not drawn:
        raise typer.BadParameter(t("--tab is for a picture: --svg, --png or --pdf FILE"))


def _tab(view: View, tab: str | None, query: str | None) -> dict[str, Any]:
    """What is drawn in the place of the map."""
    if tab is None:
        return {}
    from regard.view.sheets.tab_sheets import Focus

    record = view.records[0]
    names: tuple[str, ...] = ()
    if tab == "lens" and record.lens is not None:
        names = record.sides[record.lens.side].tokens
    elif record.maps:
        names = record.sides[record.map(view.pick.map).queries].tokens
    return {"tab": tab, "focus": Focus(query=_token(query, names))}


def _token(wish: str | None, names: Sequence[str]) -> int | None:
    """The place of a token, from 0: by its text, the first of that text, or by its number."""
    if wish is None:
        return None
    found = [place for place, name in enumerate(names) if name.strip() == wish.strip()]
    if found:
        return found[0]
    if wish.isdecimal() and int(wish) < len(names):
        return int(wish)
    raise typer.BadParameter(
        t("no token {wish} among the queries: {names}", wish=repr(wish), names=" ".join(names))
    )


def _view(
    texts: Sequence[str],
    models: Sequence[Path] | None,
    guests: Sequence[Path] | None,
    saved: bool,
    asked: Sequence[dict[str, Any]],
    picks: dict[str, Any],
    device: str | None,
) -> View:
    """asked: how every text is looked at; more than one way stand side by side."""
    if saved:
        from regard.looking.look import look as view_of

        return view_of(*texts, **picks)
    from regard.time_left import loading

    views = []
    with loading():  # what is imported takes a while, too
        from regard.looking.look import look as view_of

        if guests:
            from regard.looking.guests.model_folder import load_guest

            loaded = [load_guest(folder, device=device) for folder in guests]
        if models or not guests:
            from regard.runs.loaded_run import load

            runs = [load(m, device=device) for m in models or []] or [load(device=device)]
    if guests:
        typed = list(map(_typed_input, texts))
        views = [view_of(guest, *typed, **each, **picks) for guest in loaded for each in asked]
    if models or not guests:
        views += [view_of(*runs, *texts, **each, **picks) for each in asked]
    return views[0] if len(views) == 1 else view_of(*views, **picks)


def _typed_input(text: str) -> Any:
    """Of a model of somebody else: a TAB stands between two texts that are read together; JSON names them."""
    if text.lstrip().startswith("{"):
        with suppress(json.JSONDecodeError):
            return json.loads(text)
    return tuple(text.split("\t")) if text.count("\t") == 1 else text


def _print(view: View, *, explain: bool) -> None:
    """explain: measures were asked for: what each says in a line; their matrices are in the page."""
    from regard.view.terminal_cells import harmless

    several = len({record.model for record in view.records}) > 1
    for record in view.records:
        if record.output:
            said = f"{record.model}: {record.output}" if several else record.output
            print(harmless(said))
    print(f"\n{view.to_text(colour=None)}")
    for record in view.records:
        if record.notes:
            who = f"{record.model}: " if several else ""
            print(harmless("\n" + "\n".join(who + note for note in record.notes)))
        lines = [f"{each.title}: {each.reading}" for each in record.explanations]
        if explain and not (lines or any("is not measured" in note for note in record.notes)):
            lines = [t("how far the weights explain this output is not measured for this model")]
        if lines:
            print(harmless("\n" + "\n".join(lines)))
    if others := _other_maps(view):
        told = t("also there: {maps}; see one with --map NAME", maps=", ".join(others))
        print(f"\n{told}", file=sys.stderr)


def _other_maps(view: View) -> list[str]:
    """The names of the maps that are not drawn."""
    drawn = [view.pick.map or record.maps[0].name for record in view.records if record.maps]
    there = dict.fromkeys(each.name for record in view.records for each in record.maps)
    return [name for name in there if name not in drawn]


def _save(view: View, path: Path, style: dict[str, Any]) -> None:
    """Its name on standard output; what the picture cannot show, as a warning without its place."""
    from regard.view.terminal_cells import harmless

    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: print(
            t("warning: {message}", message=message), file=sys.stderr
        )
        print(harmless(str(view.save(path, **style))))


def _tell_notes(view: View) -> None:
    """What is noted of the records, which a picture of them does not show."""
    from regard.view.terminal_cells import harmless

    for note in dict.fromkeys(note for record in view.records for note in record.notes):
        print(harmless(t("note: {note}", note=note)), file=sys.stderr)


def _tell_packed(view: View) -> None:
    """What is too large to be written as numbers is told."""
    from regard.records.json_text import left_packed

    packed = dict.fromkeys(
        place for each in (*view.records, *view.scored) for place in left_packed(each.to_dict())
    )
    if packed:
        told = t(
            "more than {count} numbers each, so they are bytes in base64: {arrays}. "
            "--npz FILE writes them as numbers",
            count="65,536",
            arrays=", ".join(packed),
        )
        print(told, file=sys.stderr)


def _place(wish: str | None) -> int | str | None:
    return int(wish) if wish is not None and wish.isdecimal() else wish


def _is_saved(text: str) -> bool:
    """A name that ends in .json is a record; who wants it as a text adds a blank."""
    if not text.endswith(".json"):
        return False
    if not os.path.isfile(text):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
    return True


def _check_files(named: dict[str, Path | None]) -> None:
    for option, path in named.items():
        suffix = "." + option.removeprefix("--")
        if path is not None and path.suffix != suffix:
            raise typer.BadParameter(
                t(
                    "{option} writes a file that ends in {suffix}, not {path}",
                    option=option,
                    suffix=suffix,
                    path=path,
                )
            )


def _has_browser() -> bool:
    """Whether a window can be opened: not over ssh, and not without a screen."""
    if sys.platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in os.environ
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False

    import webbrowser

    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True
