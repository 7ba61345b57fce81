"""Updates whose work is recorded and replayed: the same updates, known a little later."""

from __future__ import annotations

import math

import pytest
import torch
from lightning.fabric import Fabric
from pair_batches import pair_batch

from regard.data.tokenizer import Tokenizer
from regard.models import presets
from regard.models.transformer_models import transformer
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.runs.failures import Diverged, OutOfMemory
from regard.tasks.translate.translate_loss import Translate
from regard.training import graphed_update
from regard.training.graphed_update import BEHIND, GraphedUpdater, make_updater
from regard.training.weight_update import Updater

PAIRS = [([4, 5, 6], [6, 5, 4]), ([7, 8], [8, 7, 9, 10, 11]), ([9], [9]), ([5, 5], [4])]
BATCHES = [pair_batch(PAIRS), pair_batch(PAIRS[:2], [0, 1]), pair_batch(PAIRS[2:], [2, 3])]
SIZES = {"embedding": 8, "hidden": 8}
MODELS = {
    "rnnsearch": lambda **more: presets.rnnsearch(12, 12, maxout=8, **SIZES, **more),
    "luong": lambda **more: presets.luong(12, 12, **SIZES, **more),
    "transformer": lambda **more: transformer(
        12, 12, size=8, heads=2, inner=16, encoder_layers=2, decoder_layers=2, **more
    ),
}


class Replays:
    """A recorder that does nothing while recording, and the work at every replay, as a graph does."""

    def __init__(self, room=99):
        self.recorded = self.replayed = 0
        self.room = room

    def has_room(self):
        return self.recorded < self.room

    def record(self, work):
        self.recorded += 1

        def replay():
            self.replayed += 1
            work()

        return replay


def updater_of(
    kind: type[Updater],
    *,
    model: str = "rnnsearch",
    precision: str = "64",
    device: str = "cpu",
    smoothing: float = 0.1,
    dropout: float = 0.0,
    optimizer: str = "adam",
    **training,
) -> Updater:
    chosen = {"kind": optimizer, "lr": 0.01, "weight_decay": 0.1}
    recipe = Recipe.model_validate({"training": {"clip": 0.5, "optimizer": chosen, **training}})
    fabric = Fabric(accelerator=device, devices=1, precision=precision)
    fabric.launch()
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["a b c d e f g h"], kind="word")
    task = Translate(
        MODELS[model](dropout=dropout), tokenizer, tokenizer, label_smoothing=smoothing
    )
    return kind(recipe, fabric, task, lambda row: 100 + row)


def trained(updater: Updater, steps: int = 12, each: int = 1) -> tuple[list, list[torch.Tensor]]:
    """What the updates told, and the weights."""
    known = []
    for step in range(steps):
        group = [BATCHES[(step + i) % 3] for i in range(each)]
        known += updater.make(group, number=step * each, rate=0.01, shared=(0.0, float(step)))
    known += updater.settle()
    return known, [p.detach().cpu().clone() for p in updater.parameters]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("clip", [None, 0.05])
