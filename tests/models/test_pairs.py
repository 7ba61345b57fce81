"""Models of two texts: as the papers write them, for any padding, and for texts without words."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.attention.recording import recording
from regard.models.pairs.abcnn import ConvolvedPair, abcnn, bcnn
from regard.models.pairs.bag_of_words_pair import bag_of_words_pair
from regard.models.pairs.pair_model import PairedText, compared, overlap, without_shared
from regard.models.pairs.self_attentive_pair import self_attentive_pair

WORDS, LABELS = 30, 3
SMALL = {"embedding": 6, "dropout": 0.0}
CONVOLVED = {
    f"{kind}-{blocks}": (kind, blocks)
    for kind in ("bcnn", "abcnn-1", "abcnn-2", "abcnn-3")
    for blocks in (1, 2)
}


def convolved(kind: str, blocks: int, **more) -> ConvolvedPair:
    chosen = {**SMALL, "filters": 5, "width": 3, "blocks": blocks, **more}
    if kind == "bcnn":
        return bcnn(WORDS, LABELS, **chosen)
    return abcnn(WORDS, LABELS, variant=int(kind[-1]), positions=4, **chosen)


MODELS = {
    **{name: lambda chosen=chosen: convolved(*chosen) for name, chosen in CONVOLVED.items()},
    "abcnn-3-whole": lambda: convolved(
        "abcnn-3", 2, compare="vectors", hidden=7, rest=True, overlap=True
    ),
    "bcnn-distance": lambda: convolved("bcnn", 1, compare="distance", rest=True),
    "bag": lambda: bag_of_words_pair(WORDS, LABELS, **SMALL),
    "bag-vectors": lambda: bag_of_words_pair(
        WORDS, LABELS, **SMALL, compare="vectors", rest=True, overlap=True
    ),
    "self-attentive": lambda: self_attentive_pair(
        WORDS, LABELS, **SMALL, states=4, scoring=5, hops=3, factors=4, hidden=6
    ),
    "self-attentive-one-hop": lambda: self_attentive_pair(
        WORDS, LABELS, **SMALL, states=4, scoring=5, hops=1, factors=4, hidden=None, overlap=True
    ),
}


@pytest.fixture(params=MODELS)
def model(request) -> torch.nn.Module:
    torch.manual_seed(5)
    return MODELS[request.param]().double().eval()


def text(lengths: list[int], width: int | None = None, seed: int = 1) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    width = max(lengths) if width is None else width
    ids = torch.randint(4, 16, (len(lengths), width), generator=draw)
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]
    return ids * mask, mask


PAIRS = [(5, 3), (1, 7), (7, 1), (4, 4), (0, 3), (2, 0), (0, 0)]


def batch() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    first, second = zip(*PAIRS, strict=True)
    return (*text(list(first), 9, seed=1), *text(list(second), 8, seed=2))


def test_a_pair_beside_others_is_the_pair_alone(model):
    tensors = batch()
    together = model(*tensors).outputs
    assert together.shape == (len(PAIRS), LABELS)
    for row, (first, second) in enumerate(PAIRS):
        widths = (first, first, second, second)
        alone = [x[row : row + 1, :n] for x, n in zip(tensors, widths, strict=True)]
        torch.testing.assert_close(model(*alone).outputs[0], together[row], rtol=0, atol=1e-12)


def test_what_stands_in_the_padding_changes_nothing(model):
    first, first_mask, second, second_mask = batch()
    noise = (first.where(first_mask, 7), first_mask, second.where(second_mask, 7), second_mask)
    torch.testing.assert_close(model(*noise).outputs, model(*batch()).outputs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("noise", [torch.nan, torch.inf])
def test_the_vector_of_the_padding_reaches_neither_answer_nor_gradient(model, noise):
    def found(vector: float) -> list[Tensor]:
        with torch.no_grad():
            model.embed.weight[0] = vector  # no text has this word
        model.zero_grad()
        outputs = model(*batch()).outputs
        outputs.square().sum().backward()
        return [outputs, *(weight.grad.clone() for weight in model.parameters())]

    torch.testing.assert_close(found(noise), found(0.0), rtol=0, atol=1e-12)


def test_gradients_are_finite_also_of_texts_without_words_and_of_equal_texts(model):
    first, first_mask, *_ = batch()
    model.train()
    for given in (batch(), (first, first_mask, first, first_mask)):
        model.zero_grad()
        judged = model(*given)
        assert judged.outputs.isfinite().all()
        total = judged.outputs.square().sum()
        (total if judged.penalty is None else total + judged.penalty.sum()).backward()
        for name, weight in model.named_parameters():
            assert weight.grad is not None, name
            assert weight.grad.isfinite().all(), name


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", ["bag", "bcnn", "abcnn-1", "abcnn-2", "abcnn-3"])
def test_texts_without_words_have_a_cosine_in_half_precision_too(kind, dtype):
    torch.manual_seed(5)
    model = MODELS["bag" if kind == "bag" else f"{kind}-2"]().eval()
    wanted = model(*batch()).outputs
    model = model.to(dtype)
    outputs = model(*batch()).outputs
    torch.testing.assert_close(outputs.float(), wanted, rtol=0, atol=0.05)
    outputs.square().sum().backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.isfinite().all(), name


def test_the_cosine_is_its_formula_with_its_gradient_and_0_of_zeros():
    torch.manual_seed(5)
    u, v = torch.randn(2, 4, 6, dtype=torch.float64)
    u[1], v[2], u[3], v[3] = 0, 0, 0, 0
    u, v = u.requires_grad_(), v.requires_grad_()
    found = compared(u, v, "cosine")
    wanted = u[0] @ v[0] / (u[0].norm() * v[0].norm())
    torch.testing.assert_close(found[0, 0], wanted, rtol=0, atol=1e-12)
    assert found[1:].eq(0).all()
    of_found = torch.autograd.grad(found.sum(), (u, v))
    of_wanted = torch.autograd.grad(wanted, (u, v))
    torch.testing.assert_close(of_found, of_wanted, rtol=0, atol=1e-12)


def test_both_texts_are_read_by_the_same_weights():
    for name in CONVOLVED:
        model = MODELS[name]().double().eval()
        first, first_mask, second, second_mask = batch()
        torch.testing.assert_close(
            model(first, first_mask, second, second_mask).outputs,
            model(second, second_mask, first, first_mask).outputs,
        )


# BCNN and ABCNN as they are defined, a pair at a time, column by column


def defined(model: ConvolvedPair, first: Tensor, second: Tensor) -> Tensor:
    """The cosines of every layer, weighed by the last matrix; first (L,) and second (M,) words."""
    x, y = list(model.embed.weight[first]), list(model.embed.weight[second])
    cosines = [cosine(sum(x) / len(x), sum(y) / len(y))]
    for block in model.blocks:
        w = block.width
        columns_x, columns_y = x, y
        if block.input_attention is not None:
            a, table = similarities(x, y), block.input_attention.table
            seen_y, seen_x = min(len(y), len(table)), min(len(x), len(table))
            columns_x = [
                torch.cat([c, sum(a[i, j] * table[j] for j in range(seen_y))])
                for i, c in enumerate(x)
            ]
            columns_y = [
                torch.cat([c, sum(a[i, j] * table[i] for i in range(seen_x))])
                for j, c in enumerate(y)
            ]
        x, y = (wide_convolution(columns, block) for columns in (columns_x, columns_y))
        if block.pool_attention is None:
            u, v = sum(x) / len(x), sum(y) / len(y)
            x, y = ([sum(c[k : k + w]) / w for k in range(len(c) - w + 1)] for c in (x, y))
        else:
            a = similarities(x, y)
            x = [a[k].sum() * column for k, column in enumerate(x)]
            y = [a[:, k].sum() * column for k, column in enumerate(y)]
            u, v = sum(x) / a.sum(), sum(y) / a.sum()
            x, y = ([sum(c[k : k + w]) for k in range(len(c) - w + 1)] for c in (x, y))
        cosines.append(cosine(u, v))
    return model.output(torch.stack(cosines))


def similarities(x: list[Tensor], y: list[Tensor]) -> Tensor:
    return torch.stack([torch.stack([1 / (1 + ((a - b) ** 2).sum().sqrt()) for b in y]) for a in x])


def wide_convolution(columns: list[Tensor], block) -> list[Tensor]:
    nothing = [torch.zeros_like(columns[0])] * (block.width - 1)
    padded = [*nothing, *columns, *nothing]
    weight, bias = block.convolution.weight, block.convolution.bias  # (filters, D, w)
    return [
        torch.tanh(sum(weight[:, :, k] @ padded[t + k] for k in range(block.width)) + bias)
        for t in range(len(columns) + block.width - 1)
    ]


def cosine(u: Tensor, v: Tensor) -> Tensor:
    return (u @ v) / (u.norm() * v.norm())


@pytest.mark.parametrize("name", CONVOLVED)
def test_it_is_what_the_paper_defines_with_its_gradients(name):
    torch.manual_seed(3)
    model = MODELS[name]().double().eval()
    first, second = torch.tensor([4, 5, 6, 7, 8, 9]), torch.tensor([10, 11, 12])  # none in both
    given = [first[None], torch.ones(1, 6).bool(), second[None], torch.ones(1, 3).bool()]
    found, wanted = model(*given).outputs[0], defined(model, first, second)
    torch.testing.assert_close(found, wanted)
    weighed = torch.tensor([1.0, -2.0, 0.5]).double()
    weights = list(model.parameters())
    gradients = [torch.autograd.grad((x * weighed).sum(), weights) for x in (found, wanted)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_attention_in_the_pooling_matters_with_one_block_too():
    """all-ap of the plain convolution would make a one-block ABCNN-2 a BCNN, whatever it attends to."""
    torch.manual_seed(1)
    attending, plain = convolved("abcnn-2", 1).double(), convolved("bcnn", 1).double()
    attending.load_state_dict(plain.state_dict())
    one, other = (each(*batch()).outputs for each in (attending, plain))
    assert (one - other).abs().max() > 1e-6


def test_attentions_are_recorded_over_words_and_over_windows():
    model = convolved("abcnn-3", 2)
    with recording(model) as seen:
        model(*text([5, 2]), *text([3, 4]))
    shapes = {each.name: tuple(each.weights.shape) for each in seen}
    assert shapes == {
        "blocks.0.input_attention.attention": (2, 5, 4),
        "blocks.0.pool_attention": (2, 7, 6),
        "blocks.1.input_attention.attention": (2, 5, 4),
        "blocks.1.pool_attention": (2, 7, 6),
    }
    weights = seen[0].weights
    assert (weights[0, :, 3:] == 0).all()  # padding has no word
    assert (weights[1, 2:] == 0).all()
    assert ((weights[0, :, :3] > 0) & (weights[0, :, :3] <= 1)).all()


def test_the_self_attentive_pair_multiplies_hop_by_hop():
    torch.manual_seed(2)
    model = MODELS["self-attentive"]().double()
    first, second = torch.tensor([[4, 5, 6, 7]]), torch.tensor([[8, 9]])
    judged = model.train()(first, first > 0, second, second > 0)
    factors, penalty = [], 0.0
    for ids, gates in ((first, model.gates[0]), (second, model.gates[1])):
        states = model.network(model.embed(ids), ids > 0).outputs[0]  # (L, D)
        hidden = torch.tanh(states @ model.pool.hidden.weight.T + model.pool.hidden.bias)
        weights = torch.softmax(hidden @ model.pool.query.T, 0).T  # (r, L)
        factors.append(torch.stack([(weights[h] @ states) @ gates[h] for h in range(3)]))
        penalty = penalty + 0.3 * ((weights @ weights.T - torch.eye(3)) ** 2).sum()
    wanted = model.output(torch.tanh(model.hidden((factors[0] * factors[1]).flatten())))
    torch.testing.assert_close(judged.outputs[0], wanted)
    torch.testing.assert_close(judged.penalty, penalty[None])
    assert model.eval()(first, first > 0, second, second > 0).penalty is None


def test_what_is_left_without_shared_words_moves_together():
    first = PairedText(torch.tensor([[4, 5, 6, 7, 0]]), torch.tensor([[True] * 4 + [False]]))
    second = PairedText(torch.tensor([[6, 8, 4]]), torch.ones(1, 3).bool())
    one, other = without_shared(first, second)
    assert one.ids.tolist() == [[5, 7, 0, 0, 0]]
    assert one.mask.tolist() == [[True, True, False, False, False]]
    assert other.ids.tolist() == [[8, 0, 0]]
    wanted = torch.tensor([[2 / 4, 5.0, 2 / 3, 4.0]])
    wanted[:, [1, 3]] = wanted[:, [1, 3]].log()
    torch.testing.assert_close(overlap(first, second), wanted)
