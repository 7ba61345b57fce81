"""Patches pooled by attention: the definition, what does not change, what each weighs, and what is learnt."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.attention.pooling import AttentionPooling
from regard.models.seeing.patch_options import PatchOptions
from regard.models.seeing.patches import AttendingPatches, PatchSeer

SIZES = {"image": (1, 20, 17), "label": 3}
KINDS = [
    {"encoder": encoder, "pool": pool, **more}
    for encoder in ("cnn", "transformer")
    for pool, more in (
        ("attention", {}),
        ("mean", {}),
        ("max", {}),
        ("attention", {"per_label": True}),
    )
]


def seer(**options: object) -> PatchSeer:
    torch.manual_seed(0)
    given = {"filters": 4, "stages": 2, "size": 8, "heads": 2, "layers": 1, "hidden": 6, **options}
    network = PatchOptions.model_validate(given).build(SIZES)
    assert isinstance(network, PatchSeer)
    return network.double().eval()


def pictures(count: int = 3) -> Tensor:
    return torch.rand(count, 1, 20, 17, generator=torch.Generator().manual_seed(1)).double()


@pytest.mark.parametrize("options", KINDS)
def test_a_picture_is_seen_the_same_beside_others(options: dict[str, object]) -> None:
    network, shown = seer(**options), pictures()
    together, alone = network(shown), network(shown[1:2])
    torch.testing.assert_close(alone.logits[0], together.logits[1], rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(alone.patches[0], together.patches[1], rtol=1e-10, atol=1e-10)
    grid = (5, 5) if options["encoder"] == "cnn" else (4, 3)
    assert together.patches.shape == (3, *grid)
    torch.testing.assert_close(together.patches.sum((1, 2)), torch.ones(3).double())
    assert network(shown[:0]).logits.shape == (0, 3)


@pytest.mark.parametrize("per_label", [False, True])
def test_logits_are_those_of_the_definition(per_label: bool) -> None:
    network, shown = seer(per_label=per_label), pictures()
    pool = network.pool
    assert isinstance(pool, AttentionPooling)
    assert pool.hidden is not None
    states = network.encoder(shown).flatten(2).mT
    scores = torch.tanh(states @ pool.hidden.weight.T + pool.hidden.bias) @ pool.query.T
    weights = scores.softmax(1)  # (B, P, hops)
    vectors = torch.einsum("bph,bpd->bhd", weights, states)
    logits = torch.einsum("bhd,kd->bhk", vectors, network.label.weight) + network.label.bias
    wanted = logits.diagonal(dim1=1, dim2=2) if per_label else logits[:, 0]
    found = network(shown)
    torch.testing.assert_close(found.logits, wanted)
    best = wanted.argmax(-1) if per_label else torch.zeros(3, dtype=torch.long)
    chosen = weights[torch.arange(3), :, best].unflatten(1, (5, 5))
    torch.testing.assert_close(found.patches, chosen)


@pytest.mark.parametrize("pool", ["mean", "max"])
def test_other_poolings_are_plain(pool: str) -> None:
    network, shown = seer(pool=pool), pictures()
    features = network.encoder(shown)
    vector = features.mean((2, 3)) if pool == "mean" else features.amax((2, 3))
    torch.testing.assert_close(network(shown).logits, network.label(vector))
    with pytest.raises(ValueError, match="per_label"):
        seer(pool=pool, per_label=True)


@pytest.mark.parametrize("options", KINDS)
def test_every_weight_learns(options: dict[str, object]) -> None:
    network = seer(**options)
    network.costs(pictures(), torch.tensor([0, 1, 2])).sum().backward()
    still = {name for name, weight in network.named_parameters() if weight.grad is None}
    assert not still


def test_patches_of_a_transformer_know_their_place() -> None:
    network = seer(encoder="transformer")
    assert isinstance(network.encoder, AttendingPatches)
    shown = torch.zeros(2, 1, 20, 17).double()
    shown[0, :, :6, :6] = shown[1, :, 6:12, 6:12] = 1
    one, two = network(shown).logits
    assert not torch.allclose(one, two)
    nn.init.zeros_(network.encoder.places)
    one, two = network(shown).logits
    torch.testing.assert_close(one, two)


def test_attention_finds_the_patch_that_decides() -> None:
    torch.manual_seed(0)
    network = PatchOptions.model_validate({"filters": 8, "stages": 2, "hidden": 8}).build(
        {"image": (1, 16, 16), "label": 2}
    )
    optimizer = torch.optim.Adam(network.parameters(), 0.01)

    def scenes(count: int) -> tuple[Tensor, Tensor, Tensor]:
        shown, label = torch.zeros(count, 1, 16, 16), torch.randint(2, (count,))
        at = torch.randint(4, (count, 2))
        for i, (row, column) in enumerate(at.tolist()):
            cell = shown[i, 0, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
            cell[1:3] = 1 if label[i] else 0
            cell[:, 1:3] = 0 if label[i] else 1
        return shown, label, at

    for _ in range(60):
        shown, label, _ = scenes(32)
        optimizer.zero_grad()
        network.costs(shown, label).mean().backward()
        optimizer.step()
    shown, label, at = scenes(64)
    seen = network(shown)
    assert (seen.logits.argmax(-1) == label).float().mean() > 0.95
    near = [
        seen.patches[i, max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2].sum()
        for i, (r, c) in enumerate(at)
    ]
    evenly = [(min(r + 2, 4) - max(r - 1, 0)) * (min(c + 2, 4) - max(c - 1, 0)) / 16 for r, c in at]
    assert torch.stack(near).mean() > 1.3 * sum(map(float, evenly)) / len(evenly)
