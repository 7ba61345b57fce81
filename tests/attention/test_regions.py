"""Regions: what each allows, how they compose, where windows lie."""

from __future__ import annotations

import definition
import pytest
import torch

import regard
from regard.attention.limits import Limits
from regard.attention.regions import as_region
from regard.regions import (
    Atrous,
    Causal,
    Documents,
    Everywhere,
    PredictedWindow,
    Prefix,
    Sparse,
    Window,
)


@pytest.mark.parametrize("lengths", [(7, 7), (4, 9), (9, 4), (1, 5)], ids=str)
@pytest.mark.parametrize("region", definition.REGIONS)
def test_masks_are_what_the_formula_says(region, lengths):
    queries, keys = lengths
    mask = as_region(region).mask(queries, keys)
    wanted = [[definition.REGIONS[region](i, j) for j in range(keys)] for i in range(queries)]
    assert mask.tolist() == wanted


def test_alignment_must_be_named_when_lengths_differ():
    x = torch.randn(1, 3, 4)
    with pytest.raises(ValueError, match=r"3 queries and 5 keys .*Causal\('end'\)"):
        regard.attend(x, torch.randn(1, 5, 4), region="causal")
    assert Causal("start").mask(2, 4).tolist() == [[1, 0, 0, 0], [1, 1, 0, 0]]
    assert Causal("end").mask(2, 4).tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert Window(1, 0, align="end").mask(2, 4).tolist() == [[0, 1, 1, 0], [0, 0, 1, 1]]
    assert torch.equal(Causal().mask(4, 4), Causal("end").mask(4, 4))


@pytest.mark.parametrize(
    "region", ["causal", "window(2, 1)", "atrous(3)", "sparse(2) & causal", "~window(1)"]
)
def test_one_step_at_a_time_equals_the_whole(region):
    whole = as_region(region)
    for step in range(6):
        row = whole.at(step).mask(1, 6)
        assert torch.equal(row, whole.mask(6, 6)[step : step + 1])


def test_a_part_without_alignment_takes_that_of_the_others():
    joined = as_region("window(1) & causal(end)")
    assert joined == Window(1, align="end") & Causal("end")
    assert joined.mask(2, 4).tolist() == [[0, 1, 1, 0], [0, 0, 1, 1]]
    nested = as_region("~(atrous(2) | window(1)) & causal(end)")
    assert nested.mask(1, 6).tolist() == [[1, 0, 1, 0, 0, 0]]
    assert (Window(1, align="start") & Causal("end")).mask(2, 4).tolist() == [
        [1, 1, 0, 0],
        [1, 1, 1, 0],
    ]


def test_a_clamped_window_stays_on_its_source():
    """Luong's local-m: a target longer than its source keeps looking at the last words."""
    q, k = torch.randn(2, 6, 4), torch.randn(2, 5, 4)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], dtype=torch.bool)[:, None]
    weights = regard.attend(q, k, region=Window(1, clamp=True), mask=mask, weights=True).weights
    assert (weights > 0).int()[:, 5].tolist() == [[0, 0, 0, 1, 1], [1, 1, 0, 0, 0]]
    plain = regard.attend(q, k, region=Window(1), mask=mask, weights=True).weights
    assert not plain[1, 4:].any()  # beyond the end: an empty row


def test_only_masks_compose():
    assert repr(Window(2) & Causal() | ~Atrous(3)) == (
        "Window(before=2, after=2) & Causal() | ~Atrous(rate=3)"
    )
    for joined in (lambda: PredictedWindow(2) & Causal(), lambda: Causal() | PredictedWindow(2)):
        with pytest.raises(TypeError, match="PredictedWindow is not a mask"):
            joined()
    with pytest.raises(TypeError, match="not a mask"):
        ~PredictedWindow(2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Window(-1), "at least 0, not -1"),
        (lambda: Atrous(0), "at least 1, not 0"),
        (lambda: Sparse(1.5), "whole number"),
        (lambda: Causal("left"), "'start', 'end' or a position, not 'left'"),
        (lambda: PredictedWindow(0), "above 0"),
    ],
)
def test_wrong_numbers_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("lengths", [(9, 9), (5, 12), (12, 5)], ids=str)
@pytest.mark.parametrize(
    "region",
    [
        "everywhere",
        "causal(end)",
        "window(2, 1)",
        "atrous(3)",
        "sparse(3)",
        "atrous(2, align=3)",
        "window(1, align=-2)",
        "window(2, align=20)",
        "causal(-3)",
        "causal(4)",
        "atrous(7)",
        "~window(2) | causal(2)",
    ],
)
@pytest.mark.parametrize("masked", ["no", "keys", "pairs"])
def test_what_a_flagged_key_reaches_which_rows_and_keys_are_empty(masked, region, lengths):
    """The O(L) counts of `Limits` against the dense mask."""
    queries, keys = lengths
    flags = torch.rand(4, keys) < 0.2
    mask = {
        "no": None,
        "keys": (torch.rand(4, 1, keys) < 0.4),
        "pairs": torch.rand(4, queries, keys) < 0.2,
    }[masked]
    limits = Limits(as_region(region), mask, queries, keys, torch.device("cpu"))
    dense = as_region(region).mask(queries, keys).expand(4, -1, -1)
    dense = dense if mask is None else dense & mask
    reached = limits.reached(flags).expand(4, queries)
    assert torch.equal(reached, (dense & flags[:, None]).any(-1))
    rows, unseen = limits.rows, limits.unseen
    everything, nothing = torch.tensor(True), torch.tensor(False)
    assert torch.equal((everything if rows is None else rows).expand(4, queries), dense.any(-1))
    assert torch.equal((nothing if unseen is None else unseen).expand(4, keys), ~dense.any(-2))


