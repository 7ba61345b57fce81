"""A run that can be interrupted: before every part of its model it asks whether to go on."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn

    from regard.runs.loaded_run import LoadedRun

Pause = Callable[[], None]


class Cancelled(Exception):
    """Nobody waits for this any more. Raised by a pause, it ends what was being done."""


def interruptible(run: LoadedRun, pause: Pause) -> LoadedRun:
    """A twin of the run that calls `pause` wherever it can stop or let others work meanwhile.

    It shares the weights and nothing else: what a look hooks into its modules does not reach the work
    that others do on the run itself in such a pause.
    """
    from regard.data.tokenizer import Tokenizer
    from regard.runs.loaded_run import LoadedRun

    module = run.module
    tokenizers = (each for each in vars(module).values() if isinstance(each, Tokenizer))
    shared = [*module.parameters(), *module.buffers(), *tokenizers]
    twin = deepcopy(module, {id(each): each for each in shared})

    def before(_: nn.Module, args: Any) -> None:
        pause()

    for part in twin.modules():
        part.register_forward_pre_hook(before)
    return LoadedRun(run.task, twin, run.folder, step=run.step)
