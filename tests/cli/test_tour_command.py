"""The tour shows what it says."""

from __future__ import annotations

import re

import pytest
from processes import in_a_process


@pytest.fixture(scope="module")
def tour() -> str:
    done = in_a_process("tour")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


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
    from regard.view.terminal_cells import width

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
