"""A run that can be interrupted: before every part of its model it asks whether to go on."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch import nn

    from regard.looking.looker import Looker
    from regard.runs.loaded_run import LoadedRun

Pause = Callable[[], None]
Module = TypeVar("Module", bound="nn.Module")


class Cancelled(Exception):
    """Nobody waits for this any more. Raised by a pause, it ends what was being done."""


def interruptible(run: LoadedRun, pause: Pause) -> LoadedRun:
    """A twin of the run that calls `pause` wherever it can stop or let others work meanwhile.

    It shares the weights and nothing else: what a look hooks into its modules does not reach the work
    that others do on the run itself in such a pause.
    """
    from regard.runs.loaded_run import LoadedRun

    return LoadedRun(run.task, _twin(run.module, pause), run.folder, step=run.step)


def interruptible_looker(looker: Looker, pause: Pause) -> Looker:
    """The same of anybody who is asked."""
    return looker.with_module(_twin(looker.module, pause))


def _twin(module: Module, pause: Pause) -> Module:
    from regard.data.tokenizer import Tokenizer

    tokenizers = (each for each in vars(module).values() if isinstance(each, Tokenizer))
    shared = [*module.parameters(), *module.buffers(), *tokenizers]
    twin = deepcopy(module, {id(each): each for each in shared})

    def before(_: nn.Module, args: Any) -> None:
        pause()

    for part in twin.modules():
        part.register_forward_pre_hook(before)
    return twin
