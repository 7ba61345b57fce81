"""One alignment of two."""

from __future__ import annotations

import random

import pytest

from regard.aligners import SYMMETRIES, symmetrised


def links(*written):
    return frozenset(tuple(map(int, each.split("-"))) for each in written)


def test_sets():
    forward, backward = links("0-0", "1-1"), links("0-0", "1-2")
    assert symmetrised(forward, backward, "intersection") == links("0-0")
    assert symmetrised(forward, backward, "union") == links("0-0", "1-1", "1-2")


@pytest.mark.parametrize(
    ("forward", "backward", "found"),
    [
        (links("0-0", "1-1"), links("0-0"), links("0-0", "1-1")),  # a neighbour across
        (links("0-0", "0-1"), links("0-0"), links("0-0", "0-1")),  # a free target word
        # both of its words are linked already: a neighbour that is left out
        (links("0-0", "1-1", "0-1"), links("0-0", "1-1"), links("0-0", "1-1")),
        # far from all others: taken at the end, with a free word
        (links("0-0", "5-5"), links("0-0"), links("0-0", "5-5")),
        (links(), links("3-1"), links("3-1")),
        (links(), links(), links()),
    ],
)
def test_grow_diag_final(forward, backward, found):
    assert symmetrised(forward, backward, "grow-diag-final") == found


@pytest.mark.parametrize("seed", range(20))
def test_grow_diag_final_lies_between_and_links_what_can_be_linked(seed):
    rng = random.Random(seed)
    forward, backward = (
        frozenset((rng.randrange(6), rng.randrange(6)) for _ in range(8)) for _ in range(2)
    )
    found = symmetrised(forward, backward, "grow-diag-final")
    assert forward & backward <= found <= forward | backward
    assert {i for i, _ in found} == {i for i, _ in forward | backward}
    assert {j for _, j in found} == {j for _, j in forward | backward}
    assert set(SYMMETRIES) == {"intersection", "union", "grow-diag-final"}
