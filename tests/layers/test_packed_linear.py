"""Packed matrices give what the matrices give: to rounding in float32, nearly in 8 bits."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from regard.layers import packed_linear
from regard.layers.packed_linear import PackedLinear, PackedMatrices, forget_changed, pack
from regard.models.transformer_options import Transformer
from regard.search import Search, search

PRECISIONS = ["float32", "int8"]
SHAPES = [(5, 256, 256), (70, 128, 300), (1, 1000, 33)]  # rows, columns of x, outputs


def by_definition(x, weight, bias):
    """s_r t_n Σ_k x̂_rk Ŵ_nk + b_n, in integers."""
    s, t = (m.abs().amax(-1, keepdim=True) / 127 for m in (x, weight))
    sums = (x * s.reciprocal()).round().long() @ (weight * t.reciprocal()).round().long().T
    return sums * s * t.T + bias


@pytest.mark.parametrize(("rows", "size", "outputs"), SHAPES)
def test_in_blocks_a_product_is_the_same_to_rounding(rows, size, outputs):
    linear, x = nn.Linear(size, outputs), torch.randn(2, rows, size)
    packed = PackedLinear(linear, PackedMatrices())
    with torch.no_grad():
        torch.testing.assert_close(packed(x), linear(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("rows", "size", "outputs"), SHAPES)
def test_in_8_bits_a_product_is_that_of_the_integers(rows, size, outputs):
    linear, x = nn.Linear(size, outputs), torch.randn(rows, size)
    with torch.no_grad():
        found = PackedLinear(linear, PackedMatrices("int8"))(x)
        torch.testing.assert_close(found, by_definition(x, linear.weight, linear.bias))
        assert 0 < (found - linear(x)).abs().max() < 0.02 * linear(x).abs().max()


@pytest.mark.parametrize("zero", [0, 128])
@pytest.mark.parametrize(("rows", "size", "outputs"), [*SHAPES, (300, 1000, 130), (1, 2, 1)])
def test_integers_are_multiplied_exactly_with_a_sign_or_without(rows, size, outputs, zero):
    if zero and not packed_linear._lays_out_int8():
        pytest.skip("no oneDNN here that multiplies them")
    x, matrix = (torch.randint(-127, 128, (n, size), dtype=torch.int8) for n in (rows, outputs))
    scale = torch.rand(outputs, 1)
    wanted = (x.long() @ matrix.long().T).float() * scale.T
    given = (x.int() + zero).to(torch.uint8) if zero else x
    assert torch.equal(packed_linear._int8_product(matrix, scale, zero)(given), wanted)


@pytest.mark.parametrize("rows", [1, 70])
def test_without_matrices_laid_out_the_numbers_are_the_same(rows, monkeypatch):
    weight, x, bias = torch.randn(300, 256), torch.randn(rows, 256), torch.randn(300)
    wanted = packed_linear.as_int8(weight)(x, bias)
    for name, value in (("_lays_out_int8", lambda: False), ("LONGEST", 255)):
        with monkeypatch.context() as patched:
            patched.setattr(packed_linear, name, value)
            assert torch.equal(packed_linear.as_int8(weight)(x, bias), wanted)


def test_what_takes_a_thousand_times_too_long_is_not_used(monkeypatch):
    monkeypatch.setattr(packed_linear, "_time_of", lambda _: 1.0)
    packed_linear._lays_out_int8.cache_clear()
    assert not packed_linear._lays_out_int8()
    packed_linear._lays_out_int8.cache_clear()


@pytest.mark.parametrize("zero", [0, 128])
@pytest.mark.parametrize("first", [1.0, 0.0, 1e-42, 3e38, float("inf"), float("nan")])
@pytest.mark.parametrize(("rows", "size", "outputs"), [*SHAPES, (300, 257, 130), (1, 1, 1)])
def test_compiled_roundings_are_those_of_torch_bit_for_bit(rows, size, outputs, first, zero):
    kernels = pytest.importorskip("regard.layers.rounded_cpu")
    x = torch.randn(rows, 2 * size)[:, ::2]
    x[0] = x[0] * first
    (found, scale), (wanted, its_scale) = kernels.rounded(x, zero), packed_linear._rounded(x, zero)
    assert found.dtype == wanted.dtype
    told = torch.isfinite(its_scale).expand_as(
        x
    )  # of the others the scale alone counts: all become NaN
    assert torch.equal(found[told], wanted[told])
    torch.testing.assert_close(scale, its_scale, rtol=0, atol=0, equal_nan=True)
    sums = torch.randint(-(2**20), 2**20, (rows, outputs)) * torch.rand(outputs)
    for bias in (None, torch.randn(outputs)):
        y, wanted = (
            of(sums.clone(), scale, bias) for of in (kernels.scaled, packed_linear._scaled)
        )
        torch.testing.assert_close(y, wanted, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_row_does_not_depend_on_those_beside_it(precision, bias):
    packed = PackedLinear(nn.Linear(256, 100, bias=bias), PackedMatrices(precision))
    x = torch.randn(40, 256) * torch.logspace(-3, 3, 40)[:, None]  # beside far larger ones
    x[7] = 0.0
    with torch.no_grad():
        alone = torch.cat([packed(row[None]) for row in x])
        torch.testing.assert_close(packed(x), alone, rtol=1e-4, atol=1e-6)
        assert torch.isfinite(packed(x)).all()
        assert packed(x[:0]).shape == (0, 100)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_matrix_that_was_changed_is_packed_again(precision):
    linear = nn.Linear(128, 200)
    packed, x = PackedLinear(linear, PackedMatrices(precision)), torch.randn(9, 128)
    with torch.no_grad():
        before = packed(x)
        linear.weight.mul_(2.0)
        linear.bias.mul_(2.0)
        torch.testing.assert_close(packed(x), 2 * before, rtol=1e-4, atol=1e-5)
        packed.load_state_dict({name: 0 * value for name, value in packed.state_dict().items()})
        assert not packed(x).any()


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_an_input_that_was_changed_is_read_again(precision, mode):
    packed = PackedLinear(nn.Linear(128, 200, bias=False), PackedMatrices(precision))
    with mode():
        x = torch.randn(9, 128)
        before = packed(x)
        x.mul_(2.0)
        torch.testing.assert_close(packed(x), 2 * before, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_gradients_and_other_types_are_those_of_the_matrix(precision):
    linear = nn.Linear(128, 200)
    packed, x = PackedLinear(linear, PackedMatrices(precision)), torch.randn(9, 128)
    assert torch.equal(packed(x), linear(x))
    grads = [torch.autograd.grad(m(x).square().sum(), linear.weight)[0] for m in (packed, linear)]
    assert torch.equal(*grads)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(packed(x), linear(x))
    linear.double()
    double = PackedLinear(linear, PackedMatrices(precision))
    with torch.no_grad():
        assert torch.equal(double(x.double()), linear(x.double()))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_nan_comes_out_as_nan_and_in_its_own_row_only(precision):
    packed, x = PackedLinear(nn.Linear(128, 200), PackedMatrices(precision)), torch.randn(3, 128)
    x[1, 5] = torch.nan
    with torch.no_grad():
        assert packed(x).isnan().any(1).tolist() == [False, True, False]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_packed_model_has_the_same_parameters_and_can_be_copied(precision):
    model = Transformer(size=128, heads=4, inner=256, encoder_layers=1, decoder_layers=1).build(
        {"source": 200, "target": 200}
    )
    names, given = list(model.state_dict()), list(model.parameters())
    pack(model, precision)
    assert list(model.state_dict()) == names
    assert all(a is b for a, b in zip(model.parameters(), given, strict=True))
    assert sum(isinstance(m, PackedLinear) for m in model.modules()) == 4 + 2 + 4 + 4 + 2 + 1
    source = torch.randint(4, 200, (3, 7))
    with torch.no_grad():
        first = model.eval().encode(source, source > 0).states
        copied = copy.deepcopy(model)
        model.encoder.blocks[0].feed_forward.inner.weight.zero_()
        torch.testing.assert_close(copied.encode(source, source > 0).states, first)


def test_a_search_over_packed_matrices_finds_the_same():
    torch.manual_seed(0)
    model = Transformer(size=128, heads=4, inner=256, encoder_layers=1, decoder_layers=2).build(
        {"source": 200, "target": 200}
    )
    model.eval()
    source = torch.randint(4, 200, (6, 9))
    mask = torch.arange(9) < torch.tensor([9, 9, 7, 5, 2, 1])[:, None]
    settings = Search(beam=4, nbest=3, max_length=15)

    def found(sentences):
        with torch.no_grad():
            encoded = model.encode(source[sentences] * mask[sentences], mask[sentences])
        return search(model.decoder, encoded, settings)

    plain = found(range(6))
    pack(model)
    packed = found(range(6))
    assert [[h.tokens for h in one] for one in packed] == [[h.tokens for h in one] for one in plain]
    pack(model, "int8")
    together, alone = found(range(6)), [found([i])[0] for i in range(6)]
    assert [[h.tokens for h in one] for one in alone] == [
        [h.tokens for h in one] for one in together
    ]


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_matrices_changed_behind_torch_are_packed_again_for_the_next_answer(precision):
    model = pack(nn.Sequential(nn.Linear(200, 160)), precision)
    x = torch.randn(5, 200)
    with torch.no_grad():
        model(x)
        model[0].weight.data.copy_(
            model[0].weight.data.flip(0)
        )  # the same numbers, in another order
        forget_changed(model)
        wanted = torch.nn.functional.linear(x, model[0].weight, model[0].bias)
        torch.testing.assert_close(model(x), wanted, atol=0.05, rtol=0.05)


def test_a_buffer_that_is_used_again_is_read_again():
    model = pack(nn.Sequential(nn.Linear(200, 160)), "int8")
    with torch.no_grad():
        x = torch.randn(3, 200)
        model(x)
        x.numpy()[:] = 0
        torch.testing.assert_close(model(x), model[0].bias.expand(3, -1))


def test_one_number_in_is_not_rounded():
    linear = nn.Linear(1, 20_000)
    x = torch.randn(3, 1)
    wanted = linear(x).detach()
    with torch.no_grad():
        torch.testing.assert_close(pack(nn.Sequential(linear), "int8")(x), wanted)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_matrices_that_are_gone_are_not_kept(precision):
    model = pack(nn.Sequential(nn.Linear(200, 130)), precision)
    x, matrices = torch.randn(3, 200), model[0].matrices
    with torch.no_grad():
        for _ in range(5):
            model[0].weight = nn.Parameter(torch.randn(130, 200))
            wanted = nn.functional.linear(x, model[0].weight, model[0].bias)
            torch.testing.assert_close(
                model(x), wanted, rtol=0, atol=0.2 * wanted.abs().max().item()
            )
    assert len(matrices._kept) == 1
    del model
    assert not matrices._kept


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_change_that_leaves_every_sum_as_it_was_is_noticed(precision):
    model, x = pack(nn.Sequential(nn.Linear(200, 130)), precision), torch.randn(3, 200)
    with torch.no_grad():
        model(x)
        weight = model[0].weight.data
        weight[:2, :2] += torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
        forget_changed(model)
        fresh = pack(nn.Sequential(nn.Linear(200, 130)), precision)
        fresh[0].load_state_dict(model[0].state_dict())
        assert torch.equal(model(x), fresh(x))


def test_a_vector_of_the_wrong_width_is_told_by_torch():
    model = pack(nn.Sequential(nn.Linear(200, 130)), "int8")
    with torch.no_grad(), pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        model(torch.randn(3, 201))
    with torch.no_grad():
        x = torch.randn(3, 200)
        torch.testing.assert_close(model(torch._neg_view(x)), model(-x), rtol=1e-2, atol=2e-2)
