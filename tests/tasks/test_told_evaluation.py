"""What an evaluation says that it was made on, and how."""

from __future__ import annotations

from types import SimpleNamespace

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
