"""regard's part in `transformer.py`: recipes, trained runs, and where the native search spends its time."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from regard.layers.transformer_blocks import Norm
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.transformer import TransformerDecoder
from regard.models.transformer_options import Transformer
from regard.recipe import recipe
from regard.runs.loaded_run import LoadedRun, load
from regard.runs.model_file import save_model
from regard.runs.run_folder import RunFolder
from regard.training.run import train
from toolkit_parts.regard_translator import SIZE, make_recipe

HEADS, INNER, LAYERS, DROPOUT = 4, 1024, 4, 0.1
EPOCHS, WARMUP = 4, 400  # of the weights for translation: enough for sentences of the usual lengths


def section(norm: Norm, *, everywhere: bool = False) -> Transformer:
    """everywhere: dropout also of attention weights and inside the feed-forward network.

    Marian's models are post-norm with their sines first, JoeyNMT's pre-norm with sines in turns.
    """
    return Transformer(
        size=SIZE,
        heads=HEADS,
        inner=INNER,
        encoder_layers=LAYERS,
        decoder_layers=LAYERS,
        norm=norm,
        positions="sinusoidal" if norm == "pre" else "sinusoidal-halves",
        dropout=DROPOUT,
        attention_dropout=DROPOUT if everywhere else 0.0,
        inner_dropout=DROPOUT if everywhere else 0.0,
    )


def trained(norm: Norm, folder: Path) -> LoadedRun:
    """The run in this folder; if there is none, it is trained there, for some minutes."""
    run = RunFolder(folder)
    if not run.model.is_file():
        given = make_recipe(section(norm))
        schedule = recipe.Schedule(kind="cosine", warmup=WARMUP)
        training = given.training.model_copy(update={"epochs": EPOCHS, "schedule": schedule})
        train(given.model_copy(update={"training": training}), folder)
        _drop_bias(run)
    return load(folder, device="cpu")


def _drop_bias(run: RunFolder) -> None:
    """b of W h + b becomes 0 in the model of the run: JoeyNMT has none."""
    loaded = load(run.path, device="cpu")
    weights = loaded.model.state_dict()
    weights["decoder.output.bias"].zero_()
    save_model(run, loaded.task, weights)


class RegardLearner(nn.Module):
    """regard's model as the loop of `learners.py` calls it."""

    def __init__(self, model: Transformer, source: int, target: int) -> None:
        super().__init__()
        self.model = cast(EncoderDecoder, model.build({"source": source, "target": target}))

    def forward(self, source: Tensor, mask: Tensor, inputs: Tensor) -> Tensor:
        return self.model(source, mask, inputs).outputs

    def project(self, outputs: Tensor) -> Tensor:
        return cast(TransformerDecoder, self.model.decoder).project(outputs)


# ── where the time goes ──────────────────────────────────────────────────────────────────────────

PARTS = {
    "tokenise the sources": ("tokenizer.py", "encode_many"),
    "encode": ("text_translator.py", "_encode"),
    "keys and values of the source": ("transformer.py", "start"),
    "steps of the decoder": ("transformer.py", "step"),
    "· embed": ("embedding.py", "forward"),
    "· keys and values of the new token, joined": ("memory.py", "advance"),
    "· attention, self and cross": ("module.py", "forward"),
    "· · the call made ready (`prepare`)": ("module.py", "prepare"),
    "· · planned and computed (`run`)": ("call.py", "run"),
    "· · output matrix": ("module.py", "merge"),
    "· feed-forward networks": ("feed_forward.py", "forward"),
    "· residuals": ("transformer_blocks.py", "after"),
    "· logits": ("transformer.py", "project"),
    "candidates": ("progress.py", "candidates"),
    "scores of what ends": ("progress.py", "scores"),
    "who goes on": ("progress.py", "going"),
    "reorder the hypotheses": ("progress.py", "next"),
    "assemble": ("hypothesis.py", "assemble"),
    "spell": ("text_translator.py", "_prediction"),
}


def profile_parts(work: Callable[[], object]) -> Iterator[str]:
    """Seconds inside functions, all that they call included. Calls from Python look dearer than they are."""
    watch = cProfile.Profile()
    watch.runcall(work)
    stats = pstats.Stats(watch)
    total = stats.total_tt  # type: ignore[attr-defined]
    yield "| part | calls | seconds | share |"
    yield "| --- | --- | --- | --- |"
    for name, (file, function) in PARTS.items():
        found = [
            (calls, seconds)
            for (path, _, called), (_, calls, _, seconds, _) in stats.stats.items()  # type: ignore[attr-defined]
            if called == function and Path(path).name == file and "regard" in path
        ]
        calls, seconds = (sum(column) for column in zip(*found, strict=True)) if found else (0, 0.0)
        yield f"| {name} | {calls:,} | {seconds:.2f} | {seconds / total:.0%} |"
    yield f"| all | | {total:.2f} | |"


def profile_operators(work: Callable[[], object], shown: int = 16) -> Iterator[str]:
    """Seconds inside torch's operators, without what they call."""
    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU]) as watch:
        work()
    found = sorted(watch.key_averages(), key=lambda one: -one.self_cpu_time_total)
    total = sum(one.self_cpu_time_total for one in found)
    yield "| operator | calls | seconds | share |"
    yield "| --- | --- | --- | --- |"
    for one in found[:shown]:
        seconds = one.self_cpu_time_total
        yield f"| {one.key} | {one.count:,} | {seconds / 1e6:.2f} | {seconds / total:.0%} |"
