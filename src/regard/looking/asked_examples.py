"""What a run is asked about, in one line of text: as a record, an address and a client have it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from regard.data.fields import Image
from regard.data.picture_files import URI
from regard.records.png_image import PngImage
from regard.records.question import LONGEST_NAME
from regard.records.side import NotARecord
from regard.runs.loaded_run import LoadedRun
from regard.tasks.answer import plain_value
from regard.tasks.task_module import accepted
from regard.words import t


def asked_text(run: LoadedRun, example: Any) -> tuple[str, str]:
    """An example in one line, and what its picture is called: pictures are in it, as the run sees them."""
    pictured = [n for n in run.task.inputs if isinstance(run.task.fields[n], Image)]
    if not pictured:
        return example if isinstance(example, str) else example_text(run, example), ""
    given = run.task.of_line(example) if isinstance(example, str) else example
    values = run.task.named(given)
    names = [Path(v).name for n in pictured if isinstance(v := values[n], str | Path)]
    name = ", ".join(each for each in names if not each.startswith(URI))[:LONGEST_NAME]
    for field in pictured:
        seen = accepted(run.task.fields[field], values[field], t("the picture"), files=True)
        values[field] = PngImage.of(seen).source
    if len(values) == 1:
        return str(values[pictured[0]]), name
    return json.dumps(plain_value(values), ensure_ascii=False), name


def example_text(run: LoadedRun, example: Any) -> str:
    """An example, as `predict` takes it, in one line of JSON."""
    try:
        return json.dumps(plain_value(run.task.named(example)), ensure_ascii=False)
    except TypeError:
        raise NotARecord(
            t("a run is asked about a text, not about {type}", type=type(example).__name__)
        ) from None
