"""One input as a model reads it, in a form that every measure can ask: its answers, and other ones.

Legend: Q answers (target tokens, or one label), K keys (source tokens), M rows of weights for each answer
(one; in a Transformer those of all heads of all layers), V what can be answered, R tries, N of the Q answers.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Weighed:
    """The weights that the answers were made with."""

    weights: Tensor  # (Q, M, K)
    allowed: Tensor  # bool (Q, M, K): which keys could have been attended to
    reported: Tensor  # (Q, K): what the model itself reports of them


class Reading:
    """What measures ask about one input. A subclass has what its kind of model can be asked."""

    weighed: Weighed | None  # None: nothing is attended to
    said: Tensor  # (Q,): the answers, each one of V
    answers: Tensor  # (Q, V): the distributions they were taken from
    work: float  # for one answer with other weights
    whole: float  # for reading the input once
    seen: Tensor  # bool (Q, K): which keys there are for an answer: of a language model those before it
    erasable: Tensor  # bool (Q, K): which of them are tokens of the text, and can be taken out

    other_answers = True  # whether the model might have said something else, to be compared with

    @property
    def steerable(self) -> bool:
        """Whether each answer alone can be made with other weights: there is a `steered`."""
        return True

    def steered(self, weights: Tensor, rows: slice) -> Tensor:
        """The distributions (R, N, V) where each of N answers alone is made with weights (R, N, M, K)."""
        raise NotImplementedError(f"no answer of a {type(self).__name__} is made alone")

    def reported(self, weights: Tensor, rows: slice) -> Tensor:
        """What the model would report (N, K) of weights (N, M, K)."""
        raise NotImplementedError(f"no answer of a {type(self).__name__} is made alone")

    def gradients(self) -> Tensor:
        """Σ_d x_d · ∂ log p(y) / ∂ x_d for each answer y and each embedded token x: (Q, K)"""
        raise NotImplementedError(f"a {type(self).__name__} has no gradients")

    def contrast_gradients(self, against: Tensor) -> Tensor:
        """The same of log p(y) - log p(z), z other answers (Q,)"""
        raise NotImplementedError(f"a {type(self).__name__} has no gradients of a contrast")

    def log_probs(self, kept: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        """log p(tokens) (N,) as answers `rows` (N,), if of the keys these alone were there: bool (N, K)"""
        raise NotImplementedError(f"a {type(self).__name__} is read whole")

    def log_probs_without_each(self, tokens: Tensor) -> Tensor:
        """log p of each of these answers if one key were not there: (A, Q) -> (A, Q, K)"""
        raise NotImplementedError(f"a {type(self).__name__} is read whole")

    def without_each(self) -> Tensor:
        """p(y) for each answer y if one key were not there: (Q, K)"""
        return self.log_probs_without_each(self.said[None])[0].exp()

    def norms(self) -> Tensor | None:
        """The norm of what each key gives to the context that is reported: (Q, K); None: there is no one."""
        return None

    def zeroed(self) -> Tensor | None:
        """How far what an answer is read from turns if the value of one key is 0: (Q, K), cosine distances"""
        return None