class TestPredictedWindow:
    def inputs(self):
        q, k = torch.randn(2, 3, 4, dtype=torch.float64), torch.randn(2, 9, 4, dtype=torch.float64)
        mask = torch.ones(2, 1, 9, dtype=torch.bool)
        mask[1, :, 5:] = False
        return q, k, mask

    def test_equals_its_formula(self):
        q, k, mask = self.inputs()
        region = PredictedWindow(4, query_size=4).double()
        weights = regard.attend(q, k, score="dot", region=region, mask=mask, weights=True).weights
        for b, length in ((0, 9), (1, 5)):
            for t in range(3):
                place = torch.tanh(q[b, t] @ region.weight) @ region.vector
                p = length * torch.sigmoid(place)
                inside = [s for s in range(length) if abs(s - p) <= 4]
                soft = torch.softmax(torch.stack([q[b, t] @ k[b, s] for s in inside]), 0)
                wanted = torch.zeros(9, dtype=torch.float64)
                for w, s in zip(soft, inside, strict=True):
                    wanted[s] = w * torch.exp(-((s - p) ** 2) / (2 * 2.0**2)).squeeze()  # σ = 4/2
                torch.testing.assert_close(weights[b, t], wanted)

    def test_a_wide_window_tends_to_global_attention(self):
        q, k, mask = self.inputs()
        everywhere = regard.attend(q, k, mask=mask).context
        gaps = []
        for width in (10.0, 100.0, 1e4):
            region = PredictedWindow(width, query_size=4).double()
            gaps.append(
                (regard.attend(q, k, region=region, mask=mask).context - everywhere).abs().max()
            )
        assert gaps[0] > gaps[1] > gaps[2]
        assert gaps[2] < 1e-5

    def test_the_gradient_reaches_the_predictor(self):
        q, k, mask = self.inputs()
        region = PredictedWindow(4, query_size=4).double()
        regard.attend(q, k, region=region, mask=mask).context.square().sum().backward()
        assert region.weight.grad.abs().sum() > 0
        assert region.vector.grad.abs().sum() > 0

    def test_is_renormalised_only_when_asked(self):
        q, k, mask = self.inputs()
        sums = [
            regard.attend(
                q, k, region=PredictedWindow(2, 4, renormalize=r).double(), mask=mask, weights=True
            ).weights.sum(-1)
            for r in (False, True)
        ]
        assert (sums[0] < 0.999).all()
        torch.testing.assert_close(sums[1], torch.ones_like(sums[1]))

    def test_takes_its_size_from_the_first_query(self):
        q, k, _ = self.inputs()
        region = PredictedWindow(3)
        first = regard.attend(q, k, region=region).context
        assert region.weight.shape == (4, 4)
        assert region.weight.dtype == torch.float64
        torch.testing.assert_close(regard.attend(q, k, region=region).context, first)
        fresh = PredictedWindow(3).double()
        fresh.load_state_dict(region.state_dict())
        torch.testing.assert_close(regard.attend(q, k, region=fresh).context, first)

    def test_keys_beyond_the_window_reach_nothing(self):
        q, k, _ = self.inputs()
        region = PredictedWindow(2, 4).double()
        inside, _ = region(q, 9, None)
        clean = regard.attend(q, k, region=region).context
        k[0, 8] = torch.nan
        context = regard.attend(q, k, region=region).context
        assert torch.equal(context[0].isnan().any(-1), inside[0, :, 8])
        torch.testing.assert_close(context[1], clean[1])


