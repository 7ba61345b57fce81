"""On a GPU: the same outputs, whole and step by step, in bfloat16 and compiled too."""

from __future__ import annotations

import pytest
import torch

from regard.models import transformer_models as family

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

V = 60
SOURCE = torch.randint(4, V, (3, 40), generator=torch.Generator().manual_seed(1))
MASK = torch.arange(40) < torch.tensor([[40], [17], [3]])
INPUTS = torch.randint(4, V, (3, 33), generator=torch.Generator().manual_seed(2))


def make(region: str) -> torch.nn.Module:
    torch.manual_seed(0)
    shape = {
        "size": 64,
        "heads": 4,
        "inner": 96,
        "norm": "pre",
        "positions": "rotary",
        "activation": "swiglu",
    }
    how = {"region": region}
    options = {"encoder_attention": how, "decoder_attention": how}
    return family.transformer(V, V, **shape, encoder_layers=2, decoder_layers=2, **options).eval()


@pytest.mark.parametrize("region", ["everywhere", "window(8)", "atrous(4)", "sparse(4)"])
def test_a_gpu_gives_what_the_cpu_gives(region: str) -> None:
    model = make(region)
    with torch.no_grad():
        here = model.decoder.project(model(SOURCE, MASK, INPUTS).outputs)
        model.cuda()
        there = model.decoder.project(model(SOURCE.cuda(), MASK.cuda(), INPUTS.cuda()).outputs)
        torch.testing.assert_close(there.cpu(), here, atol=1e-4, rtol=1e-3)
        state = model.decoder.start(model.encode(SOURCE.cuda(), MASK.cuda()))
        for t in range(INPUTS.shape[1]):
            step = model.decoder.step(INPUTS[:, t].cuda(), state)
            state = step.state
            torch.testing.assert_close(step.logits, there[:, t], atol=1e-4, rtol=1e-3)


def test_bfloat16_is_near_and_its_gradients_are_finite() -> None:
    model = make("everywhere").cuda()
    batch = SOURCE.cuda(), MASK.cuda(), INPUTS.cuda()
    exact = model(*batch).outputs
    with torch.autocast("cuda", torch.bfloat16):
        near = model(*batch).outputs
    near.float().square().mean().backward()
    torch.testing.assert_close(near.float(), exact, atol=0.1, rtol=0.1)
    assert all(bool(p.grad.isfinite().all()) for p in model.parameters() if p.grad is not None)
