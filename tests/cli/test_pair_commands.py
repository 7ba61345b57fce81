"""`regard score` and `regard align`: one answer for every pair of lines."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def files(tmp_path):
    def files(source: str, target: str) -> list[str]:
        (tmp_path / "a.src").write_text(source, encoding="utf-8")
        (tmp_path / "a.tgt").write_text(target, encoding="utf-8")
        return [str(tmp_path / "a.src"), str(tmp_path / "a.tgt")]

    return files


def test_a_score_for_every_line(run, reverser, files):
    assert run("score", *files("a\n\nc d\n", "x\n\ny z")).out == "-1.0000\n-0.0000\n-2.0000\n"
    assert run("score", stdin=b"a\tx y\n\nb\tz\n").out == "-2.0000\n-0.0000\n-1.0000\n"
    record = json.loads(run("score", "--json", stdin=b"a\tx y\n").out)
    assert (record["text"], record["log_probs"]) == ("x y", [-2.0, -2.0])


def test_files_that_do_not_match_are_refused(run, reverser, files):
    for command in ("score", "align"):
        done = run(command, *files("a\nb\n", "x\n"))
        assert (done.status, done.out) == (2, "")
        error, hint = done.err.splitlines()
        assert "a.tgt has no line 2, but" in error
        assert error.endswith("a.src has one")
        assert "the same line of TARGET" in hint


def test_a_line_with_too_many_columns_is_named(run, reverser):
    done = run("score", stdin=b"a\tb\na\tb\tc\n")
    assert done.status == 2
    assert "line 2 has 3 columns: write source TAB target" in done.err
    assert "line 1 has 1 column:" in run("align", stdin=b"a\n").err


def test_links_are_written_in_the_pharaoh_format(run, reverser, files):
    done = run("align", *files("我 是\n\nc\n", "I am here\n\nx\n"))
    assert (done.status, done.err) == (0, "")
    assert done.out == "0-0 1-1\n\n0-0\n"
    assert json.loads(run("align", "--json", stdin=b"a b\tx y\n").out) == [[0, 0], [1, 1]]


def test_a_model_without_attention_aligns_nothing(run, reverser, monkeypatch):
    monkeypatch.setattr(
        type(reverser), "score", lambda self, s, t, **_: [self._answer("a", "x", {})]
    )
    done = run("align", stdin=b"a\tx\n")
    assert (done.status, done.out) == (2, "")
    assert "this model has no attention" in done.err


def test_gold_links_give_the_error_rate(run, reverser, files, tmp_path):
    pairs = files("a b\nc\n", "x y\nz\n")
    gold = tmp_path / "gold"
    gold.write_text("1-1 2-1\n1-1\n")
    done = run("align", *pairs, "--gold", str(gold), "--base", "1")
    assert done.out.startswith("AER 0.333")  # 1 - (2 + 2) / (3 + 3)
    found = json.loads(run("align", *pairs, "--gold", str(gold), "--base", "1", "--json").out)
    assert found["aer"] == pytest.approx(1 / 3)
    done = run("align", *pairs, "--gold", str(gold), "--base", "0")
    assert "does the file count from 1?" in done.err


COUNTED = ("das haus\ndas buch\nein buch\n", "the house\nthe book\na book\n")


@pytest.mark.parametrize("method", ["ibm1", "ibm2"])
@pytest.mark.parametrize("how", [None, "intersection", "union", "grow-diag-final"])
def test_links_by_counting_need_no_model(run, files, method, how):
    symmetry = ["--symmetrise", how] if how else []
    done = run("align", *files(*COUNTED), "--method", method, *symmetry)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0] == "0-0 1-1"
    assert len(done.out.splitlines()) == 3


def test_more_pairs_to_learn_from_are_counted_and_not_printed(run, files, tmp_path):
    more = tmp_path / "more.tsv"
    lines = zip(*(text.splitlines() for text in COUNTED), strict=True)
    more.write_text("".join(f"{a}\t{b}\n" for a, b in lines) * 4)
    gold = tmp_path / "gold"
    gold.write_text("0-1 1-0\n")
    pair = files("haus das\n", "the house\n")
    done = run("align", *pair, "--method", "ibm1", "--learn-from", str(more))
    assert done.out == "0-1 1-0\n"
    done = run(
        "align",
        *pair,
        "--method",
        "ibm1",
        "--learn-from",
        str(more),
        "--gold",
        str(gold),
        "--base",
        "0",
    )
    assert done.out.startswith("AER 0.000")


def test_options_of_counting_and_of_a_model_do_not_mix(run, reverser):
    assert "for --method ibm1" in run("align", "--symmetrise", "union", stdin=b"a\tx\n").err
    done = run("align", "-m", "runs/any", "--method", "ibm1", stdin=b"a\tx\n")
    assert (done.status, done.out) == (2, "")
    assert "uses no model" in done.err
