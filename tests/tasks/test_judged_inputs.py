"""What can be judged: texts, documents and sequences of vectors; a label or a number as the answer."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from small_runs import LETTERS, document_run, enlarge, series_run, small_run

from regard.data.fields import Document, Numbers
from regard.data.tokenizer import Tokenizer
from regard.looking.look import look
from regard.models.classifiers.classifier import classifier
from regard.models.classifiers.han import han
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe_files import read_recipe
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer
from regard.tasks.classify.classify_look import look_at_judgement
from regard.tasks.classify.classify_module import Classify
from regard.tasks.classify.judged_input import given_value
from regard.tasks.classify.number_module import Estimate
from regard.tasks.task_module import Unanswerable
from regard.view.attention_view import View

TEXT = "A b c . D e ! F"
DOCUMENTS = [TEXT, "", "h", ["a b", "c d e f g", "a"], "G ? " * 30]
KINDS = ["attention", "mean", "max"]


def document_field() -> Document:
    field = Document("document", sentences=20, words=4, lowercase=True)
    field.load(Tokenizer.train([f"{LETTERS} . ! ?"], kind="word", lowercase=True).to_json())
    return field


def reader(pool: str = "attention") -> Classify:
    field = document_field()
    model = han(field.size, 2, pool=pool, embedding=8, hidden=6)
    return Classify(enlarge(model), field, ["no", "yes"])


@pytest.mark.parametrize("pool", KINDS)
def test_a_document_is_answered_alike_whatever_stands_beside_it(pool):
    task = reader(pool).double()
    together = task.classify(DOCUMENTS, attention=True)
    for given, one in zip(DOCUMENTS, together, strict=True):
        (alone,) = task.classify([given], attention=True)
        assert alone.log_probs == pytest.approx(one.log_probs, abs=1e-10)
        assert np.isfinite(list(one.log_probs.values())).all()
        assert (one.attention is None) == (pool != "attention")
        if one.attention is not None:
            torch.testing.assert_close(alone.attention, one.attention)


def test_a_word_weighs_as_much_as_in_its_sentence_times_the_sentence():
    task = reader()
    (one,) = task.classify([TEXT], attention=True)
    places = one.tokens.offsets
    told = [one.text[places[a][0] : places[b - 1][1]] for a, b, _ in one.sentences]
    assert told == ["A b c .", "D e !", "F"]
    weights = one.attention.tolist()
    assert len(weights) == len(one.tokens) == 8
    assert sum(weights) == pytest.approx(1, abs=1e-5)
    for (_, _, share), part in zip(
        one.sentences, (weights[:4], weights[4:7], weights[7:]), strict=True
    ):
        assert sum(part) == pytest.approx(share, abs=1e-5)
    plain = json.loads(json.dumps(one.to_dict()))
    assert [each[:2] for each in plain["sentences"]] == [[0, 4], [4, 7], [7, 8]]


def test_both_levels_of_a_document_can_be_looked_at():
    task = reader()
    record = look_at_judgement(task, Question(TEXT), language="en")
    assert [each.name for each in record.maps] == ["pooling", "sentences", "words"]
    words, sentences = record.map("words"), record.map("sentences")
    assert words.weights.shape == (1, 1, 3, 8)
    assert record.sides["sentences"].tokens == ("1 A b c .", "2 D e !", "3 F")
    np.testing.assert_allclose(words.weights.sum(-1), 1, atol=1e-5)
    assert (words.weights[0, 0, 0, 4:] == 0).all()
    both = sentences.weights[0, 0, 0] @ words.weights[0, 0]
    np.testing.assert_allclose(both, record.map("pooling").weights[0, 0, 0], atol=1e-6)
    assert AttentionRecord.from_json(record.to_json()).to_json() == record.to_json()
    np.testing.assert_array_equal(record.levels.product, record.map("pooling").weights[0, 0, 0])
    (one,) = task.classify([TEXT], attention=True)
    np.testing.assert_allclose(record.levels.product, one.attention, atol=1e-6)
    assert record.levels.lengths == (4, 3, 1)
    with pytest.raises(BadQuestion, match="the document has no words"):
        look_at_judgement(task, Question("[]"))


def test_a_mean_weighs_all_alike_and_a_maximum_by_the_features_that_a_word_gives():
    levels = look_at_judgement(reader("mean"), Question(TEXT)).levels
    np.testing.assert_allclose(levels.sentence_weights, 1 / 3, atol=1e-6)
    wanted = [1 / n for n in levels.lengths for _ in range(n)]
    np.testing.assert_allclose(levels.word_weights, wanted, atol=1e-6)
    task = reader("max")
    levels = look_at_judgement(task, Question(TEXT)).levels
    states, taken = [], []
    network = task.model.encoder.words
    network.register_forward_hook(lambda _, __, encoded: states.append(encoded.states))
    task.classify([TEXT])
    for row, length in zip(states[0], levels.lengths, strict=True):
        winners = row[:length].argmax(0)  # of each feature
        taken += (torch.bincount(winners, minlength=length) / len(winners)).tolist()
    np.testing.assert_allclose(levels.word_weights, taken, atol=1e-6)
    assert levels.sentence_weights.sum() == pytest.approx(1, abs=1e-6)


def test_what_of_a_document_is_not_read_is_said():
    record = look_at_judgement(reader(), Question("A b c d e f . " + "G ! " * 30))
    assert record.notes[:2] == (
        "the first 20 of 31 sentences were read",
        "of one sentence only the first 4 words were read",
    )
    assert len(record.levels.lengths) == 20


def test_a_long_document_has_its_levels_without_a_map_of_all_its_words(monkeypatch):
    monkeypatch.setattr("regard.tasks.classify.document_look.MOST_CELLS", 20)
    record = look_at_judgement(reader(), Question(TEXT))
    assert [each.name for each in record.maps] == ["pooling", "sentences"]
    assert "the map of words is left out: 3 sentences × 8 words" in record.notes


def numbers_field() -> Numbers:
    field = Numbers("numbers", sequence=True, standardise=True, max_length=5, cut=True)
    field.learn([np.random.default_rng(0).normal(3, 2, (40, 2)).astype(np.float32)])
    return field


def number_field() -> Numbers:
    field = Numbers("number", size=1, standardise=True)
    field.learn(np.array([[10.0], [14.0]], np.float32))  # mean 12, deviation 2
    return field


def test_a_sequence_of_vectors_is_read_up_to_its_longest_and_looked_at_by_steps():
    field = numbers_field()
    task = Classify(enlarge(classifier(2, 3, vectors=True, hidden=6)), field, ["a", "b", "c"])
    series = [[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]]
    short, long = task.classify([series, [*series, *series]], attention=True)
    assert (short.attention.shape, long.attention.shape) == ((3,), (5,))
    record = look_at_judgement(task, Question(json.dumps(series)))
    assert record.sides["numbers"].tokens == ("1", "2", "3")
    np.testing.assert_allclose(record.maps[0].weights[0, 0, 0], short.attention, atol=1e-6)


def test_a_number_is_answered_in_its_own_unit_and_learnt_in_deviations():
    field, number = numbers_field(), number_field()
    task = Estimate(enlarge(classifier(2, 1, vectors=True, hidden=6)), field, number).double()
    values = [field.read([[1, 2], [3, 4]]), field.read([[5, 6]])]
    batch = field.collate(field.encode([{"numbers": value} for value in values]))
    batch = {name: x.double() if x.is_floating_point() else x for name, x in batch.items()}
    task.eval()
    answers = task.numbers(batch)
    outputs = task.judge_batch(batch).outputs[:, 0]
    torch.testing.assert_close(answers, 12 + 2 * outputs)
    values = [{"number": np.array([x])} for x in (16.0, 12.0)]  # 2 and 0 deviations
    wanted = number.collate(number.encode(values))["number"]
    loss = task(number=wanted, **batch)
    torch.testing.assert_close(loss.total, (outputs[0] - 2) ** 2 + outputs[1] ** 2)
    assert int(loss.tokens) == 2
    record = look_at_judgement(task.float(), Question("[[1, 2], [3, 4]]"))
    assert float(record.output) == pytest.approx(answers[0].item(), abs=1e-5)
    assert "rows: number · columns: numbers" in View((record,)).to_svg()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["task.input=document"],
            "task.input is document, but model.kind=classifier is for text or",
        ),
        (["model.kind=han"], "task.input is text, but model.kind=han is for document"),
        (["model.kind=bare-classifier", "task.output=number"], "task.output is number, but"),
        (["training.metric=mean_absolute_error"], "is measured by accuracy or macro_f1 or loss"),
        (["model.windows=[3, 0]"], "model.windows.1 is 0"),
        (["model.windows=[]"], "model.windows is"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_done(words, message):
    with pytest.raises(RecipeError, match=message.replace("[", r"\[")):
        read_recipe("cnn-mr", words)


def test_a_number_is_judged_by_its_errors():
    recipe = read_recipe("lstm-mr", ["task.output=number"])
    assert recipe.training.metric == "mean_absolute_error"
    assert "mean_absolute_error" in recipe.task.errors


def test_an_answer_in_a_terminal_has_its_probability_and_the_words_it_came_from(tmp_path):
    run = small_run("classify", tmp_path)
    examples = run.task.given(["a b c d"])
    (answer,) = run.task.predict(run.module, examples, attention=True, batch=1)
    line, words = run.task.drawn(answer).split("\n")
    assert line == run.task.line(answer) == f"{answer.answer}\t{answer.score:.4f}"
    weights = dict(zip("abcd", answer.attention[0].tolist(), strict=False))
    named = [word.split() for word in words.split("  ")]
    assert [word for word, _ in named] == sorted(weights, key=weights.__getitem__, reverse=True)
    (plain,) = run.task.predict(run.module, examples, batch=1)
    assert run.task.drawn(plain) == line


def test_an_answer_about_arrays_is_plain_in_json():
    vectors = np.array([[0.0, 1.0], [1.0, 2.0]], np.float32)
    told = json.loads(json.dumps(Answer({"series": vectors, "name": "a"}, 0.25).to_dict()))
    assert told["input"] == {"series": [[0.0, 1.0], [1.0, 2.0]], "name": "a"}
    assert Answer(vectors, 5.037164211273193).line == "5.03716421"


def test_no_file_is_opened_that_a_question_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    field = numbers_field()
    np.save("secret.npy", np.ones((2, field.size), np.float32))
    task = Classify(classifier(field.size, 2, vectors=True), field, ["down", "up"])
    with pytest.raises(ValueError, match="names a file"):
        task.classify(["secret.npy"])
    with pytest.raises(BadQuestion, match="names a file"):
        look_at_judgement(task, Question("secret.npy"))
    recipe = read_recipe("lstm-mr", ["task.input=numbers", "task.output=number"])
    judge = recipe.task.task(recipe)
    judge.fields["numbers"].load(field.to_json())
    with pytest.raises(ValueError, match="names a file"):
        judge.look_extent(Question("secret.npy"))


def test_what_cannot_be_classified_is_said_with_its_name_and_place():
    field = numbers_field()
    task = Classify(classifier(field.size, 2, vectors=True), field, ["down", "up"])
    with pytest.raises(Unanswerable) as refused:
        task.classify([[[0.0] * field.size], [[float("nan")] * field.size]])
    assert "{}" not in str(refused.value)
    assert str(refused.value).startswith("example 2: numbers: numbers that are not")
    assert refused.value.hint.startswith("it was [[nan")


def test_what_is_looked_at_is_read_as_what_is_answered(tmp_path):
    sentences, vectors = ["a b c", "d e"], [[0.1, 2.0], [1.0, 2.0]]
    document, series = document_run("label", tmp_path), series_run(tmp_path)
    for run, name, value in ((document, "document", sentences), (series, "numbers", vectors)):
        (answer,) = run.predict([{name: value}], attention=True)
        for written in ({name: value}, value):
            (record,) = look(run, json.dumps(written)).records
            assert record.output.startswith(answer.answer)
            (pooled,) = (each for each in record.maps if each.name == "pooling")
            assert pooled.weights.shape[-1] == len(answer.columns)
            assert pooled.weights[0, 0, 0] == pytest.approx(answer.attention[0].numpy(), abs=1e-5)
    (record,) = look(document, json.dumps({"document": sentences})).records
    assert record.levels.lengths == (3, 2)
    assert record.title == "a b c d e"


def test_large_numbers_of_a_small_spread_are_judged_by_what_is_answered(tmp_path):
    """The measures are those of the numbers in the file and in the answers, to the last digit."""
    run, large = series_run(tmp_path, "number"), 1.7e9
    target = run.task.target
    wanted = [large + round(100 * x) for x in np.random.default_rng(0).random(40)]
    target.learn([target.read(repr(number)) for number in wanted])
    assert target.scale.mean[0] == pytest.approx(np.mean(wanted), abs=1e-6)
    assert target.scale.deviation[0] == pytest.approx(np.std(wanted), rel=1e-9)
    series = [[[0.1 * n, 1.0], [2.0, 0.3 * n]] for n in range(40)]
    told = [json.loads(json.dumps(one.to_dict()))["answer"] for one in run.predict(series)]
    assert len(set(told)) > 30
    examples = [
        {"numbers": run.task.source.read(given), "number": target.read(repr(number))}
        for given, number in zip(series, wanted, strict=True)
    ]
    found = run.task.evaluate(run.module, "corpus", examples).measures
    apart = np.subtract(told, wanted)
    assert found["mean_absolute_error"] == pytest.approx(np.abs(apart).mean(), rel=1e-12)
    assert found["mean_squared_error"] == pytest.approx((apart**2).mean(), rel=1e-12)
    assert np.abs(apart).mean() < 5 * np.std(wanted)
    loss = run.task.tally(run.module, examples).counts[0] / 40
    assert loss == pytest.approx((apart**2).mean() / np.var(wanted), rel=1e-5)


@pytest.mark.parametrize("output", ["label", "number"])
def test_numbers_that_were_answered_about_are_in_the_answer(output, tmp_path):
    run = series_run(tmp_path, output)
    given = [[0.1, 2.0], [1.0, 2.5]]
    (told,) = (one.to_dict() for one in run.predict([given]))
    assert json.loads(json.dumps(told))["input"] == given
    long = [[float(n), 0.5] for n in range(6000)]
    (told,) = (one.to_dict() for one in run.predict([long]))
    assert told["input"] == "6,000 vectors of 2 numbers: 0 0.5 1 0.5 2 0.5 3 0.5 …"
    assert given_value(run.task.source, np.array([[1.0], [2.5]])).tolist() == [1.0, 2.5]
