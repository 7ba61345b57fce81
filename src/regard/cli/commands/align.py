"""`regard align`: which word translates which, by the attention of a model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import Device, Json, Output, Run
from regard.cli.pairs import Source, Target
from regard.words import t

if TYPE_CHECKING:
    from regard.measures import Links, WordPair
    from regard.tasks.prediction import Prediction


def align(
    source: Source = None,
    target: Target = None,
    model: Run = None,
    gold: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Links made by hand: print the AER.")
    ] = None,
    base: Annotated[
        int | None,
        typer.Option(min=0, max=1, metavar="0|1", help="Whether FILE counts words from 0 or 1."),
    ] = None,
    as_json: Json = False,
    output: Output = None,
    device: Device = None,
) -> None:
    """Print which words of SOURCE and TARGET belong together.

    A line of links for each pair of lines, as in 0-0 1-2: source word - target word, counted from
    0. Words stand between blanks; in Chinese without blanks each character is one.

    Example: regard align -m runs/zh-en in.zh out.en

    Example: regard align -m runs/de-en in.de out.en --gold gold.txt --base 1
    """
    if gold is not None and base is None:
        raise typer.BadParameter(
            t("--gold needs --base 0 or --base 1: does it count from 0 or from 1?")
        )

    from regard.cli.pairs import line_pairs
    from regard.cli.streams import written_to
    from regard.measures import WordPair, to_pharaoh
    from regard.runs.loaded_run import load

    translator = load(model, device=device)
    found: list[Links] = []
    words: list[WordPair] = []
    with written_to(output) as out:
        for sources, targets in line_pairs(source, target):
            links = [_links(one) for one in translator.score(sources, targets, attention=True)]
            if gold is not None:
                found += links
                pairs = zip(sources, targets, strict=True)
                words += [WordPair(_words(left), _words(right)) for left, right in pairs]
                continue
            for one in links:
                out.write(f"{json.dumps(sorted(one)) if as_json else to_pharaoh(one)}\n")
            out.flush()
        if gold is not None and base is not None:
            out.write(f"{_error_rate(found, words, gold, base, as_json)}\n")


def _links(forced: Prediction) -> Links:
    from regard.measures import align

    if forced.attention is None:
        raise typer.BadParameter(t("this model has no attention, so it aligns nothing"))
    return align(
        forced.attention,
        forced.source_tokens.offsets,
        forced.tokens.offsets,
        _spans(forced.source),
        _spans(forced.text),
    )


def _words(text: str) -> list[str]:
    return [text[start:end] for start, end in _spans(text)]


def _spans(text: str) -> list[tuple[int, int]]:
    """Where the words are: between blanks, or every character where nobody writes blanks."""
    from regard.measures import spans
    from regard.scripts import stands_close

    unbroken = len(text.split()) == 1 and any(map(stands_close, text))
    return list(spans(text, "characters" if unbroken else "words"))


def _error_rate(
    links: list[Links], words: list[WordPair], gold: Path, base: int, as_json: bool
) -> str:
    from regard.measures import aer, read_pharaoh, within

    known = within(read_pharaoh(gold, first=0 if base == 0 else 1), words)
    if known.text:
        print(t("warning: {message}", message=known.text), file=sys.stderr)
    score = aer(links, known.alignments)
    if not as_json:
        return score.text
    return json.dumps(
        {
            "aer": score.aer,
            "precision": score.precision,
            "recall": score.recall,
            "sentences": score.sentences,
        }
    )
