"""ST-RNN is its formula; so is everything that its vectorised form could get wrong."""

from __future__ import annotations

import math

import pytest
import torch

from regard.data.fields.place import kilometres, points_of
from regard.models.visits.interpolation import interpolation
from regard.models.visits.place_question import PlaceQuestion
from regard.models.visits.st_rnn import StRnnPlaces, levels
from regard.models.visits.visit_options import StRnn

PLACES, USERS, SIZE = 9, 4, 5  # the unknown ones counted
TIMES, DISTANCES = [0.0, 1.0, 3.0, 6.0], [0.0, 0.5, 2.0, 10.0]


def question(lengths=(7, 0, 1, 5), seed=0, told=2) -> PlaceQuestion:
    """Trails of these lengths, with padding that holds nonsense; questions at the ends, and before."""
    draw = torch.Generator().manual_seed(seed)
    users, longest = len(lengths), max(lengths)
    count = torch.tensor(lengths)
    places = torch.randint(1, PLACES, (users, longest), generator=draw)
    # gaps from minutes to days: windows that hold none, one and several
    gaps = torch.exp(4 * torch.rand(users, longest + 1, dtype=torch.float64, generator=draw) - 1.5)
    hours = 400_000 + gaps.cumsum(-1)
    mask = torch.arange(longest) < count[:, None]
    seen = (count[:, None] - torch.arange(told, -1, -1)).clamp(min=0)
    when = hours.gather(1, seen)
    coordinates = torch.tensor([40.7, -74.0]) + 0.05 * torch.rand(PLACES - 1, 2, generator=draw)
    points = torch.cat([torch.zeros(1, 3), torch.from_numpy(points_of(coordinates.numpy()))])
    return PlaceQuestion(
        user=torch.arange(users) % USERS,
        places=places.where(mask, torch.randint(0, PLACES, places.shape, generator=draw)),
        hours=hours[:, :-1].where(mask, torch.randn(mask.shape, generator=draw).double() * 1e6),
        mask=mask,
        seen=seen,
        when=when,
        points=points.double(),
        counted=torch.zeros(0, 3, dtype=torch.long),
    )


def network(**options) -> StRnnPlaces:
    torch.manual_seed(3)
    given = {"size": SIZE, "times": TIMES, "distances": DISTANCES, **options}
    model = StRnnPlaces(PLACES, USERS, StRnn(**given)).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    with torch.no_grad():
        model.places.weight[0] = model.users.weight[0] = 0.0
    return model


def matrix(learnt, edges, x):
    """[M_L (U - x) + M_U (x - L)] / (U - L), as the paper writes it."""
    if learnt is None:
        return torch.eye(SIZE, dtype=torch.float64)
    if x >= edges[-1]:
        return learnt[-1]
    upper = next(n for n, edge in enumerate(edges) if edge > x)
    low, high = edges[upper - 1], edges[upper]
    return (learnt[upper - 1] * (high - x) + learnt[upper] * (x - low)) / (high - low)


def far(model_points, one, other):
    chord = float((model_points[one] - model_points[other]).norm())
    return 2 * 6371.0 * math.asin(chord / (2 * 6371.0))


def plain_state(model, asked, row, seen, when, place):
    """h of a candidate by recursion, one pair after the other."""
    hours, visits = asked.hours[row].tolist(), asked.places[row].tolist()
    window = [i for i in range(seen) if hours[i] > when - TIMES[-1]]
    total = torch.zeros(SIZE, dtype=torch.float64)
    for i in window:
        spatial = matrix(model.spatial, DISTANCES, far(asked.points, place, visits[i]))
        temporal = matrix(model.temporal, TIMES, when - hours[i])
        total = total + spatial @ temporal @ model.places.weight[visits[i]]
    last = seen - len(window) - 1
    before = model.first
    if last >= 0:
        before = plain_state(model, asked, row, last, hours[last], visits[last])
    return torch.sigmoid(total + model.recurrent.weight @ before)


def plain_scores(model, asked, candidates):
    scores = torch.zeros(candidates.shape, dtype=torch.float64)
    rows = []
    for row, user in enumerate(asked.user.tolist()):
        for t, seen in enumerate(asked.seen[row].tolist()):
            for place in candidates[row, t].tolist():
                when = float(asked.when[row, t])
                state = plain_state(model, asked, row, seen, when, place)
                liked = model.users.weight[user]
                rows.append((state + liked) @ model.places.weight[place])
    return torch.stack(rows).view(scores.shape)


@pytest.fixture
def every():
    return torch.arange(1, PLACES).expand(4, 3, -1)


@pytest.mark.parametrize("options", [{}, {"spatial": False}, {"temporal": False}])
def test_it_is_the_formula_pair_by_pair(options, every):
    model, asked = network(**options), question()
    wanted = plain_scores(model, asked, every)
    torch.testing.assert_close(model(asked), wanted, atol=1e-11, rtol=0)
    torch.testing.assert_close(model(asked, every), wanted, atol=1e-11, rtol=0)


