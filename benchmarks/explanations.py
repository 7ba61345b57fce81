"""Is attention an explanation? The measures of regard.explanations over the embedded corpora.

    python benchmarks/explanations.py                 # the embedded translator, and two classifiers made here
    python benchmarks/explanations.py --items 500 --seeds 1 2 3 zh-en-1 zh-en-2 zh-en-3     # translators

A line is a model: medians over the rows (target tokens, or labels) of the first test items. JSD is between
the model's weights and the furthest ones found that give the same answer (TVD at most 0.01); 0.69 is the
most there is, and `far` is the share of rows above half of it. TVD is how far an answer moves with even
weights and with the same ones in other orders; τ is the agreement of the weights with gradients and with
leaving a token out, 1 for the same order. Of several seeds there is a line each, and their mean with a 95 %
interval. Jain and Wallace 2019
(https://arxiv.org/abs/1902.10186) say of classifiers that read in context: a large JSD, a small τ.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from regard.data.batch import collate
from regard.data.examples import Example, read_examples, read_pairs
from regard.data.fields import Label, Text
from regard.data.tokenizer import EOS
from regard.layers.contracts import Encoded
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.modes import LabelDecoder, many_to_one
from regard.models.summary import Summary
from regard.records.explanation import Explanation
from regard.runs.loaded_run import load
from regard.tasks.classify.classify_explain import explain_classification
from regard.tasks.classify.classify_module import Classify
from regard.tasks.translate.translate_explain import explain_translation
from run_folders import head, interval_of, row

COLUMNS = {
    "JSD": ("adversarial", "JSD"),
    "TVD even": ("uniform", "TVD"),
    "TVD orders": ("permuted", "TVD"),
    "τ gradient": ("gradient", "τ"),
    "τ left out": ("leave-one-out", "τ"),
}


class Words(nn.Module):
    """Every token for itself: what is attended to has seen nothing else."""

    def __init__(self, vocabulary: int, size: int) -> None:
        super().__init__()
        self.embed, self.output_size = nn.Embedding(vocabulary, size), size

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        states = self.embed(source).masked_fill(~mask[..., None], 0.0)
        return Encoded(states, mask, states[:, 0])


def classifier(kind: str, examples: Sequence[Example], epochs: int, seed: int) -> Classify:
    """Trained on these texts: a bidirectional LSTM or words alone, pooled by attention."""
    torch.manual_seed(seed)
    fields = Text("text", kind="word", size=8000, lowercase=True), Label("label")
    for field in fields:
        field.learn(example[field.name] for example in examples)
    text, label = fields
    sizes = {"embedding": 100, "hidden": 64, "dropout": 0.4}
    if kind == "words":
        decoder = LabelDecoder(Summary("attention", 100, 100), label.size)
        model = EncoderDecoder(Words(text.size, 100), decoder)
    else:
        options = {"pool": "attention", "cell": "lstm", "bidirectional": True}
        model = many_to_one(text.size, label.size, **options, **sizes)
    task = Classify(model, text, label.labels)
    parts = zip(text.encode(examples), label.encode(examples), strict=True)
    encoded = [{"text": ids, "label": number} for ids, number in parts]
    optimizer = torch.optim.Adam(task.parameters(), lr=1e-3)
    for _ in range(epochs):
        order = torch.randperm(len(encoded)).tolist()
        for first in range(0, len(order), 50):
            loss = task(**collate(fields, [encoded[i] for i in order[first : first + 50]]))
            optimizer.zero_grad()
            (loss.total / loss.tokens).backward()
            optimizer.step()
    return task


def measured(found: Iterable[Sequence[Explanation]]) -> list[float]:
    """Of all rows of these explanations: how many, the share that is far in %, medians; seconds an item."""
    began, items = time.perf_counter(), 0
    rows: dict[tuple[str, str], list[float]] = {column: [] for column in COLUMNS.values()}
    for explanations in found:
        items += 1
        for each in explanations:
            for measure, numbers in each.rows.items():
                if (each.name, measure) in rows:
                    rows[each.name, measure] += [x for x in numbers if not math.isnan(x)]
    seconds = (time.perf_counter() - began) / items
    jsd = rows["adversarial", "JSD"]
    far = sum(x > math.log(2) / 2 for x in jsd) / len(jsd)
    return [len(jsd), 100 * far, *(statistics.median(rows[each]) for each in rows), seconds]


def line(name: str, numbers: Sequence[float]) -> str:
    count, far, *medians, seconds = numbers
    return row(
        name, f"{count:,.0f}", f"{far:.0f}", *(f"{x:.2f}" for x in medians), f"{seconds:.1f}"
    )


def mean_line(name: str, seeds: Sequence[Sequence[float]]) -> str:
    """The mean over seeds, with an interval where there are several."""
    _, far, *medians, _ = zip(*seeds, strict=True)
    return row(name, "", interval_of(far, 0), *(interval_of(each, 2) for each in medians), "")


def translations(folder: str | None, items: int) -> Iterable[Sequence[Explanation]]:
    run = load(folder)
    pairs = [p for p, _ in zip(read_pairs(run.recipe.data.test), range(items), strict=False)]
    for one in run.translate([pair.source for pair in pairs]):
        said = [*one.tokens.ids, EOS] if one.finished else one.tokens.ids
        yield explain_translation(run.translator, one.source_tokens, said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="*", help="translators; the embedded one if there is none")
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="of the classifiers")
    given = parser.parse_args()
    print("\n".join(head("model", "rows", "far, %", *COLUMNS, "s / item")), flush=True)
    told(
        (folder or "embedded RNNsearch", measured(translations(folder, given.items)))
        for folder in given.runs or [None]
    )
    columns = Text("text"), Label("label")
    train, test = (list(read_examples(f"mr:{part}", columns)) for part in ("train", "test"))
    for kind in ("BiLSTM", "words"):
        told(classified(kind, seed, train, test, given) for seed in given.seeds)


def told(lines: Iterable[tuple[str, list[float]]]) -> None:
    """A line each, as soon as it is known, and their mean."""
    seeds = []
    for name, numbers in lines:
        print(line(name, numbers), flush=True)
        seeds.append(numbers)
    if len(seeds) > 1:
        print(mean_line(f"mean of {len(seeds)}", seeds), flush=True)


def classified(
    kind: str,
    seed: int,
    train: Sequence[Example],
    test: Sequence[Example],
    given: argparse.Namespace,
) -> tuple[str, list[float]]:
    task = classifier(kind, train, given.epochs, seed)
    judged = task.classify([one["text"] for one in test])
    right = sum(a.label == b["label"] for a, b in zip(judged, test, strict=True)) / len(test)
    found = (explain_classification(task, one.tokens) for one in judged[: given.items])
    return f"{kind} + attention, seed {seed}, {right:.0%} right", measured(found)


if __name__ == "__main__":
    main()
