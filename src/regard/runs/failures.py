"""How a training run can end before its time. The CLI prints the message, then the hint."""

from __future__ import annotations

GO_ON = "run the same command again to go on from there"


class RunEnded(RuntimeError):
    """The run cannot or may not go on."""

    hint = GO_ON


class Interrupted(RunEnded):
    """Somebody asked it to stop, by a signal; a checkpoint was written first."""

    def __init__(self, message: str, signal: int) -> None:
        super().__init__(message)
        self.status = 128 + signal


class Diverged(RunEnded):
    """The loss or its gradient is not a number any more."""

    hint = "a lower training.optimizer.lr, a warm-up or a smaller training.clip often helps"


class OutOfMemory(RunEnded):
    """A batch did not fit."""

    hint = (
        "a smaller training.batch_tokens or data.max_length, or training.accumulate=2, needs less"
    )


class OtherRecipe(ValueError):
    """The folder holds a run of another recipe."""

    hint = "name another folder with --run, or undo the change"


class NoCheckpoints(ValueError):
    """The model of a run is there, but nothing to go on from."""

    status = 2
    hint = (
        "name another folder with --run to train from the beginning, or remove model.safetensors to do "
        "so here; as it is, the model can be used and evaluated"
    )


class FolderInUse(ValueError):
    """Two processes would write over each other. option: what names another folder."""

    def __init__(self, message: str, option: str = "--run") -> None:
        super().__init__(message)
        self.hint = f"wait for it, or name another folder with {option}"


class NotARun(FileNotFoundError):
    """There is no model in this folder."""

    hint = "regard train makes a run; a run is a folder with model.safetensors in it"


class WrongTask(ValueError):
    """A run was asked for what it was not trained for."""

    status = 2

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class CannotQuantize(ValueError):
    """Matrices of fewer bits were asked for where there are none."""

    status = 2

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint
