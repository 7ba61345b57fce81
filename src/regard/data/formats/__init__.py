"""The formats of files that a corpus can be in: one file each. A name tells which it is."""

from __future__ import annotations

from pathlib import Path

from regard.data.formats.babi import BabiStories
from regard.data.formats.comma_table import CommaTable
from regard.data.formats.conllu import Treebank
from regard.data.formats.film_file import FilmFile
from regard.data.formats.format import COMPRESSED, Format, Kin, Row, bare_name
from regard.data.formats.history_file import HistoryFile
from regard.data.formats.idx import Idx
from regard.data.formats.jsonl import JsonLines
from regard.data.formats.npy import Npy
from regard.data.formats.scene_file import SceneFile
from regard.data.formats.sheet import Sheet
from regard.data.formats.squad import SquadQuestions
from regard.data.formats.tables import PlainLines, Table
from regard.data.formats.walk_file import WalkFile

__all__ = ["COMPRESSED", "FORMATS", "Format", "Kin", "Row", "bare_name", "format_of", "is_known"]

FORMATS: tuple[Format, ...] = (
    Table(),
    CommaTable(),
    JsonLines(),
    Treebank(),
    BabiStories(),
    SquadQuestions(),
    Npy(),
    Idx(),
    Sheet(),
    SceneFile(),
    WalkFile(),
    FilmFile(),
    HistoryFile(),
)
LINES = PlainLines()  # everything else


def format_of(file: Path | str) -> Format:
    """The format of a file, by its name."""
    name = Path(file).name
    return next((each for each in FORMATS if each.has(name)), LINES)


def is_known(file: Path | str) -> bool:
    """Whether its ending is that of a format."""
    return format_of(file) is not LINES or LINES.has(Path(file).name)
