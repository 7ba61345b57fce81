"""Optimisers, the learning rate at every update, and the size of a gradient."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.optim import SGD, Adadelta, Adagrad, Adam, AdamW
from torch.optim.optimizer import Optimizer

from regard.recipe import recipe


def build_optimizer(
    settings: recipe.Optimizer, parameters: Iterable[nn.Parameter], *, fused: bool = True
) -> Optimizer:
    """The optimiser, in its fused form where torch has one: one pass over the weights, CPU or GPU.

    Not with float16, whose gradients are clipped between being unscaled and used: the fused form
    would unscale them itself.
    """
    weights, decay = list(parameters), settings.weight_decay
    lr, eps, betas = settings.lr, settings.eps, settings.betas
    if settings.kind == "adam":
        return Adam(weights, lr=lr, betas=betas, eps=eps, weight_decay=decay, fused=fused)
    if settings.kind == "adamw":
        return AdamW(weights, lr=lr, betas=betas, eps=eps, weight_decay=decay, fused=fused)
    if settings.kind == "adadelta":
        return Adadelta(weights, lr=lr, rho=settings.rho, eps=eps, weight_decay=decay)
    if settings.kind == "adagrad":  # takes sparse gradients too
        return Adagrad(weights, lr=lr, eps=eps, weight_decay=decay)
    return SGD(weights, lr=lr, momentum=settings.momentum, weight_decay=decay, fused=fused)


def learning_rate(
    optimizer: recipe.Optimizer,
    schedule: recipe.Schedule,
    *,
    update: int,
    epoch: int = 0,
    done: float = 0.0,
    reductions: int = 0,
) -> float:
    """The learning rate of an update. With t = update + 1, w = warmup, all times `optimizer.lr`:

    constant, plateau, halving, cosine   min(1, t / w), times
        plateau    factor ^ reductions
        halving    factor ^ max(0, epoch + 1 - after)           — Luong et al. 2015
        cosine     (1 + cos(π done)) / 2, done: the share of the run that is over
    inverse-sqrt   min(t / w, √(w / t))
    noam           size^-½ · min(t^-½, t · w^-1.5)              — Vaswani et al. 2017

    update and epoch count from 0; `reductions` are those a plateau has caused so far.
    """
    t, warmup = update + 1, schedule.warmup
    if schedule.kind == "noam":
        rise = t * warmup**-1.5 if warmup else math.inf
        return optimizer.lr * schedule.size**-0.5 * min(t**-0.5, rise)
    if schedule.kind == "inverse-sqrt":
        return optimizer.lr * min(t / max(warmup, 1), math.sqrt(max(warmup, 1) / t))
    warm = min(1.0, t / warmup) if warmup else 1.0
    if schedule.kind == "plateau":
        rate = optimizer.lr * schedule.factor**reductions
    elif schedule.kind == "halving":
        rate = optimizer.lr * schedule.factor ** max(0, epoch + 1 - schedule.after)
    elif schedule.kind == "cosine":
        rate = optimizer.lr * (1 + math.cos(math.pi * min(done, 1.0))) / 2
    else:
        return warm * optimizer.lr
    return warm * max(rate, min(schedule.minimum, optimizer.lr))


def scale_and_clip(gradients: list[Tensor], scale: float, clip: float | None) -> float:
    """g <- scale · g · min(1, clip / |scale · g|) in one pass; returns |scale · g| over all gradients."""
    norm = scale * float(torch.nn.utils.get_total_norm(gradients))
    if clip is not None and norm > clip:
        scale *= clip / norm
    torch._foreach_mul_(gradients, scale)
    return norm
