"""How a corpus is named, and where its files are.

    a.zh,a.en                        two files, line i of one translates line i of the other
    pairs.tsv                        one file, source TAB target (any name but .jsonl)
    pairs.tsv#2,1                    columns 2 and 1 of it, counted from 0
    pairs.jsonl#question,answer      fields of a JSON object on each line (source and target unless told)
    tatoeba-zh-en:train              a corpus that comes with the package, here its training part
    tatoeba-zh-en:train#1,0          the same from English to Chinese
    a.zh,a.en@train                  of any of these what is not held out: @dev and @test are one pair in
                                     fifty each, up to 1,000, told by their sources, whatever their order
    -                                standard input, source TAB target
    a.zh,a.en+pairs.tsv              several, one after the other

A list is the same without the signs `,` and `+`, for names that contain them: a list of two plain file
names (not .tsv, not .jsonl, not embedded) is a pair, any other list is several corpora, each of
them a string or a pair: [[a.zh, a.en], pairs.tsv].

Texts for a language model have one side (`parse_texts`): `book.txt` is every line of it, `pairs.tsv#2` a
column, `texts.jsonl#body` a field (text unless told); `+` and `@` as above.

Files may be compressed (.gz, .xz), and the suffix may be left out. A path is looked for in the
current folder, then in the folder that the environment variable REGARD_DATA names.
"""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from regard.data.lines import STANDARD_INPUT
from regard.data.problems import CorpusError
from regard.data.public_sets import origin
from regard.data.syncing import sync
from regard.suggestions import meant

Spec: TypeAlias = "str | Path | Sequence[Spec]"

COMPRESSED = (".gz", ".xz")
PARTS = ("train", "dev", "test")
EMBEDDED_FOLDER = Path(__file__).parent / "corpora"
_EMBEDDED = re.compile(r"([a-z0-9-]+):([a-z0-9]+)")


@dataclass(frozen=True)
class Corpus:
    """One corpus of a spec, its files found."""

    name: str  # as it was written
    files: tuple[Path, ...]  # source and target, or one file with both
    columns: tuple[
        str, ...
    ]  # of one file: numbers (TSV) or names of fields (JSONL); (): whole lines
    part: str | None = None  # train, dev or test, of a corpus that is split; None: all of it

    @property
    def jsonl(self) -> bool:
        return len(self.files) == 1 and _ending(self.files[0].name) == ".jsonl"


def parse(spec: Spec) -> list[Corpus]:
    """The corpora that a spec names. A missing file is a FileNotFoundError that says what is near."""
    if isinstance(spec, str | Path):
        return [_corpus(part) for part in _split(str(spec), "+")]
    parts = list(spec)
    if len(parts) == 2 and all(_is_plain(part) for part in parts):
        return [_pair(str(parts[0]), str(parts[1]))]
    return [corpus for part in parts for corpus in _listed(part)]


def parse_texts(spec: Spec) -> list[Corpus]:
    """The corpora of texts, not pairs, that a spec names."""
    if isinstance(spec, str | Path):
        return [_part(text, _texts) for text in _split(str(spec), "+")]
    return [corpus for part in spec for corpus in parse_texts(part)]


def locate(path: str | Path) -> Path:
    """Where a file is: in the current folder or under REGARD_DATA, compressed or not."""
    path = _expanded(path)
    for folder in _roots(path):
        for suffix in ("", *COMPRESSED):
            found = folder / f"{path}{suffix}"
            if found.is_file() or str(found) == os.devnull:
                return found
    if any((folder / path).is_dir() for folder in _roots(path)):
        raise IsADirectoryError(f"'{path}' is a folder: name files, as in a.zh,a.en")
    if path.exists():
        raise CorpusError(f"'{path}' is no file that can be read twice: use - for standard input")
    raise FileNotFoundError(_missing(path))


