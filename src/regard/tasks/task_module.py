"""A model and what turns its outputs into a loss and into answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from regard.data.fields import Field
from regard.data.padding import pad
from regard.data.problems import NO_TEXT, said_of_value
from regard.data.text_lines import whole_text
from regard.layers.packed_linear import forget_changed
from regard.measures.likelihood import Likelihood
from regard.tasks.longest_first import batches_by_length
from regard.words import t

T = TypeVar("T")


class Unanswerable(ValueError):
    """An example or a wish that this model cannot answer; `status`: it was asked wrongly."""

    status = 2

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def accepted(field: Field, value: Any, place: str, *, files: bool = False) -> Any:
    """What a field makes of a value that is to be answered about; `Unanswerable` says why nothing.

    place: what its example is called. files: whether it may be the path of a file here; not one that comes
    from elsewhere.
    """
    try:
        return field.accept(whole_text(value), files=files)
    except ValueError as error:
        if str(error) == NO_TEXT:
            kinds = {"dict": "an object", "list": "a list"}
            shown = kinds.get(type(value).__name__) or shortened(value)
            raise Unanswerable(
                t(
                    "{place}: {shown} is no text, as {name} must be",
                    place=place,
                    shown=shown,
                    name=repr(field.name),
                ),
                t("it was {value}: a text stands between quotes", value=shortened(value)),
            ) from None
        what = t("{place}: {said}", place=place, said=said_of_value(error, field.name))
        raise Unanswerable(what, t("it was {value}", value=shortened(value))) from None


def shortened(value: Any) -> str:
    """A value as an error shows it."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


class Loss(NamedTuple):
    """Of a batch: a sum, so that batches of any size add up to the loss of the joined one."""

    total: Tensor
    tokens: Tensor  # how many were scored


class TaskModule(nn.Module):
    """Called with the tensors of a batch by their names, it gives the `Loss`."""

    model: Any  # what the task asks of it, the task says
    static: bool = False  # no shape may depend on what a batch holds: see `in_few_shapes`

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    @property
    def why_not_static(self) -> str | None:
        """Why its batches cannot be brought into few shapes, or worked on unseen; None: they can."""
        return t("{kind} has no such form", kind=type(self).__name__)

    def in_few_shapes(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The batch with more padding, so that the same few shapes come again and again.

        The loss of it, while `static`, is that of the batch, and all shapes on the way to it follow from
        its own: so it can be recorded once and replayed.
        """
        raise NotImplementedError

    def model_state(self) -> dict[str, Tensor]:
        """The weights of the model, as they are: not a copy."""
        return self.model.state_dict()

    @property
    def device(self) -> torch.device:
        """Of the weights; the CPU, where an engine has them."""
        return next(self.parameters(), torch.empty(0)).device

    def padded(self, ids: Sequence[Sequence[int]], *, bos: bool = False) -> tuple[Tensor, Tensor]:
        """A batch of tokens (B, S) and which of them are real (B, S), where the model is."""
        tokens, mask = pad(ids, bos=bos)
        return tokens.to(self.device), mask.to(self.device)

    def in_batches(
        self,
        lengths: Iterable[int],
        size: int,
        answer: Callable[[list[int]], Iterable[T]],
        tokens: int | None = None,
    ) -> list[T]:
        """What `answer` gives for inputs of these lengths, in their order.

        It is called under `inference` with the numbers of those that are worked on side by side.
        """
        lengths, found = list(lengths), dict[int, T]()
        with self.inference():
            for rows in batches_by_length(lengths, size, tokens):
                found |= zip(rows, answer(rows), strict=True)
        return [found[i] for i in range(len(lengths))]

    @contextmanager
    def inference(self) -> Iterator[None]:
        """No gradients and no dropout; training goes on afterwards as before."""
        forget_changed(self)
        training = self.training
        self.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            self.train(training)


class LikelihoodModule(TaskModule):
    """One that can tell how probable it finds each of some texts."""

    likelihoods: Callable[..., list[Likelihood]]

    def likelihood(self, *given: Any, **options: Any) -> Likelihood:
        """How probable it finds all of them together: perplexity and token accuracy."""
        return sum(self.likelihoods(*given, **options), Likelihood())
