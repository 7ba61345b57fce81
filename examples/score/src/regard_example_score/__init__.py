"""A score of one's own: `score="minkowski(1)"` wherever a score has a name."""

from torch import Tensor

from regard.scores import Score


class Minkowski(Score):
    """score(q, k) = -Σ |q - k|ᵖ / √d      (p = 2: the squared distance, p = 1: city blocks)"""

    pairwise = True  # a pair's score depends on these two alone, so keys may be rearranged

    def __init__(self, power: float = 2.0) -> None:
        super().__init__()
        self.power = power

    def pair(self, query: Tensor, key: Tensor) -> Tensor:
        apart = (query[..., :, None, :] - key[..., None, :, :]).abs() ** self.power
        return -apart.sum(-1) / key.shape[-1] ** 0.5
