"""From a run to a folder that an engine runs."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from torch import nn

from regard.export import ctranslate2, onnx
from regard.export.export_folder import (
    Engine,
    ExportRecord,
    copy_run_files,
    default_folder,
    whole_folder,
)
from regard.export.unsupported import CannotExport, check_for_ctranslate2, check_for_onnx, need
from regard.runs.loaded_run import LoadedRun, load
from regard.runs.model_file import fingerprint
from regard.suggestions import meant
from regard.words import t

ENGINES: tuple[Engine, ...] = get_args(Engine)
MODULES = {"ctranslate2": ("ctranslate2",), "onnx": ("onnx", "onnxscript", "onnxruntime")}


def export(
    run: Path | str | None,
    engine: str,
    output: Path | str | None = None,
    *,
    quantization: str | None = None,
) -> Path:
    """Write the run for an engine, whole or not at all; the folder, RUN/export/ENGINE if not given.

    quantization: how CTranslate2 keeps the weights, float32 if not given.
    """
    engine = known_engine(engine)
    quantized = _known_quantization(engine, quantization)
    loaded = load(run, device="cpu")
    if not hasattr(loaded.module, "score"):
        kind, path = loaded.recipe.task.kind, loaded.folder.path
        raise CannotExport(
            t(
                "{path} was trained for task.kind={kind}: only translators can be exported",
                path=path,
                kind=kind,
            ),
            t(
                "regard {command} -m {path} uses it as it is",
                command=loaded.task.command,
                path=path,
            ),
        )
    model = loaded.translator.model
    assert isinstance(model, nn.Module)
    check_for_ctranslate2(model) if engine == "ctranslate2" else check_for_onnx(model)
    for module in MODULES[engine]:
        need(module)
    path = loaded.folder.path
    output = default_folder(path, engine) if output is None else Path(output)
    with whole_folder(output) as folder:
        _write(loaded, model, engine, quantized, folder)
    return output


def known_engine(name: str) -> Engine:
    """The engine of this name, or the nearest that there is."""
    for engine in ENGINES:
        if engine == name:
            return engine
    raise CannotExport(
        t(
            "no engine {name}.{meant} There are {engines}",
            name=repr(name),
            meant=meant(name, ENGINES),
            engines=" and ".join(ENGINES),
        )
    )


def _known_quantization(engine: Engine, name: str | None) -> ctranslate2.Quantization:
    if name is not None and engine != "ctranslate2":
        raise CannotExport(
            t("{engine} is written in float32", engine=engine), t("leave --quantization out")
        )
    known: tuple[ctranslate2.Quantization, ...] = get_args(ctranslate2.Quantization)
    for quantization in known:
        if quantization == (name or "float32"):
            return quantization
    raise CannotExport(
        t("no quantization {name}.{meant}", name=repr(name), meant=meant(str(name), known)),
        t("there are {known}", known=", ".join(known)),
    )


def _write(
    loaded: LoadedRun,
    model: nn.Module,
    engine: Engine,
    quantization: ctranslate2.Quantization,
    folder: Path,
) -> None:
    if engine == "ctranslate2":
        longest, exact = ctranslate2.longest(model), ctranslate2.is_exact(model)
        ctranslate2.write_ctranslate2(model, loaded.tokenizers, folder, quantization)
    else:
        longest, exact = onnx.longest(model), True
        onnx.write_onnx(model, folder)
    copy_run_files(loaded.folder, loaded.task, folder)
    ExportRecord(engine, fingerprint(loaded.folder), quantization, longest, exact).write(folder)
