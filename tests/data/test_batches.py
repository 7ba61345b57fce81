"""Batches: every pair once, little padding, one order for (seed, epoch), shares that make a whole."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.data.batch import Loader, collate
from regard.data.examples import read_pairs
from regard.data.fields import Text
from regard.data.length_batches import LengthBatches
from regard.data.padding import pad
from regard.data.spec import parse
from regard.data.store import Store, Stored, make_store
from regard.data.tokenizer import BOS, EOS, PAD, Tokenizer

DEV = "tatoeba-zh-en:dev"
SIDES = (Text("source"), Text("target", bos=True))
LENGTHS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=60)


def lengths(count: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    source = 1 + draw.poisson(9, count)
    return source, np.maximum(source + draw.integers(-4, 5, count), 1)


def test_a_batch_by_hand():
    pairs = [([10, 11], [20]), ([12], [21, 22, 23])]
    encoded = [{"source": (source,), "target": (target,)} for source, target in pairs]
    batch = collate(SIDES, encoded, rows=[7, 3])
    assert batch["source"].tolist() == [[10, 11, EOS], [12, EOS, PAD]]
    assert batch["source_mask"].tolist() == [[True] * 3, [True, True, False]]
    assert batch["target"].tolist() == [[BOS, 20, EOS, PAD, PAD], [BOS, 21, 22, 23, EOS]]
    assert batch["target_mask"].tolist() == [[True] * 3 + [False] * 2, [True] * 5]
    assert batch.rows.tolist() == [7, 3]
    assert list(batch) == ["source", "source_mask", "target", "target_mask"]
    assert batch["source"].dtype == batch["target"].dtype == torch.int64
    moved = batch.to("cpu")
    assert torch.equal(moved["target_mask"], batch["target_mask"])
    assert batch.describe() == "source (2, 3), target (2, 5)"
    assert collate(SIDES, encoded[:1]).rows.tolist() == [0]


def test_padding_of_nothing_and_of_empty_sentences():
    assert pad([[]])[0].tolist() == [[EOS]]
    assert pad([[], [5]], bos=True)[0].tolist() == [[BOS, EOS, PAD], [BOS, 5, EOS]]
    assert pad([])[0].shape == (0, 0)


@given(
    lengths=LENGTHS,
    tokens=st.none() | st.integers(1, 300),
    sentences=st.integers(1, 20),
    epoch=st.integers(0, 3),
    world=st.integers(1, 4),
    shuffle=st.booleans(),
)
def test_every_pair_once_in_batches_that_fit(lengths, tokens, sentences, epoch, world, shuffle):
    source, target = np.array(lengths).T
    size = {"tokens": tokens, "sentences": sentences, "seed": 5, "shuffle": shuffle}
    if len(lengths) < world:
        with pytest.raises(ValueError, match="cannot be shared"):
            LengthBatches([source, target], **size, world=world)
        return
    ranks = [LengthBatches([source, target], **size, rank=r, world=world) for r in range(world)]
    shares = [batches.epoch(epoch) for batches in ranks]
    assert {len(share) for share in shares} == {len(ranks[0])}
    assert len({batches.fingerprint for batches in ranks}) == 1
    rows = np.concatenate([rows for share in shares for rows in share])
    assert sorted(rows.tolist()) == list(range(len(lengths)))
    alone = len(LengthBatches([source, target], **size))
    if len(lengths) < -(-alone // world) * world:
        return  # single pairs, some of them joined to deal evenly
    for batch in (rows for share in shares for rows in share):
        assert 1 <= len(batch) <= sentences
        width = source[batch].max() + target[batch].max()
        assert tokens is None or len(batch) == 1 or len(batch) * width <= tokens


def test_the_order_is_a_function_of_seed_and_epoch():
    def order(seed: int, epoch: int) -> list[list[int]]:
        batches = LengthBatches(lengths(), sentences=16, seed=seed)
        batches.epoch(9)  # what was asked before changes nothing
        return [rows.tolist() for rows in batches.epoch(epoch)]

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3)
    assert order(1, 2) != order(2, 2)
    mixed = [{frozenset(rows) for rows in order(1, epoch)} for epoch in (2, 3)]
    assert len(mixed[0] & mixed[1]) < 0.2 * len(mixed[0])  # other pairs meet, too
    straight = LengthBatches(lengths(), sentences=16, shuffle=False)
    assert np.array_equal(np.concatenate(straight.epoch(0)), np.concatenate(straight.epoch(1)))


@pytest.mark.parametrize("size", [{"sentences": 32}, {"tokens": 700}])
def test_little_is_padding(size):
    source, target = lengths(3000)
    batches = LengthBatches([source, target], **size)
    padded = sum(len(rows) * (source[rows].max() + target[rows].max()) for rows in batches.epoch(0))
    assert (source + target).sum() / padded > 0.9


@pytest.mark.parametrize("world", [2, 3])
def test_processes_take_alike_batches_at_the_same_step(world):
    source, target = lengths()
    shares = [
        LengthBatches([source, target], sentences=8, rank=r, world=world).epoch(0)
        for r in range(world)
    ]
    for step in zip(*shares, strict=True):
        widths = [target[rows].max() for rows in step]
        assert max(widths) - min(widths) <= 8


def test_two_processes_together_are_one_with_batches_twice_as_large():
    source, target = lengths(1024)
    one = LengthBatches([source, target], sentences=16, seed=3).epoch(1)
    two = [
        LengthBatches([source, target], sentences=8, seed=3, rank=r, world=2).epoch(1)
        for r in (0, 1)
    ]
    joined = [np.concatenate(step).tolist() for step in zip(*two, strict=True)]
    assert joined == [rows.tolist() for rows in one]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    texts = [text for pair in read_pairs(DEV) for text in (pair.source, pair.target)]
    shared = Tokenizer.train(texts, size=1500)
    for side in SIDES:
        side.tokenizer = shared

    def rows(problems):
        for pair in read_pairs(DEV, problems):
            example = {"source": pair.source, "target": pair.target}
            yield Stored(pair.line, {side.name: side.encode([example])[0] for side in SIDES})

    folder = tmp_path_factory.mktemp("stores") / "dev"
    return make_store(folder, rows, parse(DEV), SIDES, [], "pair")


def loader(store, **settings) -> Loader:
    lengths = [store.lengths(side) for side in SIDES]
    return Loader(store, SIDES, LengthBatches(lengths, **({"tokens": 400, "seed": 4} | settings)))


def seen(batches) -> list[list[int]]:
    return [batch.rows.tolist() for batch in batches]


def test_a_loader_gives_the_pairs_of_its_rows(store):
    for batch in islice(loader(store), 3):
        for n, row in enumerate(batch.rows.tolist()):
            (source,), (target,) = store.example(row).values()
            assert batch["source"][n][batch["source_mask"][n]].tolist() == [*source, EOS]
            assert batch["target"][n][batch["target_mask"][n]].tolist() == [BOS, *target, EOS]


def test_going_on_in_the_middle_equals_not_having_stopped(store, monkeypatch):
    whole = loader(store)
    epochs = []
    for epoch in range(3):
        whole.set_epoch(epoch)
        epochs.append(seen(whole))
    assert epochs[0] != epochs[1]
    read, parts = [], type(store).parts

    def noted(store: Store, field: str, row: int):
        if field == "target":
            read.append(row)
        return parts(store, field, row)

    monkeypatch.setattr(type(store), "parts", noted)
    for stop in (0, 1, 7, len(whole) - 1, len(whole)):
        first = loader(store)
        first.set_epoch(1)
        before = seen(islice(first, stop))
        state = first.state_dict()
        second = loader(store)
        second.load_state_dict(state)
        second.set_epoch(1)  # the epoch it stands in: no step back
        assert len(second) == len(whole)
        read.clear()
        after = seen(second)
        assert before + after == epochs[1]
        assert read == [row for rows in after for row in rows]  # nothing read and thrown away
        second.set_epoch(2)
        assert seen(second) == epochs[2]


def test_a_place_in_another_order_is_refused(store):
    state = loader(store).state_dict()
    for change in ({"seed": 5}, {"tokens": 500}, {"world": 2}):
        with pytest.raises(ValueError, match="has changed since the checkpoint"):
            loader(store, **change).load_state_dict(state)


def test_mistakes_get_an_answer():
    for settings, message in (
        ({}, "the size of a batch is missing"),
        ({"tokens": 0}, "holds nothing"),
        ({"sentences": 8, "rank": 2, "world": 2}, r"rank 2 is not one of 2 processes \(0 to 1\)"),
    ):
        with pytest.raises(ValueError, match=message):
            LengthBatches(lengths(10), **settings)
    with pytest.raises(ValueError, match="there is no field to count by"):
        LengthBatches([], tokens=9)
