"""Two alignments of one sentence pair, one from each side, made one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from regard.measures import Links

Symmetry = Literal["intersection", "union", "grow-diag-final"]
AROUND = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrised(forward: Links, backward: Links, how: Symmetry) -> Links:
    """Links of both directions, all of them (source word, target word), made one alignment."""
    return SYMMETRIES[how](forward, backward)


def grow_diag_final(forward: Links, backward: Links) -> Links:
    """— Koehn, Och and Marcu 2003, https://aclanthology.org/N03-1017

    Links of both; then, again and again, their neighbours that are links of one and have a word that is not
    linked yet; at last any links that have such a word, first those of `forward`.
    """
    union = forward | backward
    found = set(forward & backward)
    sources, targets = {i for i, _ in found}, {j for _, j in found}

    def take(link: tuple[int, int]) -> None:
        found.add(link)
        sources.add(link[0])
        targets.add(link[1])

    grown = True
    while grown:
        grown = False
        for i, j in sorted(found):
            for down, right in AROUND:
                link = (i + down, j + right)
                free = link[0] not in sources or link[1] not in targets
                if link in union and link not in found and free:
                    take(link)
                    grown = True
    for side in (forward, backward):
        for link in sorted(side):
            if link[0] not in sources or link[1] not in targets:
                take(link)
    return frozenset(found)


SYMMETRIES: dict[Symmetry, Callable[[Links, Links], Links]] = {
    "intersection": lambda forward, backward: forward & backward,
    "union": lambda forward, backward: forward | backward,
    "grow-diag-final": grow_diag_final,
}
