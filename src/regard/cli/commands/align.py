"""`regard align`: which word translates which, by the attention of a model or by counting."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.cli.options import Device, Json, Output, Run
from regard.cli.pairs import Source, Target
from regard.words import t

if TYPE_CHECKING:
    from regard.aligners import Symmetry
    from regard.measures import Links, WordPair
    from regard.tasks.prediction import Prediction

    LinePairs = tuple[list[str], list[str]]


def align(
    source: Source = None,
    target: Target = None,
    model: Run = None,
    method: Annotated[
        Literal["attention", "ibm1", "ibm2"],
        typer.Option(
            metavar="METHOD",
            show_default=False,
            help="attention: that of RUN, if not given; ibm1, ibm2: counted in these pairs.",
        ),
    ] = "attention",
    symmetrise: Annotated[
        Literal["intersection", "union", "grow-diag-final"] | None,
        typer.Option(
            metavar="HOW",
            help="ibm1, ibm2 from both sides: intersection, union or grow-diag-final of the links.",
        ),
    ] = None,
    learn_from: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="ibm1, ibm2: more 'source TAB target' lines to count, not printed."
        ),
    ] = None,
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

    Example: regard align --method ibm2 --symmetrise grow-diag-final in.de out.en
    """
    if gold is not None and base is None:
        raise typer.BadParameter(
            t("--gold needs --base 0 or --base 1: does it count from 0 or from 1?")
        )
    if method == "attention" and (symmetrise or learn_from):
        raise typer.BadParameter(
            t("--symmetrise and --learn-from are for --method ibm1 and --method ibm2")
        )
    if method != "attention" and model is not None:
        raise typer.BadParameter(t("--method {method} counts, and uses no model", method=method))

    from regard.cli.pairs import line_pairs
    from regard.cli.streams import written_to
    from regard.measures import to_pharaoh

    chunks: Iterable[tuple[list[WordPair], list[Links]]]
    if method == "attention":
        chunks = _attended(line_pairs(source, target), model, device)
    else:
        chunks = _counted(line_pairs(source, target), method, symmetrise, learn_from)
    found: list[Links] = []
    words: list[WordPair] = []
    with written_to(output) as out:
        for pairs, links in chunks:
            if gold is not None:
                found += links
                words += pairs
                continue
            for one in links:
                out.write(f"{json.dumps(sorted(one)) if as_json else to_pharaoh(one)}\n")
            out.flush()
        if gold is not None and base is not None:
            out.write(f"{_error_rate(found, words, gold, base, as_json)}\n")


def _attended(
    chunks: Iterable[LinePairs], model: Path | None, device: str | None
) -> Iterator[tuple[list[WordPair], list[Links]]]:
    """Links by the attention of a model, chunk by chunk."""
    from regard.runs.loaded_run import load

    translator = load(model, device=device)
    for sources, targets in chunks:
        links = [_links(one) for one in translator.score(sources, targets, attention=True)]
        yield _word_pairs(sources, targets), links


def _counted(
    chunks: Iterable[LinePairs],
    method: Literal["ibm1", "ibm2"],
    how: Symmetry | None,
    learn_from: Path | None,
) -> Iterator[tuple[list[WordPair], list[Links]]]:
    """Links by the words that stand together in all pairs, which are therefore read first."""
    from regard.aligners import aligned, symmetrised
    from regard.cli.pairs import tab_pairs
    from regard.measures import WordPair

    pairs = [pair for chunk in chunks for pair in _word_pairs(*chunk)]
    asked = len(pairs)
    if learn_from is not None:
        pairs += [pair for chunk in tab_pairs(learn_from) for pair in _word_pairs(*chunk)]
    links = aligned(pairs, method)[:asked]
    if how is not None:
        turned = aligned([WordPair(pair.target, pair.source) for pair in pairs], method)[:asked]
        back = [frozenset((i, j) for j, i in one) for one in turned]
        links = [symmetrised(one, other, how) for one, other in zip(links, back, strict=True)]
    yield pairs[:asked], links


def _word_pairs(sources: list[str], targets: list[str]) -> list[WordPair]:
    from regard.measures import WordPair

    return [WordPair(_words(a), _words(b)) for a, b in zip(sources, targets, strict=True)]


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
    words = text.split()
    return words if len(words) > 1 else [text[start:end] for start, end in _spans(text)]


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
