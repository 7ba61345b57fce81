"""New pictures as files: a sheet of all, or one file for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from regard.words import t

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST, SHEET = 10_000, 16  # pictures that are drawn: the most, and where nobody says how many


def write_pictures(pictures: NDArray[np.uint8], output: Path | None) -> Iterator[Path]:
    """pictures (count, H, W, C) -> the files that are written: FILE.png, or 0001.png, … in a folder."""
    from regard.records.png_image import encode_png
    from regard.view.picture_sheet import picture_sheet

    if output is None:
        raise typer.BadParameter(t("name where pictures go: -o FILE.png, or -o FOLDER"))
    if output.suffix.lower() == ".png":
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_bytes(encode_png(picture_sheet(pictures)))
        yield output
        return
    if output.suffix:
        raise typer.BadParameter(
            t("pictures are PNG: {path} is neither that nor a folder", path=output)
        )
    output.mkdir(parents=True, exist_ok=True)
    for number, picture in enumerate(pictures, 1):
        path = output / f"{number:0{max(4, len(str(len(pictures))))}}.png"
        path.write_bytes(encode_png(picture))
        yield path
