"""Make questions with the sentences that may answer them, of SQuAD's texts in two public forms.

    python -m regard.data.corpora.build_answer_sentences FROM TO

FROM holds squad-qg.src-test.txt and squad-qg.tgt-test.txt, a sentence and its question on each line (from
github.com/xinyadu/nqg, data/processed), and xquad.en.json (from github.com/google-deepmind/xquad), all of
them perhaps as .xz. TO gets train.tsv, dev.tsv and test.tsv: question, sentence, and 1 if it holds the
answer, else 0.

test is XQuAD: a question, and all sentences of its paragraph. train and dev are the other file, whose
articles are others: a question, its sentence, and the nearest sentences of other questions before and behind
it. The last tenth of the lines is dev, without questions and sentences that train has.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from regard.data.byte_lines import byte_lines
from regard.data.formats import COMPRESSED
from regard.data.sentences import sentence_places

BESIDE = 2  # other sentences before, and as many behind
DEV = 10  # one in so many lines is dev
SIGNS = {"-lrb-": "(", "-rrb-": ")", "``": '"', "''": '"'}  # as the Penn Treebank writes them

Row = tuple[str, str, int]


def lines_of(folder: Path, name: str) -> list[str]:
    path = next(p for end in ("", *COMPRESSED) if (p := folder / f"{name}{end}").exists())
    return [line.decode("utf-8").strip() for line in byte_lines(path) if line is not None]


def plain(text: str) -> str:
    return " ".join(SIGNS.get(word, word) for word in text.split())


def beside(sentences: Sequence[str], place: int) -> Iterator[str]:
    """The nearest different sentences before a line and behind it."""
    for way in (sentences[place::-1], sentences[place:]):
        others = dict.fromkeys(way)
        others.pop(sentences[place])
        yield from islice(others, BESIDE)


def neighbours(sentences: Sequence[str], questions: Sequence[str]) -> Iterator[Row]:
    for place, question in enumerate(questions):
        yield question, sentences[place], 1
        for other in dict.fromkeys(beside(sentences, place)):
            yield question, other, 0


def paragraphs(squad: str) -> Iterator[Row]:
    """All sentences of the paragraph of each question of a file in SQuAD's form."""
    every = (p for article in json.loads(squad)["data"] for p in article["paragraphs"])
    for paragraph in every:
        text = paragraph["context"]
        places = sentence_places(text)
        for question in paragraph["qas"]:
            start = question["answers"][0]["answer_start"]
            for first, end in places:
                yield question["question"], text[first:end], int(first <= start < end)


def write(rows: Sequence[Row], path: Path) -> None:
    path.write_text("".join(f"{q}\t{' '.join(s.split())}\t{r}\n" for q, s, r in rows), "utf-8")
    asked = len({question for question, _, _ in rows})
    print(f"{path}: {len(rows):,} pairs, {asked:,} questions")


def build(source: Path, target: Path) -> None:
    sentences = [plain(line) for line in lines_of(source, "squad-qg.src-test.txt")]
    questions = [plain(line) for line in lines_of(source, "squad-qg.tgt-test.txt")]
    cut = len(sentences) - len(sentences) // DEV
    train = list(neighbours(sentences[:cut], questions[:cut]))
    known = {text for question, sentence, _ in train for text in (question, sentence)}
    dev = [row for row in neighbours(sentences[cut:], questions[cut:]) if not known & set(row[:2])]
    target.mkdir(parents=True, exist_ok=True)
    write(train, target / "train.tsv")
    write(dev, target / "dev.tsv")
    write(list(paragraphs("\n".join(lines_of(source, "xquad.en.json")))), target / "test.tsv")


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
