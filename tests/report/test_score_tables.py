"""Every score has its interval, every search its name, and BLEU its parts."""

import json

import pytest

from regard.measures import bleu
from regard.measures.translation_measures import CorpusBleu
from regard.report.run_evaluation import evaluate
from regard.report.run_report import make_report
from regard.report.score_tables import scores_section
from regard.runs.loaded_run import load

HYPOTHESES = ["the cat sat on the mat", "a dog", "it was a cold day in May"]
REFERENCES = ["the cat sat on a mat today", "a dog barks", "it was a warm day in May"]


@pytest.fixture(scope="module")
def translated(trained):
    run = load(trained)
    return run, evaluate(run)


@pytest.fixture(scope="module")
def labelled(attending):
    run = load(attending / "dot-1")
    return run, evaluate(run)


def test_all_measures_of_answers_have_an_interval_around_them(labelled):
    _, one = labelled
    assert set(one.intervals) == {"accuracy", "macro_f1"}
    for name, (low, high) in one.intervals.items():
        assert 0 <= low <= one.measures[name] <= high <= 1


def test_likelihoods_have_intervals_too(translated):
    _, one = translated
    assert {"bleu", "chrf", "perplexity", "loss"} <= set(one.intervals)
    low, high = one.intervals["loss"]
    assert low < one.loss < high


def test_intervals_are_in_the_file_and_in_json(trained, translated):
    _, one = translated
    written = json.loads((trained / "scores.json").read_text())["test"]
    assert written["intervals"] == {name: list(ends) for name, ends in one.intervals.items()}
    assert written["beam"] == 2
    assert written == {**json.loads(json.dumps(one.to_dict())), "seconds": written["seconds"]}


def test_what_is_counted_is_not_counted_twice(translated):
    run, one = translated
    judged = run.task.judge(run.module, one.examples)
    assert [m.name for m, _ in judged.counts] == [m.name for m, _ in one.items.counts]
    for (_, fresh), (_, kept) in zip(judged.counts, one.items.counts, strict=True):
        assert fresh == pytest.approx(kept)


def test_the_beam_is_part_of_the_name(translated):
    run, one = translated
    part = run.task.report(run.module, {"test": one}, run.folder.path)
    assert [score.name for score in part.scores] == ["BLEU, beam 2", "chrF, beam 2"]
    assert "beam 2" in part.verdict
    assert "beam 2" in one.told
    page = scores_section({"test": one})
    assert "BLEU, beam 2" in page
    assert "perplexity, beam" not in page  # nothing is searched for there


def test_classifiers_have_no_beam_and_no_bleu(labelled):
    run, one = labelled
    page = str(scores_section({"test": one}))
    assert "beam" not in page
    assert "BLEU" not in page
    assert "always answering" in page
    assert "macro-F1, %" in page
    assert "[" in page
    shown = make_report(run, {"test": one}).scores
    assert all(score.interval for score in shown)
    assert 0 <= shown[0].interval[0] <= shown[0].value <= shown[0].interval[1] <= 100


def test_bleu_is_made_of_what_sacrebleu_says():
    whole, measure = bleu(HYPOTHESES, REFERENCES), CorpusBleu()
    parts = measure.parts(measure.counts(REFERENCES, HYPOTHESES).sum(0))
    assert parts.precisions == pytest.approx(whole.precisions)
    assert parts.brevity == pytest.approx(whole.brevity)
    assert parts.length_ratio == pytest.approx(whole.length_ratio)


def test_the_parts_of_bleu_are_in_the_report(translated):
    _, one = translated
    page = str(scores_section({"dev": one, "test": one}))
    assert "brevity penalty" in page
    for precision in one.bleu.precisions:
        assert f"<td>{precision:.1f}</td>" in page


def test_a_page_without_an_evaluation_has_no_scores():
    assert scores_section({}) == ""


def test_the_baseline_is_in_the_file_as_it_is_printed(attending, labelled):
    _, one = labelled
    written = json.loads((attending / "dot-1" / "scores.json").read_text())["test"]["baseline"]
    wanted = [example["label"] for example in one.examples]
    most = max(set(wanted), key=wanted.count)
    assert written["answer"] == most
    assert written["accuracy"] == pytest.approx(wanted.count(most) / len(wanted))
    assert f"{100 * written['accuracy']:.2f} %" in one.beside
    assert one.to_dict()["baseline"] == written


def test_translations_have_no_baseline(translated):
    assert "baseline" not in translated[1].to_dict()
