"""`regard compare` as a person starts it: trained in processes, killed, resumed, the runs reused."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_tasks import task_recipe, write_labelled

from regard.cli import main
from regard.compare.trainings import trained_before
from regard.compare.variants import replaced
from regard.recipe.recipe_files import dump_recipe
from regard.runs.failures import FolderInUse
from regard.runs.loaded_run import load
from regard.runs.run_folder import held_folder

OUT = Path("runs/compare-classify")
COMPARED = [
    *(sys.executable, "-m", "regard", "compare", "recipe.yaml", "training.epochs=2"),
    *("--vary", "model.dropout=0.0,0.5", "--seeds", "2", "--jobs", "2"),
]
RUNS = [f"dropout={value}/seed-{seed}" for value in ("0.0", "0.5") for seed in (1, 2)]
WITHIN = 300.0  # seconds, on a busy machine


def write_recipe(folder: Path, data: Path) -> Path:
    folder.mkdir()
    recipe = task_recipe(data, "classify", training={"checkpoint_every": 2})
    (folder / "recipe.yaml").write_text(dump_recipe(recipe), "utf-8")
    return folder


def regard(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*COMPARED, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=WITHIN)


def started(folder: Path, said: Path) -> subprocess.Popen[bytes]:
    """The command at work: it has written one more checkpoint than there were."""
    before = set(checkpoints(folder))
    with said.open("wb") as stderr:
        process = subprocess.Popen(
            COMPARED, cwd=folder, stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True
        )
    end = time.monotonic() + WITHIN
    while not set(checkpoints(folder)) - before:
        assert process.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < end
        time.sleep(0.01)
    return process


def checkpoints(folder: Path) -> Iterator[Path]:
    return (folder / OUT).glob("*/*/checkpoints/step-*")


def regard_when_free(folder: Path) -> subprocess.CompletedProcess[str]:
    """Again, as soon as no training of before is still saving."""
    end = time.monotonic() + WITHIN
    again = regard(folder)
    while "another process is training" in again.stderr and time.monotonic() < end:
        time.sleep(1.0)
        again = regard(folder)
    return again


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """whole: compared without a break; stopped: by Ctrl-C, then killed with all its trainings, each time
    in the middle of them, and then finished. stderr: what it said of Ctrl-C.
    """
    folder = tmp_path_factory.mktemp("command")
    write_labelled(folder)
    whole, stopped = (write_recipe(folder / name, folder) for name in ("whole", "stopped"))
    done = regard(whole)
    assert done.returncode == 0, done.stderr
    (folder / "said").write_text(done.stdout)

    first = started(stopped, folder / "stderr")
    os.killpg(first.pid, signal.SIGINT)  # as a terminal sends it, to all of them
    assert first.wait(WITHIN) == 130
    second = started(stopped, folder / "stderr of the killed")
    os.killpg(second.pid, signal.SIGKILL)
    assert second.wait(WITHIN) == -signal.SIGKILL
    assert not (stopped / OUT / "compare.json").exists()
    again = regard_when_free(stopped)
    assert again.returncode == 0, again.stderr
    return folder


def without_costs(found: dict) -> dict:
    """Time and memory are never the same twice."""
    for variant in found["variants"]:
        del variant["cost"]
        for seed in variant["seeds"].values():
            del seed["cost"]
    return found


def test_stopped_killed_and_resumed_it_finds_the_same(folder):
    whole, stopped = (
        without_costs(json.loads((folder / name / OUT / "compare.json").read_text("utf-8")))
        for name in ("whole", "stopped")
    )
    assert whole == stopped
    assert [len(variant["seeds"]) for variant in whole["variants"]] == [2, 2]


def test_stopped_it_says_how_to_go_on(folder):
    said = (folder / "stderr").read_text()
    *_, last = [line for line in said.splitlines() if "to go on" in line]
    assert last == f"stopped; to go on: regard {shlex.join(COMPARED[3:])}"
    assert "Traceback" not in said


def test_it_prints_the_table_and_what_it_says(folder):
    said = (folder / "said").read_text()
    assert said.startswith("variant")
    assert "dropout=0.5" in said
    assert "2 seeds resolve" in said


@pytest.mark.parametrize("name", RUNS)
def test_every_run_is_a_normal_run(folder, name):
    run = load(folder / "whole" / OUT / name, device="cpu")
    value, seed = name.split("/")
    assert run.recipe.model.dropout == float(value.partition("=")[2])
    assert run.recipe.seed == int(seed.partition("-")[2])
    assert run.recipe.training.paired
    assert run.predict(["a lovely film"])[0].answer in ("good", "bad")
    assert (run.folder.path / "report.html").is_file()


def times(folder: Path) -> dict[str, int]:
    return {name: (folder / OUT / name / "model.safetensors").stat().st_mtime_ns for name in RUNS}


def test_what_is_trained_is_not_trained_again(folder):
    before = times(folder / "whole")
    done = regard(folder / "whole", "--measure", "macro-F1")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("trained before") == 4
    assert times(folder / "whole") == before
    for stem, measure in {"compare-macro_f1": "macro_f1", "compare": "accuracy"}.items():
        read = json.loads((folder / "whole" / OUT / f"{stem}.json").read_text("utf-8"))
        assert read["measure"] == measure
    assert f"wrote {OUT}/compare-macro_f1.html" in done.stderr


def test_a_run_of_the_same_recipe_is_not_trained_again_by_another_name(folder):
    before = times(folder / "whole")
    there = sorted(path.name for path in (folder / "whole" / OUT).iterdir() if path.is_dir())
    command = [word.replace("0.0,0.5", "0.00,0.50") for word in COMPARED]
    done = subprocess.run(
        command, cwd=folder / "whole", capture_output=True, text=True, timeout=WITHIN
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("trained before") == 4
    assert times(folder / "whole") == before
    assert there == sorted(
        path.name for path in (folder / "whole" / OUT).iterdir() if path.is_dir()
    )
    read = json.loads((folder / "whole" / OUT / "compare.json").read_text("utf-8"))
    runs = {variant["name"]: variant["seeds"]["1"]["run"] for variant in read["variants"]}
    assert runs == {f"dropout={n}0": f"{OUT}/dropout={n}/seed-1" for n in ("0.0", "0.5")}


def test_a_run_that_learnt_otherwise_is_trained_again(folder):
    out = folder / "whole" / OUT
    recipe = load(out / RUNS[0], device="cpu").recipe
    assert trained_before(out, replaced(recipe, name="another")).path == out / RUNS[0]
    assert trained_before(out, replaced(recipe, seed=3)) is None
    for section, values in {
        "trainer": {"precision": "bf16-mixed"},
        "training": {"epochs": 3},
        "model": {"hidden": 7},
    }.items():
        changed = getattr(recipe, section).model_copy(update=values)
        assert trained_before(out, replaced(recipe, **{section: changed})) is None


def complaint(monkeypatch, capsys, folder: Path, *words: str) -> str:
    """What the command says is wrong, in this process."""
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        main([*COMPARED[3:], *words])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_runs_of_another_recipe_or_a_longer_one_are_refused(folder, monkeypatch, capsys):
    said = complaint(monkeypatch, capsys, folder / "whole", "model.hidden=7")
    assert "model.hidden was 12, is 7" in said
    said = complaint(monkeypatch, capsys, folder / "whole", "training.epochs=1")
    assert "equal budgets" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["model.hiden=3"], "Did you mean 'model.hidden'?"),
        (["--measure", "acuracy"], "Did you mean 'accuracy'?"),
        (["--until", "later"], "--until takes decided"),
        (["data.test=nowhere.tsv#1,0"], "nowhere.tsv"),
        (["--until", "decided", "--seeds", "2"], "3 seeds or more"),
        (["--until", "decided", "--seeds", "4", "--most-seeds", "3"], "less than --seeds 4"),
        (["--hours", "2"], "--hours is for --until decided"),
        (["--most-seeds", "9"], "--most-seeds is for --until decided"),
        (["--measure", "loss"], "task.kind=classify has --measure accuracy, macro_f1"),
        (["--vary", "training.clip=1.0,1e0"], "training.clip=1e0 are the same variant"),
    ],
)
def test_mistakes_are_told_before_anything_is_trained(
    folder, tmp_path, monkeypatch, capsys, words, said
):
    made = write_recipe(tmp_path / "made", folder)
    assert said in complaint(monkeypatch, capsys, made, *words)
    assert not (made / "runs").exists()


def test_two_at_once_in_one_folder_are_refused_before_anything_is_trained(
    folder, tmp_path, monkeypatch, capsys
):
    made = write_recipe(tmp_path / "made", folder)
    with held_folder(made / OUT, FolderInUse("")):
        monkeypatch.chdir(made)
        with pytest.raises(SystemExit) as ended:
            main(COMPARED[3:])
        assert ended.value.code
        said = capsys.readouterr().err
        assert f"another comparison is at work in {OUT}" in said
        assert "--out" in said
    assert [path.name for path in (made / OUT).iterdir()] == [".lock"]


def test_a_training_that_fails_is_told_and_the_others_are_kept(folder, tmp_path):
    made = write_recipe(tmp_path / "made", folder)
    command = [word for word in COMPARED if not word.startswith("model.dropout")]
    command[command.index("--vary") + 1 : command.index("--vary") + 1] = [
        "training.optimizer.lr=0.01,1e38"
    ]
    done = subprocess.run(
        [*command, "--seeds", "1"], cwd=made, capture_output=True, text=True, timeout=WITHIN
    )
    assert done.returncode == 1
    assert "1 of 2 trainings failed; lr=1e38, seed 1: " in done.stderr
    assert (made / OUT / "lr=0.01" / "seed-1" / "model.safetensors").is_file()
    assert os.path.exists(made / OUT / "lr=1e38" / "seed-1.log")
