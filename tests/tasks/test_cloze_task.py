"""The cloze: what it scores, what it answers, and the accuracy at each distance."""

from __future__ import annotations

import math

import pytest
import torch

from regard.data.batch import collate
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.records.question import Question
from regard.tasks.cloze.cloze_task import ClozeTask

RECURRENT = {"kind": "recurrent-language", "embedding": 12, "hidden": 16}
TRANSFORMER = {
    "kind": "transformer-language",
    "size": 16,
    "heads": 2,
    "inner": 16,
    "layers": 1,
    "positions": "rotary",
}
MODELS = {
    "elman": {**RECURRENT, "cell": "elman"},
    "attention": {**RECURRENT, "attention": {"score": "scaled-dot"}},
    "transformer": TRANSFORMER,
}


@pytest.fixture
def make_cloze(tmp_path):
    book = tmp_path / "book.txt"
    book.write_text("".join(f"the {word} was here and\n" for word in "abcdefgh" * 20))

    def make(model: str = "elman", **task) -> ClozeTask:
        options = {"kind": "cloze", "distances": [2, 6], "names": 4, **task}
        made = ClozeTask(
            Recipe.model_validate(
                {
                    "task": options,
                    "data": {"train": str(book)},
                    "model": MODELS[model],
                    "tokenizer": {"source": {"size": 60}},
                }
            )
        )
        made.learn(str(book))
        return made

    return make


def module_of(task: ClozeTask):
    torch.manual_seed(0)
    return task.for_training(task.recipe.model.build(task.sizes)).double().eval()


@pytest.mark.parametrize("model", MODELS)
def test_the_loss_of_a_ragged_batch_is_that_of_its_rows(make_cloze, model):
    task = make_cloze(model)
    module, fields = module_of(task), list(task.fields.values())
    examples = list(task.read(task.recipe.data.train))[:5]
    parts = [
        {name: field.encode([one])[0] for name, field in task.fields.items()} for one in examples
    ]
    together = module(**collate(fields, parts))
    alone = [module(**collate(fields, [one])) for one in parts]
    assert len({len(one["text"]) for one in examples}) > 1
    assert together.total.item() == pytest.approx(sum(one.total.item() for one in alone), abs=1e-5)
    assert int(together.tokens) == 5


@pytest.mark.parametrize("model", MODELS)
def test_what_comes_after_the_text_of_a_row_changes_nothing(make_cloze, model):
    module = module_of(make_cloze(model))
    text = torch.tensor([[2, 5, 6, 7, 0, 0]])
    padded, plain = module.logits(text, text != 0), module.logits(text[:, :4], text[:, :4] != 0)
    torch.testing.assert_close(padded, plain)
    assert padded.shape == (1, 4)


def test_accuracy_is_told_for_each_distance(make_cloze):
    task = make_cloze()
    examples = list(task.read(task.recipe.data.train))[:40]
    found = task.evaluate(module_of(task), "a book", examples)
    for distance in (2, 6):
        pairs = [
            (one["name"], answer)
            for one, answer in zip(examples, found.answers, strict=True)
            if one["distance"] == distance
        ]
        right = sum(name == answer for name, answer in pairs) / len(pairs)
        assert found.by_distance[distance] == pytest.approx(right)
    assert found.table.splitlines()[0].split()[-2:] == ["2", "6"]
    assert found.to_dict()["accuracy_by_distance"] == found.by_distance


@pytest.mark.parametrize("model", MODELS)
def test_a_name_a_few_words_back_is_learnt(make_cloze, model):
    task = make_cloze(model)
    torch.manual_seed(0)
    module = task.for_training(task.recipe.model.build(task.sizes))
    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
    examples = list(task.read(task.recipe.data.train))
    for _ in range(12):
        for _, batch in task.batches(examples, module.device, batch=32):
            loss = module(**batch)
            optimizer.zero_grad()
            (loss.total / loss.tokens).backward()
            optimizer.step()
    assert task.evaluate(module, "", examples).measures["accuracy"] > 0.9


def test_it_is_looked_at_where_it_attends(make_cloze):
    task = make_cloze("attention")
    record = task.look(module_of(task).float(), Question("the ① was here"))
    assert [each.name for each in record.maps] == ["encoder"]
    assert record.output in task.name.labels
    assert record.maps[0].weights.shape[-2:] == (5, 5)  # BOS and four words


def test_it_takes_the_models_of_language_and_no_others():
    assert read_recipe("cloze-distance").model.kind == "recurrent-language"
    with pytest.raises(RecipeError, match="for cloze there are transformer-language, recurrent"):
        read_recipe("cloze-distance", ["model.kind=bare-classifier"])


def test_a_vocabulary_without_room_for_the_names_is_told(make_cloze):
    task = make_cloze()
    task.text.tokenizer = type(task.text.tokenizer).train(["the a"], kind="split", size=6)
    with pytest.raises(RecipeError, match="no room for the names"):
        module_of(task)


def test_a_name_is_drawn_with_what_the_last_word_looked_at(make_cloze):
    task = make_cloze("attention")
    module = module_of(task).float()
    (answer,) = task.predict(module, task.given(["the ① was here"]), attention=True, batch=1)
    record = task.look(module, Question("the ① was here"))
    last = torch.from_numpy(record.maps[0].weights[0, 0, -1])
    torch.testing.assert_close(answer.attention[0], last, atol=1e-5, rtol=0)
    line, words = task.drawn(answer).splitlines()
    assert line == f"{answer.answer}\t{math.exp(answer.score):.4f}"
    assert {each.split()[0] for each in words.split("  ")} == {"the", "①", "was", "here"}
