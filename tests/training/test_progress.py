"""What is said while a run goes on."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from regard.clock import clock, rough
from regard.training import progress_display as progress
from regard.training.progress_display import Bar, ProgressLines, Sight, make_reporter
from regard.words import speaking

PAGE = Path(__file__).parents[1] / "view" / "page"
ROUGH = json.loads((PAGE / "rough_times.json").read_text("utf-8"))


@pytest.fixture
def time(monkeypatch):
    """A clock that is set by hand."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_speed_loss_and_time_left_come_from_the_updates(time):
    sight = Sight()
    for step in range(11):
        time[0] = 100.0 + step
        sight.see(step, 0, 0.2 + step * 0.02, loss=60.0, tokens=30)
    assert sight.loss == 2.0
    assert sight.speed == pytest.approx(30)
    assert sight.left == pytest.approx(30)  # 0.2 in 10 seconds, 0.6 are left
    assert sight.words() == "epoch 1, step 10: loss 2.000, 30 tokens/s, 30 s left"


def test_a_validation_between_updates_does_not_count_as_slow_training(time):
    sight = Sight()
    for step in range(20):
        time[0] += 500.0 if step == 10 else 1.0
        sight.see(step, 0, 0.0, 60.0, 30)
    assert sight.speed == pytest.approx(30 * 19 / 18)


def test_where_there_is_no_terminal_lines_come_now_and_then(time, capsys):
    lines = ProgressLines()
    for step in range(70):
        time[0] += 1.0
        lines.see(step, 0, step / 100, 1.0, 1)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 2
    assert "\x1b" not in said.err
    assert "step 29" in said.err


def test_the_reporter_writes_lines_to_a_pipe_and_all_words_to_the_log(tmp_path, capsys):
    for quiet in (False, True):
        reporter = make_reporter(tmp_path / "train.log", quiet=quiet)
        reporter.say("学 50 %")
        reporter.close()
        assert capsys.readouterr().err == ("" if quiet else "学 50 %\n")
    assert (tmp_path / "train.log").read_text("utf-8").count("学 50 %") == 2


def test_a_warning_is_for_those_too_who_want_no_progress(tmp_path, capsys):
    make_reporter(tmp_path / "train.log", quiet=True).warn("a checkpoint is lost")
    assert capsys.readouterr().err == "warning: a checkpoint is lost\n"
    assert (tmp_path / "train.log").read_text("utf-8").endswith("warning: a checkpoint is lost\n")


def test_a_terminal_has_a_bar(time):
    screen = io.StringIO()
    bar = Bar(Console(file=screen, force_terminal=True, width=120))
    bar.see(1, 0, 0.0, 2.0, 1)
    time[0] += 10
    bar.see(2, 0, 0.5, 2.0, 1)
    bar.say("[validated]")
    bar.close()
    assert "━" in screen.getvalue()
    assert "step 2: loss 2.000" in screen.getvalue()
    assert "[validated]" in screen.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.4, "4 s"), (59.6, "1:00"), (725, "12:05"), (11220, "3:07:00")]
)
def test_times_are_read_at_a_glance(seconds, text):
    assert clock(seconds) == text


def test_a_guess_is_rough_and_worded_alike_on_the_page():
    assert {seconds: rough(float(seconds)) for seconds in ROUGH} == ROUGH
    with speaking("zh"):
        assert (rough(838), rough(5), rough(11220)) == ("14 分钟", "5 秒", "3 小时 7 分钟")
