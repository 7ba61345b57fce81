"""How the papers initialise their weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

import torch
from torch import nn

from regard.attention.multi_head import MultiHead
from regard.attention.scores import Score
from regard.layers.embedding import zero_padding
from regard.layers.recurrent_cells import Cell
from regard.layers.special_tokens import BOS, PAD

Network = TypeVar("Network", bound=nn.Module)


def by_name(
    name: Literal["paper", "default"], model: Network, paper: Callable[[nn.Module], None]
) -> Network:
    """The model initialised as in its paper, or by `default`."""
    (paper if name == "paper" else default)(model)
    return model


def bahdanau(model: nn.Module) -> None:
    """Recurrent matrices orthogonal; W_a, U_a ~ N(0, 0.001²); v_a and biases 0; all else N(0, 0.01²).

    — Bahdanau et al. 2015
    """
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            nn.init.zeros_(parameter)
        else:
            nn.init.normal_(parameter, std=0.001 if ".attention." in f".{name}" else 0.01)
    _orthogonal(model)
    for module in model.modules():
        if isinstance(module, Score):
            module.fill_as_published()
    zero_padding(model)


def luong(model: nn.Module) -> None:
    """Everything uniform in [-0.1, 0.1] — Luong et al. 2015"""
    for parameter in model.parameters():
        nn.init.uniform_(parameter, -0.1, 0.1)
    zero_padding(model)


def transformer(model: nn.Module) -> None:
    """Glorot for matrices, smaller by √2 for queries, keys and values; embeddings N(0, 1 / D); biases 0.

    With embeddings times √D every feature that enters a block has about unit variance. Scores
    initialise their own parameters.
    """
    heads = [module for module in model.modules() if isinstance(module, MultiHead)]
    smaller = {id(part) for module in heads for part in (module.query, module.key, module.value)}
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight, gain=2**-0.5 if id(module) in smaller else 1.0)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
    zero_padding(model)


NEVER = -1e4  # added to a logit, it leaves a token no probability, in float16 too


@torch.no_grad()
def never_said(output: nn.Linear) -> None:
    """PAD and BOS are never output: they get no probability, and no gradient changes that.

    Otherwise BOS, with which every target begins, would get some where the output matrix is the embeddings.
    """
    output.bias[[PAD, BOS]] = NEVER


def default(model: nn.Module) -> None:
    """Glorot for matrices, orthogonal recurrent ones, embeddings N(0, 0.1²), biases 0.

    Not from a paper: it trains faster than the papers' small values do, with Adam. Scores initialise their
    own parameters.
    """
    scores = (module for module in model.modules() if isinstance(module, Score))
    own = {id(parameter) for score in scores for parameter in score.parameters()}
    for parameter in model.parameters():
        if id(parameter) in own:
            continue
        if parameter.dim() == 1:
            nn.init.zeros_(parameter)
        elif parameter.dim() == 2:
            nn.init.xavier_uniform_(parameter)
    _orthogonal(model)
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.1)
    zero_padding(model)


def _orthogonal(model: nn.Module) -> None:
    """Each gate's n x n block of the recurrent weights by itself."""
    for module in model.modules():
        if isinstance(module, Cell):
            for name, weight in module.named_parameters():
                if name.startswith("weight_h"):
                    for block in weight.data.split(module.hidden):
                        nn.init.orthogonal_(block)
