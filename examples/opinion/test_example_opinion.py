"""Two texts and a label, named by their place: trained, asked about, seen."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import regard
from regard.records.record import AttentionRecord

FOLDER = Path(__file__).parent
SAID = {"lamp": "bright dim", "chair": "soft hard", "kettle": "hot cold", "bike": "fast slow"}
LAMP = "an old lamp\tso bright"


def write_opinions(path: Path, count: int) -> None:
    draw = random.Random(count)
    with path.open("w") as file:
        for number in range(count):
            thing = draw.choice([*SAID])
            said = thing if number % 2 else draw.choice([x for x in SAID if x != thing])
            product = " ".join([*draw.sample(["an", "old", "new"], draw.randint(1, 3)), thing])
            review = " ".join(
                [*draw.sample(["so", "very"], draw.randint(0, 2)), draw.choice(SAID[said].split())]
            )
            file.write(f"{product}\t{review}\t{'fits' if said == thing else 'odd'}\n")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """told(*words): what a command prints, in the folder of a run that it made."""
    folder = tmp_path_factory.mktemp("opinion")
    paths = os.pathsep.join([str(Path(regard.__file__).parents[1]), str(FOLDER)])
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "COLUMNS": "120"}

    def run(*words: str, given: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "regard", *words],
            cwd=folder,
            env=environment,
            input=given,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    for part, count in {"train": 480, "dev": 100, "test": 100}.items():
        write_opinions(folder / f"{part}.tsv", count)
    data = [f"data.{part}={part}.tsv" for part in ("train", "dev", "test")]
    run("train", str(FOLDER / "opinion.yaml"), *data, "--device", "cpu", "trainer.threads=1")
    run.folder = folder
    return run


def test_it_answers_with_a_probability(told):
    label, probability = told("predict", "-m", "runs/opinion", LAMP).split("\t")
    assert label == "fits"
    assert 0.9 < float(probability) <= 1
    label, _ = told("predict", "-m", "runs/opinion", LAMP.replace("bright", "fast")).split("\t")
    assert label == "odd"


def test_a_blank_review_is_answered_and_stops_no_pipe(told):
    answers = told("predict", "-m", "runs/opinion", given=f"an old lamp\t\n{LAMP}\n").splitlines()
    assert len(answers) == 2
    assert answers[1] == "fits"


def test_it_is_seen_and_no_language_is_claimed(told):
    told("look", "-m", "runs/opinion", LAMP, "--json", "look.json")
    record = AttentionRecord.from_json((told.folder / "look.json").read_text("utf-8"))
    assert {record.sides[name].language for name in ("product", "review")} == {"und"}
    (cross,) = (one for one in record.maps if one.name == "cross")
    assert (cross.queries, cross.keys) == ("review", "product")
