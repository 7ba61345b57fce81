"""Check-ins: read, sorted, split by time without leaks; bad rows are told; walks are always alike."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from regard.data.fields.member import Member
from regard.data.fields.place import Place
from regard.data.fields.time_point import Degrees, TimePoint
from regard.data.fields.visits import Visit, Visits
from regard.data.problems import CorpusError, Problems, Unusable
from regard.data.spec import parse
from regard.data.visits.checkins import Cut, bounds_of, gathered, next_visits, stretches
from regard.data.visits.city_walks import WalkSettings, city_walks

COLUMNS = ["user", "place", "latitude", "longitude", "time"]
FIELDS = [
    Member("user"),
    Member("place"),
    Degrees("latitude", 90.0),
    Degrees("longitude", 180.0),
    TimePoint("time", "hours"),
]


def read(path, table=None):
    (corpus,) = parse(str(path), COLUMNS)
    return gathered(corpus, FIELDS, table)


@pytest.fixture
def written(tmp_path):
    """Ten visits of ann, three of bob, in no order, and rows that cannot be used."""
    rows = [
        ("ann", f"p{n % 4}", 40.0 + n % 4, -74.0, 10 * n) for n in (3, 0, 9, 1, 2, 8, 4, 7, 5, 6)
    ]
    rows += [
        ("bob", "p1", 41.0, -74.0, 3),
        ("bob", "p2", 42.0, -74.0, 1),
        ("bob", "p1", 41.0, -74.0, 3),
    ]
    rows += [
        ("bob", "p1", 47.0, -74.0, 5),
        ("bob", "p1", 91.0, -74.0, 5),
        ("bob", "", 41.0, -74.0, 5),
    ]
    rows += [("bob", "p1", 41.0, "west", 5), ("bob", "p1", 41.0, -74.0, "soon")]
    path = tmp_path / "visits.tsv"
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    return path


def test_trails_are_in_the_order_of_time_and_bad_rows_are_told(written):
    found = read(written)
    visits, lines = found.trails["ann"]
    assert [visit.hours for visit in visits] == [10.0 * n for n in range(10)]
    assert lines[:3] == [2, 4, 5]
    assert [visit.place for visit in found.trails["bob"][0]] == ["p2", "p1", "p1"]
    assert found.trails["bob"][1] == [12, 11, 13]  # of one time, as they stand
    problems = Problems()
    found.tell(problems, "mine")
    assert problems.found["mine"].keys() == {
        "lines whose place is over 1 km from where it was before",
        "latitude lines that are not between -90 and 90",
        "empty place lines",
        "longitude lines that are not numbers",
        "time lines without a time (2012-04-03T18:00) or a number",
    }
    assert problems.count() == 5
    assert found.places["p1"] == (41.0, -74.0)


def test_parts_are_cut_by_time_and_share_no_visit(written):
    found, cut = read(written), Cut(0.7, 0.1)
    parts = {part: bounds_of(found, cut, part) for part in ("train", "dev", "test")}
    assert [list(parts[part]["ann"]) for part in parts] == [[*range(7)], [7], [8, 9]]
    for user, (visits, _) in found.trails.items():
        every = [n for part in parts.values() for n in part[user]]
        assert every == list(range(len(visits)))
    for count in range(40):  # the first part has some, whatever there is
        sizes = [len(cut.bounds(count, part)) for part in parts]
        assert sum(sizes) == count
        assert count == 0 or sizes[0] > 0


def test_an_example_has_what_was_before_and_nothing_else(written):
    found = read(written)
    every = list(next_visits(found, "mine", bounds_of(found, Cut(), "test"), 4))
    ann = [one for one in every if one["user"] == "ann"]
    assert [one["place"] for one in ann] == ["p0", "p1"]
    assert [visit.hours for visit in ann[0]["history"].visits] == [40.0, 50.0, 60.0, 70.0]
    assert (ann[0]["time"], ann[0].line, ann[0]["history"].told) == (80.0, 6, 0)


@pytest.mark.parametrize("longest", [1, 2, 3, 4, 7, 50])
def test_stretches_tell_every_visit_of_the_part_once(written, longest):
    found = read(written)
    bounds = bounds_of(found, Cut(), "train")
    told = []
    for one in stretches(found, "mine", bounds, longest):
        if one["user"] != "ann":  # bob has a visit twice
            continue
        visits, last = one["history"]
        assert last <= len(visits) <= longest
        whole = found.trails["ann"][0]
        sequence = [*visits, Visit(one["place"], one["time"])]
        end = whole.index(sequence[-1])
        assert sequence == whole[end - len(visits) : end + 1]
        before = len(visits) - last
        assert before >= min(longest // 2, end - last)
        told += range(end - last, end + 1)
    assert told == list(bounds["ann"])


def test_a_table_may_say_where_places_are(written):
    found = read(written, {f"p{n}": (40.0 + n, -74.0) for n in range(3)})
    problems = Problems()
    found.tell(problems, "mine")
    assert problems.count("lines whose place has no coordinates in task.places") == 2
    assert "p3" not in found.places


@pytest.mark.parametrize(
    ("cell", "hours"),
    [
        ("1970-01-01T02:30", 2.5),
        ("1970-01-01 02:30:00", 2.5),
        ("1970-01-01T02:30:00Z", 2.5),
        ("1970-01-01T02:30:00+02:00", 0.5),
        ("Thu Jan 01 02:30:00 +0000 1970", 2.5),
        (150, 2.5),
        ("150", 2.5),
        (150.0, 2.5),
    ],
)
def test_times_are_hours(cell, hours):
    assert TimePoint("time", "minutes").read(cell) == pytest.approx(hours)


@pytest.mark.parametrize("cell", ["", "noon", None, True, "nan", "inf", [1], "2012-13-01"])
def test_what_is_no_time_is_told(cell):
    with pytest.raises(Unusable, match="without a time"):
        TimePoint("time").read(cell)


def test_histories_are_read_however_they_are_written():
    place = Place("place")
    place.learn_places({"a": (0.0, 0.0), "b": (1.0, 1.0)})
    field = Visits("history", of=place, at=TimePoint("time", "hours"), max_length=2)
    trail = field.read([["b", 5], {"place": "a", "time": 3}, ["unknown", 4]])
    assert trail.visits == [Visit("a", 3.0), Visit("unknown", 4.0), Visit("b", 5.0)]
    assert field.read(json.dumps([["b", 5]])).visits == [Visit("b", 5.0)]
    assert field.read("").visits == field.read([]).visits == []
    parts = field.encode([{"history": trail}, {"history": field.read([])}])
    batch = field.collate(parts)
    assert batch["history"].tolist() == [[1, 2], [0, 0]]
    assert batch["history_hours"].tolist() == [[3.0, 5.0], [0.0, 0.0]]
    assert batch["history_mask"].tolist() == [[True, True], [False, False]]
    for wrong in ("a b", [["a"]], [3], {"a": 1}, '{"a": 1}', [["a", "soon"]]):
        with pytest.raises(Unusable):
            field.read(wrong)


def test_what_is_known_of_places_is_kept():
    place = Place("place")
    place.learn_places({"b": (40.0, -74.0), "a": (50.0, 8.0)})
    place.count([(0, 1), (0, 1), (1, 2)])
    other = Place("place")
    other.load(place.to_json())
    assert other.names == ["a", "b"]
    assert [other.number(name) for name in "abc"] == [1, 2, 0]
    assert other.tallies.tolist() == [[0, 1, 2], [1, 2, 1]]
    assert other.points.shape == (3, 3)
    assert (other.points == place.points).all()
    for damage in ({"coordinates": [[1, 2]]}, {"tallies": [[0, 3, 1]]}, {"names": []}):
        with pytest.raises(ValueError, match="it"):
            other.load(json.dumps({**json.loads(place.to_json()), **damage}))


def test_walks_are_always_alike_and_what_is_near_is_likelier():
    settings = WalkSettings(users=30, visits=40, places=100, seed=3)
    rows = list(city_walks(settings))
    assert len(rows) == 1200
    assert rows == list(city_walks(settings))
    assert rows != list(city_walks(WalkSettings(users=30, visits=40, places=100, seed=4)))
    short, long = [], []
    for one, other in pairwise(rows):
        if one.user == other.user:
            assert other.time > one.time
            apart = abs(one.latitude - other.latitude) + abs(one.longitude - other.longitude)
            (short if other.time - one.time < 3 * 3600 else long).append(apart)
    assert sum(short) / len(short) < 0.6 * sum(long) / len(long)


@pytest.mark.parametrize(
    "said",
    [
        "[]",
        "{",
        '{"users": 3}',
        '{"users": 3, "visits": 2, "seeds": 1}',
        '{"users": 0, "visits": 2}',
    ],
)
def test_what_is_no_walk_file_is_told(tmp_path, said):
    path = tmp_path / "mine.walks"
    path.write_text(said)
    with pytest.raises(CorpusError, match=r"mine\.walks"):
        read(path)
