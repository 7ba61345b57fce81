"""Looking at a model of which nothing is known: what is over the tokens of its text is shown."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import regard
from regard.data.fields import Label, Text
from regard.looking.run_looker import look_at
from regard.pooling import AttentionPooling
from regard.recipe.recipe import Recipe
from regard.records.question import BadQuestion, Question
from regard.tasks.task import Task
from regard.tasks.task_module import TaskModule, Unanswerable

TEXTS = ["the old dog sees a cat", "a cat", "the dog"]
SIZE = 8


class Parts(nn.Module):
    """Some of: itself, twice (layers); wide (other heads); asked (a query from outside); pooled; aside."""

    def __init__(self, *parts: str) -> None:
        super().__init__()
        self.parts = parts
        self.embed = nn.Embedding(40, SIZE)
        self.itself = nn.ModuleList(regard.MultiHead(SIZE, heads=2) for _ in range(2))
        self.wide = regard.Attention(SIZE)
        self.asked = regard.Attention(SIZE, SIZE)
        self.pooled = AttentionPooling(SIZE, hops=3)

    def forward(self, text, mask):
        x = self.embed(text)
        if "itself" in self.parts:
            for layer in self.itself:
                x = x + layer(x, mask=mask).context
        if "wide" in self.parts:
            x = x + self.wide(x, mask=mask).context
        if "asked" in self.parts:
            x = x + self.asked(x[:, :1], x, mask=mask).context
        if "pooled" in self.parts:
            x = x + self.pooled(x, mask).vector.mean(1, keepdim=True)
        if "aside" in self.parts:
            x = x + self.wide(x[:, :1]).context
        return x.sum((1, 2))


class Signs(Task):
    columns, inputs = (), ("text",)

    def make_fields(self):
        self.text = Text("text", kind="word")
        return self.text, Label("label")

    def for_training(self, model):
        return TaskModule(model)

    def answers(self, module, batch):
        for number in module.model(batch["text"], batch["text_mask"]).tolist():
            yield "plus" if number > 0 else "minus", abs(number)


@pytest.fixture
def task():
    made = Signs(Recipe())
    made.text.learn(TEXTS)
    return made


def module_of(*parts):
    return TaskModule(Parts(*parts).eval())


def test_attentions_of_one_shape_are_layers_and_others_maps_of_their_own(task):
    record = task.look(
        module_of("itself", "wide", "asked", "pooled"), Question(TEXTS[0]), model="m"
    )
    shapes = {each.name: each.weights.shape for each in record.maps}
    assert shapes == {
        "encoder": (2, 2, 7, 7),
        "encoder 2": (1, 1, 7, 7),
        "cross": (1, 1, 1, 7),
        "pooling": (1, 3, 1, 7),
    }
    for each in record.maps:
        assert each.weights.sum(-1) == pytest.approx(1, abs=1e-5)
        assert each.scores.shape == each.weights.shape
    assert record.sides["text"].tokens == (*TEXTS[0].split(), "(end)")
    assert record.output in ("plus", "minus")
    assert record.sides[record.map("pooling").queries].tokens == (record.output,)
    assert (record.notes, record.model) == ((), "m")
    assert record.from_json(record.to_json()).to_json() == record.to_json()


def test_what_is_not_over_the_text_is_told(task):
    record = task.look(module_of("itself", "aside"), Question(TEXTS[0]))
    assert [each.name for each in record.maps] == ["encoder"]
    assert record.notes == ("1 attention is not over the tokens of the text, and not shown",)


def test_without_details_there_are_weights_alone(task):
    record = task.look(module_of("itself", "pooled"), Question(TEXTS[0], details=False))
    assert all(each.scores is None and each.values is None for each in record.maps)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Question(TEXTS[0]), "there is nothing to look at"),
        (Question(TEXTS[0], beam=2), "a model for task.kind=translate has no beam"),
        (Question("  "), "the text is blank"),
    ],
)
def test_what_cannot_be_shown_is_told(task, asked, said):
    with pytest.raises(BadQuestion, match=said):
        task.look(module_of(), asked)


def test_a_task_that_reads_no_text_alone_is_told(task):
    task.inputs = ("label",)
    with pytest.raises(BadQuestion, match="answers about label: what it attends to is not shown"):
        task.look(module_of("itself"), Question("x"))


class Told(Signs):
    """Of two inputs: a text, and what somebody said of it."""

    inputs = ("text", "label")

    def make_fields(self):
        label = Label("label")
        label.learn(["x", "y"])
        return *super().make_fields()[:1], label


def test_an_example_of_several_inputs_is_an_object():
    task, module = Told(Recipe()), module_of("itself")
    task.text.learn(TEXTS)
    asked = Question(json.dumps({"text": TEXTS[0], "label": "x"}))
    record = task.look(module, asked)
    assert record.maps[0].weights.shape[-2:] == (7, 7)
    assert record.title == TEXTS[0]
    assert task.look_extent(asked).source == 1 + 6 + 1
    with pytest.raises(Unanswerable, match="there are 2 inputs") as told:
        task.look(module, Question(TEXTS[0]))
    assert 'give them as \'{"text": "…", "label": "…"}\'' in told.value.hint
    with pytest.raises(Unanswerable, match="has no 'label'; it has text"):
        task.look(module, Question(json.dumps({"text": TEXTS[0]})))


def test_the_text_may_come_as_predict_reads_it(task, tmp_path):
    run = SimpleNamespace(
        task=task, module=module_of("itself"), folder=SimpleNamespace(path=tmp_path), name="run"
    )
    record = look_at(run, Question(json.dumps({"text": TEXTS[0]})))
    assert record.title == record.question["text"] == TEXTS[0]
    assert look_at(run, Question('{"a": 1}')).title == '{"a": 1}'  # a text that looks like one


@pytest.mark.parametrize(
    ("parts", "rows"), [(["itself"], 7), (["itself", "asked"], 1), (["itself", "pooled"], 1)]
)
def test_answers_have_what_they_came_from_whatever_they_are_batched_with(task, parts, rows):
    module = module_of(*parts)
    examples = task.given(TEXTS)
    together = task.predict(module, examples, attention=True, batch=3)
    for example, found in zip(examples, together, strict=True):
        (alone,) = task.predict(module, [example], attention=True, batch=1)
        torch.testing.assert_close(found.attention, alone.attention)
        assert len(found.columns) == len(example["text"].split()) + 1
        assert found.attention.shape == (len(found.rows), len(found.columns))
        assert found.attention.sum(-1).tolist() == pytest.approx([1] * len(found.rows), abs=1e-5)
    assert len(together[0].rows) == rows
    assert task.predict(module, examples, batch=3)[0].attention is None


def test_a_model_that_attends_to_nothing_answers_without(task):
    (found,) = task.predict(module_of(), task.given(TEXTS[:1]), attention=True, batch=1)
    assert found.attention is None


def test_a_model_without_a_decoder_is_estimated_by_what_it_reads():
    from regard.explanations.model_work import ModelWork

    reads = ModelWork.of(nn.ModuleDict({"self": regard.MultiHead(SIZE, heads=2)}))
    assert (reads.heads, reads.numbers(100, 1)) == ((0, 2, 0), 2 * 100**2 + 200)


class Spoken(Signs):
    """An answer in parts, each of which looks at the text once. parts: of a text of so many words."""

    def __init__(self, recipe, parts):
        super().__init__(recipe)
        self.parts = parts

    def answers(self, module, batch):
        (words,) = batch["text_mask"].sum(-1).tolist()  # one by one
        x = module.model.embed(batch["text"])
        for _ in range(self.parts(words)):
            module.model.asked(x[:, :1], x, mask=batch["text_mask"])
        yield [f"part {n}" for n in range(self.parts(words))], 0.5


def test_steps_of_an_answer_are_one_look_with_its_parts_as_rows():
    task = Spoken(Recipe(), lambda words: words // 2 + 1)
    task.text.learn(TEXTS)
    record = task.look(module_of("asked"), Question(TEXTS[0]))
    (shown,) = record.maps
    assert (shown.name, shown.weights.shape) == ("cross", (1, 1, 4, 7))
    assert record.sides[shown.queries].tokens == ("part 0", "part 1", "part 2", "part 3")
    (answer,) = task.predict(module_of("asked"), task.given(TEXTS[:1]), attention=True, batch=1)
    assert answer.rows == list(record.sides[shown.queries].tokens)
    assert answer.attention.shape == (4, 7)


def test_an_answer_with_a_part_for_every_word_may_be_either():
    """Nothing says whether its rows are the words: the labels of words would, as in tagging."""
    task = Spoken(Recipe(), lambda words: words)
    task.text.learn(TEXTS)
    with pytest.raises(BadQuestion, match="rows of asked may be text or parts of the answer"):
        task.look(module_of("asked"), Question(TEXTS[0]))
    (found,) = task.predict(module_of("asked"), task.given(TEXTS[:1]), attention=True, batch=1)
    assert found.attention is None


def test_one_look_of_two_is_a_layer_each():
    """The same attention, asked twice for an answer that is no list."""

    class Twice(Signs):
        def answers(self, module, batch):
            x = module.model.embed(batch["text"])
            for _ in range(2):
                x = x + module.model.asked(x[:, :1], x, mask=batch["text_mask"]).context
            yield from (("plus", 0.5) for _ in x)

    task = Twice(Recipe())
    task.text.learn(TEXTS)
    (shown,) = task.look(module_of("asked"), Question(TEXTS[0])).maps
    assert (shown.name, shown.weights.shape) == ("cross", (2, 1, 1, 7))
    assert not np.allclose(shown.weights[0], shown.weights[1])