def test_everywhere_is_the_default():
    q, k = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    torch.testing.assert_close(
        regard.attend(q, k).context,
        regard.attend(q, k, region=Everywhere()).context,
        rtol=0,
        atol=0,
    )


SEQUENCES = {  # what each needs for (...) sequences of 5
    "documents": lambda *lead: Documents(torch.zeros(*lead, 5, dtype=torch.long)),
    "prefix": lambda *lead: Prefix(torch.ones(lead, dtype=torch.long)),
    "composed": lambda *lead: ~Prefix(torch.ones(lead, dtype=torch.long)) | Causal(),
}


@pytest.mark.parametrize("made", SEQUENCES.values(), ids=SEQUENCES)
def test_a_region_for_other_sequences_is_refused(made):
    """An axis more would be an axis more of the context, and (B,) would be taken for heads."""
    x = torch.randn(2, 5, 8)
    for lead in ((3,), (2, 1), (1, 2), (1, 1, 2)):
        with pytest.raises(ValueError, match=r"is for leading axes .* those of this attention are"):
            regard.attend(x, x, region=made(*lead))
        with pytest.raises(ValueError, match=r"is for leading axes .* those of this attention are"):
            regard.MultiHead(8, heads=2, region=made(*lead))(x)
    heads = torch.randn(2, 2, 5, 8)
    with pytest.raises(ValueError, match=r"Those of rows \(B,\) are written \[:, None\]"):
        regard.attend(heads, heads, region=made(2))
    for lead in ((), (1,), (2, 1), (1, 2), (2, 2)):
        assert regard.attend(heads, heads, region=made(*lead)).context.shape == heads.shape


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32, torch.uint64])
def test_numbers_of_every_whole_dtype_will_do(dtype):
    x, ids, ends = torch.randn(2, 5, 8), torch.tensor([3, 3, 0, 7, 0]), torch.tensor([2, 4])
    for made, numbers in ((Documents, ids), (Prefix, ends)):
        wanted = regard.attend(x, x, region=made(numbers)).context
        got = regard.attend(x, x, region=made(numbers.to(dtype))).context
        torch.testing.assert_close(got, wanted)


def test_what_is_no_whole_number_is_told_in_one_line():
    for given in (torch.zeros(200, 300), torch.zeros(5, dtype=torch.bool), [0] * 999, None):
        for made in (Documents, Prefix):
            with pytest.raises(TypeError, match="must be a tensor of whole numbers, not ") as told:
                made(given)
            assert "\n" not in str(told.value)
            assert len(str(told.value)) < 120
    with pytest.raises(ValueError, match="align of Causal must be 'start', 'end' or a position"):
        Causal(True)


def test_documents_do_not_guess_where_fewer_queries_stand():
    ids, key = torch.tensor([0, 0, 1, 1, 1]), torch.randn(2, 5, 8)
    with pytest.raises(ValueError, match="documents over 2 queries and 5 keys can be meant in two"):
        regard.attend(key[:, :2], key, region=Documents(ids))
    for region, first in (
        (Documents(ids, align="start"), 0),
        (Documents(ids, align="end"), 3),
        (Documents(ids, align=1), 1),
        (Documents(ids) & Causal("end"), 3),  # one that says it says it for both
    ):
        weights = regard.attend(key[:, :2], key, region=region, weights=True).weights
        seen = ids[first : first + 2, None] == ids
        if not isinstance(region, Documents):
            seen = seen & (torch.arange(5) <= torch.arange(2)[:, None] + first)
        assert torch.equal(weights > 0, seen.expand(2, 2, 5))
    layer = regard.MultiHead(8, heads=2, region=Documents(ids))
    whole = layer(key).context
    torch.testing.assert_close(layer(key[:, 3:4], key, offset=3).context, whole[:, 3:4])


def test_ids_of_documents_are_for_as_many_keys():
    """A memory that grows has more keys than there are ids: told, not guessed."""
    layer = regard.MultiHead(8, heads=2, region=Documents(torch.tensor([0, 0, 1])) & Causal("end"))
    x = torch.randn(2, 3, 8)
    memory = layer.remember(x[:, :2]).append(x[:, 2:])
    assert layer(x[:, 2:], memory).context.shape == (2, 1, 8)  # all keys are there
    with pytest.raises(ValueError, match="Documents has 3 ids, for 2 keys and 1 queries"):
        layer(x[:, 1:2], layer.remember(x[:, :2]))
