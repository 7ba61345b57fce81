"""Two questions about one picture: do they move where a model looks, and a saliency of gradients?

    python benchmarks/caption_questions.py runs/caption-side --pictures 200

A run that was trained with prompts left and right (the recipe caption-side) is asked both about every test
scene that has a digit on both sides. Of each answer, over the cells of the picture:

    attention   Σ over the words that it says of their weights
    saliency    Σ over the pixels of a cell of |d log p(the answer) / d pixel|

and Spearman's rank correlation over cells: of left with right, of the attention and of the saliency, and of
the attention with the saliency of one question. Beside them, the share of each that is on the side asked for.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.data.tokenizer import BOS, EOS
from regard.measures.correlation import Spearman
from regard.runs.loaded_run import LoadedRun, load
from regard.tasks.search_settings import search_settings

SIDES = ("left", "right")


class AnsweredSide(NamedTuple):
    attention: Tensor  # (h, w)
    saliency: Tensor  # (h, w)
    right: bool  # whether the answer is the wanted one, where it is known


def answered(run: LoadedRun, example: dict[str, Any], prompt: str) -> AnsweredSide:
    """What the model says to one question, where it looked, and what its answer depends on."""
    task, module = run.task, run.module
    asked = {**example, "prompt": prompt}
    ((_, batch),) = task.batches([asked], module.device, inputs=True, batch=1)
    with module.inference():
        (found,) = module.captions(batch, search_settings(run.recipe), [0])
    ids = torch.tensor([*found.tokens.ids, EOS], device=module.device)
    module.eval()
    picture = batch["image"].clone().requires_grad_()
    encoded = module.encode({**batch, "image": picture})
    inputs = torch.cat([ids.new_tensor([BOS]), ids[:-1]])[None]
    decoded = module.model.decoder(inputs, encoded, weights=True)
    log_probs = module.model.decoder.project(decoded.outputs)[0].log_softmax(-1)
    (gradient,) = torch.autograd.grad(log_probs.gather(-1, ids[:, None]).sum(), picture)
    grid, cell = task.grid(module, asked), module.model.encoder.cell
    weights = decoded.attended.weights[0, :-1].detach().sum(0).reshape(grid)
    each = F.avg_pool2d(gradient.abs().sum(1), cell, ceil_mode=True, count_include_pad=False)[0]
    right = example["prompt"] == prompt and found.text == example["caption"]
    return AnsweredSide(weights.cpu(), each.cpu(), right)


def scenes(run: LoadedRun, spec: str, count: int) -> Iterator[dict[str, Any]]:
    """Those that have a digit on both sides, by the boxes of the long caption of the same scene."""
    both = spec.replace("prompt,side", "prompt,long")
    pairs = zip(run.task.read(spec), run.task.read(both), strict=True)
    for example, whole in pairs:
        lefts = whole["boxes"][:, 2]
        if (lefts < 0.4).any() and (lefts >= 0.4).any():
            yield dict(example)
            count -= 1
        if not count:
            return


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("--pictures", type=int, default=200)
    parser.add_argument("--json", type=Path, help="write the numbers there too")
    asked = parser.parse_args()
    run = load(asked.run)
    found: dict[str, list[float]] = {
        name: []
        for name in ("attention", "saliency", "both", "attention on the side", "saliency on it")
    }
    right = total = 0
    for example in scenes(run, str(run.recipe.data.test), asked.pictures):
        left, other = (answered(run, example, side) for side in SIDES)
        for name in ("attention", "saliency"):
            pair = [getattr(one, name).flatten().tolist() for one in (left, other)]
            found[name].append(Spearman().of(*pair))
        for one in (left, other):
            pair = [one.attention.flatten().tolist(), one.saliency.flatten().tolist()]
            found["both"].append(Spearman().of(*pair))
        middle = left.attention.shape[1] // 2
        for name, field in (("attention on the side", "attention"), ("saliency on it", "saliency")):
            found[name].append(_share(getattr(left, field)[:, :middle], getattr(left, field)))
            there = getattr(other, field)
            found[name].append(_share(there[:, -middle:], there))
        total, right = total + 1, right + left.right + other.right
    print(f"{total} scenes with digits on both sides; {right} of them answered as wanted")
    told = {
        name: {"mean": mean(values), "sd": stdev(values), "n": len(values)}
        for name, values in found.items()
    }
    for name, values in told.items():
        print(f"{name:24s} {values['mean']:6.3f}  (sd {values['sd']:.3f}, n {values['n']})")
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1) + "\n")


def _share(part: Tensor, whole: Tensor) -> float:
    return float(part.sum() / whole.sum())


if __name__ == "__main__":
    main()
