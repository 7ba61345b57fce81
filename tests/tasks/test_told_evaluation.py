"""What an evaluation says that it was made on, and how."""

from __future__ import annotations

import re
from types import SimpleNamespace

from regard.report.learning_curves import learning_table
from regard.tasks.evaluation import measures_in_words, set_name
from regard.tasks.likelihood_task import LikelihoodEvaluation
from regard.words import say_plural, speaking

TASK = SimpleNamespace(scored="words", called=lambda n: say_plural(n, "pair", "pairs"))


def evaluation() -> LikelihoodEvaluation:
    measured = ("own/zh.tsv@test", [None] * 33, ["…"] * 33, (221.0, 221.0, 100.0), 1.0, {}, 4.0)
    return LikelihoodEvaluation(TASK, *measured, beam=5)


def test_how_it_was_answered_is_said_behind_what_was_measured_on():
    english = "221 words in 33 pairs of own/zh.tsv@test, answered with beam 5 in 4 s"
    assert evaluation().told == english
    with speaking("zh"):
        assert (
            evaluation().told
            == "own/zh.tsv@test 的 33 个句对中的 221 个词，以束宽 5 回答，用时 4 s"
        )


def test_measures_have_one_unit_and_one_mark_between_them():
    found = {"accuracy": 0.5024, "tag_accuracy": 0.6352, "map": 0.25}
    shares = {"accuracy", "tag_accuracy"}
    assert measures_in_words(found, shares) == "accuracy 50.24 %, tag accuracy 63.52 %, MAP 0.25"
    with speaking("zh"):
        assert measures_in_words(found, shares) == "准确率 50.24 %、词性准确率 63.52 %、MAP 0.25"
        assert set_name("dev") == "验证集"
    curves = [{"step": 1.0, "dev_map": 0.25, "dev_rouge1": 0.5289, "dev_accuracy": 0.5}]
    heads = re.findall(r"<th scope=\"col\">(.*?)</th>", str(learning_table(curves)))
    assert heads[1:] == ["dev MAP", "dev ROUGE-1, %", "dev Accuracy, %"]
    assert "52.89" in str(learning_table(curves))
