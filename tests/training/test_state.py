"""Where a run stands: its end, its patience, its best."""

from __future__ import annotations

import pytest

from regard.recipe.recipe import Schedule, Training
from regard.training.state import RunState


def test_the_end_is_the_limit_reached_first():
    training = Training(epochs=4, steps=100, minutes=2)
    assert RunState(epoch=1, batch=5, update=15).done(training, 10) == pytest.approx(1.5 / 4)
    assert RunState(update=90).done(training, 10) == pytest.approx(0.9)
    assert RunState(seconds=120.0).done(training, 10) == 1
    assert RunState(update=10**6).done(Training(), 10) == 0  # no end but patience


def test_an_epoch_ends_with_its_last_batches_however_few():
    state = RunState()
    for _ in range(3):
        state.advance(2, in_epoch=5)
    assert (state.epoch, state.batch, state.update) == (1, 0, 3)


def test_patience_counts_validations_since_the_best():
    training, state = Training(patience=2, keep=2), RunState()
    better = []
    for update, value in enumerate([1.0, 3.0, 2.0, 3.0, 2.5], start=1):
        state.update = update
        better.append(state.note((value, -2.0), training))
        assert state.end(training, 10) == ("training.patience=2" if update >= 4 else None)
    assert better == [True, True, False, False, False]  # an equal one is not better
    assert state.best == [(3.0, -2.0, 2), (3.0, -2.0, 4)]  # of equals the earlier first


def test_of_equal_values_the_lower_loss_is_better():
    training = Training(patience=2, keep=2, schedule=Schedule(kind="plateau", patience=0))
    state, better = RunState(), []
    for update, loss in enumerate([5.0, 4.0, 3.0, 3.5, 2.0], start=1):
        state.update = update
        better.append(state.note((0.0, -loss), training))
    assert better == [True, True, True, False, True]
    assert (state.best_updates, state.stale, state.reductions) == ([5, 3], 0, 1)
    state.update = 6
    assert state.note((0.1, -9.0), training)  # the value comes first
    assert state.best_updates == [6, 5]


def test_the_limit_that_ended_a_run_is_named():
    training = Training(epochs=4, steps=100, minutes=2)
    assert RunState(epoch=4, update=40).end(training, 10) == "training.epochs=4"
    assert RunState(update=100).end(training, 10) == "training.steps=100"
    assert RunState(seconds=120.0).end(training, 10) == "training.minutes=2"
    assert RunState(epoch=3, batch=9, update=99, seconds=119.0).end(training, 10) is None


def test_a_plateau_reduces_after_more_than_its_patience_and_counts_anew():
    training = Training(schedule=Schedule(kind="plateau", patience=1))
    state, reductions = RunState(), []
    for value in [5.0, 4.0, 4.0, 4.0, 4.0, 6.0, 4.0, 4.0]:
        state.note((value, -2.0), training)
        reductions.append(state.reductions)
    assert reductions == [0, 0, 1, 1, 2, 2, 2, 3]


def test_a_state_comes_back_from_its_tree():
    training = Training(keep=2)
    state = RunState(epoch=2, update=3, loss=0.25)
    state.note((1.5, -4.0), training)
    again = RunState.from_tree(state.to_tree())
    assert again == state
    again.update = 4
    assert not again.note((1.5, -4.5), training)
    assert again.best_updates == [3, 4]
