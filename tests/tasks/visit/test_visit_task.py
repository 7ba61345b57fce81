"""Next places by recipe: learnt from the first visits, judged by the last, answered, looked at and served."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from regard.data.problems import Problems
from regard.looking.look import look
from regard.models.visits.place_question import PlaceModel
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.records.question import BadQuestion, Question
from regard.report.run_evaluation import evaluate
from regard.runs.loaded_run import load
from regard.tasks.recipe_task import task_of
from regard.tasks.task_module import Unanswerable
from regard.tasks.visit.visit_module import NextPlace
from regard.training.run import train
from regard.view.captions import kind_of

SMALL = {
    "st-rnn": {"size": 8},
    "visit-attention": {"size": 8},
    "visit-rnn": {"size": 8},
    "visit-counts": {},
}
ASKED = {
    "user": "u1",
    "history": [
        ["p1", "2011-03-13T10:00"],
        ["nowhere", "2011-03-13T10:30"],
        ["p2", "2011-03-13T11:00"],
    ],
    "time": "2011-03-13T12:00",
}


def recipe_of(folder, kind: str, *, task=None, **training) -> Recipe:
    """Everybody goes round: p1, p2, … p6, p1, an hour apart."""
    rows = ["user,place,latitude,longitude,time"]
    for user in range(6):
        for n in range(30):
            place = (user + n) % 6 + 1
            rows.append(
                f"u{user},p{place},{40 + 0.01 * place},-74,2011-03-{n // 24 + 12:02}T{n % 24:02}:00"
            )
    (folder / "visits.csv").write_text("\n".join(rows) + "\n")
    data = {part: f"{folder}/visits.csv@{part}" for part in ("train", "dev", "test")}
    return Recipe.model_validate(
        {
            "task": {"kind": "visit", "loss": "softmax", "negatives": 0, **(task or {})},
            "data": {**data, "max_length": 8},
            "model": {"kind": kind, **SMALL[kind]},
            "training": {
                "epochs": 60,
                "batch_sentences": 8,
                "optimizer": {"lr": 0.03},
                **training,
            },
            "trainer": {"accelerator": "cpu", "threads": 1},
        }
    )


@pytest.fixture(scope="module", params=SMALL)
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return load(train(recipe_of(folder, request.param), folder / "run", quiet=True), device="cpu")


def test_it_learns_the_round_and_is_judged_by_ranks(run):
    found = evaluate(run)
    assert found.measures["recall_at_1"] > 0.95
    assert found.measures["recall_at_10"] == 1.0
    assert len(found.examples) == 36  # a fifth of everybody's visits
    report = run.folder.report.read_text()
    assert "recall@10" in report
    assert json.loads(run.folder.scores.read_text())["test"]["visits"] == 36


def test_places_are_answered_and_unknown_ones_left_out(run):
    for given in (ASKED, (ASKED["user"], ASKED["history"], ASKED["time"])):
        (answer,) = run.predict([given])
        assert answer.answer[0] == "p3"
        assert sorted(answer.answer) == ["p1", "p2", "p3", "p4", "p5", "p6"]
    (stranger,) = run.predict([{**ASKED, "user": "nobody", "history": []}])
    assert len(stranger.answer) == 6
    assert math.isfinite(stranger.score)
    line = "\t".join(["u1", json.dumps(ASKED["history"]), ASKED["time"]])
    (told,) = run.predict([run.task.of_line(line)])
    assert told.answer[0] == "p3"
    json.dumps(told.to_dict())


def test_answers_side_by_side_are_those_alone(run):
    many = [{**ASKED, "history": ASKED["history"][:n]} for n in range(4)]
    together = run.predict(many)
    for given, one in zip(many, together, strict=True):
        (alone,) = run.predict([given])
        assert alone.answer == one.answer
        assert alone.score == pytest.approx(one.score, abs=1e-5)


def test_what_cannot_be_asked_is_told(run):
    later = {**ASKED, "time": "2011-03-13T10:45"}
    for wrong, said in (
        (later, "goes on after its time"),
        ({**ASKED, "time": "soon"}, "neither a time"),
        ({**ASKED, "history": [["p1"]]}, "not visits"),
        ({"user": "u1"}, "has no 'history'"),
    ):
        with pytest.raises(Unanswerable, match=said):
            run.predict([wrong])


def test_visits_that_mattered_are_shown(run):
    question = Question(json.dumps(ASKED))
    if run.recipe.model.kind in ("visit-rnn", "visit-counts"):
        with pytest.raises(BadQuestion, match="nothing to look at"):
            look(run, question)
        (answer,) = run.predict([ASKED], attention=True)
        assert answer.attention is None
        return
    (record,) = look(run, question).records
    attends = run.recipe.model.kind != "st-rnn"
    shown = record.map("visits" if attends else "shares")
    (kind,) = {kind_of(each.name) for each in record.maps}
    assert kind.startswith("attention over the visits" if attends else "what the score loses")
    columns = record.sides["visits"].tokens
    assert columns[:2] == ("p1 −2.0 h", "p2 −1.0 h")
    np.testing.assert_allclose(shown.weights.sum(-1), 1.0, atol=1e-5)
    assert record.output.startswith("p3")
    assert "1 visit is not read" in " ".join(record.notes)
    (answer,) = run.predict([ASKED], attention=True)
    assert answer.rows == ["p3"]
    assert list(answer.columns) == list(columns)
    np.testing.assert_allclose(answer.attention[0], shown.weights.mean((0, 1))[0], atol=1e-5)
    assert "p3" in run.task.drawn(answer)


def test_st_rnn_says_what_speaks_for_each_place(tmp_path):
    recipe = recipe_of(tmp_path, "st-rnn", epochs=1)
    run = load(train(recipe, tmp_path / "run", quiet=True), device="cpu")
    (record,) = look(run, Question(json.dumps(ASKED))).records
    (lost,) = record.explanations
    assert lost.signed
    assert lost.matrix.shape == (5, 3)  # places of the answer; visits, and what was before
    example = run.task.taken(ASKED)
    ((_, batch),) = run.task.batches([example], torch.device("cpu"), inputs=True)
    asked = run.module.questions(batch).asked
    (answer,) = run.predict([ASKED])
    best = torch.tensor([[[run.task.place.number(place) for place in answer.answer[:5]]]])
    visits, before = run.model.contributions(asked, best)
    np.testing.assert_allclose(lost.matrix[:, :2], visits[0, 0].detach(), atol=1e-6)
    np.testing.assert_allclose(lost.matrix[:, 2], before[0, 0].detach(), atol=1e-6)


# the data


def test_nothing_of_dev_and_test_is_learnt(tmp_path):
    recipe = recipe_of(tmp_path, "visit-counts")
    path = tmp_path / "visits.csv"
    late = ["u0,new,41,-74,2011-03-20T00:00", "late,p1,40.01,-74,2011-03-20T00:00"]
    path.write_text(path.read_text() + "\n".join(late) + "\n")
    task = task_of(recipe)
    task.learn(recipe.data.train)
    assert "new" not in task.place.names
    assert "late" in task.user.names  # a single visit is trained on
    trained = [one for one in task.read(recipe.data.train) if one["user"] == "u0"]
    tested = [one for one in task.read(recipe.data.test) if one["user"] == "u0"]
    assert max(one["time"] for one in trained) < min(one["time"] for one in tested)
    assert task.place.tallies[:, 2].sum() == len(list(task.read(recipe.data.train)))
    unknown = [one for one in tested if one["place"] == "new"]
    assert len(unknown) == 1
    module = task.for_training(recipe.model.build(task.sizes))
    _, _, answers = task.ranked_places(module, tested)
    assert [one.rank == math.inf for one in answers] == [one["place"] == "new" for one in tested]


def test_a_table_of_places_and_rows_of_numbers_can_be_read(tmp_path):
    draw = np.random.default_rng(1)
    rows = np.stack([draw.integers(1, 4, 60), draw.integers(1, 6, 60), draw.permutation(60)], 1)
    np.save(tmp_path / "v.npy", rows.astype(np.int32))
    np.save(tmp_path / "p.npy", np.array([[n, 40 + n, -74] for n in range(1, 6)], np.float64))
    options = {"places": f"{tmp_path}/p.npy#0,1,2", "unit": "minutes"}
    recipe = recipe_of(tmp_path, "st-rnn", task=options)
    task = task_of(recipe)
    task.learn(f"{tmp_path}/v.npy#0,1,2@train")
    assert task.place.names == ["1", "2", "3", "4", "5"]
    assert task.place.coordinates[2].tolist() == [43.0, -74.0]
    with pytest.raises(RecipeError, match=r"task\.places"):
        task_of(recipe_of(tmp_path, "st-rnn", task={"places": "gone.tsv"})).learn(
            f"{tmp_path}/v.npy#0,1,2@train"
        )


def test_rows_that_cannot_be_used_are_counted(tmp_path):
    path = tmp_path / "visits.csv"
    task = task_of(recipe_of(tmp_path, "st-rnn"))
    path.write_text(path.read_text() + "u0,p1,140,-74,2011-03-20T00:00\nu0,p1,40.01,-74,noon\n")
    problems = Problems()
    list(task.read(f"{path}", problems))
    assert problems.count() == 2
    assert "1 latitude line that is not between -90 and 90 (182)" in problems.report()


# the loss


class Fixed(PlaceModel):
    """Scores that are given: that of place v is table[v - 1]."""

    def __init__(self, table) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.tensor(table, dtype=torch.float64))

    def forward(self, asked, candidates=None):
        every = self.table.expand(*asked.seen.shape, -1)
        return every if candidates is None else every.gather(-1, candidates - 1)


def batch_of(told=(2, 0)):
    return {
        "user": torch.tensor([1, 2]),
        "history": torch.tensor([[1, 2, 3], [4, 0, 0]]),
        "history_hours": torch.tensor([[1.0, 2.0, 4.0], [1.0, 0.0, 0.0]]).double(),
        "history_mask": torch.tensor([[True] * 3, [True, False, False]]),
        "history_told": torch.tensor(told),
        "time": torch.tensor([9.0, 3.0]).double(),
        "place": torch.tensor([4, 2]),
    }


def module_of(table=(0.1, 0.5, -0.3, 1.0), **options) -> NextPlace:
    return NextPlace(Fixed(table), np.zeros((5, 3)), np.zeros((0, 3), np.int64), **options)


def test_questions_are_the_last_visit_and_those_that_are_told():
    asked, wanted, real = module_of().questions(batch_of(), batch_of()["place"])
    assert asked.seen.tolist() == [[1, 2, 3], [1, 1, 1]]
    assert asked.when.tolist() == [[2.0, 4.0, 9.0], [3.0, 3.0, 3.0]]
    assert wanted.tolist() == [[2, 3, 4], [2, 2, 2]]
    assert real.tolist() == [[True] * 3, [True, False, False]]


def test_losses_are_their_formulas():
    table = [0.1, 0.5, -0.3, 1.0]
    wanted = [2, 3, 4, 2]
    others = {v: [table[o - 1] for o in range(1, 5) if o != v] for v in range(1, 5)}
    bpr = sum(sum(math.log1p(math.exp(-(table[v - 1] - o))) for o in others[v]) / 3 for v in wanted)
    whole = math.log(sum(map(math.exp, table)))
    for kind, total in (("bpr", bpr), ("softmax", sum(whole - table[v - 1] for v in wanted))):
        for module in (module_of(loss=kind, negatives=0), module_of(loss=kind).eval()):
            loss = module(**batch_of())
            assert int(loss.tokens) == 4
            assert float(loss.total.detach()) == pytest.approx(total)


def test_what_is_drawn_is_never_the_place_itself():
    """Of a table where the wanted place stands far above all others, so that bpr costs nothing."""
    module = module_of([0.0, 0.0, 0.0, 50.0], negatives=300)
    batch = batch_of((0, 0)) | {"place": torch.tensor([4, 4])}
    assert float(module(**batch).total.detach()) < 1e-9
    module.loss = "softmax"  # of 300 others, all of them 0
    assert float(module(**batch).total.detach()) < 1e-9
    low = module_of([50.0, 50.0, 50.0, 0.0], negatives=300)
    assert float(low(**batch).total.detach()) == pytest.approx(100.0, rel=1e-6)


def test_a_place_that_is_not_known_costs_nothing():
    module = module_of().eval()
    loss = module(**(batch_of((0, 0)) | {"place": torch.tensor([0, 2])}))
    assert int(loss.tokens) == 1


def test_of_equal_scores_the_wanted_place_is_last(tmp_path):
    task = task_of(recipe_of(tmp_path, "visit-rnn"))
    task.learn(task.recipe.data.train)
    examples = list(task.read(task.recipe.data.dev))
    module = task.for_training(Fixed([0.0] * 6))
    _, _, answers = task.ranked_places(module, examples)
    assert {one.rank for one in answers} == {6}
    assert task.measure(answers, examples)["map"] == pytest.approx(1 / 6)


def test_shares_must_leave_a_test_set():
    with pytest.raises(ValueError, match="leave nothing"):
        Recipe.model_validate({"task": {"kind": "visit", "train_share": 0.9, "dev_share": 0.1}})


def test_the_recipes_can_be_read():
    assert read_recipe("visit").model.kind == "st-rnn"
