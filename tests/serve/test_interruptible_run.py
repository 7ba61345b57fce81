"""A run that pauses does what the run does, and neither of the two notices the other."""

from __future__ import annotations

import pytest

import regard
from regard.looking.run_looker import look_at
from regard.records.question import Force, Question
from regard.serve.interruptible_run import Cancelled, interruptible

TEXT = "我是一个学生。"


@pytest.fixture(scope="module")
def run():
    return regard.load(device="cpu")


def test_others_may_work_in_every_pause_and_all_answers_are_the_same(run):
    forced = Question(TEXT, force=Force(1, (5,)), nbest=2)
    look, (other,) = look_at(run, forced).to_json(), run.translate(["猫抓住了老鼠。"])
    free = look_at(run, Question(TEXT, nbest=2))
    assert free.map("cross").weights[0, 0, 1, 5] < 0.9  # where it does not look of its own accord
    meanwhile = []

    def pause() -> None:
        if len(meanwhile) < 20:
            meanwhile.append(run.translate(["猫抓住了老鼠。"])[0])

    assert look_at(interruptible(run, pause), forced).to_json() == look
    assert len(meanwhile) == 20
    assert all(one.log_probs == other.log_probs for one in meanwhile)


def test_weights_are_shared_and_hooks_are_not(run):
    twin = interruptible(run, lambda: None)
    assert all(a is b for a, b in zip(twin.model.parameters(), run.model.parameters(), strict=True))
    assert twin.tokenizers == run.tokenizers
    assert not any(part._forward_pre_hooks for part in run.module.modules())


@pytest.mark.parametrize("explain", [False, True])
def test_a_look_ends_at_any_pause(run, explain):
    for pauses in (0, 3, 40):
        left = pauses

        def pause() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Cancelled

        with pytest.raises(Cancelled):
            look_at(interruptible(run, pause), Question(TEXT, explain=explain))
