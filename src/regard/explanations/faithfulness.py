"""How faithful attributions are to the model: what an answer loses without the tokens that they name.

Legend: as in `model_readings`; B shares of `erasure`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from regard.explanations.attributions import Attributions
from regard.explanations.erasure import PERCENT, comprehensiveness, rationales, sufficiency
from regard.explanations.model_readings import Reading


class Faithfulness(NamedTuple):
    """Of one attribution; NaN for an answer that has no token to take out."""

    comprehensiveness: Tensor  # (Q,)
    sufficiency: Tensor  # (Q,)


def faithfulness(reading: Reading, given: Attributions) -> dict[str, Faithfulness]:
    """Of each attribution (Q, K), all asked together: a choice of tokens that several name is read once."""
    if not given:
        return {}
    chosen = torch.stack([rationales(each, reading.erasable) for each in given.values()])
    rest = reading.seen & ~reading.erasable
    kept = torch.stack([reading.seen & ~chosen, rest | chosen])  # (2, methods, B, Q, K)
    shape = kept.shape[:-1]
    rows = torch.arange(shape[-1], device=kept.device).expand(shape).flatten()
    tokens = reading.said.expand(shape).flatten()
    log_probs = reading.log_probs(kept.flatten(0, -2), rows, tokens)
    without, alone = log_probs.exp().view(shape)
    had = reading.answers.gather(-1, reading.said[:, None]).squeeze(-1)
    nothing = ~reading.erasable.any(-1)
    return {
        name: Faithfulness(
            comprehensiveness(had, without[place]).masked_fill(nothing, torch.nan),
            sufficiency(had, alone[place]).masked_fill(nothing, torch.nan),
        )
        for place, name in enumerate(given)
    }


def erasing_readings(keys: int, answers: int, attributions: int) -> int:
    """How many choices of tokens are read at most."""
    sizes = {-(-keys * k // 100) for k in PERCENT}
    return 2 * sum(min(math.comb(keys, size), attributions * answers) for size in sizes)
