"""Tagging: a label for every word. The task, its loss, and a model whose states attend to each other.

    regard train word-tags data.train=bank.conllu#form,upos
    regard predict -m runs/word-tags "the cat sat on the mat"

Legend: B sentences, L words, K tags.
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
from regard.data.fields import Field, Labels, Text
from regard.layers.recurrent import Recurrent
from regard.models.attention_options import HeadOptions
from regard.options import Few, ModelOptions, Rate, TaskOptions, Width
from regard.tasks.task import Task
from regard.tasks.task_module import Loss, TaskModule


class WordTags(TaskOptions):
    """A tag for every word: sentences in words, and as many tags. Sentences over data.max_length are cut."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "loss")

    def task(self, recipe: Any) -> TaggingTask:
        return TaggingTask(recipe)


class AttendingTagger(ModelOptions):
    """A recurrent network in both directions, heads over its states, and a tag for each."""

    task: ClassVar[str] = "word-tags"
    size: Width = Option(128, description="features of a word and of a state")
    heads: Few = Option(4, description="heads of the attention; they divide the size")
    attention: HeadOptions = Option(HeadOptions(), description="how a word attends to the others")
    dropout: Rate = Option(0.3, description="share of the features left out in training")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        return Tagger(sizes["words"], sizes["tags"], self)


class Tagger(nn.Module):
    """h = GRU(x);  logits = W [h; MultiHead(h)]"""

    def __init__(self, words: int, tags: int, options: AttendingTagger) -> None:
        super().__init__()
        size, attention = options.size, options.attention
        self.embed = nn.Embedding(words, size)
        self.recurrent = Recurrent(size, size // 2, bidirectional=True)
        self.attention = MultiHead(
            size,
            heads=options.heads,
            score=attention.score,
            region=attention.region_of(0),
            normalize=attention.normalize,
        )
        self.output = nn.Linear(2 * size, tags)
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """words (B, L), mask (B, L): True where a word is real -> logits (B, L, K)"""
        states = self.recurrent(self.dropout(self.embed(words)), mask).outputs
        context = self.attention(states, mask=mask).context
        return self.output(self.dropout(torch.cat([states, context], -1)))


class TaggingModule(TaskModule):
    """The loss: -log p of every tag; called with the tensors of the fields, by their names."""

    def forward(self, words: Tensor, words_mask: Tensor, tags: Tensor) -> Loss:
        logits = self.model(words, words_mask)
        total = F.cross_entropy(logits.flatten(0, 1).float(), tags.flatten(), reduction="sum")
        return Loss(total, words_mask.sum())  # where nothing is real, tags are what is left out


class TaggingTask(Task):
    columns: ClassVar = ("accuracy",)
    inputs: ClassVar = ("words",)
    noun: ClassVar = "sentences"
    verb: ClassVar = "tag words"

    def make_fields(self) -> Sequence[Field]:
        given, longest = self.recipe.tokenizer.source, self.recipe.data.max_length
        kept = given.model_dump(include={"size", "lowercase"})
        self.words = Text("words", kind="split", **kept, eos=False, max_length=longest, cut=True)
        self.tags = Labels("tags", of=self.words)
        return self.words, self.tags

    def for_training(self, model: nn.Module) -> TaggingModule:
        return TaggingModule(model)

    def answers(self, module: TaggingModule, batch: Batch) -> Iterable[tuple[list[str], float]]:
        """The likeliest tags, and the mean of their probabilities."""
        words, real = batch["words"], batch["words_mask"]
        best = module.model(words, real).float().softmax(-1).max(-1)
        for probability, tag, mask in zip(best.values, best.indices, real, strict=True):
            yield self.tags.decode(tag[mask].tolist()), probability[mask].mean().item()

    def measure(self, answers: Sequence[Any], examples: Sequence[Any]) -> dict[str, float]:
        """Of all words; one that was cut off is told wrong."""
        pairs = zip(answers, (example["tags"] for example in examples), strict=True)
        right = sum(a == b for found, wanted in pairs for a, b in zip(found, wanted, strict=False))
        return {"accuracy": right / max(sum(len(example["tags"]) for example in examples), 1)}
