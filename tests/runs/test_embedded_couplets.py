"""The embedded model that answers lines: found by its name, small, and what it writes are lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from regard.cli.app import app
from regard.looking.look import look
from regard.runs.failures import NotARun
from regard.runs.loaded_run import load
from regard.runs.run_names import EMBEDDED, ZOO, embedded_names, run_path, shown_name
from regard.view.picked_matrix import Pick, picked

LINES = ["白日依山尽", "朝辞白帝彩云间", "春眠不觉晓", "国破山河在", "无边落木萧萧下"]


@pytest.fixture(scope="module")
def couplets():
    return load("embedded:couplets", device="cpu")


def test_embedded_models_have_names():
    assert run_path("embedded:couplets") == ZOO / "couplets"
    assert run_path(Path("embedded:couplets")) == Path("embedded:couplets")
    assert embedded_names() == ["embedded:couplets", "embedded:zh-en"]
    assert run_path("embedded:zh-en") == EMBEDDED
    assert shown_name(ZOO / "couplets") == "couplets (embedded)"
    with pytest.raises(NotARun, match=r"There is embedded:couplets, embedded:zh-en"):
        load("embedded:couplet")


def test_it_fits_four_megabytes_and_names_its_origin():
    folder = ZOO / "couplets"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 4_000_000
    assert "chinese-poetry" in (folder / "README.md").read_text("utf-8")


def test_answers_are_as_long_as_their_lines(couplets):
    found = [one.answer for one in couplets.predict(LINES)]
    assert sum(len(answer) == len(line) for answer, line in zip(found, LINES, strict=True)) >= 4
    assert len(set(found)) >= 4
    assert [one.answer for one in couplets.predict(LINES[2:3])] == found[2:3]


def test_other_answers_are_drawn(couplets):
    drawn = {
        couplets.generate(LINES[:1], method="sample", temperature=1.0, seed=seed)[0].text
        for seed in range(4)
    }
    assert len(drawn) == 4
    done = CliRunner().invoke(app, ["generate", "-m", "embedded:couplets", LINES[0]])
    assert (done.exit_code, done.stdout.strip()) == (0, couplets.predict(LINES[:1])[0].answer)


def test_each_character_can_be_looked_at(couplets):
    (record,) = look(couplets, LINES[0]).records
    assert {one.name for one in record.maps} >= {"cross", "encoder", "decoder"}
    assert record.model == "couplets (embedded)"


def test_a_look_begins_with_the_layer_where_each_character_looks_at_its_place(couplets):
    record = look(couplets, "白日依山尽").records[0]
    shown = picked(record, Pick())
    assert "layer 2" in shown.aggregation
    assert shown.map.name == "cross"
    assert shown.weights[:5].argmax(-1).tolist()[:4] == [0, 1, 2, 3]
