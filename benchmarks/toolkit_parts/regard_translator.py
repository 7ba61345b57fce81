"""regard's part in `toolkit.py`: the recipes, the loops, and the plain model's weights in its own model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, cast

import torch
from lightning.fabric import Fabric
from torch import Tensor

from regard.data.batch import Batch, Loader
from regard.data.length_batches import LengthBatches
from regard.data.store import Store
from regard.models.attention_options import DecoderAttentionOptions
from regard.models.recurrent_options import RecurrentTranslator, RnnSearch
from regard.options import ModelOptions
from regard.recipe import recipe
from regard.runs.run_folder import RunFolder
from regard.tasks.task import Task
from regard.tasks.translate.translate_loss import Translate
from regard.training.checkpoints import Checkpoints
from regard.training.optimizers import build_optimizer
from regard.training.progress_display import ProgressLines
from regard.training.run_preparation import load_task, make_module, prepare_data
from regard.training.training_loop import Fit
from toolkit_parts.plain_translator import PlainTranslator

SIZE, BATCH, VOCABULARY = 256, 64, 6000

SAME_MODEL = RecurrentTranslator(
    embedding=SIZE,
    hidden=SIZE,
    attention=DecoderAttentionOptions(score=f"additive({SIZE})"),
    place="after",
    input_feeding=True,
    readout_token=False,
    dropout=0.2,
)
FROM_THE_PAPER = RnnSearch(embedding=SIZE, hidden=SIZE, maxout=SIZE, dropout=0.2)


def make_recipe(model: ModelOptions) -> recipe.Recipe:
    pieces = recipe.VocabularyOptions(kind="bpe", size=VOCABULARY)
    return recipe.Recipe(
        data=recipe.Data(train="tatoeba-zh-en:train", test="tatoeba-zh-en:test", max_length=60),
        tokenizer=recipe.Tokenizers(source=pieces, target=pieces),
        model=model,
        training=recipe.Training(
            batch_sentences=BATCH,
            optimizer=recipe.Optimizer(kind="adamw", lr=0.001),
            label_smoothing=0.1,
            clip=1.0,
            checkpoint_every=10**9,
        ),
        trainer=recipe.Trainer(accelerator="cpu", devices=1),
    )


def prepare(folder: Path) -> Store:
    """Tokenisers and token ids of the corpus, for all contenders."""
    return prepare_data(make_recipe(SAME_MODEL), RunFolder(folder), ProgressLines(quiet=True))


class BareLoop:
    """regard's model, loss, batches and optimiser; nothing around them."""

    def __init__(self, model: ModelOptions, folder: Path) -> None:
        settings = make_recipe(model)
        task = load_task(settings, RunFolder(folder))
        self.module = make_module(task)
        self.optimizer = build_optimizer(settings.training.optimizer, self.module.parameters())
        self.batches = endless(loader(task, folder))

    def train(self, seconds: float) -> int:
        start, tokens = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            loss = self.module(**next(self.batches))
            self.optimizer.zero_grad()
            (loss.total / loss.tokens).backward()
            torch.nn.utils.clip_grad_norm_(self.module.parameters(), 1.0)
            self.optimizer.step()
            tokens += int(loss.tokens)
        return tokens


class Counting(ProgressLines):
    """The reporter of a run, which counts the tokens."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.tokens = 0

    def see(self, step: int, epoch: int, done: float, loss: float, tokens: int) -> None:
        super().see(step, epoch, done, loss, tokens)
        self.tokens += tokens


class WholeRun:
    """The loop of `regard train`: Lightning, seeds for every batch, checks, progress, signals."""

    def __init__(self, model: ModelOptions, folder: Path) -> None:
        settings, run = make_recipe(model), RunFolder(folder)
        run.checkpoints.mkdir(exist_ok=True)
        self.reporter, task = Counting(), load_task(settings, run)
        self.fit = Fit(
            settings,
            Fabric(accelerator="cpu", devices=1),
            task,
            make_module(task),
            loader(task, folder),
            [],
            NeverWritten(run.checkpoints),
            self.reporter,
        )

    def train(self, seconds: float) -> int:
        before, end = self.reporter.tokens, self.fit.state.seconds + seconds
        self.fit.training = self.fit.training.model_copy(update={"minutes": end / 60})
        self.fit.run(None)
        return self.reporter.tokens - before


class NeverWritten(Checkpoints):
    """A run writes one every 500 updates, not at the end of every turn of a measurement."""

    def save(self, update: int, tree: object, best: object) -> Path:
        return self.folder


def endless(loader: Loader) -> Iterator[Batch]:
    """Epoch after epoch: the same for all who ask."""
    for epoch in count():
        loader.set_epoch(epoch)
        yield from loader


def loader(task: Task, folder: Path, **size: Any) -> Loader:
    """The batches of a run; size: of `LengthBatches`, by default so many sentences."""
    store, fields = Store.open(RunFolder(folder).store), list(task.fields.values())
    lengths = [length for field in fields if (length := store.lengths(field)) is not None]
    return Loader(store, fields, LengthBatches(lengths, **size or {"sentences": BATCH}))


def translator_like(plain: PlainTranslator, folder: Path) -> Translate:
    """regard's model with the weights of the plain one: the same function."""
    task = load_task(make_recipe(SAME_MODEL), RunFolder(folder))
    module = cast(Translate, make_module(task))
    weights = module.model_state()
    mine: dict[str, Tensor] = {
        "encoder.embed.weight": plain.source.weight,
        "decoder.embed.weight": plain.target.weight,
        "decoder.attention.score.query_weight": plain.query.weight.T,
        "decoder.attention.score.key_weight": plain.keys.weight.T,
        "decoder.attention.score.vector": plain.energy.weight.T,
        "decoder.readout.mix.weight": plain.mix.weight,
        "decoder.readout.mix.bias": plain.mix.bias,
        "decoder.output.weight": plain.output.weight,
        "decoder.output.bias": torch.zeros(plain.output.out_features),
        "decoder.bridge.transform.weight": plain.bridge.weight,
        "decoder.bridge.transform.bias": plain.bridge.bias,
    }
    for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        mine[f"encoder.network.forwards.0.{part}"] = getattr(plain.encoder, f"{part}_l0")
        mine[f"encoder.network.backwards.0.{part}"] = getattr(plain.encoder, f"{part}_l0_reverse")
        mine[f"decoder.network.forwards.0.{part}"] = getattr(plain.cell, part)
    with torch.no_grad():
        for name, value in mine.items():
            weights.pop(name).copy_(value)
    assert not weights, f"weights left as they were: {', '.join(weights)}"
    return module
