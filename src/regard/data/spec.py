"""How a corpus is named, and where its files are.

    a.zh,a.en                        two files, line i of one translates line i of the other
    pairs.tsv                        one file, source TAB target (any name that tells no other format)
    pairs.tsv#2,1                    columns 2 and 1 of it, counted from 0
    pairs.txt#question,answer        columns with these names in its first line
    pairs.csv#question,answer        the same of a CSV (source and target unless told); #0,1 without a header
    pairs.jsonl#question,answer      values of a JSON object on each line (source and target unless told)
    labelled.txt#rest,first          what stands behind the first word of a line, and that word: a label
    qa1_facts_train.txt              stories of bAbI, as published, or NAME.babi: story, question, candidates
    xquad.en.json                    the layout of SQuAD: story, question, answer
    bank.conllu#form,upos            columns of a treebank: a row is a sentence, a cell the list of its words
    tatoeba-zh-en:train              a corpus that comes with the package, here its training part
    tatoeba-zh-en:train#1,0          the same from English to Chinese
    a.zh,a.en@train                  of any of these what is not held out: @dev and @test are one example in
                                     fifty each, up to 1,000, told by the first field, whatever their order;
                                     of fewer than 1,000 one in ten
    -                                standard input, source TAB target
    a.zh,a.en+pairs.tsv              several, one after the other

Files that hold one field, for themselves or side by side with others:

    book.txt                         every line of it
    pairs.tsv#2                      a column of it
    texts.jsonl#body                 a value of each line; side by side with others, texts.jsonl is all of it
    digits.npy                       what stands at each place of the first axis: pictures, vectors, texts
    visits.npy#1                     a column of a table of numbers; of several fields, visits.npy#0,1,2
    train-images-idx3-ubyte          the same in the format of MNIST, or digits.idx
    sheet.png#28x32                  a picture cut into tiles, here 28 wide and 32 high, row by row; or
                                     sheet.png, if sheet.json beside it says {"tile": [28, 32], "count": 900}
    digit-scenes:train#image,short   a scene file, NAME.scenes: pictures composed of digits, with captions
    city-walks:all@train             a walk file, NAME.walks: made-up check-ins; `all` of them, split by time

    images.idx.gz,labels.txt         so a field may be in any format,
    sheet.png#28x28,captions.tsv#4   and each file have a column of its own, but for the first: what stands
                                     after its # are columns of that file, unless it is a sheet

That is so for any number of fields: three files, `#0,2,1`, `#document,question,answer`. Columns of JSON have
the names of the fields unless told.

A list is the same without the signs `,` and `+`, for names that contain them: a list of as many plain file
names (not .tsv, .csv or .jsonl, not embedded) as there are fields is one corpus, any other list is several,
each of them a string or such a list: [[a.zh, a.en], pairs.tsv].

Files may be compressed (.gz, .xz), and the suffix may be left out. A path is looked for in the
current folder, then in the folder that the environment variable REGARD_DATA names.
"""

from __future__ import annotations

import filecmp
import os
import re
import secrets
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from regard.data.atomic_files import sync
from regard.data.byte_lines import STANDARD_INPUT
from regard.data.formats import COMPRESSED, bare_name, format_of, is_known
from regard.data.formats.comma_table import CommaTable
from regard.data.formats.jsonl import JsonLines
from regard.data.formats.scene_file import SceneFile
from regard.data.formats.sheet import TILE, Sheet
from regard.data.formats.tables import Table
from regard.data.parts import PARTS
from regard.data.problems import CorpusError
from regard.data.public_sets import origin
from regard.suggestions import meant
from regard.words import t

Spec: TypeAlias = "str | Path | Sequence[Spec]"

PAIR = ("source", "target")
EMBEDDED_FOLDER = Path(__file__).parent / "corpora"
EMBEDDED_PARTS = (*PARTS, "all")  # all: its parts are told by a @
_EMBEDDED = re.compile(r"([a-z0-9-]+):([a-z0-9]+)")


@dataclass(frozen=True)
class Corpus:
    """One corpus of a spec, its files found."""

    name: str  # as it was written
    files: tuple[Path, ...]  # one for each field, or one file with all of them
    columns: tuple[
        str, ...
    ]  # of one file all, of several the one of each: numbers (TSV), names (JSONL),
    # the size of tiles, or "", a whole row; (): whole lines that follow from each other
    part: str | None = None  # train, dev or test, of a corpus that is split; None: all of it

    @property
    def running(self) -> bool:
        """Whether it is a text whose lines follow from each other."""
        return not self.columns


