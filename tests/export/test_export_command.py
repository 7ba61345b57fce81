"""`regard export` and `regard translate --engine`, as they are typed."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import regard
from regard.cli.app import app
from regard.data.checksums import Damaged
from regard.export import unsupported as refusals
from regard.export.export_folder import read_record
from regard.export.run_export import known_engine

pytest.importorskip("ctranslate2")


def typed(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_export_prints_the_folder_and_translate_runs_it(make, texts, tmp_path):
    run = make()
    wanted = [p.text for p in regard.load(run, device="cpu").translate(texts[:3])]
    folder = typed("export", "-m", run, "--to", "ctranslate2", "-o", tmp_path / "fast").strip()
    assert Path(folder) == tmp_path / "fast"
    for model in (folder, run):
        out = typed("translate", "-m", model, "--engine", "ctranslate2", *texts[:3])
        assert out.splitlines() == wanted
    assert (run / "export" / "ctranslate2" / "model.bin").is_file()
    with pytest.raises(refusals.CannotExport, match="exported for ctranslate2, not for onnx"):
        typed("translate", "-m", folder, "--engine", "onnx", *texts[:3])


def test_an_ensemble_is_refused(make, texts):
    run = make()
    with pytest.raises(refusals.CannotExport, match="one model, and 2 were given"):
        typed("translate", "-m", run, "-m", run, "--engine", "ctranslate2", texts[0])


def test_a_name_that_is_misspelt_is_answered_with_the_nearest():
    with pytest.raises(refusals.CannotExport, match="Did you mean 'ctranslate2'"):
        known_engine("ctranslate")


def test_an_engine_that_is_missing_is_named_with_its_extra(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r"regard\[export\]"):
        refusals.need("ctranslate2")


def test_a_damaged_record_of_an_export_is_told(tmp_path):
    for content in ("", "[]", '{"format": 1}', '{"format": 1, "longest": 3}'):
        (tmp_path / "export.json").write_text(content)
        with pytest.raises(Damaged, match=r"export\.json is damaged") as told:
            read_record(tmp_path)
        assert "regard export" in told.value.hint
