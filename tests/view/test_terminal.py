"""A heat map is aligned in any script, readable in any terminal, and does not lie about a number."""

import io
import math
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from regard.view import beside, colours, heat_map, terminal_cells
from regard.view.terminal import number
from regard.view.terminal_cells import characters, fold, visible, width

ENGLISH, CHINESE = ["I", "am", "a", "student"], ["我", "是", "一个", "学生"]


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch):
    for name in ("FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


def drawn(rows, queries=None, keys=None, **options):
    queries = queries or [f"q{i}" for i in range(len(rows))]
    keys = keys or [f"k{j}" for j in range(len(rows[0]))]
    return heat_map(rows, queries, keys, **options)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


SCRIPTS = "the 学生 e\u0301te\u0301 שלום سلام 👩\u200d🚀 ▁of 인공지능 नमस्ते internationalisation"
ODDITIES = ["", " ", "\n", "かたかな" * 6, "\x1b[31mred", "\u202eoverride"]
labels = st.lists(st.sampled_from([*SCRIPTS.split(), *ODDITIES]), min_size=1, max_size=7)


@given(labels, labels, st.booleans(), st.integers(20, 130))
def test_every_line_is_equally_wide_in_any_script(queries, keys, colour, cells):
    weights = torch.rand(len(queries), len(keys)).softmax(-1)
    text = heat_map(weights, queries, keys, title="学 title", colour=colour, width=cells)
    widths = {width(line) for line in text.split("\n")}
    assert len(widths) == 1
    assert widths.pop() <= cells


def test_a_chinese_key_stands_over_its_column():
    header, *rows = drawn(torch.eye(4).tolist(), ENGLISH, CHINESE, width=80).split("\n")
    for at, key in enumerate(CHINESE):
        before, _, after = rows[at].partition("██1.00")
        cells = range(cell_len(before), cell_len(rows[at]) - cell_len(after))
        start = cell_len(header[: header.index(key)])
        assert start in cells
        assert start + cell_len(key) - 1 in cells


def test_labels_cannot_write_to_the_terminal():
    text = drawn([[1.0]], ["\x1b[2J"], ["a\tb\nc"], colour=False)
    assert "\x1b" not in text
    assert "\\x1b[2J" in text
    assert "a\\tb\\nc" in text
    assert [visible(text) for text in ("", " ", "\n", "  ")] == ["∅", "␣", "↵", "␣␣"]


def test_right_to_left_labels_do_not_reorder_the_columns():
    header, row = drawn([[0.4, 0.6]], ["a"], ["שלום", "עולם"]).split("\n")
    assert header.count("\u2068") == header.count("\u2069") == 2
    assert header.index("שלום") < header.index("עולם")
    assert "\u2068" not in row


def test_of_a_very_long_text_only_the_beginning_is_measured(monkeypatch):
    measured = []
    cells = terminal_cells.cell_len
    monkeypatch.setattr(terminal_cells, "cell_len", lambda c: measured.append(c) or cells(c))
    assert fold("学" * 100_000, 9, 2) == ["学学学学", "学学学学…"]
    assert len(measured) < 100


def test_folding_keeps_accents_and_joined_characters():
    assert list(characters("e\u0301a👩\u200d🚀")) == ["e\u0301", "a", "👩\u200d🚀"]
    assert fold("e\u0301" * 5, 2, lines=3) == ["e\u0301" * 2, "e\u0301" * 2, "e\u0301"]
    assert fold("学生学生", 5, lines=1) == ["学生…"]


@pytest.mark.parametrize("colour", [False, True])
def test_a_matrix_wider_than_the_terminal_says_what_is_missing(colour):
    keys = 40
    text = drawn(torch.full((2, keys), 1 / keys).tolist(), colour=colour, width=60)
    lines = plain(text).split("\n")
    shown = len(re.findall(r"k\d+", text))
    assert 5 < shown < keys
    assert lines[-1].strip() == f"… {keys - shown} more keys"
    assert all(line.rstrip().endswith("…") for line in lines[:-1])
    assert lines[1].count("0.03") == shown
    assert "more" not in drawn(torch.full((2, 3), 1 / 3).tolist(), colour=colour, width=60)


def test_where_not_all_keys_fit_the_heaviest_are_shown_in_their_order():
    rows = [[0.01] * 10 + [0.3, 0.1, 0.3, 0.2], [0.0] * 12 + [0.0, 1.0]]
    header, row, *_ = drawn(rows, width=40).split("\n")
    shown = re.findall(r"k\d+", header)
    assert shown[-4:] == ["k10", "k11", "k12", "k13"]
    assert len(shown) == 5
    assert shown[0] == "k0"  # of equals the first
    assert re.findall(r"0\.\d+", row) == ["0.01", "0.30", "0.10", "0.30", "0.20"]
    assert "0.50" in drawn([[0.1, float("nan"), 0.5] * 8], width=30)


def test_one_key_too_many_is_one_key():
    rows = torch.full((1, 8), 1 / 8).tolist()
    fits = next(n for n in range(20, 100) if "more" not in drawn(rows, width=n))
    assert "… 1 more key " in drawn(rows, width=fits - 1) + " "


def test_long_labels_are_folded_above_their_column():
    lines = drawn(torch.eye(3).tolist(), keys=["abcdefghijkl", "b", "c"], width=26).split("\n")
    assert len(lines) == 3 + 2  # two lines of labels
    assert "abcdef" in lines[0]
    assert "ghijkl" in lines[1]
    assert lines[1].split()[-2:] == ["b", "c"]  # short labels stay beside their column


@pytest.mark.parametrize(
    ("weight", "shown"),
    [
        (0.0, "·"), (-0.0, "·"), (1e-9, "<.01"), (0.005, "0.01"), (0.37, "0.37"), (0.999, ">.99"),
        (1.0, "1.00"), (1 + 1e-7, "1.00"), (1 - 1e-7, "1.00"), (math.nan, "NaN"), (math.inf, "inf"),
        (-math.inf, "-inf"), (-2.5, "-2.50"), (-1e-9, "≈0"), (12345.0, "1e+04"),
    ],
)  # fmt: skip
def test_numbers_do_not_lie(weight, shown):
    assert number(weight) == shown
    assert shown in plain(drawn([[weight, 0.5]]))
    assert shown in plain(drawn([[weight, 0.5]], colour=True))


def test_nothing_and_hardly_anything_look_different():
    zero, small = drawn([[0.0, 1.0]]), drawn([[1e-6, 1.0]])
    assert "·" in zero
    assert "░" not in zero
    assert "·" not in small
    assert "░░<.01" in small
    zero, small = drawn([[0.0, 1.0]], colour=True), drawn([[1e-6, 1.0]], colour=True)
    assert zero.count("\x1b[48;") == 1  # only the 1 is painted
    assert small.count("\x1b[48;") == 2


def test_weights_outside_0_to_1_are_scaled_and_said_so():
    usual = drawn([[0.2, 0.8]])
    raw = drawn([[-4.0, 2.0]])
    assert "shades" not in usual
    assert "full at 4.00" in raw
    assert "██-4.00" in raw
    assert "▓▓2.00" in raw.replace(" ", "")
    assert "orange" in drawn([[-4.0, 2.0]], colour=True)
    assert "shades" not in drawn([[1 + 1e-6, 0.0]])  # a softmax may round up


def test_shades_follow_the_weights():
    row = drawn([[0.1, 0.3, 0.6, 0.9]]).split("\n")[1]
    assert re.findall("░░|▒▒|▓▓|██", row) == ["░░", "▒▒", "▓▓", "██"]


@pytest.mark.parametrize("bits", [8, 24])
@pytest.mark.parametrize("ramp", [colours.VIRIDIS, colours.PURPLES, colours.ORANGES])
def test_colours_change_one_way_with_the_weight_and_stay_readable(ramp, bits):
    shades = [colours.shade(ramp, i / 50, bits) for i in range(51)]
    light = [colours.contrast((0, 0, 0), shade) for shade in shades]
    assert light in (sorted(light), sorted(light, reverse=True))
    assert len(set(shades)) >= len(ramp.full.split())
    assert all(readable(colours.paint("0.50", shade, bits)) for shade in shades)


def readable(painted: str) -> bool:
    """The contrast of ink and ground, read back from the escape codes."""
    code = [int(n) for n in re.findall(r"\x1b\[([0-9;]*)m", painted)[0].split(";")]
    if code[1] == 2:
        ground, ink = tuple(code[2:5]), code[7]
    else:
        levels = (0, 95, 135, 175, 215, 255)
        n = code[2] - 16
        ground, ink = (levels[n // 36], levels[n // 6 % 6], levels[n % 6]), code[5]
    return colours.contrast({16: (0, 0, 0), 231: (255, 255, 255)}[ink], ground) >= 4.5


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "tty", "bits"),
    [
        ({"TERM": "xterm-256color"}, True, 8),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, True, 24),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, False, 0),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, True, 0),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, True, 8),
        ({"TERM": "dumb"}, True, 0),
        ({"TERM": "xterm"}, True, 0),
        ({"FORCE_COLOR": "1"}, False, 8),
        ({"FORCE_COLOR": "1", "COLORTERM": "truecolor"}, False, 24),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, 0),
        ({"FORCE_COLOR": "0", "TERM": "xterm-256color"}, True, 0),
    ],
)
def test_colour_is_used_where_it_is_wanted(monkeypatch, environment, tty, bits):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = Terminal() if tty else io.StringIO()
    assert colours.colour_bits(stream) == bits
    monkeypatch.setattr("sys.stdout", stream)
    assert ("\x1b[" in drawn([[0.5, 0.5]])) == (bits > 0)


