"""`regard look` and `regard predict` about the file of a picture."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from PIL import Image as Pillow
from typer.testing import CliRunner

from regard.cli.app import app
from regard.looking.look import look
from regard.runs.loaded_run import load
from regard.tasks.task_module import Unanswerable
from regard.training.run import train

sys.path.insert(0, str(Path(__file__).parent.parent / "tasks" / "see"))

from scribbles import scribbles, see_recipe, write_scribbles

ENDS = ("html", "svg", "png", "gif", "apng", "json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """With runs that glimpse, `ram`, and warp, `stn`, and with a picture, cross.png."""
    made = tmp_path_factory.mktemp("scribbles")
    write_scribbles(made)
    for model in ("ram", "stn"):
        train(see_recipe(made, model), made / model, quiet=True)
    Pillow.fromarray(scribbles(1)[0][0]).save(made / "cross.png")
    Pillow.fromarray(scribbles(1)[0][0]).resize((90, 90)).save(made / "large.png")
    (made / "renamed.png").write_text("this is a text")
    return made


@pytest.fixture(autouse=True)
def _here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(*words: str):
    return CliRunner().invoke(app, list(words))


def test_a_picture_is_predicted(folder):
    result = run("predict", "-m", "ram", "cross.png", "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert (answer["input"], len(answer["places"])) == (
        "cross.png (12x12 grey picture)",
        3,
    )
    assert "is a file" not in result.stderr
    (found,) = load(folder / "ram").predict([str(folder / "cross.png")])
    assert found.answer == answer["answer"]


def test_colours_and_a_bright_ground_are_told_once(folder, tmp_path):
    grey = scribbles(1)[0][0]
    coloured, inverted = tmp_path / "red.png", tmp_path / "inverted.png"
    Pillow.fromarray(grey).convert("RGB").point([*range(256), *[0] * 512]).save(coloured)
    Pillow.fromarray(255 - grey).save(inverted)
    result = run("predict", "-m", "ram", str(coloured), str(inverted))
    assert result.exit_code == 0
    told = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
    assert [line.split(":")[1].split(",")[0] for line in told] == [
        " 1 of 2 pictures have colours",
        " 1 of 2 pictures have a bright ground",
    ]
    seen = look(load(folder / "ram"), str(inverted)).records[0]
    assert any("has a bright ground" in note for note in seen.notes)
    assert "note: " not in run("predict", "-m", "ram", "cross.png").stderr
    for option in ("--png", "--gif", "--html"):
        file = str(tmp_path / f"seen.{option[2:]}")
        drawn = run("look", "-m", "ram", str(inverted), option, file)
        assert "note: the picture has a bright ground" in drawn.stderr, option
        assert drawn.stdout.strip() == file
        assert "note: " not in run("look", "-m", "ram", "cross.png", option, file).stderr


def test_what_is_not_measured_of_pictures_is_told(tmp_path):
    files = ("--png", str(tmp_path / "seen.png"))
    told = run("look", "-m", "ram", "cross.png", "--explain", *files).stderr
    assert "is not measured of pictures" in told
    assert "regard.explanations.picture_saliency" in told
    shown = run("look", "-m", "ram", "cross.png", "--explain", "--terminal").stdout
    assert shown.count("is not measured") == 1


def test_a_picture_is_looked_at_and_saved_in_every_form(folder, tmp_path):
    names = [str(tmp_path / f"seen.{end}") for end in ENDS]
    options = [word for end, name in zip(ENDS, names, strict=True) for word in (f"--{end}", name)]
    result = run("look", "-m", "ram", "cross.png", *options)
    assert result.exit_code == 0, result.output
    assert result.stdout.split() == names
    for name in ("seen.gif", "seen.apng"):
        with Pillow.open(tmp_path / name) as film:
            assert film.n_frames == 3
    (record,) = look(str(tmp_path / "seen.json")).records
    assert (record.title, record.sight.kind) == ("cross.png", "glimpses")
    (again,) = look(load(folder / "ram"), "cross.png").records
    assert again.sight == record.sight
    shown = run("look", str(tmp_path / "seen.json"), "--terminal")
    assert "Glimpse 3 of 3" in shown.stdout


def test_one_of_another_size_is_seen_in_the_size_that_was_learnt():
    result = run("look", "-m", "stn", "large.png", "--terminal")
    assert result.exit_code == 0, result.output
    assert "a picture before and after a warp" in result.stdout
    (record,) = look(load("stn"), Path("large.png")).records
    assert (record.sight.image.width, record.sight.image.height) == (12, 12)


def test_two_pictures_and_two_runs_stand_side_by_side(folder):
    runs = [load(folder / name) for name in ("ram", "stn")]
    view = look(*runs, "cross.png", scribbles(2, seed=3)[0][1])
    kinds = [record.sight.kind for record in view.records]
    assert kinds == ["glimpses", "warp"] * 2
    assert [record.title for record in view.records] == ["cross.png"] * 2 + ["a picture"] * 2
    assert view.to_svg().count("digit") == 0
    assert view.live.pictures == view.live.models
    asked = view.live.look({"text": view.records[0].question["text"], "model": "stn"})
    assert asked.sight.kind == "warp"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("renamed.png", "image: a damaged picture, or what is neither PNG nor JPEG"),
        ("missing.png", "image: it names a missing file"),
    ],
)
@pytest.mark.parametrize("command", ["look", "predict"])
def test_what_is_wrong_is_told_in_a_line(name, said, command):
    options = ["--terminal"] if command == "look" else []
    result = run(command, "-m", "ram", name, *options)
    if command == "predict":  # it is told in its place
        assert result.exit_code == 2
        assert said in result.stderr.splitlines()[0]
        return
    assert isinstance(result.exception, Unanswerable)  # told in one line by whoever called
    assert (result.exception.status, said in str(result.exception)) == (2, True)


@pytest.mark.parametrize(("end", "kind"), [("gif", "a file in GIF"), ("svg", "a file in SVG")])
def test_other_formats_are_named_and_have_no_lines(end, kind, tmp_path):
    file = tmp_path / f"cross.{end}"
    if end == "gif":
        Pillow.fromarray(scribbles(1)[0][0]).save(file)
    else:
        file.write_text("<svg xmlns='http://www.w3.org/2000/svg'></svg>")
    result = run("predict", "-m", "ram", str(file))
    assert kind in result.stderr.splitlines()[0]
    assert "to predict its lines" not in result.stderr


def test_a_missing_file_is_told_before_anything_is_computed():
    result = run("predict", "-m", "ram", "cross.png", "missing.png")
    assert result.exit_code == 2
    assert "argument 2: image: it names a missing file" in result.stderr.splitlines()[0]
    assert len(result.stdout.splitlines()) == 2  # the other one is answered, and each has a line


def test_a_name_must_end_as_what_is_written():
    result = run("look", "-m", "ram", "cross.png", "--gif", "film.png")
    assert result.exit_code == 2
    assert "--gif writes a file that ends in .gif" in " ".join(result.output.split())


def test_the_picture_that_is_looked_at_is_not_written_over(folder):
    before = (folder / "cross.png").read_bytes()
    done = run("look", "-m", "ram", "cross.png", "--png", "./cross.png")
    assert done.exit_code == 2
    assert (folder / "cross.png").read_bytes() == before
