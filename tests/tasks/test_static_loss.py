"""The loss of a batch in one of few shapes: that of the batch, whatever padding was added."""

from __future__ import annotations

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from regard.data.batch import collate
from regard.data.fields import Text
from regard.data.length_batches import LengthBatches, rounded_length, rounded_rows
from regard.data.padding import widened
from regard.data.tokenizer import Tokenizer
from regard.models import presets
from regard.models.transformer_models import transformer
from regard.tasks.loss import masked_cross_entropy, smoothed_cross_entropy
from regard.tasks.translate.translate_loss import Translate

SIDES = (Text("source"), Text("target", bos=True))
SIZES = {"embedding": 8, "hidden": 8}
MODELS = {
    "rnnsearch": lambda: presets.rnnsearch(30, 30, maxout=8, **SIZES),
    "luong": lambda: presets.luong(30, 30, **SIZES),
    "local": lambda: presets.luong(30, 30, attention="local-p", **SIZES),
    "rnnenc": lambda: presets.rnnenc(30, 30, maxout=8, **SIZES),
    "transformer": lambda: transformer(30, 30, size=8, heads=2, inner=16),
    "learned": lambda: transformer(
        30, 30, size=8, heads=2, inner=16, positions="learned", max_positions=12
    ),
}


def module_of(name: str, **options) -> Translate:
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["a b c d e f g h"], kind="word")
    return Translate(MODELS[name](), tokenizer, tokenizer, **options).double().eval()


def batch_of(*lengths: tuple[int, int]):
    draw = torch.Generator().manual_seed(1)
    pairs = [
        {
            name: (torch.randint(4, 30, (length,), generator=draw).tolist(),)
            for name, length in zip(("source", "target"), both, strict=True)
        }
        for both in lengths
    ]
    return collate(SIDES, pairs)


RAGGED = [(8, 9), (3, 1), (1, 9), (5, 5), (8, 8), (2, 3), (7, 7), (6, 2), (4, 4)]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_rows_that_are_not_scored_count_nothing(smoothing):
    torch.manual_seed(0)
    logits = torch.randn(9, 7, dtype=torch.float64, requires_grad=True)
    wanted, scored = torch.randint(3, 7, (9,)), torch.rand(9) < 0.6
    assert 0 < scored.sum() < 9
    expected = smoothed_cross_entropy(logits[scored], wanted[scored], smoothing)
    found = masked_cross_entropy(logits, wanted, scored, smoothing)
    torch.testing.assert_close(found, expected)
    (of_found,), (of_expected,) = (
        torch.autograd.grad(3 * loss, logits) for loss in (found, expected)
    )
    torch.testing.assert_close(of_found, of_expected, rtol=0, atol=1e-12)


def test_half_precision_is_summed_in_float32():
    logits = torch.randn(9, 50).bfloat16().requires_grad_()
    wanted = torch.randint(3, 50, (9,))
    loss = masked_cross_entropy(logits, wanted, wanted > 0, 0.1)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, smoothed_cross_entropy(logits, wanted, 0.1))
    (grad,) = torch.autograd.grad(loss, logits)
    assert grad.dtype == torch.bfloat16


@pytest.mark.parametrize("name", MODELS)
def test_loss_and_gradient_are_those_of_the_batch(name):
    module, batch = module_of(name, label_smoothing=0.1), batch_of(*RAGGED)
    losses = [module(**batch)]
    module.static = True
    padded = module.in_few_shapes(batch)
    assert padded["source"].shape == (10, 10)
    assert padded["target"].shape == (10, 11)
    losses.append(module(**padded))
    assert int(losses[0].tokens) == int(losses[1].tokens)
    torch.testing.assert_close(losses[0].total, losses[1].total)
    weights = [p for p in module.parameters() if p.requires_grad]
    one, other = (torch.autograd.grad(loss.total, weights, allow_unused=True) for loss in losses)
    for a, b in zip(one, other, strict=True):
        if a is not None:
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-10)


class NothingIsRead(TorchDispatchMode):
    """Refuses operators whose result Python waits for, or whose shape depends on numbers."""

    REFUSED = ("_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "unique")

    def __torch_dispatch__(self, function, types, given=(), named=None):
        name = function.overloadpacket.__name__
        assert not name.startswith(self.REFUSED), name
        if name in ("index", "index_put_"):
            assert all(i is None or i.dtype != torch.bool for i in given[1]), "a mask as an index"
        return function(*given, **(named or {}))


@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_read_on_the_way(name):
    module, batch = module_of(name, label_smoothing=0.1), batch_of(*RAGGED)
    module.float().train().static = True
    padded = module.in_few_shapes(batch)
    weights = [p for p in module.parameters() if p.requires_grad]
    with NothingIsRead():
        torch.autograd.grad(module(**padded).total, weights, allow_unused=True)
    module.static = False
    with NothingIsRead(), pytest.raises(AssertionError, match="a mask as an index"):
        module(**padded)


def test_what_is_drawn_in_python_has_no_such_shape():
    assert module_of("rnnsearch").why_not_static is None
    assert "teacher_forcing" in str(module_of("rnnsearch", teacher_forcing=0.5).why_not_static)


def test_learned_positions_are_not_passed_by_padding():
    module = module_of("learned")
    padded = module.in_few_shapes(batch_of((10, 10)))
    assert padded["source"].shape[1] == 12
    module.static = True
    assert module(**padded).total.isfinite()


def test_lengths_and_rows_are_rounded_up_to_few():
    assert [rounded_length(n) for n in (0, 1, 8, 9, 17, 33, 100)] == [0, 1, 8, 10, 20, 40, 112]
    assert rounded_length(33, most=36) == 36
    assert rounded_length(33, most=20) == 33
    assert [rounded_rows(n) for n in (1, 9, 32, 33, 129)] == [1, 10, 32, 40, 136]
    lengths = torch.randint(1, 60, (3000,)).numpy()
    batches = LengthBatches([lengths], tokens=1000)
    shapes = {
        (rounded_rows(len(rows)), rounded_length(int(lengths[rows].max())))
        for epoch in range(3)
        for rows in batches.epoch(epoch)
    }
    assert len(shapes) < len(batches) / 2


def test_widened_adds_zeros_behind():
    x = torch.ones(2, 3, dtype=torch.bool)
    assert widened(x, (3, 3)).tolist() == [[True] * 3] * 2 + [[False] * 3]
    assert widened(x, (2, 3)).equal(x)