def parse(spec: Spec, fields: Sequence[str] = PAIR) -> list[Corpus]:
    """The corpora that a spec names, for these fields. A missing file is a FileNotFoundError that says
    what is near.
    """
    if isinstance(spec, str | Path):
        return [_part(text, fields) for text in _split(str(spec), "+")]
    parts = list(spec)
    if len(parts) == len(fields) > 1 and all(_is_plain(part) for part in parts):
        return [_aligned([str(part) for part in parts], fields)]
    return [corpus for part in parts for corpus in _listed(part, fields)]


def named_columns(spec: Spec, fields: Sequence[str]) -> dict[str, str]:
    """What the fields are called in the first corpus of a spec, where columns are named after its #.

    No file is looked for: the corpus of a run may be gone.
    """
    while not isinstance(spec, str | Path):
        if not spec:
            return {}
        spec = spec[0]
    first, _, part = str(spec).split("+")[0].rpartition("@")
    text = first if part in PARTS else str(spec).split("+")[0]
    columns = text.partition("#")[2].split(",")
    if len(columns) != len(fields):
        return {}
    pairs = zip(fields, columns, strict=True)
    return {field: column for field, column in pairs if column and not column.isdecimal()}


def locate(path: str | Path) -> Path:
    """Where a file is: in the current folder or under REGARD_DATA, compressed or not."""
    path = _expanded(path)
    for folder in _roots(path):
        for suffix in ("", *COMPRESSED):
            found = folder / f"{path}{suffix}"
            if found.is_file() or str(found) == os.devnull:
                return found
    if any((folder / path).is_dir() for folder in _roots(path)):
        raise IsADirectoryError(t("'{path}' is a folder: name files, as in a.zh,a.en", path=path))
    if path.exists():
        raise CorpusError(
            t("'{path}' is no file that can be read twice: use - for standard input", path=path)
        )
    raise FileNotFoundError(_missing(path))


def stamp_of(file: Path) -> tuple[str, int, int] | str:
    """Another one when the file has changed."""
    if str(file) == STANDARD_INPUT:
        return secrets.token_hex()  # what it will hold is not known: never the same
    status = file.stat()
    return str(file.resolve()), status.st_size, status.st_mtime_ns


def digits_of(spec: str) -> str:
    """The corpus that an embedded one of scenes is composed of, which may be of a public set; of any other,
    the spec as it is.
    """
    name = spec.partition("#")[0]
    found = _embedded(name) if _EMBEDDED.fullmatch(name) else {}
    scenes = [path for path in found.values() if isinstance(format_of(path), SceneFile)]
    return str(SceneFile.said(scenes[0])["digits"]) if scenes else spec


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


def _listed(part: Spec, fields: Sequence[str]) -> list[Corpus]:
    one = isinstance(part, str | Path) and len(fields) > 1
    return [_part(str(part), fields)] if one else parse(part, fields)


def _part(text: str, fields: Sequence[str]) -> Corpus:
    """The corpus, or the part of it that stands after @."""
    whole, at, part = text.rpartition("@")
    if not at or part not in PARTS or _exists(text):
        return _whole(text, fields)
    return replace(_whole(whole, fields), name=text, part=part)


def _whole(text: str, fields: Sequence[str]) -> Corpus:
    files = [text] if _exists(text) else _files(text)
    if len(files) > 1:
        return _aligned(files, fields)
    name, wanted = _cut(text)
    found = _embedded(name)
    if found and "" not in found:
        return _of_columns(text, found, wanted, fields)
    path = found[""] if found else Path(name) if name == STANDARD_INPUT else locate(name)
    return Corpus(text, (path,), _columns(path, text, wanted, fields))


def _files(text: str) -> list[str]:
    """The files that stand side by side. Commas after the # of the first are between its columns, unless
    it is a sheet, which has none.
    """
    first, *others = text.split(",")
    whole = text.partition("#")[0]
    has_columns = "#" in first and not _is_sheet(first)
    return [text] if has_columns or ("," in whole and _exists(whole)) else [first, *others]


def _is_sheet(text: str) -> bool:
    name, _, size = text.partition("#")
    return isinstance(format_of(name), Sheet) and TILE.fullmatch(size) is not None


def _cut(text: str) -> tuple[str, tuple[str, ...]]:
    """The name of a file, and the columns that stand after #."""
    name, _, wanted = (text, "", "") if _exists(text) else text.partition("#")
    return name, tuple(wanted.split(",")) if wanted else ()


