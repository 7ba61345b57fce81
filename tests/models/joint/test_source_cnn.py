"""The vector of a source is that of its formula, word by word, whatever stands beside it in a batch."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.models.joint.source_cnn import SourceCnn, SourceWindow

SIZE, FEATURES, HISTORY = 5, 4, 6


def reader(**options: object) -> SourceCnn:
    torch.manual_seed(3)
    return SourceCnn(SIZE, FEATURES, **options).double()  # type: ignore[arg-type]


def by_definition(
    cnn: SourceCnn, words: Tensor, history: Tensor, place: int
) -> tuple[Tensor, Tensor]:
    """φ (F,) and the share of each word, of one sentence (S, D) for one target word."""
    nothing = torch.zeros(SIZE, dtype=torch.float64)
    x1 = []
    for i in range(len(words)):
        window = [words[j] if 0 <= j < len(words) else nothing for j in (i - 1, i, i + 1)]
        made = cnn.words.weight @ torch.cat(window) + cnn.words.bias
        if cnn.history is not None:
            made = made + cnn.history.weight @ history
        if cnn.tag is not None:
            bits = torch.tensor([float(j == place) for j in (i - 1, i, i + 1)]).double()
            made = made + cnn.tag.weight @ bits
        x1.append(made.relu())
    x2, gates = [], []
    for left in range(0, len(x1), 2):
        if left + 1 == len(x1):
            x2.append(x1[left])
            gates.append(torch.ones((), dtype=torch.float64))
        elif cnn.local is None:
            x2.append(torch.maximum(x1[left], x1[left + 1]))
        else:
            both = torch.cat([x1[left], x1[left + 1]])
            g = torch.sigmoid(cnn.local.weight[0] @ both + cnn.local.bias[0])
            gates.append(g)
            x2.append(g * x1[left] + (1 - g) * x1[left + 1])
    zero = torch.zeros(FEATURES, dtype=torch.float64)
    x3 = []
    for k in range(len(x2)):
        window = [x2[j] if 0 <= j < len(x2) else zero for j in (k - 1, k, k + 1)]
        x3.append((cnn.pairs.weight @ torch.cat(window) + cnn.pairs.bias).relu())
    every, shares = torch.stack(x3), torch.zeros(len(words)).double()
    if cnn.pool is None:
        pooled = every.amax(0)
    else:
        omega = torch.softmax(every @ cnn.pool.query[0], 0)
        pooled = omega @ every
        for k, weight in enumerate(omega):
            there = [j for j in (k - 1, k, k + 1) if 0 <= j < len(x2)]
            for j in there:
                for word, gate in ((2 * j, gates[j]), (2 * j + 1, 1 - gates[j])):
                    near = [i for i in (word - 1, word, word + 1) if 0 <= i < len(words)]
                    if word < len(words):
                        for i in near:
                            shares[i] += weight / len(there) * gate / len(near)
    return (cnn.full.weight @ pooled + cnn.full.bias).relu(), shares


KINDS = {
    "cnn": {},
    "tag": {"tagged": True},
    "in": {"history": HISTORY},
    "max": {"history": HISTORY, "gate": False},
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_its_formula_in_a_ragged_batch(kind: str) -> None:
    cnn = reader(**KINDS[kind])
    lengths = [1, 2, 5, 6]
    words = torch.randn(4, 6, SIZE).double()
    mask = torch.arange(6) < torch.tensor(lengths)[:, None]
    history, places = torch.randn(4, 3, HISTORY).double(), torch.tensor([[0, 0, 0]] * 4)
    places[3] = torch.tensor([5, 0, 2])
    words[~mask] = torch.nan  # what is padding is never read
    found = cnn(words, mask, history, places)
    for row, length in enumerate(lengths):
        for step in range(3):
            vector, shares = by_definition(
                cnn, words[row, :length], history[row, step], int(places[row, step])
            )
            assert torch.allclose(found.vector[row, step], vector, atol=1e-12)
            if found.weights is not None:
                assert torch.allclose(found.weights[row, step, :length], shares, atol=1e-12)
                assert abs(shares.sum() - 1) < 1e-12
                assert not found.weights[row, step, length:].any()
    assert (found.weights is None) == (kind == "max")


def test_gradients_are_those_of_the_formula() -> None:
    cnn = reader(history=HISTORY)
    words = torch.randn(5, SIZE, dtype=torch.float64, requires_grad=True)
    history = torch.randn(HISTORY, dtype=torch.float64, requires_grad=True)
    wanted = torch.autograd.grad(
        by_definition(cnn, words, history, 0)[0].square().sum(), (words, history)
    )
    mask = torch.ones(1, 5, dtype=torch.bool)
    made = cnn(words[None], mask, history[None, None]).vector.square().sum()
    for a, b in zip(torch.autograd.grad(made, (words, history)), wanted, strict=True):
        assert a.abs().sum() > 0
        assert torch.allclose(a, b, atol=1e-12)


@pytest.mark.parametrize(("kind", "depends"), [("cnn", False), ("tag", False), ("in", True)])
def test_only_of_in_cnn_the_vector_depends_on_the_words_before(kind: str, depends: bool) -> None:
    cnn = reader(**KINDS[kind])
    words, mask = torch.randn(1, 6, SIZE).double(), torch.ones(1, 6, dtype=torch.bool)
    history, places = torch.randn(1, 2, HISTORY).double(), torch.zeros(1, 2, dtype=torch.int64)
    first, second = cnn(words, mask, history, places).vector[0]
    assert torch.equal(first, second) != depends


def test_a_tag_tells_one_word_from_another() -> None:
    cnn = reader(tagged=True)
    words, mask = torch.randn(1, 6, SIZE).double(), torch.ones(1, 6, dtype=torch.bool)
    vectors = cnn(words, mask, torch.zeros(1, 6, 0).double(), torch.arange(6)[None]).vector[0]
    assert len({tuple(vector.tolist()) for vector in vectors}) == 6


def test_a_window_is_the_words_around_with_nothing_beyond_the_ends() -> None:
    words = torch.arange(1.0, 13).view(2, 3, 2)
    mask = torch.tensor([[True, True, True], [True, True, False]])
    found = SourceWindow(1)(words, mask, words[..., :0], torch.tensor([[0, 1, 2], [0, 1, 1]]))
    assert found.vector[0].tolist() == [[0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 0, 0]]
    assert found.vector[1, 1].tolist() == [7, 8, 9, 10, 0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_read_gives_numbers(kind: str) -> None:
    cnn, none = reader(**KINDS[kind]), torch.zeros(2, 3, dtype=torch.int64)
    history = torch.zeros(2, 3, HISTORY).double()
    for states, mask in (
        (torch.zeros(2, 0, SIZE), torch.zeros(2, 0)),
        (torch.zeros(2, 4, SIZE), torch.zeros(2, 4)),
    ):
        assert cnn(states.double(), mask.bool(), history, none).vector.isfinite().all()
    window = SourceWindow(2)(torch.zeros(2, 0, 3), torch.zeros(2, 0).bool(), history, none)
    assert torch.equal(window.vector, torch.zeros(2, 3, 15))
