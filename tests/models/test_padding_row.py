"""The vector of padding is 0 and stays 0, whatever draws, fills or trains the weights."""

from __future__ import annotations

import pytest
import torch
from registered_models import LENGTHS, MODELS, SMALL, drawn, drawn_of, run
from test_padding_vectors import padded
from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW

from regard.layers.embedding import TokenEmbedding
from regard.layers.positions import Learned
from regard.layers.special_tokens import PAD
from regard.models.captions.show_attend_tell import show_attend_tell
from regard.models.modes import many_to_one
from regard.models.tellers.one_to_many import LabelEncoder, one_to_many
from regard.recipe.recipe import Recipe
from regard.registry import find
from regard.tasks.loss import smoothed_cross_entropy
from regard.tasks.recipe_task import task_of
from regard.training.weight_averages import MovingWeights

INPUTS = padded(torch.randint(3, 5, (2, 4)), torch.tensor([4, 2]))
OPTIMIZERS = {
    "adamw": lambda weights: AdamW(weights, lr=0.1, weight_decay=0.5),
    "adam": lambda weights: Adam(weights, lr=0.1, weight_decay=0.5),
    "momentum": lambda weights: SGD(weights, lr=0.1, momentum=0.9, weight_decay=0.5),
}
WAYS = [
    *((kind, {}) for kind in MODELS),
    ("rnnsearch", {"init": "default"}),
    ("recurrent-language", {"attention": {}}),
    ("transformer", {"share": "all"}),
    ("transformer", {"share": "target"}),
    ("abs", {"encoder": "attention"}),
    ("recurrent-tagger", {"characters": 8}),
    ("transformer-classifier", {"positions": "learned"}),
]


def fresh(kind: str, **options) -> nn.Module:
    """A model as a run begins with it."""
    found = find("models", kind)
    small = {name: value for name, value in SMALL.items() if name in found.model_fields}
    (reads, *_) = getattr(found, "reads", ("",))
    task = {"kind": found.task} | ({"input": reads} if reads else {})
    shared = {"tokenizer": {"shared": True}} if options.get("share") == "all" else {}
    given = {"task": task, "model": {"kind": kind, **small, **options}, **shared}
    recipe = Recipe.model_validate(given)
    torch.manual_seed(0)
    return recipe.model.build({n: f.any_size for n, f in task_of(recipe).fields.items()})


def rows_of_padding(model: nn.Module) -> list[Tensor]:
    """Of all embeddings inside but those of what is never padded: places in a text, and labels."""
    parts = list(model.modules())
    others = [part.table for part in parts if isinstance(part, Learned)]
    others += [part.embed for part in parts if isinstance(part, LabelEncoder)]
    tables = [p for p in parts if isinstance(p, nn.Embedding) and not any(p is o for o in others)]
    assert all(isinstance(table, TokenEmbedding) for table in tables)
    return [table.weight[PAD] for table in tables]


def cost(model: nn.Module, outputs: Tensor) -> Tensor:
    """What training would lower: that of tokens, where an output is one."""
    project = getattr(model, "project", None) or getattr(model.decoder, "project", None)
    logits = project(outputs).flatten(0, -2)
    return smoothed_cross_entropy(logits, torch.full_like(logits[:, 0], 4).long(), 0.1)


def after_steps(model: nn.Module, loss, optimizer="adamw") -> None:
    stepper, means = OPTIMIZERS[optimizer](model.parameters()), MovingWeights(model, 0.5)
    before = [p.detach().clone() for p in model.parameters()]
    for update in range(3):
        stepper.zero_grad()
        loss().backward()
        stepper.step()
        means.follow(update)
    assert any(not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    assert rows_of_padding(model)
    assert not torch.stack([row.abs().sum() for row in rows_of_padding(model)]).any()
    with means.in_place():
        assert not torch.stack([row.abs().sum() for row in rows_of_padding(model)]).any()


def loss_of(model: nn.Module, kind: str) -> Tensor:
    texts = {name: padded(text, LENGTHS[name]) for name, text in drawn_of(kind).items()}
    task = find("models", kind).task
    if task in ("translate", "summarise", "joint", "language"):
        source = texts["source"] if texts else drawn("text")[:2, :1]
        real = None if not texts else source != PAD
        return cost(model, model(source, real, INPUTS).outputs[INPUTS != PAD])
    made = run(model, kind, texts)
    if task == "masked":
        return cost(model, made)
    return made[made.isfinite()].square().sum()


@pytest.mark.parametrize(("kind", "way"), [w for w in WAYS if find("models", w[0]).task != "embed"])
def test_it_stays_zero_in_every_model(kind, way):
    model = fresh(kind, **way)
    after_steps(model, lambda: loss_of(model, kind))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_it_stays_zero_with_every_optimizer(optimizer):
    model, text = many_to_one(9, 3, hidden=6, embedding=5), torch.tensor([[4, 5, 6], [7, PAD, PAD]])
    decoded = lambda: model(text, text != PAD, torch.full((2, 1), 3)).outputs  # noqa: E731
    after_steps(model, lambda: model.decoder.project(decoded()).square().sum(), optimizer)


def test_it_stays_zero_in_what_tells_of_pictures_and_labels():
    caption = show_attend_tell(5, 9, size=8, embedding=6, hidden=10, frames="gru")
    frames, seen = torch.randn(2, 3, 5), torch.ones(2, 3, dtype=torch.bool)
    told = lambda: caption.decoder(INPUTS, caption.encode(frames, seen)).outputs  # noqa: E731
    after_steps(caption, lambda: cost(caption, told()))
    label = one_to_many(3, 9, reads="label", size=8, embedding=6, hidden=10)
    after_steps(label, lambda: cost(label, label(torch.tensor([0, 2]), None, INPUTS).outputs))
    assert label.encoder.embed.weight[0].any()  # label 0 is no padding


@pytest.mark.parametrize("kind", ["cbow", "skip-gram"])
def test_word_vectors_have_none_for_padding(kind):
    model = fresh(kind)
    assert not model.vectors[PAD].any()
    assert not model.outputs[PAD].any()
    assert model.vectors[1:].abs().sum(-1).all()


def test_the_other_rows_are_drawn_as_ever():
    torch.manual_seed(3)
    drawn_once = TokenEmbedding(6, 4)
    torch.manual_seed(3)
    plain = nn.Embedding(6, 4)
    torch.testing.assert_close(drawn_once.weight[1:], plain.weight[1:], rtol=0, atol=0)
    assert not drawn_once.weight[PAD].any()
