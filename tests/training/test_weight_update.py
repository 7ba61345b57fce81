"""One update: its gradient is that of the joined batch, and nothing bad reaches the weights."""

from __future__ import annotations

import pytest
import torch
from lightning.fabric import Fabric
from pair_batches import pair_batch

from regard.data.tokenizer import Tokenizer
from regard.models.presets import recurrent
from regard.recipe.recipe import Recipe
from regard.runs.failures import Diverged, OutOfMemory
from regard.tasks.translate.translate_loss import Translate
from regard.training.weight_update import Updater, seed_by

PAIRS = [([4, 5, 6], [6, 5, 4]), ([7, 8], [8, 7, 9, 10, 11]), ([9], [9]), ([5, 5], [4])]


def make_updater(
    precision: str = "64", accelerator: str = "cpu", **training
) -> tuple[Updater, Translate]:
    optimizer = {"kind": "sgd", "lr": 1.0}
    recipe = Recipe.model_validate({"training": {"clip": None, "optimizer": optimizer, **training}})
    fabric = Fabric(accelerator=accelerator, devices=1, precision=precision)
    fabric.launch()
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["a b c d e f g h"], kind="word")
    task = Translate(recurrent(12, 12, embedding=8, hidden=8), tokenizer, tokenizer)
    return Updater(recipe, fabric, task, line=lambda row: 100 + row), task


def weights_after(batches: list, **options) -> list[torch.Tensor]:
    updater, task = make_updater(**options)
    updater.update(batches, number=0, rate=1.0)
    return [p.detach().clone() for p in task.parameters()]


@pytest.mark.parametrize("clip", [None, 0.01])
def test_accumulated_batches_of_unequal_sizes_make_the_update_of_the_joined_batch(clip):
    whole = weights_after([pair_batch(PAIRS)], clip=clip)
    parts = weights_after(
        [pair_batch(PAIRS[:1]), pair_batch(PAIRS[1:3]), pair_batch(PAIRS[3:])], clip=clip
    )
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_the_gradient_is_that_of_the_mean_over_target_tokens():
    updater, task = make_updater()
    batch = pair_batch(PAIRS)
    loss = task(**batch)
    task.zero_grad()
    (loss.total / (4 + 6 + 2 + 2)).backward()
    expected = [p.detach() - p.grad for p in task.parameters()]
    made = updater.update([batch], number=0, rate=1.0)
    assert made.tokens == 14
    assert made.loss == pytest.approx(loss.total.item())
    for weight, value in zip(task.parameters(), expected, strict=True):
        torch.testing.assert_close(weight.detach(), value)


def test_float32_trains():
    updater, _ = make_updater("32")
    losses = [updater.update([pair_batch(PAIRS)], number=i, rate=0.5).loss for i in range(20)]
    assert losses[-1] < losses[0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("precision", ["32", "bf16-mixed", "16-mixed"])
def test_every_precision_trains_on_a_gpu(precision):
    updater, task = make_updater(precision, "cuda")
    losses = [updater.update([pair_batch(PAIRS)], number=i, rate=0.5).loss for i in range(40)]
    assert losses[-1] < losses[0] / 2
    assert next(task.parameters()).dtype == torch.float32


def test_a_loss_that_is_not_a_number_names_its_lines_and_leaves_the_weights():
    updater, task = make_updater()
    with torch.no_grad():
        task.model.encoder.embed.weight[9] = torch.nan  # only the third pair has this token
    before = [p.detach().clone() for p in task.parameters()]
    good, bad = pair_batch(PAIRS[:2], [0, 1]), pair_batch(PAIRS[2:], [2, 3])
    with pytest.raises(
        Diverged, match=r"loss became nan at a batch of 2 examples.* lines 102, 103$"
    ):
        updater.update([good, bad], number=0, rate=1.0)
    for weight, value in zip(task.parameters(), before, strict=True):
        torch.testing.assert_close(weight.detach(), value, equal_nan=True)


def test_a_gradient_that_is_not_finite_is_noticed_too():
    updater, task = make_updater()
    task.model.decoder.output.bias.register_hook(lambda grad: grad * float("inf"))
    before = task.model.decoder.output.weight.detach().clone()
    with pytest.raises(Diverged, match=r"norm of the gradient became (inf|nan)"):
        updater.update([pair_batch(PAIRS)], number=0, rate=1.0)
    assert task.model.decoder.output.weight.equal(before)


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
    ],
)
def test_out_of_memory_tells_the_batch(error, monkeypatch):
    updater, task = make_updater()

    def fail(*_):
        raise error

    monkeypatch.setattr(task.model, "encode", fail)
    with pytest.raises(
        OutOfMemory, match=r"4 examples, source \(4, 4\), target \(4, 7\), lines 100"
    ):
        updater.update([pair_batch(PAIRS)], number=0, rate=1.0)


def test_chance_is_a_function_of_seed_batch_and_rank():
    def draw(*place: int) -> float:
        seed_by(*place, torch.device("cpu"))
        return torch.rand(()).item()

    places = [(1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1), (1, 10, 0), (11, 0, 0), (-1, 0, 0)]
    assert len({draw(*place) for place in places}) == len(places)
    assert draw(1, 5, 0) == draw(1, 5, 0)