def test_they_are_the_updates_that_are_not_recorded(model, each, clip):
    plain, graphed = (
        # Adam would make steps of what is rounding, as the gradient of a key's bias is
        trained(updater_of(kind, model=model, clip=clip, optimizer="sgd"), each=each)
        for kind in (Updater, GraphedUpdater)
    )
    assert len(plain[0]) == len(graphed[0]) == 12
    for one, other in zip(plain[0], graphed[0], strict=True):
        assert other.loss == pytest.approx(one.loss, rel=1e-6)  # Lightning rounds it to float32
        assert other.norm == pytest.approx(one.norm, rel=1e-9)
        assert (other.tokens, other.shared) == (one.tokens, one.shared)
    for one, other in zip(plain[1], graphed[1], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("model", MODELS)
def test_in_mixed_precision_too(model):
    plain, graphed = (
        trained(updater_of(kind, model=model, precision="bf16-mixed"))[0]
        for kind in (Updater, GraphedUpdater)
    )
    for one, other in zip(plain, graphed, strict=True):
        assert other.loss == pytest.approx(one.loss, rel=1e-2)
        assert other.tokens == one.tokens
    losses = [made.loss / made.tokens for made in graphed]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adadelta"])
def test_every_optimiser_makes_its_own_steps(optimizer):
    plain, graphed = (
        trained(updater_of(kind, optimizer=optimizer))[1] for kind in (Updater, GraphedUpdater)
    )
    for one, other in zip(plain, graphed, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-10)


def test_a_shape_is_recorded_when_it_comes_again():
    updater, recorder = updater_of(GraphedUpdater), Replays()
    assert isinstance(updater, GraphedUpdater)
    updater.graphs.recorder = recorder
    trained(updater, steps=12)
    assert recorder.recorded == len(updater.graphs) == 3
    assert recorder.replayed == 12 - 3  # each shape was worked on once as it came


def test_nothing_is_recorded_without_memory_for_it():
    updater, recorder = updater_of(GraphedUpdater), Replays(room=1)
    assert isinstance(updater, GraphedUpdater)
    updater.graphs.recorder = recorder
    found = trained(updater, steps=12)[1]
    assert recorder.recorded == len(updater.graphs) == 1
    assert recorder.replayed == 12 // 3 - 1
    for one, other in zip(trained(updater_of(GraphedUpdater))[1], found, strict=True):
        assert one.equal(other)


def test_nothing_learnt_depends_on_what_is_recorded():
    """So a run that goes on, which records anew, goes on as it would have: dropout included."""
    ways = []
    for most in (0, 1, 128):
        updater = updater_of(GraphedUpdater, dropout=0.3)
        assert isinstance(updater, GraphedUpdater)
        updater.graphs.most = most
        ways.append(trained(updater)[1])
        assert len(updater.graphs) == min(most, 3)
    for other in ways[1:]:
        assert all(a.equal(b) for a, b in zip(ways[0], other, strict=True))


def test_what_cannot_be_recorded_is_done_as_it_comes():
    class Fails:
        def has_room(self):
            return True

        def record(self, work):
            raise RuntimeError("CUDA error: operation not permitted\nlong explanation")

    said = []
    updater = updater_of(GraphedUpdater)
    assert isinstance(updater, GraphedUpdater)
    updater.graphs.recorder, updater.graphs.warn = Fails(), said.append
    found = trained(updater)[1]
    for one, other in zip(trained(updater_of(GraphedUpdater))[1], found, strict=True):
        assert one.equal(other)
    (warning,) = said
    assert warning.endswith("CUDA error: operation not permitted")


def test_what_an_update_gave_is_known_some_updates_later():
    updater = updater_of(GraphedUpdater)
    counts = [
        len([*updater.make(BATCHES[:1], number=i, rate=0.01, shared=(0.0, 0.0))])
        for i in range(BEHIND + 3)
    ]
    assert counts == [0] * BEHIND + [1] * 3
    assert len([*updater.settle()]) == BEHIND
    assert [*updater.settle()] == []


def test_a_loss_that_is_not_a_number_names_its_lines_later():
    updater = updater_of(GraphedUpdater, smoothing=0.0)
    updater.update([BATCHES[1]], number=0, rate=0.0)
    with torch.no_grad():
        updater.module.module.model.encoder.embed.weight[9] = math.nan
    updater.make([BATCHES[2]], number=1, rate=0.0)
    updater.make([BATCHES[1]], number=2, rate=0.0)
    with pytest.raises(Diverged, match=r"loss became nan at a batch of 2 .* lines 102, 103$"):
        list(updater.settle())


def test_out_of_memory_tells_the_batch(monkeypatch):
    updater = updater_of(GraphedUpdater)

    def fail(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(updater.module.module.model, "encode", fail)
    with pytest.raises(OutOfMemory, match=r"4 examples, source \(4, 4\)"):
        updater.update(BATCHES[:1], number=0, rate=0.1)


@pytest.mark.parametrize(
    ("wish", "pays", "forcing", "records"),
    [
        ("auto", False, 1.0, False),
        ("auto", True, 1.0, True),
        ("auto", True, 0.5, False),
        ("off", True, 1.0, False),
        ("graphs", False, 1.0, True),
    ],
)
def test_the_recipe_says_whether_work_is_recorded(monkeypatch, wish, pays, forcing, records):
    assert "cpu" not in graphed_update.PAYS
    if pays:
        monkeypatch.setattr(graphed_update, "PAYS", ("cpu",))
    fabric = Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    recipe = Recipe.model_validate({"trainer": {"compile": wish}})
    tokenizer = Tokenizer.train(["a b c d e f g h"], kind="word")
    task = Translate(MODELS["rnnsearch"](), tokenizer, tokenizer, teacher_forcing=forcing)
    updater = make_updater(recipe, fabric, task, lambda row: row, warn=print)
    assert updater.records == records


def test_a_wish_that_cannot_be_fulfilled_is_refused_with_its_reason():
    fabric = Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    recipe = Recipe.model_validate({"trainer": {"compile": "graphs"}})
    tokenizer = Tokenizer.train(["a b c d e f g h"], kind="word")
    task = Translate(MODELS["rnnsearch"](), tokenizer, tokenizer, teacher_forcing=0.5)
    with pytest.raises(RecipeError, match=r"teacher_forcing\.ratio below 1"):
        make_updater(recipe, fabric, task, lambda row: row, warn=print)


def test_16_bits_are_refused_where_the_cpu_has_others_instead():
    """Lightning quietly takes bf16-mixed on a CPU: what was written is what is judged."""
    fabric = Fabric(accelerator="cpu", devices=1, precision="16-mixed")
    fabric.launch()
    recipe = Recipe.model_validate({"trainer": {"compile": "graphs", "precision": "16-mixed"}})
    tokenizer = Tokenizer.train(["a b c d e f g h"], kind="word")
    task = Translate(MODELS["rnnsearch"](), tokenizer, tokenizer)
    with pytest.raises(RecipeError, match=r"precision=16-mixed looks at every gradient"):
        make_updater(recipe, fabric, task, lambda row: row, warn=print)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
class TestOnAGpu:
    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize("precision", ["32", "bf16-mixed"])
    def test_replays_are_the_work_as_it_comes(self, model, precision):
        """Dropout included: chance is a function of the batch's number, recorded or not."""
        ways = []
        for most in (0, 128):
            updater = updater_of(
                GraphedUpdater, model=model, precision=precision, device="cuda", dropout=0.3
            )
            assert isinstance(updater, GraphedUpdater)
            said = []
            updater.graphs.most, updater.graphs.warn = most, said.append
            ways.append(trained(updater, steps=15))
            assert said == []
            assert len(updater.graphs) == min(most, 3)
        near = 1e-3 if precision == "32" else 1e-2  # a product may be summed in another order
        for one, other in zip(ways[0][0], ways[1][0], strict=True):
            assert other.loss == pytest.approx(one.loss, rel=near)
        losses = [made.loss / made.tokens for made in ways[1][0]]
        assert losses[-1] < losses[0]

    @pytest.mark.parametrize("model", MODELS)
    def test_without_dropout_it_is_the_update_of_before(self, model):
        with torch.backends.cudnn.flags(allow_tf32=False):
            plain, graphed = (
                trained(updater_of(kind, model=model, precision="32", device="cuda"))[0]
                for kind in (Updater, GraphedUpdater)
            )
        for one, other in zip(plain, graphed, strict=True):
            assert other.loss == pytest.approx(one.loss, rel=1e-3)
            assert other.tokens == one.tokens

    def test_nothing_waits_for_the_device(self):
        updater = updater_of(GraphedUpdater, precision="32", device="cuda", dropout=0.3)
        trained(updater, steps=9)  # all shapes are recorded
        torch.cuda.set_sync_debug_mode("error")
        try:
            for step in range(BEHIND):
                updater.make(BATCHES[:1], number=step, rate=0.01, shared=(0.0, 0.0))
        finally:
            torch.cuda.set_sync_debug_mode("default")
        assert len([*updater.settle()]) == BEHIND