def keep_standard_input(spec: Spec, folder: Path, name: str = "standard-input.tsv") -> Spec:
    """The spec with `-` replaced by a file in `folder` that holds what standard input had.

    Training reads its text more than once. A second call with the same text, or with none, leaves
    the file as it is.
    """
    if not isinstance(spec, str | Path):
        return [keep_standard_input(part, folder, name) for part in spec]
    parts = _split(str(spec), "+")
    if not any(part.partition("#")[0] == STANDARD_INPUT for part in parts):
        return spec
    kept, new = folder / name, folder / f"{name}.new"
    folder.mkdir(parents=True, exist_ok=True)
    with open(new, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    if kept.exists() and (new.stat().st_size == 0 or filecmp.cmp(new, kept, shallow=False)):
        new.unlink()
    else:
        sync(new)
        os.replace(new, kept)
        sync(folder)
    return [
        re.sub(rf"^{STANDARD_INPUT}(?=#|$)", lambda _: str(kept.absolute()), part) for part in parts
    ]


def _listed(part: Spec) -> list[Corpus]:
    return [_corpus(str(part))] if isinstance(part, str | Path) else parse(part)


def _corpus(text: str) -> Corpus:
    return _part(text, _whole)


def _part(text: str, read: Callable[[str], Corpus]) -> Corpus:
    """The corpus, or the part of it that stands after @."""
    whole, at, part = text.rpartition("@")
    if not at or part not in PARTS or _exists(text):
        return read(text)
    return replace(read(whole), name=text, part=part)


def _texts(text: str) -> Corpus:
    name, _, wanted = (text, "", "") if _exists(text) else text.partition("#")
    if "," in name and not _exists(name):
        raise CorpusError(f"'{text}' names two files: a text is one file, and + adds another")
    path = _embedded(name) or (Path(name) if name == STANDARD_INPUT else locate(name))
    ending = _ending(path.name)
    if not wanted and ending == ".jsonl":
        wanted = "text"
    if not wanted and ending == ".tsv":
        raise CorpusError(f"'{text}' has columns: name the one with the text, as {name}#0")
    if wanted and ending != ".jsonl" and not wanted.isdecimal():
        raise CorpusError(f"'{text}': after # comes one column from 0, as #0")
    return Corpus(text, (path,), (wanted,) if wanted else ())


def _whole(text: str) -> Corpus:
    name, _, wanted = (text, "", "") if _exists(text) else text.partition("#")
    if not wanted and len(files := _split(name, ",")) == 2:
        return _pair(*files)
    if not wanted and len(files) > 2:
        raise CorpusError(f"'{text}' names {len(files)} files: a pair is 'source,target'")
    path = _embedded(name) or (Path(name) if name == STANDARD_INPUT else locate(name))
    jsonl = _ending(path.name) == ".jsonl"
    columns = tuple(wanted.split(",")) if wanted else ("source", "target") if jsonl else ("0", "1")
    if len(columns) != 2 or not all(columns) or not (jsonl or all(c.isdecimal() for c in columns)):
        meant = "two fields, as #source,target" if jsonl else "two columns from 0, as #0,1"
        raise CorpusError(f"'{text}': after # come {meant}")
    return Corpus(text, (path,), (columns[0], columns[1]))


def _pair(source: str, target: str) -> Corpus:
    if not source or not target:
        raise CorpusError(f"'{source},{target}': a pair is 'source,target', two files")
    return Corpus(f"{source},{target}", (locate(source), locate(target)), ("0", "0"))


def _split(text: str, sign: str) -> list[str]:
    """Cut at the sign, unless the whole names a file."""
    return [text] if _exists(text) else text.split(sign)


def _exists(text: str) -> bool:
    return any((folder / text).is_file() for folder in _roots(Path(text)))


def _is_plain(part: Spec) -> bool:
    if not isinstance(part, str | Path):
        return False
    text = str(part)
    special = text == STANDARD_INPUT or "#" in text or _EMBEDDED.fullmatch(text)
    whole = _exists(text) or not set(text) & set("+,")
    return whole and not special and _ending(text) not in (".tsv", ".jsonl")


def _ending(name: str) -> str:
    """The suffix that tells the format: that before .gz or .xz."""
    path = Path(name)
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


def _embedded(name: str) -> Path | None:
    match = _EMBEDDED.fullmatch(name)
    if match is None or _exists(name):
        return None
    path = EMBEDDED_FOLDER / f"{match[1]}.{match[2]}.tsv.xz"
    if not path.is_file():
        known = sorted(p.name.removesuffix(".tsv.xz") for p in EMBEDDED_FOLDER.glob("*.tsv.xz"))
        names = [":".join(k.rsplit(".", 1)) for k in known]
        raise FileNotFoundError(f"no embedded corpus '{name}'{_nearest(name, names)}")
    return path


def _roots(path: Path) -> list[Path]:
    data = os.environ.get("REGARD_DATA")
    return [Path(), _expanded(data)] if data and not path.is_absolute() else [Path()]


def _expanded(path: str | Path) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # ~somebody who is not known here
        return Path(path)


def _missing(path: Path) -> str:
    roots = _roots(path)
    looked = "" if len(roots) == 1 else f", nor in REGARD_DATA ({roots[1]})"
    nearest = ""
    for folder in (root / path.parent for root in roots):
        if folder.is_dir() and not nearest:
            nearest = _nearest(path.name, [p.name for p in folder.iterdir()])
    hint = "" if nearest else origin(path)
    return f"no file '{path}'{looked}{nearest}" + (f". {hint}" if hint else "")


def _nearest(name: str, names: Sequence[str]) -> str:
    return (hint := meant(name, names, most=3)) and f".{hint}"