def test_so_are_its_gradients(every):
    model, asked = network(), question()
    weights = torch.randn(every.shape, dtype=torch.float64)
    found = torch.autograd.grad((model(asked) * weights).sum(), list(model.parameters()))
    plain = torch.autograd.grad(
        (plain_scores(model, asked, every) * weights).sum(), list(model.parameters())
    )
    for (name, _), one, other in zip(model.named_parameters(), found, plain, strict=True):
        rows = slice(1, None) if name in ("places.weight", "users.weight") else slice(None)
        torch.testing.assert_close(one[rows], other[rows], atol=1e-10, rtol=0, msg=name)
        assert one.abs().sum() > 0, name


def test_windows_of_all_sizes_are_there():
    """Or the tests above would say little."""
    model, asked = network(), question()
    first = model.first_visits(asked, asked.seen, asked.when)
    sizes = set((asked.seen - first).flatten().tolist())
    assert {0, 1} < sizes
    assert levels(torch.tensor([[0, 0, 1, 1, 3]])).tolist() == [[0, 0, 1, 1, 2]]


def test_nothing_depends_on_padding_or_on_the_batch():
    model, asked = network(), question()
    together = model(asked)
    for row, length in enumerate(asked.mask.sum(-1).tolist()):
        parts = {name: part[row : row + 1] for name, part in asked._asdict().items()}
        for name in ("places", "hours", "mask"):
            parts[name] = parts[name][:, :length]
        alone = PlaceQuestion(**{**parts, "points": asked.points, "counted": asked.counted})
        torch.testing.assert_close(model(alone)[0], together[row], atol=1e-12, rtol=0)


def test_chunks_of_places_change_nothing(monkeypatch):
    model, asked = network(), question()
    whole = model(asked)
    monkeypatch.setattr("regard.models.visits.st_rnn.TOGETHER", 1)
    torch.testing.assert_close(model(asked), whole, atol=1e-13, rtol=0)


def test_later_visits_are_not_known(every):
    """Of a question before the end, what comes behind it changes nothing: no target leaks."""
    model, asked = network(), question((7, 7, 7, 7))
    before = model(asked)[:, 0]
    places = asked.places.clone()
    places[:, 5:] = places[:, 5:] % (PLACES - 1) + 1
    hours = asked.hours.clone()
    hours[:, 5:] += 0.01
    changed = model(asked._replace(places=places, hours=hours))[:, 0]
    torch.testing.assert_close(changed, before, atol=0, rtol=0)
    assert int(asked.seen[0, 0]) == 5


def test_a_candidate_is_scored_by_its_own_distance():
    """Two places with the same vector differ by where they are alone; without S they do not."""
    asked = question((5, 5, 5, 5), told=0)
    asked = asked._replace(when=asked.hours[:, -1:] + 0.1)
    for spatial in (True, False):
        model = network(spatial=spatial)
        with torch.no_grad():
            model.places.weight[2] = model.places.weight[1]
        scores = model(asked)[:, 0]
        assert torch.allclose(scores[:, 0], scores[:, 1]) is not spatial


def test_interpolation_is_exact_at_the_edges_and_flat_beyond():
    edges = torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64)
    found = interpolation(torch.tensor([-1.0, 0.0, 0.25, 1.0, 2.0, 3.0, 50.0]).double(), edges)
    wanted = [[1, 0, 0], [1, 0, 0], [0.75, 0.25, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1], [0, 0, 1]]
    torch.testing.assert_close(found, torch.tensor(wanted).double())


def test_distances_are_those_of_a_globe():
    """A quarter of a meridian, and a few metres in float32."""
    assert kilometres((0.0, 0.0), (90.0, 0.0)) == pytest.approx(6371 * math.pi / 2)
    model, asked = network().float(), question()
    windows = model.windows(asked)
    exact = torch.cdist(asked.points[1:], windows.points.double())
    wanted = interpolation(exact, torch.tensor(DISTANCES).double())
    assert (model.shares(windows, asked.points[1:]) - wanted).abs().max() < 0.01


def test_contributions_are_what_a_score_loses():
    model, asked = network(), question((7, 0, 1, 5), told=0)
    candidates = torch.tensor([1, 4, 8]).expand(4, 1, -1)
    visits, before = model.contributions(asked, candidates)
    whole = model(asked, candidates)
    for row, length in enumerate((7, 0, 1, 5)):
        first = int(model.first_visits(asked, asked.seen, asked.when)[row, 0])
        assert visits[row, ..., :first].abs().sum() == 0
        assert visits[row, ..., length:].abs().sum() == 0
        windows = model.windows(asked)
        for place in range(first, length):
            left = windows.terms.clone()
            left[row, length - 1 - place] = 0.0
            sums = model.sums(windows._replace(terms=left), asked.points[candidates[:, 0]])
            states = (sums + windows.memory[:, None]).sigmoid() + model.users(asked.user)[:, None]
            without = (states * model.places(candidates[:, 0])).sum(-1)
            torch.testing.assert_close(whole[row, 0] - without[row], visits[row, 0, :, place])
    assert before.abs().min() > 0


def test_an_empty_batch_and_empty_trails_are_no_trouble():
    model = network()
    asked = question((0, 0, 0, 0), told=0)
    assert model(asked).isfinite().all()
    none = asked._replace(
        **{n: p[:0] for n, p in asked._asdict().items() if n not in ("points", "counted")}
    )
    assert model(none).shape == (0, 1, PLACES - 1)
