"""Weights drawn by their names: two networks of one seed begin alike in all that both have."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard.recipe.recipe_files import read_recipe
from regard.training.first_weights import drawn_by_name

SIZES = {
    "translate": {"source": 11, "target": 13},
    "classify": {"text": 11, "label": 2},
    "language": {"text": 11},
    "masked": {"text": 11},
}
SMALL = {
    "rnnsearch": ("model.hidden=6", "model.embedding=4", "model.maxout=4"),
    "transformer-classifier": ("model.size=8", "model.heads=2", "model.inner=8", "model.layers=2"),
}
MR = ("mr", "transformer-classifier", "model.attention")
RNN = ("rnnsearch", "rnnsearch", "model.attention")


def built(recipe: str, kind: str, *words: str, seed: int = 1) -> nn.Module:
    found = read_recipe(recipe, [*SMALL[kind], *words])
    return drawn_by_name(lambda: found.model.build(SIZES[found.task.kind]), seed)


def weights(model: nn.Module) -> dict[str, torch.Tensor]:
    return dict(model.named_parameters())


@pytest.mark.parametrize(
    ("where", "other"),
    [
        (MR, "additive"),
        (MR, "bilinear"),
        (RNN, "bilinear"),
        (RNN, "additive(9)"),
        (RNN, "location(20)"),
    ],
)
@pytest.mark.parametrize("init", ["paper", "default"])
def test_what_both_have_begins_alike(where, other, init):
    recipe, kind, section = where
    words = [f"model.init={init}"] if recipe == "rnnsearch" else []
    one = weights(built(recipe, kind, *words))
    two = weights(built(recipe, kind, *words, f"{section}.score={other}"))
    shared = [n for n in one if n in two and one[n].shape == two[n].shape]
    assert len(shared) > 8
    assert len(one.keys() ^ two.keys()) or any(one[n].shape != two[n].shape for n in one)
    for name in shared:
        assert torch.equal(one[name], two[name]), name


def test_from_one_stream_they_would_not():
    def plain(score: str) -> dict[str, torch.Tensor]:
        torch.manual_seed(1)
        words = [*SMALL["rnnsearch"], f"model.attention.score={score}"]
        return weights(read_recipe("rnnsearch", words).model.build(SIZES["translate"]))

    one, two = plain("additive"), plain("bilinear")
    assert not torch.equal(one["decoder.output.weight"], two["decoder.output.weight"])


def test_another_seed_and_another_name_are_other_weights():
    one, again = (weights(built(*MR[:2])) for _ in range(2))
    other = weights(built(*MR[:2], seed=2))
    for name, weight in one.items():
        assert torch.equal(weight, again[name])
        if weight.std() > 0:
            assert not torch.equal(weight, other[name]), name
    of_one_shape: dict[torch.Size, list[torch.Tensor]] = {}
    for weight in one.values():
        if weight.dim() > 1:
            of_one_shape.setdefault(weight.shape, []).append(weight)
    assert max(map(len, of_one_shape.values())) > 4
    for several in of_one_shape.values():
        assert len({tuple(weight.flatten().tolist()) for weight in several}) == len(several)


def test_what_the_paper_says_of_them_stays_true():
    """Recurrent matrices are orthogonal, the attention's are small: only chance is another."""
    model = built("rnnsearch", "rnnsearch", "model.init=paper")
    recurrent = [w for n, w in model.named_parameters() if "weight_h" in n]
    assert recurrent
    for weight in recurrent:
        for block in weight.split(6):
            assert torch.allclose(block @ block.T, torch.eye(6), atol=1e-5)


class Scaled(nn.Module):
    """A stranger's: a weight that is drawn elsewhere and copied, and one that is drawn in place."""

    def __init__(self, more: bool) -> None:
        super().__init__()
        if more:
            self.before = nn.Linear(3, 3)
        self.copied = nn.Parameter(torch.zeros(4))
        with torch.no_grad():
            self.copied.copy_(torch.randn(4) * 0.1)
        self.after = nn.Linear(2, 5)


def test_a_network_of_a_stranger():
    one, two = (weights(drawn_by_name(lambda more=more: Scaled(more), 3)) for more in (False, True))
    assert one.keys() < two.keys()
    assert all(torch.equal(weight, two[name]) for name, weight in one.items())
    assert one["copied"].abs().max() > 0
