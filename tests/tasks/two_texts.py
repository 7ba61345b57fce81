"""A task that regard does not have, of two texts, as docs/extending.md tells to write one; and its model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import nn

import regard
from regard.data.fields import Label, Text
from regard.options import ModelOptions, TaskOptions
from regard.pooling import AttentionPooling
from regard.recipe.recipe import Recipe
from regard.runs.loaded_run import LoadedRun
from regard.runs.run_folder import RunFolder
from regard.tasks.recipe_task import task_of
from regard.tasks.task import Task
from regard.tasks.task_module import TaskModule

WORDS = "the a old new lamp phone is so very bright slow and i like it much"
SIZE, SLOTS = 8, 3


class Opinion(TaskOptions):
    """Whether a review speaks well of a product."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)

    def task(self, recipe: Any) -> OpinionTask:
        return OpinionTask(recipe)


class Attending(ModelOptions):
    """parts: what it attends to, of those that Network makes."""

    task: ClassVar[str] = "two_texts:Opinion"
    parts: tuple[str, ...] = ("over",)

    def build(self, sizes: Any) -> nn.Module:
        return Network(sizes["product"], sizes["review"], self.parts)


class Network(nn.Module):
    def __init__(self, products: int, reviews: int, parts: tuple[str, ...]) -> None:
        super().__init__()
        self.parts = parts
        self.product, self.review = nn.Embedding(products, SIZE), nn.Embedding(reviews, SIZE)
        made: dict[str, Any] = {
            "over": lambda: regard.MultiHead(SIZE, SIZE, heads=2),  # review over product
            "itself": lambda: regard.MultiHead(SIZE, heads=2),  # each text over itself
            "once": lambda: regard.Attention(SIZE, SIZE),  # one vector over product
            "slots": lambda: regard.Attention(SIZE, SIZE),  # vectors that are no token over review
            "read": lambda: regard.Attention(SIZE, SIZE),  # review over vectors that are no token
            "joined": lambda: regard.Attention(SIZE, SIZE),  # both texts, and review, over product
            "wide": lambda: regard.Attention(SIZE, SIZE),  # review, padded, over product
            "padded": lambda: regard.MultiHead(SIZE, SIZE, heads=2),  # as over, both equally long
            "pooled": lambda: AttentionPooling(SIZE),  # of review
        }
        self.made = nn.ModuleDict({name: made[name]() for name in parts})
        self.queries = nn.Parameter(torch.randn(SLOTS, SIZE))

    def forward(self, product, product_mask, review, review_mask):
        p, r = self.product(product), self.review(review)
        if "itself" in self.parts:
            p = p + self.made["itself"](p, mask=product_mask).context
            r = r + self.made["itself"](r, mask=review_mask).context
        if "slots" in self.parts:
            slots = self.queries.expand(len(r), -1, -1)
            r = r + self.made["slots"](slots, r, mask=review_mask).context.mean(1, keepdim=True)
        if "read" in self.parts:
            r = r + self.made["read"](r, self.queries.expand(len(r), -1, -1)).context
        if "joined" in self.parts:
            both = self.made["joined"](torch.cat([p, r], 1), p, mask=product_mask).context
            r = r + both[:, p.shape[1] :] + self.made["joined"](r, p, mask=product_mask).context
        if "once" in self.parts:
            r = r + self.made["once"](r[:, :1], p, mask=product_mask).context
        if "over" in self.parts:
            r = r + self.made["over"](r, p, mask=product_mask).context
        if "wide" in self.parts:
            more = max(0, p.shape[1] - r.shape[1])
            wide = nn.functional.pad(r, (0, 0, 0, more))
            r = r + self.made["wide"](wide, p, mask=product_mask).context[:, : r.shape[1]]
        if "padded" in self.parts:
            longer = max(p.shape[1], r.shape[1])
            wide = [nn.functional.pad(x, (0, 0, 0, longer - x.shape[1])) for x in (r, p)]
            mask = nn.functional.pad(product_mask, (0, longer - p.shape[1]))
            r = r + self.made["padded"](*wide, mask=mask).context[:, : r.shape[1]]
        r = r.masked_fill(~review_mask[..., None], 0.0)
        return self.made["pooled"](r, review_mask).vector if "pooled" in self.parts else r.sum(1)


class OpinionTask(Task):
    columns: ClassVar = ("accuracy",)
    inputs: ClassVar = ("product", "review")
    noun: ClassVar = "reviews"

    def make_fields(self):
        self.product = Text("product", kind="word", eos=False)
        self.review = Text("review", kind="word", eos=False)
        self.label = Label("label")
        return self.product, self.review, self.label

    def for_training(self, model):
        return TaskModule(model)

    def answers(self, module, batch):
        for number in module.model(**batch).sum(-1).tolist():
            yield "good" if number > 0 else "bad", abs(number)


def opinion_run(folder: Path, *parts: str, longest: int | None = None) -> LoadedRun:
    """One that was never trained, and attends as `parts` say. longest: tokens of a text that are read."""
    data = {part: f"{part}.jsonl#product,review,label" for part in ("train", "dev", "test")}
    model = {"kind": "two_texts:Attending", "parts": parts or ("over",)}
    sections = {"task": {"kind": "two_texts:Opinion"}, "model": model}
    task = task_of(Recipe.model_validate({"data": data, **sections}))
    for field in (task.product, task.review):
        field.learn([WORDS])
        field.max_length, field.cut = longest, longest is not None
    task.label.learn(["bad", "good"])
    torch.manual_seed(0)
    module = task.for_inference(task.recipe.model.build(task.sizes)).eval()
    return LoadedRun(task, module, RunFolder(folder / "opinion"))
