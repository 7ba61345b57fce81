"""A run, or what was exported of it, on an engine: it translates as a loaded run does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from regard.export.ctranslate2_translator import CTranslate2Translator
from regard.export.export_folder import Engine, ExportRecord, default_folder, read_record
from regard.export.onnx_translator import load_onnx
from regard.export.run_export import export, known_engine
from regard.export.unsupported import CannotExport
from regard.layers.contracts import Translator
from regard.runs.loaded_run import LoadedRun
from regard.runs.model_file import fingerprint
from regard.runs.run_folder import RunFolder
from regard.runs.run_names import EMBEDDED, run_path
from regard.tasks.translate.text_translator import TextTranslator
from regard.tasks.translate.translate_task import TranslateTask
from regard.words import t


def load_engine(run: Path | str | None, engine: str, *, device: str | None = None) -> LoadedRun:
    """A folder that `export` wrote, or a run: that is exported into itself first, once for each model.

    device: cpu or cuda; a GPU that the engine sees if not given.
    """
    engine = known_engine(engine)
    folder, record = _exported(run_path(run) if run is not None else EMBEDDED, engine)
    task = TranslateTask(RunFolder(folder).read_recipe())
    RunFolder(folder).load_assets(task)
    tokenizers = task.tokenizers
    translator: TextTranslator
    if engine == "ctranslate2":
        translator = CTranslate2Translator(
            folder, tokenizers, record.longest, exact=record.exact, device=device
        )
    else:
        model = cast(Translator, load_onnx(folder, record.longest, device=device))
        translator = TextTranslator(model, *tokenizers)
    return LoadedRun(task, translator.eval(), RunFolder(folder))


def only_one(runs: Sequence[Path | str] | None) -> Path | str | None:
    """The run; an ensemble is no run."""
    if runs is not None and len(runs) > 1:
        raise CannotExport(
            t(
                "an engine runs one model, and {count} were given: an ensemble takes the mean "
                "of its models' probabilities at every step",
                count=len(runs),
            )
        )
    return runs[0] if runs else None


def _exported(path: Path, engine: Engine) -> tuple[Path, ExportRecord]:
    record = read_record(path)
    if record is not None:
        if record.engine != engine:
            raise CannotExport(
                t(
                    "{path} was exported for {engine}, not for {value}",
                    path=path,
                    engine=record.engine,
                    value=engine,
                ),
                t(
                    "--engine {engine}, or regard export --to {value} with the run itself",
                    engine=record.engine,
                    value=engine,
                ),
            )
        return path, record
    folder, run = default_folder(path, engine), RunFolder(path)
    record = read_record(folder)
    if record is None or not run.model.is_file() or record.model != fingerprint(run):
        export(path, engine, folder)
        record = read_record(folder)
    assert record is not None
    return folder, record
