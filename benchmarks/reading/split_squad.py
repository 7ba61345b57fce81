"""A file in the layout of SQuAD, split by paragraph into train, dev and test, 8 : 1 : 1, told by a hash.

    python benchmarks/reading/split_squad.py reading/xquad.en.json reading/xquad-en

Writes reading/xquad-en.{train,dev,test}.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from regard.data.byte_lines import open_bytes
from regard.data.spec import locate


def part_of(context: str) -> str:
    digest = hashlib.blake2b(context.encode(), digest_size=8).digest()
    return {0: "dev", 1: "test"}.get(int.from_bytes(digest, "big") % 10, "train")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("file", type=Path)
    asked.add_argument("stem", type=Path)
    given = asked.parse_args()
    with open_bytes(locate(given.file)) as file:
        articles = json.load(file)["data"]
    for part in ("train", "dev", "test"):
        kept = [p for a in articles for p in a["paragraphs"] if part_of(p["context"]) == part]
        target = given.stem.with_name(f"{given.stem.name}.{part}.json")
        target.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"data": [{"paragraphs": kept}]}, ensure_ascii=False)
        target.write_text(text, encoding="utf-8")
        print(f"{target}: {len(kept):,} paragraphs, {sum(len(p['qas']) for p in kept):,} questions")


if __name__ == "__main__":
    main()
