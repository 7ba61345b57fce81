"""Does a review fit its product? Two texts and a label: the task, its loss, and a model that attends.

    PYTHONPATH=. regard train opinion.yaml data.train=opinions.tsv
    PYTHONPATH=. regard predict -m runs/opinion $'an old lamp\tso bright'

Legend: B examples, P words of a product, R words of a review, K labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field as Option
from torch import Tensor, nn

from regard import MultiHead
from regard.data.batch import Batch
from regard.data.fields import Field, Label, Text
from regard.options import Few, ModelOptions, TaskOptions, Width
from regard.pooling import AttentionPooling
from regard.tasks.task import Task
from regard.tasks.task_module import Loss, TaskModule


class Opinion(TaskOptions):
    """Whether a review fits its product: two texts and a label."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "loss")

    def task(self, recipe: Any) -> OpinionTask:
        return OpinionTask(recipe)


class ReviewReader(ModelOptions):
    """The words of a review attend to those of the product, and are pooled by attention."""

    task: ClassVar[str] = "opinion"
    size: Width = Option(32, description="features of a word")
    heads: Few = Option(2, description="heads of the attention; they divide the size")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        return Reader(sizes["product"], sizes["review"], sizes["label"], self)


class Reader(nn.Module):
    """c = MultiHead(r, p);  logits = W pool[r; c; r c]"""

    def __init__(self, products: int, reviews: int, labels: int, options: ReviewReader) -> None:
        super().__init__()
        size = options.size
        self.product, self.review = nn.Embedding(products, size), nn.Embedding(reviews, size)
        self.over = MultiHead(size, size, heads=options.heads)
        self.pool = AttentionPooling(3 * size)
        self.output = nn.Linear(3 * size, labels)

    def forward(
        self, product: Tensor, product_mask: Tensor, review: Tensor, review_mask: Tensor
    ) -> Tensor:
        """product (B, P), review (B, R), masks: True where a word is real -> logits (B, K)"""
        words = self.review(review)
        context = self.over(words, self.product(product), mask=product_mask).context
        read = torch.cat([words, context, words * context], -1)
        return self.output(self.pool(read, review_mask).vector)


class OpinionModule(TaskModule):
    """The loss: -log p of the label; called with the tensors of the fields, by their names."""

    def forward(self, label: Tensor, **texts: Tensor) -> Loss:
        total = F.cross_entropy(self.model(**texts).float(), label, reduction="sum")
        return Loss(total, torch.tensor(len(label), device=label.device))


class OpinionTask(Task):
    columns: ClassVar = ("accuracy",)
    inputs: ClassVar = ("product", "review")
    noun: ClassVar = "reviews"
    verb: ClassVar = "judge reviews"
    scored: ClassVar = "reviews"  # what a loss is the mean of
    probable: ClassVar = True  # a score is the probability of its answer

    def make_fields(self) -> Sequence[Field]:
        cut: dict[str, Any] = {"max_length": self.recipe.data.max_length, "cut": True}
        self.product = Text("product", kind="word", eos=False, **cut)
        self.review = Text("review", kind="word", eos=False, blank=True, **cut)
        self.label = Label("label")
        return self.product, self.review, self.label

    def for_training(self, model: nn.Module) -> OpinionModule:
        return OpinionModule(model)

    def answers(self, module: OpinionModule, batch: Batch) -> Iterable[tuple[str, float]]:
        """The likeliest label, and its probability."""
        best = module.model(**batch).float().softmax(-1).max(-1)
        for probability, number in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            yield self.label.decode(number), probability

    def measure(self, answers: Sequence[Any], examples: Sequence[Any]) -> dict[str, float]:
        right = sum(a == example["label"] for a, example in zip(answers, examples, strict=True))
        return {"accuracy": right / max(len(examples), 1)}
