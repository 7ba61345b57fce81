"""Input is handed on as it comes, whole lines at a time, and nothing is lost or added."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.cli.streams import arriving, one_line, written_to


@given(
    st.lists(st.binary(max_size=6).filter(lambda b: not set(b) & set(b"\n\r\0"))),
    st.booleans(),
)
def test_all_lines_arrive_in_order_and_chunks_are_small_enough(lines, full):
    text = b"".join(line + b"\n" for line in lines)
    if text.startswith(b"\xef\xbb\xbf"):
        text = b"\n" + text
        lines = [b"", *lines]
    chunks = list(arriving(io.BytesIO(text), 3, full=full))
    assert [line for chunk in chunks for line in chunk] == lines
    assert all(1 <= len(chunk) <= 3 for chunk in chunks)
    if full:
        assert all(len(chunk) == 3 for chunk in chunks[:-1])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"a", [b"a"]),
        (b"a\n\n", [b"a", b""]),
        (b"a\r\nb\r", [b"a", b"b"]),
        (b"\r\n", [b""]),
        (b"", []),
    ],
)
def test_ends_of_lines(text, lines):
    assert [line for chunk in arriving(io.BytesIO(text), 10) for line in chunk] == lines


def test_a_line_is_not_kept_waiting_for_the_next():
    """A program that writes a line and waits for its answer gets it."""
    read, write = os.pipe()
    with open(read, "rb") as stream, open(write, "wb", buffering=0) as pipe:
        chunks = arriving(stream, 100)
        for line in (b"one", b"two"):
            pipe.write(line[:1])
            pipe.write(line[1:] + b"\n")
            assert next(chunks) == [line]
        pipe.write(b"3\n4\nhalf")
        assert next(chunks) == [b"3", b"4"]
        pipe.close()
        assert list(chunks) == [[b"half"]]


def test_full_chunks_do_not_depend_on_how_fast_the_writer_is():
    read, write = os.pipe()
    with open(read, "rb") as stream, open(write, "wb", buffering=0) as pipe:
        for piece in (b"1\n", b"2\n3\n4", b"\n5\n"):
            pipe.write(piece)
        pipe.close()
        assert list(arriving(stream, 2, full=True)) == [[b"1", b"2"], [b"3", b"4"], [b"5"]]


def test_one_line_is_one_line_to_every_reader():
    assert one_line("a\nb\u2028c\x85d\r\ne") == "a b c d e"


def test_a_file_is_there_when_it_is_whole(tmp_path):
    path = tmp_path / "out"
    path.write_text("old\n")
    path.chmod(0o640)
    with written_to(path) as out:
        out.write("new\n")
        out.flush()
        assert path.read_text() == "old\n"
    assert path.read_text() == "new\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_failure_leaves_what_was_there_and_what_was_written_beside_it(tmp_path, capsys):
    path = tmp_path / "out"
    path.write_text("old\n")
    with pytest.raises(TypeError), written_to(path) as out:
        out.writelines(["half\n", None])
    assert path.read_text() == "old\n"
    assert (tmp_path / "out.partial").read_text() == "half\n"
    assert "out.partial" in capsys.readouterr().err
    (tmp_path / "out.partial").unlink()
    with pytest.raises(TypeError), written_to(path) as out:
        out.write(None)
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    assert capsys.readouterr().err == ""


def test_links_devices_and_missing_folders(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    with written_to(tmp_path / "link") as out:
        out.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    with written_to(Path(os.devnull)) as out:
        out.write("gone")
    with pytest.raises(FileNotFoundError) as told, written_to(tmp_path / "no" / "file"):
        pass
    assert told.value.filename == str(tmp_path / "no" / "file")


def test_a_failure_leaves_the_file_that_was_there(tmp_path):
    out = tmp_path / "out"
    out.write_text("old\n")

    def fail(file) -> None:
        file.write("new\n")
        raise RuntimeError

    with pytest.raises(RuntimeError), written_to(out) as file:
        fail(file)
    assert out.read_text() == "old\n"
    assert (tmp_path / "out.partial").read_text() == "new\n"
    with written_to(out) as file:
        file.write("new\n")
    assert out.read_text() == "new\n"
    assert not (tmp_path / "out.partial").exists()
