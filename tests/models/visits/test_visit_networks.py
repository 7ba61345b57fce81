"""What ST-RNN is compared with: nothing leaks, nothing depends on padding, and counts are counted."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from regard.attention.recording import recording
from regard.models.visits.place_question import PlaceQuestion
from regard.registry import find, models_for

PLACES, USERS = 7, 4
KINDS = {
    "st-rnn": {"size": 6},
    "visit-attention": {"size": 6, "heads": 2},
    "visit-rnn": {"size": 6, "cell": "gru"},
    "plain": {"size": 6, "cell": "elman"},
    "visit-factors": {"size": 6},
    "alone": {"size": 6, "last": False},
    "visit-counts": {},
    "popular": {"given": "all"},
    "own": {"given": "user"},
}
NAMED = {
    "plain": "visit-rnn",
    "alone": "visit-factors",
    "popular": "visit-counts",
    "own": "visit-counts",
}
COUNTED = torch.tensor([[1, 2, 3], [1, 4, 1], [2, 1, 5], [3, 6, 2]])


def built(name: str) -> torch.nn.Module:
    torch.manual_seed(5)
    options = find("models", NAMED.get(name, name)).model_validate(KINDS[name])
    return options.build({"place": PLACES, "user": USERS}).double().eval()


def asked_of(lengths=(6, 0, 1, 4), questions=3, seed=0) -> PlaceQuestion:
    draw = torch.Generator().manual_seed(seed)
    count, shape = torch.tensor(lengths), (len(lengths), max(lengths))
    mask = torch.arange(shape[1]) < count[:, None]
    hours = 1000 + 5 * torch.rand(shape[0], shape[1] + 1, generator=draw).double().cumsum(-1)
    seen = (count[:, None] - torch.arange(questions - 1, -1, -1)).clamp(min=0)
    return PlaceQuestion(
        user=torch.arange(shape[0]) % USERS,
        places=torch.randint(1, PLACES, shape, generator=draw),
        hours=hours[:, :-1],
        mask=mask,
        seen=seen,
        when=hours.gather(1, seen),
        points=6371
        * torch.nn.functional.normalize(torch.randn(PLACES, 3, generator=draw).double()),
        counted=COUNTED,
    )


def test_these_are_all_models_of_the_task():
    assert {NAMED.get(name, name) for name in KINDS} == set(models_for("visit"))


@pytest.mark.parametrize("kind", KINDS)
def test_some_candidates_have_the_scores_of_all(kind):
    model, asked = built(kind), asked_of()
    candidates = torch.randint(1, PLACES, (4, 3, 5), generator=torch.Generator().manual_seed(1))
    every = model(asked)
    assert every.shape == (4, 3, PLACES - 1)
    assert every.isfinite().all()
    torch.testing.assert_close(model(asked, candidates), every.gather(-1, candidates - 1))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_depends_on_padding_or_on_the_batch(kind):
    model, asked = built(kind), asked_of()
    together = model(asked)
    spoilt = asked._replace(
        places=asked.places.where(asked.mask, 3), hours=asked.hours.where(asked.mask, -1e7)
    )
    torch.testing.assert_close(model(spoilt), together, atol=1e-10, rtol=0)
    for row, length in enumerate((6, 0, 1, 4)):
        own = {"points": asked.points, "counted": asked.counted}
        for name in ("places", "hours", "mask"):
            own[name] = getattr(asked, name)[row : row + 1, :length]
        for name in ("user", "seen", "when"):
            own[name] = getattr(asked, name)[row : row + 1]
        torch.testing.assert_close(
            model(PlaceQuestion(**own))[0], together[row], atol=1e-10, rtol=0
        )


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_later_is_not_known(kind):
    model, asked = built(kind), asked_of((6, 6, 6, 6))
    changed = asked.places.clone()
    changed[:, 4:] = changed[:, 4:] % (PLACES - 1) + 1
    later = model(asked._replace(places=changed))
    now = model(asked)
    torch.testing.assert_close(later[:, 0], now[:, 0], atol=0, rtol=0)
    if kind not in ("popular", "own", "alone"):  # which know no visit
        assert not torch.allclose(later[:, 2], now[:, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_finite_with_trails_that_are_empty(kind):
    model, asked = built(kind), asked_of((3, 0, 1, 0))
    model(asked).square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name


def test_counts_are_those_of_the_formula():
    asked = asked_of((6, 1, 2, 3), questions=1)
    prior, total = 5.0, 11.0
    every = Counter({2: 3, 4: 1, 1: 5, 6: 2})
    share = {v: (every[v] + 1) / (total + 6) for v in range(1, 7)}
    for kind, known in (("visit-counts", asked.last[:, 0]), ("own", asked.user), ("popular", None)):
        scores = built(kind)(asked)[:, 0].exp().detach()
        assert torch.allclose(scores.sum(-1), torch.ones(4, dtype=torch.float64))
        for row in range(4):
            before = 0 if known is None else int(known[row])
            own = {v: n for g, v, n in COUNTED.tolist() if g == before}
            for v in range(1, 7):
                wanted = (own.get(v, 0) + prior * share[v]) / (sum(own.values()) + prior)
                assert math.isclose(float(scores[row, v - 1]), wanted, rel_tol=1e-6)


def test_attention_is_to_the_visits_before_alone():
    model, asked = built("visit-attention"), asked_of()
    with recording(model) as seen:
        model(asked)
    ((weights,),) = [[one.weights for one in seen]]
    assert weights.shape == (4, 2, 3, 6)
    before = torch.arange(6) < asked.seen[:, None, :, None]
    assert weights.masked_select(~before.expand(weights.shape)).abs().sum() == 0
    sums = weights.sum(-1)
    some = (asked.seen > 0)[:, None].expand(sums.shape)
    torch.testing.assert_close(sums[some], torch.ones_like(sums[some]))
    assert (sums[~some] == 0).all()


def test_attention_knows_how_long_ago_a_visit_was():
    model, asked = built("visit-attention"), asked_of((6, 6, 6, 6), questions=1)
    with torch.no_grad():
        model.ago[:, 0] = 8.0  # of what has just been
    asked = asked._replace(
        hours=asked.hours - 200.0 * (torch.arange(6) < 5), when=asked.hours[:, -1:]
    )
    with recording(model) as seen:
        model(asked)
    assert (seen[0].weights[..., -1] > 0.9).all()


def test_edges_must_rise():
    with pytest.raises(ValueError, match="larger than the one before"):
        find("models", "st-rnn").model_validate({"times": [0.0, 3.0, 1.0]})
