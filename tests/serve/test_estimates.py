"""Work is estimated before it is done: what is too much is refused, and what is said to fit does fit."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

import regard
from regard.data.tokenizer import Tokenizer
from regard.looking.look import look_at
from regard.looking.question import Question
from regard.models.transformer_models import classifier, language_model, masked_language_model
from regard.serve.estimates import Estimates
from regard.serve.http_errors import Refused
from regard.serve.limits import Limits
from regard.tasks.classify import Classify
from regard.tasks.language import Language
from regard.tasks.masked import Masked

TEXT = "我是一个学生他们都是大学生" * 160


@pytest.fixture(scope="module")
def run():
    return regard.load(device="cpu")


@pytest.fixture(scope="module")
def estimates(run):
    return Estimates(run, Limits())


def test_more_of_anything_is_more_work(estimates):
    question = Question(TEXT[:50], beam=2)
    more = [
        replace(question, text=TEXT[:60]),
        replace(question, beam=3),
        replace(question, explain=True),
        replace(question, nbest=3, beam=None),
    ]
    assert all(estimates.looking(each) > estimates.looking(question) for each in more)
    assert estimates.translating(["你好"] * 2, 3) == 2 * estimates.translating(["你好"], 3)
    assert estimates.translating(["你好"], 4) > estimates.translating(["你好"], 3)
    assert estimates.scoring(["你好"], ["Hello."]) < estimates.translating(["你好"], 3)


def refusal(estimates, question: Question) -> str:
    with pytest.raises(Refused) as refused:
        estimates.looking(question)
    assert refused.value.status_code == 413
    return refused.value.detail


@pytest.mark.parametrize(
    ("question", "limits"),
    [
        (Question(TEXT[:2000], explain=True), Limits()),
        (Question(TEXT[:2000], explain=True, target="I am a student."), Limits()),
        (Question(TEXT[:2000], beam=32), Limits()),
        (Question(TEXT[:300], explain=True), Limits(work=1e12)),
    ],
)
def test_what_is_said_to_fit_fits_and_much_more_does_not(run, question, limits):
    estimates = Estimates(run, limits)
    said = refusal(estimates, question)
    fits = int(re.search(r"([\d,]+) tokens fit", said)[1].replace(",", ""))
    assert 1 < fits < len(question.text)
    assert estimates.looking(replace(question, text=TEXT[:fits])) <= limits.work
    refusal(estimates, replace(question, text=TEXT[: int(1.05 * fits) + 2]))


def test_where_no_text_is_short_enough_that_is_said(run):
    said = refusal(Estimates(run, Limits(work=1e9)), Question(TEXT[:20], explain=True))
    assert "no text is short enough" in said
    assert "leave out explain" in said


def test_too_many_texts_with_too_wide_a_beam(estimates):
    with pytest.raises(Refused, match="send less text, or a narrower beam") as refused:
        estimates.translating([TEXT[:2000]] * 25, 32)
    assert refused.value.status_code == 413
    estimates.translating([TEXT[:200]] * 250, 5)  # as many characters


@pytest.mark.parametrize("length", [1, 20, 100])
@pytest.mark.parametrize("beam", [1, 6])
def test_a_record_has_no_more_weights_than_were_estimated(run, estimates, length, beam):
    record = look_at(run, Question(TEXT[:length], beam=beam))
    tree = 0 if record.beam is None else record.beam.weights.size
    seen = tree + sum(each.weights.size for each in record.maps)
    look = estimates._look(Question(TEXT[:length], beam=beam))
    assert seen <= estimates._numbers(look)


def other_run(task: str):
    """A small run that does not translate."""
    words = Tokenizer.train(["a b c d"], kind="word", mask=task == "masked")
    size, shape = len(words), {"size": 8, "heads": 2, "inner": 8}
    if task == "classify":
        labels = Tokenizer.of_labels(["no", "yes"])
        module = Classify(classifier(size, len(labels), **shape, layers=1), words, labels)
    elif task == "language":
        module = Language(language_model(size, **shape, layers=1), words)
    else:
        module = Masked(masked_language_model(size, **shape, layers=1), words)
    search = SimpleNamespace(beam=5, length_penalty=1.0, coverage_penalty=0.0, max_length=100)
    recipe = SimpleNamespace(task=SimpleNamespace(kind=task), search=search)
    tokenizers = module.source_tokenizer, module.target_tokenizer
    return SimpleNamespace(model=module.model, module=module, recipe=recipe, tokenizers=tokenizers)


@pytest.mark.parametrize("task", ["classify", "language", "masked"])
def test_every_kind_of_run_is_estimated(task):
    estimates = Estimates(other_run(task), Limits())
    short, long = (Question("a b " * times) for times in (2, 20))
    assert 0 < estimates.looking(short) < estimates.looking(long)
    more = estimates.looking(replace(long, explain=True)) - estimates.looking(long)
    assert (more > 0) == (task == "classify")  # the others have nothing to explain
    with pytest.raises(Refused):
        Estimates(other_run(task), Limits(numbers=100)).looking(long)
