"""Files are there whole or not at all."""

from __future__ import annotations

import errno
import os

import pytest

from regard.data.atomic_files import DiskFull, clear_partial, write_whole


def test_replaces_what_was_there(tmp_path):
    path = tmp_path / "a.txt"
    for text in ("one", "学"):
        write_whole(path, text)
        assert path.read_text("utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_half_of_the_new(tmp_path, monkeypatch, call):
    path = tmp_path / "a.txt"
    write_whole(path, "old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(DiskFull, match=r"no space left .*a\.txt .*was not written"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_other_errors_are_not_called_a_full_disk(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "no" / "a.txt", "x")


def test_what_a_killed_process_left_is_cleared(tmp_path):
    (tmp_path / "a.txt.123.partial").write_text("ha")
    (tmp_path / "a.txt").write_text("whole")
    clear_partial(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
