"""Word vectors of a run in word2vec's text format: `count size`, then lines of a word and its numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import cast

from regard.data.word_vectors import write_vectors
from regard.export.unsupported import CannotExport
from regard.runs.loaded_run import load
from regard.tasks.embed.embed_module import Embed
from regard.tasks.embed.embed_task import EmbedTask
from regard.words import t

FILE = "vectors.txt"


def export_vectors(
    run: Path | str | None,
    output: Path | str | None = None,
    *,
    report: Callable[[str], None] = warnings.warn,
) -> Path:
    """Write the file, RUN/vectors.txt if not given, whole or not at all; a row for each word."""
    loaded = load(run, device="cpu")
    if not isinstance(loaded.task, EmbedTask):
        kind, path = loaded.recipe.task.kind, loaded.folder.path
        raise CannotExport(
            t(
                "{path} was trained for task.kind={kind}: only task.kind=embed has vectors to "
                "write",
                path=path,
                kind=kind,
            ),
            t("regard train embed makes some"),
        )
    file = Path(output) if output is not None else Path(loaded.folder.path) / FILE
    write_vectors(file, *loaded.task.word_vectors(cast(Embed, loaded.module)))
    if merged := loaded.task.merged:
        report(
            t.plural(
                merged,
                "one token more stands for a word that another stands for, as in runs of before and of "
                "pieces: of the two the one met more often is written",
                "{n} tokens more stand for words that others stand for, as in runs of before and of "
                "pieces: of each word the one met most often is written",
            )
        )
    return file
