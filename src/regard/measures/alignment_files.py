"""Alignments in files, plain, .gz or .xz, with the sentences they belong to.

    pairs = read_pairs("enfr.src-tgt.gz")                       # source ||| target
    gold = within(read_pharaoh("enfr.gold.gz", first=1), pairs)
    print(gold.text)                                            # links past the end of a sentence
    aer(predicted, gold.alignments)

Whether a file counts words from 0 or from 1 is never guessed: `first` says it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from regard.data.byte_lines import byte_lines
from regard.measures.alignment import Alignment, Link
from regard.words import t

First = Literal[0, 1]
LINK = re.compile(r"(\d+)([-p?])(\d+)")  # 3-4 is sure; 3p4 and 3?4 are possible
SHOWN = 5  # sentences named in a message


class AlignmentError(ValueError):
    """A file of links that cannot be read, or not with these sentences; `status`: it was asked wrongly."""

    status = 2
    hint = "a line for each pair of sentences, as in 0-0 1-2; 3p4 or 3?4 is a possible link"


class WordPair(NamedTuple):
    """The words of a sentence and of its translation."""

    source: list[str]
    target: list[str]


class Outside(NamedTuple):
    """A link to a word that is not there; sentences are counted from 1."""

    sentence: int
    link: Link


@dataclass(frozen=True)
class Inside:
    """Alignments that fit their sentences, and the links that had to be dropped."""

    alignments: list[Alignment]
    outside: list[Outside]
    from_one: bool  # no link has a 0, as if the file counted from 1

    @property
    def text(self) -> str:
        """One line about the dropped links; nothing if there are none."""
        if not self.outside:
            return ""
        sentences = sorted({found.sentence for found in self.outside})
        named = ", ".join(map(str, sentences[:SHOWN])) + (" …" if sentences[SHOWN:] else "")
        links, where = (
            len(self.outside),
            t.plural(len(sentences), "sentence {numbers}", "sentences {numbers}", numbers=named),
        )
        dropped = t.plural(
            links,
            "{n} link points past the end of {where}: dropped",
            "{n} links point past the end of {where}: dropped",
            n=f"{links:,}",
            where=where,
        )
        hint = t("no link has a 0: does the file count from 1?")
        return f"{dropped}; {hint}" if self.from_one else dropped


def from_pharaoh(line: str, *, first: First) -> Alignment:
    """`0-0 1-2 2p1` -> links; p or ? marks a possible one."""
    sure: set[Link] = set()
    possible: set[Link] = set()
    for written in line.split():
        found = LINK.fullmatch(written)
        if not found:
            raise ValueError(
                t(
                    "{written} is not a link; write 3-4, or 3p4 for a possible one",
                    written=repr(written),
                )
            )
        source, mark, target = found.groups()
        link = _counted_from_0(int(source), int(target), first, written)
        (sure if mark == "-" else possible).add(link)
    return Alignment(frozenset(sure), frozenset(possible))


def to_pharaoh(links: AbstractSet[Link] | Alignment, *, first: First = 0) -> str:
    """Links as `0-0 1-2`, in order; those of an alignment that are only possible as `2p1`."""
    sure, possible = (
        (links.sure, links.possible) if isinstance(links, Alignment) else (links, links)
    )
    return " ".join(
        f"{source + first}{'-' if (source, target) in sure else 'p'}{target + first}"
        for source, target in sorted(possible)
    )


def read_pharaoh(path: str | Path, *, first: First) -> list[Alignment]:
    """One line a sentence, `0-0 1-2 2p1`; an empty line is a sentence without links."""
    alignments = []
    for number, line in _lines(path):
        with _placed(path, number):
            alignments.append(from_pharaoh(line, first=first))
    return alignments


def read_numbered(
    path: str | Path, *, first: First, sentences: int | None = None
) -> list[Alignment]:
    """One line a link, `sentence source target [S|P]`, sentences counted from 1 (.wa of WPT 2003).

    sentences: how many there are; None takes the last number, so that trailing sentences without
    links would be missed.
    """
    sure: dict[int, set[Link]] = {}
    possible: dict[int, set[Link]] = {}
    for number, line in _lines(path):
        if not line.strip():
            continue
        with _placed(path, number):
            at, link, is_sure = _numbered_link(line, first)
            if sentences is not None and at > sentences:
                raise ValueError(t("sentence {at} of {sentences}", at=at, sentences=sentences))
            (sure if is_sure else possible).setdefault(at, set()).add(link)
    count = max([*sure, *possible], default=0) if sentences is None else sentences
    return [
        Alignment(frozenset(sure.get(at, ())), frozenset(possible.get(at, ())))
        for at in range(1, count + 1)
    ]


def read_jsonl(path: str | Path) -> tuple[list[WordPair], list[Alignment]]:
    """`{"src_words": […], "tgt_words": […], "alignment": [[0, 0], …]}` a line, counted from 0."""
    pairs, alignments = [], []
    for number, line in _lines(path):
        with _placed(path, number):
            try:
                entry = json.loads(line)
                pairs.append(WordPair(entry["src_words"], entry["tgt_words"]))
                links = frozenset((int(i), int(j)) for i, j in entry["alignment"])
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(
                    t(
                        "not an object with src_words, tgt_words and alignment ({error})",
                        error=error,
                    )
                ) from error
            alignments.append(Alignment(links))
    return pairs, alignments


def read_pairs(path: str | Path, target: str | Path | None = None) -> list[WordPair]:
    """Words between blanks: of `source ||| target` in one file, or of two files line by line."""
    if target is not None:
        sources, targets = ([line.split() for _, line in _lines(p)] for p in (path, target))
        if len(sources) != len(targets):
            raise ValueError(
                t(
                    "{path} has {count} lines but {target} has {targets}: line n of one must "
                    "translate line n of the other",
                    path=path,
                    count=f"{len(sources):,}",
                    target=target,
                    targets=f"{len(targets):,}",
                )
            )
        return [WordPair(s, t) for s, t in zip(sources, targets, strict=True)]
    pairs = []
    for number, line in _lines(path):
        with _placed(path, number):
            halves = line.split("|||")
            if len(halves) != 2:
                raise ValueError(
                    t("expected 'source ||| target', found {line}", line=repr(line[:60]))
                )
            pairs.append(WordPair(halves[0].split(), halves[1].split()))
    return pairs


def within(alignments: Sequence[Alignment], pairs: Sequence[WordPair]) -> Inside:
    """Drop the links that point past the end of their sentence, and tell which they were."""
    if len(alignments) != len(pairs):
        raise AlignmentError(
            t(
                "there are {count} alignments for {pairs} sentence pairs",
                count=f"{len(alignments):,}",
                pairs=f"{len(pairs):,}",
            )
        )
    kept, outside = [], []
    for sentence, (alignment, pair) in enumerate(zip(alignments, pairs, strict=True), start=1):
        wrong = {
            link
            for link in alignment.possible
            if link[0] >= len(pair.source) or link[1] >= len(pair.target)
        }
        outside += [Outside(sentence, link) for link in sorted(wrong)]
        kept.append(Alignment(alignment.sure - wrong, alignment.possible - wrong))
    from_one = not any(0 in link for alignment in alignments for link in alignment.possible)
    return Inside(kept, outside, from_one)


def _numbered_link(line: str, first: First) -> tuple[int, Link, bool]:
    fields = line.split()
    kind = fields[3].upper() if len(fields) > 3 else "S"
    numbers = fields[:3]
    if len(numbers) < 3 or not all(n.isdecimal() for n in numbers) or kind not in ("S", "P"):
        raise ValueError(
            t("expected 'sentence source target S', found {line}", line=repr(line.strip()[:60]))
        )
    at, source, target = map(int, numbers)
    if at < 1:
        raise ValueError(t("sentences are counted from 1, found sentence 0"))
    return at, _counted_from_0(source, target, first, f"{source} {target}"), kind == "S"


def _counted_from_0(source: int, target: int, first: First, written: str) -> Link:
    if min(source, target) < first:
        raise ValueError(
            t(
                "the link {written} has a 0, but words are counted from 1: try first=0",
                written=repr(written),
            )
        )
    return source - first, target - first


@contextmanager
def _placed(path: str | Path, line: int) -> Iterator[None]:
    """Say the file and the line of a mistake."""
    try:
        yield
    except ValueError as error:
        raise AlignmentError(
            t("{path}, line {line}: {error}", path=path, line=line, error=error)
        ) from error


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    if not Path(path).exists():
        raise FileNotFoundError(t("no file {path}", path=path))
    for number, line in enumerate(byte_lines(path), start=1):
        try:
            yield number, (line or b"").decode()
        except UnicodeDecodeError as error:
            raise AlignmentError(
                t(
                    "{path}, line {number}: not UTF-8 ({reason})",
                    path=path,
                    number=number,
                    reason=error.reason,
                )
            ) from error
