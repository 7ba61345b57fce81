"""Stories that are generated: people go to places, and one is asked for. The same seed, the same stories.

    python benchmarks/reading/stories.py FOLDER --sentences 20 --habit 0.6

Every person has a favourite place, and goes there with the probability `habit`: whoever knows the names knows
most answers without the story, unless the names are markers that are permuted (`task.markers`). Writes
FOLDER/{train,dev,test}.jsonl, with story, question and candidates, which are all people and places.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PEOPLE = ("Anna", "Ben", "Clara", "David", "Emma", "Frank", "Grace", "Henry", "Iris", "Jack")
PLACES = (
    "attic",
    "bridge",
    "cellar",
    "garden",
    "harbour",
    "kitchen",
    "library",
    "market",
    "office",
    "park",
)
WAYS = ("went to", "walked to", "moved to", "ran to")
PARTS = {"train": 10_000, "dev": 1_000, "test": 1_000}


def story(draw: random.Random, sentences: int, habit: float) -> dict[str, Any]:
    """sentences: how many there are; the person who is asked for moves in at least one of them."""
    told, where = [], {}
    for _ in range(sentences):
        person = draw.randrange(len(PEOPLE))
        place = person if draw.random() < habit else draw.randrange(len(PLACES))
        where[PEOPLE[person]] = PLACES[place]
        told.append(f"{PEOPLE[person]} {draw.choice(WAYS)} the {PLACES[place]}.")
    asked = draw.choice(sorted(where))
    return {
        "story": " ".join(told),
        "question": f"Where is {asked}?",
        "candidates": {"candidates": [*PEOPLE, *PLACES], "answer": where[asked]},
    }


def stories(part: str, sentences: int, habit: float, seed: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(f"{seed} {part}")
    return (story(draw, sentences, habit) for _ in range(PARTS[part]))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("folder", type=Path)
    asked.add_argument("--sentences", type=int, default=20, help="sentences of a story")
    asked.add_argument(
        "--habit", type=float, default=0.6, help="how often people go where they like to"
    )
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        made = stories(part, given.sentences, given.habit, given.seed)
        lines = "".join(json.dumps(one) + "\n" for one in made)
        (given.folder / f"{part}.jsonl").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
