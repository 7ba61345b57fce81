"""The command: quick to ask, plain about mistakes, and a tour that shows what it says."""

import os
import re
import subprocess
import sys

import pytest

from regard import cli

COMMAND = [sys.executable, "-c", "from regard.cli import main; main()"]


def regard(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "REGARD_DEBUG")}
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        env=plain | {"NO_COLOR": "1", "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"} | environment,
    )


@pytest.fixture(scope="module")
def tour() -> str:
    done = regard("demo")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_asking_for_help_does_not_wait_for_torch():
    code = (
        "import sys; from regard.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('torch', 'numba', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "demo" in done.stdout
    assert done.stdout.rstrip().endswith("[]")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_lists_the_commands(arguments):
    done = regard(*arguments)
    assert done.returncode == 0
    assert "Usage: regard" in done.stdout
    assert "demo" in done.stdout


def test_version():
    import regard as package

    done = regard("--version")
    assert (done.returncode, done.stdout) == (0, f"regard {package.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dmeo"], "Did you mean 'demo'?"),
        (["--versoin"], "--version"),
        (["demo", "--colour"], "no such option: --colour"),
        (["demo", "extra"], "extra"),
    ],
)
def test_a_mistake_is_two_lines_and_status_2(arguments, said):
    done = regard(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert said in error
    assert hint.startswith("hint: regard")
    assert "--help" in hint


def failing(error: BaseException):
    def app(*_, **__):
        raise error

    return app


def test_a_failure_is_two_lines_and_status_1(monkeypatch, capsys):
    monkeypatch.delenv("REGARD_DEBUG", raising=False)
    monkeypatch.setattr(cli, "app", failing(ValueError("the mask must\n  be bool")))
    with pytest.raises(SystemExit) as stopped:
        cli.main(["demo"])
    assert stopped.value.code == 1
    error, hint = capsys.readouterr().err.splitlines()
    assert error == "error: the mask must be bool"
    assert hint.startswith("hint: REGARD_DEBUG=1")


def test_debugging_shows_the_traceback(monkeypatch):
    monkeypatch.setenv("REGARD_DEBUG", "1")
    monkeypatch.setattr(cli, "app", failing(ValueError("the mask must be bool")))
    with pytest.raises(ValueError, match="the mask must be bool"):
        cli.main(["demo"])


def test_an_interruption_is_quiet(monkeypatch, capsys):
    monkeypatch.setattr("regard.view.tour.tour", failing(KeyboardInterrupt()))
    with pytest.raises(SystemExit) as stopped:
        cli.main(["demo"])
    assert stopped.value.code == 130
    assert capsys.readouterr().err == ""


def test_a_reader_may_stop_early():
    pipe = subprocess.Popen(
        [*COMMAND, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert pipe.stdout is not None
    assert pipe.stderr is not None
    pipe.stdout.readline()
    pipe.stdout.close()
    assert pipe.stderr.read() == ""
    pipe.stderr.close()
    pipe.wait()


def test_a_terminal_without_utf8_still_gets_the_tour():
    done = regard("demo", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "student" in done.stdout


def picture(tour: str, title: str) -> list[list[float]]:
    """The numbers under a title, which may share its line with those of the maps beside it."""
    lines = tour.splitlines()
    top = next(i for i, line in enumerate(lines) if re.search(rf"(^| ){title}: ", line))
    titles = re.findall(r"(\w+): ", lines[top])
    rows = []
    for line in lines[top + 2 :]:
        numbers = [number(word) for word in line.split() if word[0] in "·░▒▓█"]
        if not numbers:
            break
        keys = len(numbers) // len(titles)
        start = keys * titles.index(title)
        rows.append(numbers[start : start + keys])
    return rows


def number(word: str) -> float:
    text = word.lstrip("░▒▓█")
    return {"·": 0.0, "<.01": 0.001, ">.99": 0.999}.get(text) or float(text.replace("·", "0"))


@pytest.mark.parametrize("title", ["soft", "warm", "hard", "additive"])
def test_every_cross_attention_of_the_tour_shows_the_alignment(tour, title):
    rows = picture(tour, title)
    assert [row.index(max(row)) for row in rows] == [0, 1, 2, 3]
    assert all(len(row) == 4 for row in rows)
    assert all(sum(row) == pytest.approx(1, abs=0.025) for row in rows)


def test_the_tour_speaks_both_languages(tour):
    for word in ("我", "是", "一个", "学生", "I ", "am ", "a ", "student "):
        assert word in tour


def test_the_regions_of_the_tour_forbid_what_they_say(tour):
    everywhere, causal, near = (picture(tour, n) for n in ("everywhere", "causal", "near"))
    for i in range(6):
        for j in range(6):
            assert everywhere[i][j] > 0
            assert (causal[i][j] > 0) == (j <= i)
            assert (near[i][j] > 0) == (abs(i - j) <= 1)
    cat, walks, street = 1, 2, 5
    others = (0, 3, 4, street)
    assert all(everywhere[cat][walks] > everywhere[cat][other] for other in others)
    assert everywhere[walks][street] > everywhere[walks][0]


def test_the_tour_explains_itself_and_fits_its_terminal(tour):
    from regard.view.cells import width

    assert "additive: torch gives the scores" in tour
    assert max(map(width, tour.splitlines())) <= 80


def test_what_the_tour_shows_can_be_pasted():
    """The shown lines, run as one script, give the map that the tour draws."""
    from regard.view import heat_map
    from regard.view import tour as steps

    names: dict = {}
    for code in (steps.SETTING, steps.SELF, steps.CROSS, steps.ADDITIVE):
        exec(code, names)
    drawn = heat_map(names["soft"], steps.english, steps.chinese, colour=False, width=80)
    shown = "\n".join(steps.tour(width=80))
    assert all(line.rstrip() in shown for line in drawn.splitlines())
