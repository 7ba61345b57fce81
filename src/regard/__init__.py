"""regard: attention you can choose, train, measure and see.

    context, weights, choice = regard.attend(query, key, value, region="causal", weights=True)

`regard.scores`, `regard.regions`, `regard.normalizers`, `regard.biases` and `regard.pooling` hold the
mechanisms, `regard.Attention` and `regard.MultiHead` are modules, `regard.explain` says which path runs.

    regard.load("runs/zh-en").translate(["我是一个学生。"])[0].text

    regard.evaluate(regard.load("runs/zh-en"), "b.zh,b.en").text

`regard train` makes such a run; without one, `regard.load()` is the embedded Chinese-English model.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from regard import biases, hf, normalizers, pooling, regions, scores
    from regard.attention.attend import Attended, attend, explain
    from regard.attention.memory import Memory
    from regard.attention.module import Attention
    from regard.attention.multi_head import MultiHead
    from regard.attention.normalizers import HardChoice, Reinforce
    from regard.attention.weights.asked_weights import Weights
    from regard.records.record import AttentionRecord
    from regard.report.run_evaluation import evaluate
    from regard.runs.loaded_run import load
    from regard.serve.live_look import look

__all__ = [
    "Attended",
    "Attention",
    "AttentionRecord",
    "Force",
    "HardChoice",
    "HeadOff",
    "Memory",
    "MultiHead",
    "Reinforce",
    "Weights",
    "attend",
    "biases",
    "evaluate",
    "explain",
    "hf",
    "load",
    "look",
    "normalizers",
    "pooling",
    "regions",
    "scores",
]

# Names are looked up when first used: `regard --help` must not wait for torch.
_HOMES = {
    "Attended": "regard.attention.attend",
    "attend": "regard.attention.attend",
    "explain": "regard.attention.attend",
    "Attention": "regard.attention.module",
    "Memory": "regard.attention.memory",
    "MultiHead": "regard.attention.multi_head",
    "HardChoice": "regard.attention.normalizers",
    "Reinforce": "regard.attention.normalizers",
    "Weights": "regard.attention.weights.asked_weights",
    "evaluate": "regard.report.run_evaluation",
    "load": "regard.runs.loaded_run",
    "look": "regard.serve.live_look",
    "AttentionRecord": "regard.records.record",
    "Force": "regard.records.question",
    "HeadOff": "regard.records.question",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in __all__:
        return importlib.import_module(f"regard.{name}")
    raise AttributeError(f"module 'regard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
