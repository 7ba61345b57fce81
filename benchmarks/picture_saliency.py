"""Attention over patches against saliency, and against other poolings: tables for docs/systems/patches.md.

    python benchmarks/picture_saliency.py runs --commands      # shell lines, a run each
    python benchmarks/picture_saliency.py runs                 # the tables, of the runs that are there
    python benchmarks/picture_saliency.py runs --pictures 200

For each test picture, in the view of its run, patches are ordered by what each weighs (attention), by
Σ |∂ log p / ∂ x|, by |Σ x ∂ log p / ∂ x| and by what the answer loses when the patch is black. Spearman's ρ
between two of these orders is averaged over pictures, with the interval of a bootstrap over pictures.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import torch

from regard.explanations.picture_saliency import (
    PatchSaliency,
    mean_agreement,
    picture_saliency,
    rank_agreement,
)
from regard.runs.loaded_run import LoadedRun, load
from run_folders import head, interval_of, row, test_of

SEEDS = (1, 2, 3)
POOLS = {
    "attention": ("attention", ""),
    "per-label": ("attention, a query for each label", "model.per_label=true"),
    "mean": ("mean", "model.pool=mean"),
    "max": ("max", "model.pool=max"),
}
VIT = "model.encoder=transformer training.optimizer.lr=1e-3"
ENCODERS = {"cnn": ("CNN", ""), "vit": ("ViT", VIT)}
PAIRS = (
    ("attention", "gradient"),
    ("attention", "gradient_input"),
    ("attention", "occlusion"),
    ("gradient", "occlusion"),
    ("gradient_input", "occlusion"),
)


def name_of(encoder: str, pool: str, seed: int) -> str:
    return f"patches-{encoder}-{pool}-{seed}"


def commands(folder: Path) -> Iterator[str]:
    for encoder, (_, how) in ENCODERS.items():
        for pool, (_, words) in POOLS.items():
            for seed in SEEDS:
                run = folder / name_of(encoder, pool, seed)
                yield " ".join(
                    f"regard train patches --run {run} --seed {seed} {how} {words}".split()
                )


def poolings(folder: Path) -> Iterator[str]:
    """Test accuracy of each pooling."""
    yield from head("encoder", "pooling", "runs", "test accuracy, %")
    for encoder, (called, _) in ENCODERS.items():
        for pool, (said, _) in POOLS.items():
            there = (folder / name_of(encoder, pool, seed) for seed in SEEDS)
            found = [
                100 * test_of(run)["accuracy"] for run in there if (run / "scores.json").is_file()
            ]
            if found:
                yield row(called, said, str(len(found)), interval_of(found, 2))


def agreements(folder: Path, pictures: int) -> Iterator[str]:
    """ρ of each pair of orders, over test pictures of the first seed that is there."""
    yield from head("model", "orders", "pictures", "ρ", "95 %")
    for encoder, (called, _) in ENCODERS.items():
        for pool in ("attention", "per-label"):
            runs = (folder / name_of(encoder, pool, seed) for seed in SEEDS)
            there = next((run for run in runs if (run / "model.safetensors").is_file()), None)
            if there is None:
                continue
            found = saliency(load(there), pictures)
            for first, second in PAIRS:
                one = mean_agreement(rank_agreement(getattr(found, first), getattr(found, second)))
                between = f"{one.low:+.2f} … {one.high:+.2f}"
                orders = f"{first}, {second}".replace("_", " × ")
                model, mean = f"{called}, {POOLS[pool][0]}", f"{one.mean:+.2f}"
                yield row(model, orders, str(one.pictures), mean, between)


def saliency(run: LoadedRun, pictures: int) -> PatchSaliency:
    """Of the first test pictures, in the view of the run."""
    task, parts = run.task, []
    examples = task.examples(run.recipe.data.test)[:pictures]
    with run.module.inference():
        for _, batch in task.batches(examples, run.module.device, inputs=True, batch=100):
            parts.append(picture_saliency(run.model, run.module.scene(batch["image"]).pictures))
    return PatchSaliency(*map(torch.cat, zip(*parts, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the folder of the runs")
    parser.add_argument("--commands", action="store_true", help="print shell lines")
    parser.add_argument(
        "--pictures", type=int, default=1000, help="test pictures that are explained"
    )
    asked = parser.parse_args()
    if asked.commands:
        print("\n".join(commands(asked.folder)))
        return
    print("\n".join(poolings(asked.folder)), end="\n\n")
    print("\n".join(agreements(asked.folder, asked.pictures)))


if __name__ == "__main__":
    main()
