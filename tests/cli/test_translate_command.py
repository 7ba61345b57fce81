"""`regard translate` is a filter: a line for a line, data on stdout, everything else on stderr."""

from __future__ import annotations

import json

import pytest


def test_every_line_of_the_input_is_a_line_of_the_output(run, reverser):
    text = "ab cd\n\n  \r\n我是\u2028学生 x\x0by\n\x85\nlast"
    done = run("translate", stdin=text.encode())
    assert done.status == 0
    assert done.err == ""
    lines = done.out.split("\n")
    assert lines[:3] == ["ba dc", "", ""]
    assert len(lines) == text.count("\n") + 2  # the last line has no end; the output's has
    assert lines[-2:] == ["tsal", ""]


def test_nothing_in_gives_nothing_out(run, reverser):
    assert run("translate", stdin=b"").out == ""
    assert run("translate", stdin=b"\n").out == "\n"


def test_a_byte_order_mark_is_no_text_and_bad_bytes_are_told(run, reverser):
    done = run("translate", stdin=b"\xef\xbb\xbfab\ncd\n\xff\n")
    assert done.out == "ba\ndc\n\ufffd\n"
    assert done.err == "warning: line 3 is not UTF-8\n"


def test_texts_on_the_command_line(run, reverser):
    done = run("translate", "-m", "runs/a", "ab cd", "ef")
    assert done.out == "ba dc\nfe\n"
    assert [str(path) for path in reverser.loaded] == ["runs/a"]
    assert run("translate", "-", stdin=b"ab\n").out == "ba\n"


def test_the_name_of_a_file_is_a_text_but_the_file_may_have_been_meant(run, reverser, tmp_path):
    path = tmp_path / "in.zh"
    path.write_text("ab\n")
    done = run("translate", str(path))
    assert (done.status, done.out) == (0, f"{str(path)[::-1]}\n")
    (note,) = done.err.splitlines()
    assert note.startswith(f"note: {path} is a file")
    assert note.endswith(f"regard translate … < {path}")
    for texts in ([str(path), "ab"], [f"{path} ab"], [str(tmp_path)], ["学" * 500]):
        assert run("translate", *texts).err == ""


def test_standard_input_is_not_mixed_with_texts(run, reverser):
    done = run("translate", "-", "ab", stdin=b"cd\n")
    assert (done.status, done.out) == (2, "")
    assert "- is standard input: give it alone" in done.err


def test_without_a_run_the_embedded_model_is_used(run, reverser):
    run("translate", "ab")
    assert reverser.loaded is None


def test_several_runs_are_an_ensemble(run, reverser):
    run("translate", "-m", "a", "-m", "b", "x")
    assert [str(path) for path in reverser.loaded] == ["a", "b"]


def test_n_best(run, reverser):
    done = run("translate", "--nbest", "2", stdin=b"ab\ncd\n")
    assert done.out == "".join(
        f"{i} ||| {text} ||| -1.0000\n" for i, text in enumerate(["ba", "dc"]) for _ in range(2)
    )


def test_json_is_one_object_a_line(run, reverser):
    done = run("translate", "--json", stdin="我 是\n\n".encode())
    first, second = map(json.loads, done.out.splitlines())
    assert (first["source"], first["text"]) == ("我 是", "我 是")
    assert second["text"] == ""
    assert "我" in done.out  # not escaped


def test_what_the_model_hardly_knows_is_told_on_standard_error_and_in_json(run, reverser):
    done = run("translate", "ab?")
    assert (done.out, done.err) == ("?ba\n", "note: of little use\n")
    done = run("translate", stdin=b"a?\nb\nc?\nd?\ne?\nf?\n")
    assert done.err.splitlines() == [
        "note: line 1: of little use",
        "note: line 3: of little use",
        "note: line 4: of little use",
        "note: the same of 2 more lines",
    ]
    done = run("translate", "--json", stdin=b"a\nb?\n")
    assert [json.loads(line)["notes"] for line in done.out.splitlines()] == [[], ["of little use"]]


def test_attention_goes_to_its_file_and_the_text_to_stdout(run, reverser, tmp_path):
    path = tmp_path / "a.jsonl"
    done = run("translate", "--attention", str(path), stdin=b"ab cd\n\n")
    assert done.out == "ba dc\n\n"
    first, second = map(json.loads, path.read_text("utf-8").splitlines())
    assert first["attention"] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert first["tokens"]["pieces"] == ["ba", "dc"]
    assert second["source"] == ""
    run("translate", "ab")
    assert reverser.asked[-1]["attention"] is False  # not computed for nobody


def test_the_output_may_be_a_file(run, reverser, tmp_path):
    done = run("translate", "-o", str(tmp_path / "out"), stdin=b"ab\n")
    assert done.out == ""
    assert (tmp_path / "out").read_bytes() == b"ba\n"


def test_a_terminal_sees_the_alignment_and_a_pipe_does_not(run, reverser, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert run("translate", "ab cd").out == "ba dc\n"
    monkeypatch.setattr("regard.cli.commands.translate._on_a_terminal", lambda: True)
    text, blank, heads, *rows = run("translate", "ab cd").out.splitlines()
    assert (text, blank) == ("ba dc", "")
    assert heads.split() == ["ab", "cd", "(end)"]
    assert [row.split()[0] for row in rows[:3]] == ["ba", "dc", "(end)"]
    assert "██1.00" in rows[0]
    assert run("translate", "ab cd", "--json").out.count("\n") == 1


def test_the_options_of_the_search_reach_it(run, reverser):
    run("translate", "--beam", "3", "--replace-unknown", "ab")
    asked = reverser.asked[-1]
    assert (asked["beam"], asked["nbest"], asked["replace_unknown"]) == (3, 1, True)
    draws = ["--temperature", "0.5", "--top-k", "7", "--top-p", "0.9", "--seed", "3"]
    run("translate", "--sample", *draws, "ab")
    asked = reverser.asked[-1]
    assert asked["method"] == "sample"
    assert (asked["temperature"], asked["top_k"], asked["top_p"], asked["seed"]) == (0.5, 7, 0.9, 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--top-k", "3"], "--top-k is for texts that are drawn: add --sample"),
        (["--seed", "3"], "add --sample"),
        (["--sample", "--beam", "3"], "drop it or --sample"),
        (["--nbest", "5", "--beam", "3"], "--nbest 5 needs a beam at least as wide"),
        (["--nbest", "0"], "--nbest"),
        (["--nbst", "2"], "--nbest"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run, reverser, arguments, said):
    done = run("translate", *arguments, "x")
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_matrices_of_8_bits_are_asked_for_and_are_not_an_engines(run, reverser):
    assert run("translate", "ab").out == "ba\n"
    assert reverser.quantized is None
    assert run("translate", "--int8", "ab").out == "ba\n"
    assert reverser.quantized == "int8"
    refused = run("translate", "--int8", "--engine", "ctranslate2", "ab")
    assert refused.status == 2
    assert "--quantization" in refused.err
