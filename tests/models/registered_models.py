"""Every registered model, small, and a forward pass of it over texts of ragged lengths, by its task.

Legend: B examples, each text with as many tokens as `LENGTHS` says for its name.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from regard.options import ModelOptions
from regard.recipe.recipe import Recipe
from regard.registry import find, kinds
from regard.tasks.recipe_task import task_of

SEES = ("see", "paint", "caption", "visit")  # tasks whose models read pictures or trails, not texts
MODELS = tuple(kind for kind in kinds("models") if find("models", kind).task not in SEES)
SMALL = {"size": 8, "embedding": 8, "hidden": 8, "inner": 8, "maxout": 8, "heads": 2, "layers": 2}
# Every text has a width of its own, which tells of weights what is attended to.
LENGTHS = {
    "text": torch.tensor([6, 2]),
    "source": torch.tensor([6, 3]),
    "words": torch.tensor([6, 1]),
    "first": torch.tensor([6, 4]),
    "second": torch.tensor([3, 5]),
    "story": torch.tensor([7, 4]),
    "question": torch.tensor([2, 3]),
    "candidates": torch.tensor([[1, 2, 0], [2, 2, 1]]),
    "document": torch.tensor([[4, 0, 2], [3, 1, 5]]),
}
TASKS = {  # the texts that a model of a task reads
    "translate": ("source",),
    "summarise": ("source",),
    "joint": ("source",),
    "classify": ("text",),
    "masked": ("text",),
    "tag": ("words",),
    "embed": (),  # its words are those of windows, which its own tests lay beside padding
    "match": ("first", "second"),
    "read": ("story", "question", "candidates"),
}


def built(kind: str, task: dict[str, Any] | None = None, **options: Any) -> nn.Module:
    """A model of this kind, small, of random weights."""
    found: type[ModelOptions] = find("models", kind)
    small = {name: value for name, value in SMALL.items() if name in found.model_fields}
    (reads, *_) = getattr(found, "reads", ("",))
    asked = {"kind": found.task} | ({"input": reads} if reads else {}) | (task or {})
    given = {"task": asked, "model": {"kind": kind, **small, **options}}
    recipe = Recipe.model_validate(given)
    sizes = {name: field.any_size for name, field in task_of(recipe).fields.items()}
    torch.manual_seed(0)
    model = recipe.model.build(sizes).double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.8)
    return model


def texts_of(kind: str) -> tuple[str, ...]:
    """The names of what a model reads; none: a language model has no padding to be told of."""
    options = find("models", kind)
    if options.task == "language":
        return ()
    if "document" in getattr(options, "reads", ()):
        return ("document",)
    return TASKS[options.task]


def drawn(name: str, seed: int = 0) -> Tensor:
    """Word numbers (..., longest) of a text, the same for the same seed; padding holds any."""
    lengths = LENGTHS[name]
    chance = torch.Generator().manual_seed(100 * seed + len(name))
    return torch.randint(3, 5, (*lengths.shape, int(lengths.max())), generator=chance)


def drawn_of(kind: str, seed: int = 0) -> dict[str, Tensor]:
    return {name: drawn(name, seed) for name in texts_of(kind)}


def real(name: str) -> Tensor:
    return torch.arange(int(LENGTHS[name].max())) < LENGTHS[name][..., None]


def run(
    model: nn.Module,
    kind: str,
    texts: dict[str, Tensor],
    *,
    lengths: bool = False,
    target: int = 0,
    both: bool = False,
) -> Tensor:
    """What a model gives for these texts; what is real is told by masks, by lengths, or by both."""
    task, names = find("models", kind).task, list(texts)
    if task == "language":
        return model(drawn("text")[:, :1], None, drawn("text", target)).outputs
    masks = [None if lengths else real(name) for name in names]
    told = {f"{name}_lengths": LENGTHS[name] for name in names} if lengths or both else {}
    if len(names) > 1:
        given = [x for pair in zip(texts.values(), masks, strict=True) for x in pair]
        made = model(*given, **told)
        return made if isinstance(made, Tensor) else made.outputs
    (source,), (mask,) = texts.values(), masks
    told = {"lengths": LENGTHS[names[0]]} if told else {}
    match task:
        case "translate" | "summarise" | "joint":
            return model(source, mask, drawn("text", target), **told).outputs
        case "classify":
            return model.decoder.project(model(source, mask, torch.full((2, 1), 3), **told).outputs)
        case "masked":
            return model.encode(source, mask, **told).states
        case "tag":
            return model(source, mask, source[..., None].expand(-1, -1, 3), **told)
    raise AssertionError(f"nothing here knows what a model for {task} reads: say it here")
