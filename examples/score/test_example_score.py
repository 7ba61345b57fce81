"""A score of a stranger, used by its name wherever a name does."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import regard
from regard.attention.recording import recording
from regard.recipe.mechanism_names import check_mechanisms
from regard.recipe.recipe_files import read_recipe

SOURCE = Path(__file__).parent / "src" / "regard_example_score" / "__init__.py"


def defined(query: torch.Tensor, key: torch.Tensor, power: float) -> torch.Tensor:
    """Weights (Lq, Lk) pair by pair, in float64."""

    def score(q: list[float], k: list[float]) -> float:
        return -sum(abs(a - b) ** power for a, b in zip(q, k, strict=True)) / len(q) ** 0.5

    rows, columns = query.double().tolist(), key.double().tolist()
    return torch.tensor([[score(q, k) for k in columns] for q in rows]).double().softmax(-1)


def test_it_is_twenty_lines():
    assert len(SOURCE.read_text("utf-8").splitlines()) <= 20


@pytest.mark.parametrize("power", [1, 2, 3.5])
def test_attend_gives_what_the_formula_says(power):
    query, key = torch.randn(3, 6), torch.randn(5, 6)
    found = regard.attend(query, key, score=f"minkowski({power})", weights=True)
    torch.testing.assert_close(
        found.weights.double(), defined(query, key, power), rtol=1e-4, atol=1e-6
    )
    torch.testing.assert_close(found.context, found.weights @ key)


@pytest.mark.parametrize("power", [1, 2, 3.5])
def test_its_gradients_are_those_of_the_formula(power):
    query, key, value = (
        torch.randn(2, n, 4, dtype=torch.float64, requires_grad=True) for n in (3, 5, 5)
    )

    def attended(*given):
        return regard.attend(
            *given, score=f"minkowski({power})", region="window(1, align='start')"
        ).context

    assert torch.autograd.gradcheck(attended, (query, key, value))


@pytest.mark.parametrize("region", ["everywhere", "causal", "window(2)", "atrous(3)"])
def test_rearranged_keys_change_nothing(region):
    x = torch.randn(1, 150, 4)
    wanted = regard.attend(x, x, score="minkowski", region=region, weights=True)
    torch.testing.assert_close(
        regard.attend(x, x, score="minkowski", region=region).context, wanted.context
    )
    torch.testing.assert_close(wanted.context, wanted.weights @ x)


def test_modules_take_it_and_say_what_it_is():
    x = torch.randn(2, 4, 8)
    one = regard.Attention(8, score="minkowski")
    torch.testing.assert_close(
        one(x, weights=True).weights[0].double(), defined(x[0], x[0], 2), rtol=1e-4, atol=1e-6
    )
    heads = regard.MultiHead(8, heads=2, score="Minkowski(power=1)").eval()
    with recording(heads, details=True) as recorded:
        heads(x)
    assert recorded[0].mechanism.startswith("score: minkowski(power=1) · ")
    assert "Minkowski has no fused kernel" in str(one.explain(x))


def test_a_recipe_names_it_and_a_mistake_is_told():
    words = ["model.attention.score=minkowski(1)"]
    check_mechanisms(recipe := read_recipe("mr", words))
    network = recipe.model.build({"text": 20, "label": 2})
    kinds = {type(part).__name__ for part in network.modules()}
    assert "Minkowski" in kinds
    with pytest.raises(ValueError, match=r"no score 'minkovski'. Did you mean 'minkowski'\?"):
        regard.attend(torch.randn(1, 2), torch.randn(1, 2), score="minkovski")
    with pytest.raises(ValueError, match=r"minkowski\(power=2.0\) has no argument 'p'"):
        regard.attend(torch.randn(1, 2), torch.randn(1, 2), score="minkowski(p=1)")
