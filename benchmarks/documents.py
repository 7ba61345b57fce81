"""How fast documents are read: like shapes together and only real sentences, against padding to the largest.

    python benchmarks/documents.py                     # composed documents, embedded
    python benchmarks/documents.py --imdb              # the reviews of IMDB, under REGARD_DATA
    python benchmarks/documents.py --device cuda --imdb

Both train the same network (HAN, Yang et al. 2016) on the same documents, in batches of the same number. One
has batches of documents of like shape, of which only the sentences that are there are read. The other draws
documents at random and pads each batch to its largest document and its longest sentence, as (B, S, W): every
sentence of it is read. They take turns; numbers are medians of the turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from statistics import median

import torch
from torch import Tensor, nn

from regard.data.batch import Batch, collate
from regard.data.examples import Example, read_examples
from regard.data.fields import Document, Label
from regard.data.length_batches import LengthBatches
from regard.layers.contracts import Encoded
from regard.models.classifiers.han import DocumentEncoder, han
from regard.tasks.classify.classify_module import Classify

TURNS = 3
BATCH = 32
CORPORA = {False: "mr-composed:train#document,label", True: "imdb/train.tsv#3,0"}


class PaddedEncoder(nn.Module):
    """The same with every sentence of the padded batch, whether it is there or not."""

    def __init__(self, encoder: DocumentEncoder) -> None:
        super().__init__()
        self.encoder, self.output_size = encoder, encoder.output_size

    def forward(self, document: Tensor, mask: Tensor) -> Encoded:
        return self.encoder(document, torch.ones_like(mask))


def read(imdb: bool, most: int) -> tuple[Document, Label, list[Example]]:
    document = Document("document", vocabulary=20_000, lowercase=True, sentences=60, words=80)
    label = Label("label")
    every = list(read_examples(CORPORA[imdb], [document, label]))
    examples = every[:: max(len(every) // most, 1)][:most]  # a corpus may be sorted by its labels
    for field in (document, label):
        field.learn(example[field.name] for example in examples)
    return document, label, examples


def trainer(task: Classify, device: torch.device) -> Callable[[Batch], None]:
    optimizer = torch.optim.Adam(task.parameters(), lr=1e-3)

    def step(batch: Batch) -> None:
        loss = task(**batch.to(device))
        optimizer.zero_grad()
        (loss.total / loss.tokens).backward()
        optimizer.step()

    return step


def timed(step: Callable[[Batch], None], batches: Iterator[Batch], device: torch.device) -> float:
    """Documents in a second; on a CPU of its own time, which hardly depends on what else runs."""
    clock = time.process_time if device.type == "cpu" else time.perf_counter
    count, begin = 0, clock()
    for batch in batches:
        step(batch)
        count += len(batch.rows)
    if device.type == "cuda":
        torch.cuda.synchronize()
    return count / (clock() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--imdb", action="store_true")
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int)
    asked = parser.parse_args()
    if asked.threads:
        torch.set_num_threads(asked.threads)
    device = torch.device(asked.device)
    document, label, examples = read(asked.imdb, asked.documents)
    parts = zip(document.encode(examples), label.encode(examples), strict=True)
    encoded = [{"document": d, "label": y} for d, y in parts]
    lengths = torch.tensor([len(one["document"][0]) for one in encoded]).numpy()
    fields = (document, label)

    def like_shapes(turn: int) -> Iterator[Batch]:
        for rows in LengthBatches([lengths], sentences=BATCH, seed=1).epoch(turn):
            yield collate(fields, [encoded[i] for i in rows], rows)

    def as_they_come(turn: int) -> Iterator[Batch]:
        order = torch.randperm(len(encoded), generator=torch.Generator().manual_seed(turn)).tolist()
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            yield collate(fields, [encoded[i] for i in rows], rows)

    torch.manual_seed(1)
    model = han(document.size, label.size).to(device)
    padded = han(document.size, label.size).to(device)
    padded.encoder = PaddedEncoder(padded.encoder)  # type: ignore[arg-type]
    contenders = {
        "like shapes, real sentences": (
            trainer(Classify(model, document, label.labels), device),
            like_shapes,
        ),
        "padded to the largest": (
            trainer(Classify(padded, document, label.labels), device),
            as_they_come,
        ),
    }
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(TURNS):
        for name, (step, batches) in contenders.items():
            found[name].append(timed(step, batches(turn), device))
    for name, speeds in found.items():
        print(f"{name:30} {median(speeds):8.1f} documents/s")
    fast, slow = (median(speeds) for speeds in found.values())
    print(
        f"ratio {fast / slow:.2f}  ({len(encoded):,} documents of {CORPORA[asked.imdb]}, batches of {BATCH})"
    )


if __name__ == "__main__":
    main()
