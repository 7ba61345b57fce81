"""Work is estimated before it is done: what is too much is refused, and what is said to fit does fit."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from small_runs import small_run

import regard
from regard.looking.run_looker import look_at
from regard.records.question import Question
from regard.serve.estimates import Estimates
from regard.serve.http_errors import Refused
from regard.serve.request_limits import RequestLimits

TEXT = "我是一个学生他们都是大学生" * 160


@pytest.fixture(scope="module")
def run():
    return regard.load(device="cpu")


@pytest.fixture(scope="module")
def estimates(run):
    return Estimates(run, RequestLimits())


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


def test_measures_of_any_model_are_work_that_pauses(tmp_path):
    limits = RequestLimits()
    estimates = Estimates(small_run("classify", tmp_path), limits)
    question = Question("a b")
    assert estimates.looking(question) < limits.short / 16  # and is let in meanwhile
    assert estimates.looking(replace(question, explain=True)) > 16 * limits.short


def refusal(estimates, question: Question) -> str:
    with pytest.raises(Refused) as refused:
        estimates.looking(question)
    assert refused.value.status_code == 413
    return refused.value.detail


@pytest.mark.parametrize(
    ("question", "limits"),
    [
        (Question(TEXT[:2000], explain=True), RequestLimits()),
        (Question(TEXT[:2000], explain=True, target="I am a student."), RequestLimits()),
        (Question(TEXT[:2000], beam=32), RequestLimits()),
        (Question(TEXT[:300], explain=True), RequestLimits(work=1e12)),
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
    said = refusal(Estimates(run, RequestLimits(work=1e9)), Question(TEXT[:20], explain=True))
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
    look = run.task.look_extent(Question(TEXT[:length], beam=beam))
    assert seen <= estimates.looker.numbers(look)


@pytest.mark.parametrize("task", ["classify", "language", "masked"])
def test_every_kind_of_run_is_estimated(task, tmp_path):
    run = small_run(task, tmp_path)
    estimates = Estimates(run, RequestLimits())
    short, long = (Question("a b " * times) for times in (2, 20))
    assert 0 < estimates.looking(short) < estimates.looking(long)
    more = estimates.looking(replace(long, explain=True)) - estimates.looking(long)
    assert (more > 0) == (task != "masked")  # which has nothing to explain
    with pytest.raises(Refused):
        Estimates(run, RequestLimits(numbers=100)).looking(long)
