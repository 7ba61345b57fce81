"""Runs that exist, compared as they are."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from toy_tasks import task_recipe

from regard.cli import main
from regard.compare.cases import item_weights
from regard.compare.compare_files import comparison_folder
from regard.compare.existing_runs import compare_runs
from regard.compare.findings import Findings
from regard.compare.judged_run import kept_judgement
from regard.compare.verdicts import sentences
from regard.data.checksums import Damaged, sealed
from regard.recipe.mistakes import RecipeError
from regard.report.run_evaluation import evaluate
from regard.runs.failures import NotARun
from regard.runs.loaded_run import load
from regard.training.run import train


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("compared")


@pytest.fixture(scope="module")
def found(runs, out) -> Findings:
    return compare_runs(runs, out, device="cpu")


def test_seeds_of_one_variant_are_recognised(found, runs):
    assert list(found.judged) == ["softmax", "uniform"]
    for name, both in zip(found.judged, (runs[:2], runs[2:]), strict=True):
        assert {seed: run.path for seed, run in found.judged[name].items()} == {
            1: both[0],
            2: both[1],
        }
    assert found.changes["uniform"] == {"model.attention.normalize": "uniform"}


def test_scores_are_those_of_evaluate(found):
    for runs in found.judged.values():
        for seed, one in runs.items():
            run = load(one.path, device="cpu")
            said = evaluate(run).to_dict()
            assert run.recipe.seed == seed
            for measure in found.measures:
                value = float(measure.value(one.counts[measure.name].sum(0)))
                assert value == pytest.approx(said[measure.name])


def test_costs_are_known(found):
    for name, cost in found.costs.items():
        model = load(found.judged[name][1].path, device="cpu").model
        assert cost.parameters == sum(p.numel() for p in model.parameters())
        assert cost.seconds > 0
        assert cost.memory > 2**20
        assert cost.speed > 0


def test_the_items_that_differ_most_are_shown_with_both_attentions(found):
    (closer,) = found.closer
    moved = item_weights(found.comparison, closer.a, closer.b)
    weights = moved.mean(0)
    for case in closer.cases:
        assert case.weight == weights[case.row]
        seed = case.runs[0].seed
        assert case.runs[1].seed == seed
        assert abs(moved[seed - 1, case.row]) == abs(moved[:, case.row]).max()
        right = [float(run.counts["accuracy"][case.row, 0]) for run in case.runs]
        assert right == ([1.0, 0.0] if case.weight > 0 else [0.0, 1.0])
        assert all(record is not None for record in case.records), case.why_not
        assert case.records[0].model == closer.a
    better = [case.weight for case in closer.cases if case.weight > 0]
    assert better == sorted(better, reverse=True)


def test_one_seed_of_runs_that_exist_asks_for_runs_and_not_for_an_option(runs, tmp_path):
    said = " ".join(sentences(compare_runs([runs[0], runs[2]], tmp_path, device="cpu")))
    assert "train each variant with seed=2 and seed=3 too, and name all the runs" in said
    assert "--seeds" not in said
    assert "--seeds" not in (tmp_path / "compare.html").read_text("utf-8")


def test_what_trainings_warned_of_is_told_once(found, runs):
    few = "dev is 20 texts: the best checkpoint is chosen by them"
    assert all(f"warning: {few}" in (path / "train.log").read_text("utf-8") for path in runs)
    (said,) = [each for each in found.warnings if few in each]
    assert said.startswith(few)
    assert any(said in sentence for sentence in sentences(found))


def test_the_most_frequent_label_is_a_score_to_measure_by(found):
    wanted = [item.wanted for item in found.items]
    most = max(map(wanted.count, wanted)) / len(wanted)
    assert found.simplest.measures["accuracy"] == pytest.approx(most)


def test_all_files_are_written(found, out):
    names = sorted(path.name for path in out.glob("compare.*"))
    assert names == ["compare.csv", "compare.html", "compare.json", "compare.md", "compare.tex"]
    read = json.loads((out / "compare.json").read_text("utf-8"))
    assert {"difference", "interval", "better"} <= read["pairs"][0].keys()
    assert len(read["items"]) == len(read["variants"][0]["seeds"]["1"]["counts"]["accuracy"]) == 60


def test_judged_once_it_is_not_judged_again(runs, tmp_path, monkeypatch):
    first = compare_runs(runs, tmp_path, device="cpu").to_dict()
    task = type(load(runs[0], device="cpu").task)
    judge = task.judge

    def of_one(self, module, examples):
        assert len(examples) == 1, "judged again"
        return judge(self, module, examples)

    monkeypatch.setattr(task, "judge", of_one)
    assert compare_runs(runs, tmp_path, device="cpu").to_dict() == first


def test_another_measure_and_another_corpus(runs, attending, tmp_path):
    data = f"{attending}/dev.tsv#1,0"
    found = compare_runs(runs, tmp_path, data=data, measure="macro_f1", device="cpu")
    assert found.measure.name == "macro_f1"
    names = sorted(path.name for path in tmp_path.glob("compare*"))
    assert names == [f"compare-macro_f1.{end}" for end in ("csv", "html", "json", "md", "tex")]
    assert "compare-macro_f1.json holds" in (tmp_path / names[1]).read_text("utf-8")
    compare_runs(runs, tmp_path, data=data, measure="accuracy", device="cpu")  # the usual one
    assert len(list(tmp_path.glob("compare.*"))) == len(names) == 5
    assert '"macro_f1"' in (tmp_path / "compare-macro_f1.json").read_text("utf-8")
    assert len(found.items) == 20
    assert found.data == data


@pytest.mark.parametrize(
    ("measure", "said"), [("acuracy", "Did you mean 'accuracy'"), ("loss", "not measured by")]
)
def test_a_measure_that_there_is_not(runs, tmp_path, measure, said):
    with pytest.raises(RecipeError, match=said):
        compare_runs(runs, tmp_path, measure=measure, device="cpu")


def test_runs_of_different_tasks(runs, attending, tmp_path):
    other = train(
        task_recipe(attending, "masked", training={"steps": 2}), tmp_path / "masked", quiet=True
    )
    with pytest.raises(RecipeError, match=r"different tasks: .* task\.kind=classify") as told:
        compare_runs([runs[0], other], tmp_path, device="cpu")
    assert str(other) in str(told.value)


def copied(run: Path, to: Path, **data: str) -> Path:
    """A run whose recipe names other data."""
    shutil.copytree(run, to)
    config = json.loads((to / "config.json").read_text("utf-8"))
    config["recipe"]["data"] |= data
    config.pop("sha256")
    (to / "config.json").write_text(json.dumps(config), "utf-8")
    return to


def test_runs_with_different_test_sets(runs, attending, tmp_path):
    other = copied(runs[2], tmp_path / "other", test=f"{attending}/dev.tsv#1,0")
    with pytest.raises(RecipeError, match="different test sets") as told:
        compare_runs([runs[0], other], tmp_path, device="cpu")
    assert "--data" in told.value.hint
    found = compare_runs([runs[0], other], tmp_path, data=f"{attending}/test.tsv#1,0", device="cpu")
    assert len(found.items) == 60


def test_one_variant_is_nothing_to_compare(runs, tmp_path):
    with pytest.raises(RecipeError, match="one variant"):
        compare_runs(runs[:2], tmp_path, device="cpu")
    with pytest.raises(RecipeError, match="named twice"):
        compare_runs([runs[0], runs[0]], tmp_path, device="cpu")


def test_the_same_run_twice_under_two_names(runs, tmp_path):
    again = tmp_path / "again"
    shutil.copytree(runs[0], again)
    with pytest.raises(RecipeError, match="one seed, 1"):
        compare_runs([*runs, again], tmp_path, device="cpu")


def test_what_is_no_run_or_damaged(runs, tmp_path):
    with pytest.raises(NotARun):
        compare_runs([runs[0], tmp_path], tmp_path, device="cpu")
    broken = tmp_path / "broken"
    shutil.copytree(runs[2], broken)
    weights = bytearray((broken / "model.safetensors").read_bytes())
    weights[-3] ^= 1
    (broken / "model.safetensors").write_bytes(weights)
    with pytest.raises(Damaged, match=r"damaged|not as it was"):
        compare_runs([runs[0], broken], tmp_path, device="cpu")


def test_a_damaged_judgement_is_made_again(runs, tmp_path):
    first = compare_runs(runs, tmp_path, device="cpu").to_dict()
    for file in (tmp_path / "judged").glob("*.json"):
        if not file.name.startswith("speed"):
            file.write_text(file.read_text()[:-20])
    assert compare_runs(runs, tmp_path, device="cpu").to_dict() == first


def test_no_trainer_is_imported(runs, tmp_path):
    program = (
        "import sys; from pathlib import Path; "
        "from regard.compare.existing_runs import compare_runs; "
        f"compare_runs([Path({str(runs[0])!r}), Path({str(runs[2])!r})], Path({str(tmp_path)!r}), "
        "device='cpu'); print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert not [m for m in loaded if m.startswith(("regard.training", "lightning"))]


def test_a_judgement_that_was_changed_by_hand_is_made_anew(tmp_path):
    file, made_of = tmp_path / "a.json", {"model": "x"}
    whole = sealed(file, {"made_of": made_of, "counts": {"accuracy": [[1, 1], [0, 1]]}}, {})
    file.write_text(json.dumps(whole))
    assert kept_judgement(file, made_of)["counts"] == whole["counts"]
    file.write_text(json.dumps({**whole, "counts": {"accuracy": [[1, 1]]}}))
    assert kept_judgement(file, made_of) is None
    file.write_text(json.dumps({"made_of": made_of})[:9])
    assert kept_judgement(file, made_of) is None


def test_two_at_once_in_one_folder_are_refused(runs, tmp_path, capsys):
    out = tmp_path / "out"
    with comparison_folder(out), pytest.raises(SystemExit) as ended:
        main(["compare", str(runs[0]), str(runs[2]), "--out", str(out)])
    assert ended.value.code
    said = capsys.readouterr().err
    assert f"another comparison is at work in {out}" in said
    assert "--out" in said
    assert [path.name for path in out.iterdir()] == [".lock"]


def test_nothing_is_trained_of_runs_that_exist(runs, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["compare", str(runs[0]), str(runs[2]), "--seeds", "5"])
    assert ended.value.code == 2
    assert "--seeds is for variants that are trained" in capsys.readouterr().err