def _aligned(files: Sequence[str], fields: Sequence[str]) -> Corpus:
    """A file for each field."""
    name, wanted = ",".join(files), ",".join(fields)
    if len(fields) == 1:
        raise CorpusError(
            t(
                "'{name}' names {number} files: a {fields} is one file, and + adds another",
                name=name,
                number=_number(len(files)),
                fields=fields[0],
            )
        )
    what = t("a pair is") if len(fields) == 2 else t("{count} files are", count=len(fields))
    if len(files) != len(fields):
        raise CorpusError(
            t(
                "'{name}' names {count} files: {what} '{wanted}'",
                name=name,
                count=len(files),
                what=what,
                wanted=wanted,
            )
        )
    if not all(files):
        raise CorpusError(
            t(
                "'{name}': {what} '{wanted}', {number} files",
                name=name,
                what=what,
                wanted=wanted,
                number=_number(len(fields)),
            )
        )
    paths, columns = zip(*map(_one_column, files, fields), strict=True)
    return Corpus(name, paths, columns)


def _one_column(text: str, field: str) -> tuple[Path, str]:
    """One of several files: its path, and the column of it; without a column, "", whole rows."""
    name, wanted = _cut(text)
    path = locate(name)
    return path, "".join(_columns(path, text, wanted, [field])) if wanted else ""


def _columns(
    path: Path, text: str, wanted: Sequence[str], fields: Sequence[str]
) -> tuple[str, ...]:
    found = format_of(path).columns(text, wanted, fields)
    format_of(path).check(path, found)
    return found


def _of_columns(
    text: str, files: Mapping[str, Path], wanted: Sequence[str], fields: Sequence[str]
) -> Corpus:
    """An embedded corpus that has a file for each of its columns."""
    names = tuple(wanted or fields)
    if len(names) != len(fields) or not set(names) <= set(files):
        raise CorpusError(
            t(
                "'{text}': the columns for {fields} are {count} of {files}, after #",
                text=text,
                fields=", ".join(fields),
                count=len(fields),
                files=", ".join(sorted(files)),
            )
        )
    return Corpus(text, tuple(files[name] for name in names), ("",) * len(names))


def _number(count: int) -> str:
    return {2: "two", 3: "three"}.get(count, str(count))


def _split(text: str, sign: str) -> list[str]:
    """Cut at the sign, unless the whole names a file."""
    return [text] if _exists(text) else text.split(sign)


def _exists(text: str) -> bool:
    try:
        return any((folder / text).is_file() for folder in _roots(Path(text)))
    except (OSError, ValueError):  # longer than a name can be, or with a zero in it
        return False


def _is_plain(part: Spec) -> bool:
    """Whether it names a file that has one field, and nothing else."""
    if not isinstance(part, str | Path):
        return False
    text = str(part)
    if _exists(text):
        return not isinstance(format_of(text), Table | CommaTable | JsonLines)
    name, sign, _ = text.partition("#")
    if sign:
        return _is_sheet(text)
    special = name == STANDARD_INPUT or _EMBEDDED.fullmatch(name) or set(name) & set("+,")
    return not special and not isinstance(format_of(name), Table | CommaTable | JsonLines)


def _embedded(name: str) -> dict[str, Path]:
    """The file of an embedded corpus, under "", or one for each of its columns; none: it is not named so.

    `name:part` is name.part.tsv.xz, or another format, or name.part.COLUMN.tsv.xz, in the folder of the
    embedded corpora or in one of its own there.
    """
    match = _EMBEDDED.fullmatch(name)
    if match is None or _exists(name):
        return {}
    corpus, part = match.groups()
    found: dict[str, Path] = {}
    known: list[str] = []
    for path in sorted((*EMBEDDED_FOLDER.glob("*.*"), *EMBEDDED_FOLDER.glob("*/*.*"))):
        stem, *rest = bare_name(path.name).split(".")
        if not is_known(path) or not 2 <= len(rest) <= 3 or rest[0] not in EMBEDDED_PARTS:
            continue
        if path.parent not in (EMBEDDED_FOLDER, EMBEDDED_FOLDER / stem):
            continue
        known.append(f"{stem}:{rest[0]}")
        if (stem, rest[0]) == (corpus, part):
            found["" if len(rest) == 2 else rest[1]] = path
    if not found:
        raise FileNotFoundError(
            t(
                "no embedded corpus '{name}'{nearest}",
                name=name,
                nearest=_nearest(name, sorted(set(known))),
            )
        )
    return found


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
    return t("no file '{path}'{looked}{nearest}", path=path, looked=looked, nearest=nearest) + (
        f". {hint}" if hint else ""
    )


def _nearest(name: str, names: Sequence[str]) -> str:
    return (hint := meant(name, names, most=3)) and f".{hint}"
