"""metrics.csv goes on where its run goes on."""

from __future__ import annotations

from regard.runs.metrics_file import MetricsFile, read_rows


def test_rows_after_the_checkpoint_are_taken_back(tmp_path):
    path = tmp_path / "metrics.csv"
    record = MetricsFile(path, 0)
    for step in (10, 20, 30):
        record.add({"step": step, "epoch": 1, "train_loss": step / 7})
    record.close()
    record = MetricsFile(path, 20)
    record.add({"step": 25, "dev_bleu": 12.5})
    record.close()
    rows = read_rows(path)
    assert [row["step"] for row in rows] == [10, 20, 25]
    assert rows[0]["train_loss"] == 1.42857
    assert rows[2] == {"step": 25, "dev_bleu": 12.5}


def test_steps_are_written_whole_however_many(tmp_path):
    record = MetricsFile(tmp_path / "metrics.csv", 0)
    record.add({"step": 12_345_678})
    record.close()
    assert read_rows(tmp_path / "metrics.csv") == [{"step": 12_345_678}]


def test_a_row_that_was_cut_off_is_left_out(tmp_path):
    path = tmp_path / "metrics.csv"
    record = MetricsFile(path, 0)
    record.add({"step": 10, "epoch": 1})
    record.close()
    with path.open("a") as file:
        file.write("20,1,0.")
    assert [row["step"] for row in read_rows(path)] == [10]


def test_rows_that_are_no_numbers_are_left_out(tmp_path):
    path = tmp_path / "metrics.csv"
    record = MetricsFile(path, 0)
    for step in (10, 20, 30):
        record.add({"step": step, "epoch": 1, "dev_bleu": 2.5})
    record.close()
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"\n20,1", b"\n2\xff0,\x00\n7,7,7,7\n,\nnan"))
    assert [row["step"] for row in read_rows(path)] == [10, 30]
    path.write_bytes(whole.replace(b"dev_bleu", b"dev_blue"))
    MetricsFile(path, 20).close()  # a column that is not ours is dropped
    assert read_rows(path) == [{"step": 10, "epoch": 1}, {"step": 20, "epoch": 1}]
