"""Make the embedded pairs of English sentences from the embedded Tatoeba zh-en corpus.

    python -m regard.data.corpora.build_paraphrase

Two sentences mean the same if they translate one Chinese sentence. Beside each such pair stands a near miss:
one of the two with the sentence that has most words in common with it, the rare ones counting most, and
neither its Chinese nor anything that its Chinese leads to. Groups of sentences that lead to each other go to
one part.
"""

from __future__ import annotations

import hashlib
import lzma
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from regard.data.byte_lines import byte_lines
from regard.data.corpora.build_tatoeba import Row, bare, groups

NAME = "paraphrase"
MOST_PAIRS = 6  # of one Chinese sentence, so that no sentence is in too many
HELD_OUT = {0: "dev", 1: "test"}  # of ten groups; the rest is train
WORD = re.compile(r"\w+(?:'\w+)?")
ENGLISH = re.compile(r"#\d+ \([^)]*\)")  # in an attribution the first is of the English sentence


class Sentence(NamedTuple):
    text: str
    group: str
    author: str  # number at tatoeba.org, and name

    @property
    def words(self) -> frozenset[str]:
        return frozenset(WORD.findall(self.text.lower()))


def read(path: Path) -> list[tuple[str, Sentence]]:
    """Chinese sentences, and each translation with the name of its group."""
    lines = [line.decode("utf-8") for line in byte_lines(path) if line is not None]
    rows = [Row(*line.split("\t")) for line in lines]
    return [
        (row.chinese, Sentence(row.english, group, author(row.attribution)))
        for row, group in zip(rows, groups(rows), strict=True)
    ]


def author(attribution: str) -> str:
    found = ENGLISH.search(attribution)
    return found.group() if found else ""


def part(group: str) -> str:
    """By a hash of the group's name."""
    digest = hashlib.md5(group.encode(), usedforsecurity=False).hexdigest()
    return HELD_OUT.get(int(digest, 16) % 10, "train")


class Neighbours:
    """The sentences of one part, to be found by the words they share."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        self.with_word: dict[str, list[int]] = defaultdict(list)
        for number, sentence in enumerate(sentences):
            for word in sorted(sentence.words):
                self.with_word[word].append(number)
        count = len(sentences)
        self.rarity = {w: math.log(count / len(found)) for w, found in self.with_word.items()}
        self.weight = [self._total(sentence.words) for sentence in sentences]

    def nearest(self, sentence: Sentence, *, besides: set[str]) -> Sentence | None:
        """Of another group, that with the largest Σ rarity of shared words / Σ of all; None: none."""
        shared: dict[int, float] = defaultdict(float)
        for word in sorted(sentence.words):
            for number in self.with_word[word]:
                shared[number] += self.rarity[word]
        whole = self._total(sentence.words)
        best, found = 0.0, None
        for number, common in sorted(shared.items()):
            other = self.sentences[number]
            if other.group == sentence.group or other.text in besides:
                continue
            alike = common / (whole + self.weight[number] - common)
            if alike > best:
                best, found = alike, other
        return found

    def _total(self, words: frozenset[str]) -> float:
        return sum(self.rarity[word] for word in words)


def paraphrases(rows: Sequence[tuple[str, Sentence]]) -> Iterator[tuple[Sentence, Sentence]]:
    """Pairs that translate one Chinese sentence, and differ in more than case and punctuation."""
    by_chinese: dict[str, dict[str, Sentence]] = defaultdict(dict)
    for chinese, sentence in rows:
        by_chinese[bare(chinese)].setdefault(bare(sentence.text), sentence)
    seen: set[frozenset[str]] = set()
    for translations in by_chinese.values():
        for pair in list(combinations(translations.values(), 2))[:MOST_PAIRS]:
            texts = frozenset(bare(one.text) for one in pair)
            if texts not in seen:
                seen.add(texts)
                yield pair


def examples(rows: Sequence[tuple[str, Sentence]]) -> Iterator[tuple[str, str, str, str]]:
    """first, second, label, authors: a pair that means the same, then its near miss."""
    unique = {bare(sentence.text): sentence for _, sentence in rows}
    near = Neighbours(list(unique.values()))
    used: dict[str, set[str]] = defaultdict(set)  # near misses that a sentence has already
    for number, (one, other) in enumerate(paraphrases(rows)):
        yield one.text, other.text, "same", f"{one.author} & {other.author}"
        left = one if number % 2 else other
        miss = near.nearest(left, besides=used[left.text])
        if miss is not None:
            used[left.text].add(miss.text)
            used[miss.text].add(left.text)
            # the near miss stands where its twin stood, so that sides tell nothing
            pair = (left, miss) if left is one else (miss, left)
            yield pair[0].text, pair[1].text, "other", f"{pair[0].author} & {pair[1].author}"


def write(rows: Sequence[tuple[str, Sentence]], folder: Path) -> None:
    for name in ("train", *HELD_OUT.values()):
        found = list(examples([row for row in rows if part(row[1].group) == name]))
        data = "".join("\t".join(row) + "\n" for row in found).encode("utf-8")
        path = folder / f"{NAME}.{name}.tsv.xz"
        path.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
        same = sum(label == "same" for _, _, label, _ in found)
        print(f"{path.name}: {len(found):,} pairs, {same:,} same, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    here = Path(__file__).parent
    write(read(here / "tatoeba-zh-en.train.tsv.xz"), here / NAME)
