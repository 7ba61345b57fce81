"""Looks share the error between them; what is decided stays, and seeds go where they help."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from simulated_scores import mean, normal, of_differences, p_values, parts

from regard.statistics import Difference, Looks, compare_scores
from regard.statistics.look_errors import look_errors

PLANS = [(3, 5, 10), (3, 5, 8, 12, 20)]


def seen(difference, seeds=3, spread=1.0, spread_items=0.0, error=False):
    return Difference(
        difference, seeds, 1000, spread, spread_items, items_alone=spread_items, error=error
    )


def test_five_even_looks_are_those_of_the_table():
    """Error spent evenly, 5 % two-sided: z of 2.58, 2.49, 2.41, 2.34, 2.28 — Lan & DeMets 1983."""
    wanted = [math.erfc(z / 2**0.5) for z in (2.576, 2.492, 2.411, 2.340, 2.276)]
    assert look_errors((3, 6, 9, 12, 15), 0.05) == pytest.approx(wanted, rel=5e-3)


def test_one_look_has_the_whole_error():
    assert look_errors((7,), 0.05) == pytest.approx([0.05])


@pytest.mark.parametrize("plan", PLANS)
def test_a_walk_leaves_the_bounds_as_often_as_said(plan):
    rng = np.random.default_rng(0)
    walk = rng.normal(size=(200_000, plan[-1])).cumsum(-1)[:, np.array(plan) - 1]
    z = np.abs(walk) / np.sqrt(plan)
    p = np.vectorize(math.erfc)(z / 2**0.5)
    assert (p < look_errors(plan, 0.05)).any(-1).mean() == pytest.approx(0.05, abs=0.002)


def false_decisions(plan, ratio, noise):
    """Of 1,000 experiments without a difference, with the planned looks and with those of p < 0.05."""
    rng = np.random.default_rng(1)
    last = plan[
        -1
    ]  # `normal` scales what seeds add for so many; the ratio here is of the first look
    scores = normal(rng, 1000, last, 25, ratio * plan[0] / last, noise)
    by_seed, influences = parts(*of_differences(scores), mean)
    p = np.stack([p_values(by_seed[:, :n], influences[:, :n]) for n in plan], -1)
    return (p < look_errors(plan, 0.05)).any(-1).mean(), (p < 0.05).any(-1).mean()


@pytest.mark.parametrize("ratio", [0, 0.3, 1, 3, 30])
def test_stopping_errs_as_seldom_as_one_look(ratio):
    planned, naive = false_decisions(PLANS[0], ratio, 0.5)
    assert planned <= 0.065
    assert naive > planned


def test_stopping_at_the_first_small_p_would_err():
    planned, naive = false_decisions(PLANS[1], 30, 0)
    assert planned <= 0.065
    assert naive > 0.12


def test_a_course_of_looks_decides_what_its_p_values_do():
    """The loop of `--until decided`, beside the bounds alone."""
    rng = np.random.default_rng(2)
    plan = PLANS[0]
    looks = Looks(plan)
    errors = look_errors(plan, 0.05)
    decided = 0
    for _ in range(30):
        a, b = (one[0] for one in of_differences(normal(rng, 1, 10, 20, 1) + 4))
        verdicts = {}
        for seeds in plan:
            found = {"pair": compare_scores(a[:seeds], b[:seeds], mean)}
            verdicts = looks.verdicts(found, verdicts)
            if verdicts["pair"].closed:
                break
            assert looks.next(found, verdicts) == ("pair", plan[plan.index(seeds) + 1])
        if verdicts["pair"].decided:
            decided += 1
            assert verdicts["pair"].state == "a"
            assert found["pair"].p < errors[plan.index(verdicts["pair"].seeds)]
            assert verdicts["pair"].interval[0] > 0
        else:
            assert verdicts["pair"].state in ("unlikely", "spent")
            assert verdicts["pair"].interval[0] <= 0
    assert decided > 10


def test_family_with_stopping():
    """Two of four differ: one that does not is told apart in 5 % of experiments at most, with Holm."""
    rng = np.random.default_rng(3)
    looks = Looks((3, 5, 10), comparisons=4)
    wrong = found_one = 0
    for _ in range(100):
        draws = rng.normal(size=(4, 10)) + np.array([[5.0], [-5.0], [0.0], [0.0]])
        verdicts: dict = {}
        for seeds in looks.seeds:
            now = {
                pair: seen(row[:seeds].mean(), seeds, row[:seeds].std(ddof=1))
                for pair, row in enumerate(draws)
                if pair not in verdicts or not verdicts[pair].closed
            }
            verdicts = looks.verdicts(now, verdicts)
        wrong += verdicts[2].decided or verdicts[3].decided
        assert verdicts[0].state in ("a", "unlikely", "spent")
        found_one += verdicts[0].decided + verdicts[1].decided
    assert wrong <= 0.065 * 100
    assert found_one > 180  # of 200


def test_what_is_decided_leaves_its_error_to_the_others():
    alone, first = Looks((5, 10), comparisons=2), look_errors((5, 10), 0.025)[0]
    second = look_errors((5, 10), 0.05)[0]
    between = seen(1.8, 5)
    assert first < between.p < second
    assert not alone.verdicts({1: between, 2: seen(0.5, 5)})[1].decided
    together = alone.verdicts({1: between, 2: seen(30, 5)})
    assert together[1].decided
    assert together[2].decided


def test_states():
    looks = Looks((3, 6))

    def verdict(one, **more):
        return looks.verdicts({0: one}, **more)[0]

    assert verdict(seen(40)).state == "a"
    assert verdict(seen(-40)).state == "b"
    assert verdict(seen(-40, error=True)).state == "a"
    assert verdict(seen(2)).state == "open"
    assert verdict(seen(2), spent=True).state == "spent"
    assert verdict(seen(0.2, 6)).state == "spent"
    assert verdict(seen(40, 4)).state == "open"  # between two looks
    assert verdict(seen(40, 8)).state == "a"
    assert verdict(seen(0, spread=0)).state == "unlikely"  # identical runs
    assert verdict(seen(0.1, spread=0.01, spread_items=1)).state == "unlikely"  # the items limit
    assert verdict(seen(2, 1, None)).state == "open"
    said = verdict(seen(2)).to_dict()
    assert json.loads(json.dumps(said, allow_nan=False))["state"] == "open"


def test_a_difference_that_does_not_matter_is_closed():
    looks = Looks((3, 6), margin=1.0)
    assert looks.verdicts({0: seen(0.01, spread=0.05)})[0].state == "same"
    assert looks.verdicts({0: seen(0.01, spread=1.0)})[0].state == "open"


def test_what_is_closed_stays_closed():
    looks = Looks((3, 6))
    before = looks.verdicts({0: seen(40)})
    assert looks.verdicts({0: seen(0, 6)}, before) == before


def test_seeds_go_where_they_decide():
    looks = Looks((3, 6, 12), comparisons=3)
    found = {"far": seen(1.0), "near": seen(4), "decided": seen(90)}
    verdicts = looks.verdicts(found)
    assert [one.state for one in verdicts.values()] == ["open", "open", "a"]
    assert looks.next(found, verdicts) == ("near", 6)
    assert verdicts["near"].chance > verdicts["far"].chance
    done = looks.verdicts({"decided": seen(90)})
    assert looks.next({"decided": seen(90)}, done) is None


def test_the_chance_of_a_next_look_is_that_of_a_simulation():
    """Of a difference that is known up to what three seeds tell of it."""
    rng = np.random.default_rng(4)
    now = seen(2.0)
    verdict = Looks((3, 6)).verdicts({0: now})[0]
    times = 100_000
    spread = np.sqrt(2 / rng.chisquare(2, times))  # as uncertain as 3 seeds leave it
    true = 2 + rng.normal(size=times) * spread / 3**0.5
    new = true + rng.normal(size=times) * spread / 3**0.5
    bound = now.with_seeds(6).half_width(look_errors((3, 6), 0.05)[1])
    assert np.mean(np.abs(2 + new) / 2 > bound) == pytest.approx(verdict.chance, abs=0.01)


@pytest.mark.parametrize(
    ("first", "most", "seeds"),
    [
        (3, 20, (3, 5, 8, 12, 20)),
        (3, 3, (3,)),
        (1, 5, (3, 5)),
        (3, 4, (3, 4)),
        (5, 10, (5, 10)),
        (3, 10, (3, 5, 10)),
    ],
)
def test_plans(first, most, seeds):
    assert Looks.planned(first, most).seeds == seeds


def test_mistakes_of_a_plan_are_told():
    with pytest.raises(ValueError, match="3 seeds or more"):
        Looks((2, 5))
    with pytest.raises(ValueError, match="more than before"):
        Looks((5, 5))
    with pytest.raises(ValueError, match="3 seeds or more"):
        Looks(())
    with pytest.raises(ValueError, match="takes 3 seeds or more, not 2"):
        Looks.planned(2, 2)
    with pytest.raises(ValueError, match="at least one"):
        Looks((3,), comparisons=0)
    with pytest.raises(ValueError, match="planned for 1 comparisons, and now there are 2"):
        Looks((3, 5)).verdicts({0: seen(1), 1: seen(1)})