def test_tensors_and_lists_draw_the_same():
    rows = [[0.25, 0.75], [1.0, 0.0]]
    assert drawn(rows) == heat_map(torch.tensor(rows), ["q0", "q1"], ["k0", "k1"])
    assert drawn(rows) == heat_map(
        torch.tensor(rows, dtype=torch.bfloat16, requires_grad=True), ["q0", "q1"], ["k0", "k1"]
    )


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match=r"given \(2, 3, 4\).*weights\[0\]"):
        heat_map(torch.rand(2, 3, 4), list("abc"), list("wxyz"))
    with pytest.raises(ValueError, match=r"3 × 4.*labels for 3 queries and 5 keys"):
        heat_map(torch.rand(3, 4), list("abc"), list("vwxyz"))
    with pytest.raises(ValueError, match="labels for 2 queries"):
        heat_map([[1.0]], ["a", "b"], ["k"])


def test_no_queries_or_no_keys_is_a_picture_too():
    assert heat_map(torch.rand(0, 2), [], ["a", "b"]).split() == ["a", "b"]
    assert heat_map(torch.rand(2, 0), ["a", "b"], []).split() == ["a", "b"]


def test_pictures_stand_side_by_side_as_long_as_there_is_room():
    one = drawn([[0.5, 0.5]], title="one")
    two = drawn([[0.5, 0.5], [1.0, 0.0]], title="two")
    wide = beside(one, two, width=80).split("\n")
    assert len(wide) == 4
    assert "one" in wide[0]
    assert "two" in wide[0]
    assert len({width(line) for line in wide}) == 1
    assert beside(one, two, width=30) == f"{one}\n\n{two}"
    exactly = width(one.split("\n")[0]) + 4 + width(two.split("\n")[0])
    assert "\n\n" not in beside(one, two, width=exactly)
    assert "\n\n" in beside(one, two, width=exactly - 1)
