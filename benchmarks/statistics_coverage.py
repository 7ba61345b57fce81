"""Do the intervals of `regard.statistics` hold what they say? Tables for docs/toolkit/compare-statistics.md.

    python benchmarks/statistics_coverage.py                     # all tables; a few minutes
    python benchmarks/statistics_coverage.py --only looks holm   # some of them
    python benchmarks/statistics_coverage.py --times 500         # fewer experiments

Experiments are those of tests/statistics/simulated_scores.py, whose truth is known. The ratio is how much
seeds add to the variance of the mean difference, over what items and noise add; half of the latter is
noise where nothing else is said.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "statistics"))
from simulated_scores import (
    KINDS,
    half_widths,
    mean,
    normal,
    of_differences,
    p_values,
    parts,
    right_or_wrong,
    spread_for,
)

from regard.statistics import Difference, Looks, compare_scores, holm
from regard.statistics.influence import item_variance, mean_item_variance, seed_variance
from regard.statistics.look_errors import look_errors
from regard.statistics.student_sum import StudentSum

SEEDS, RATIOS = (2, 3, 5, 10), (0, 0.3, 1, 3, 30)
ITEMS = 50
PLANS = ((3, 5, 10), (3, 5, 8, 12, 20), tuple(range(3, 11)))


def table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> None:
    lines = [list(map(str, row)) for row in (head, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    print("\n".join(f"| {' | '.join(line)} |" for line in lines), end="\n\n", flush=True)


def per_cent(share: float) -> str:
    return f"{100 * share:.1f}"


def grid(title: str, cell: Callable[[int, float], str], seeds: Iterable[int] = SEEDS) -> None:
    print(f"**{title}**\n")
    table(["seeds", *RATIOS], ([n, *(cell(n, ratio) for ratio in RATIOS)] for n in seeds))


def coverage(times: int) -> None:
    rng = np.random.default_rng(0)

    def drawn(seeds: int, ratio: float, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
        return parts(*of_differences(normal(rng, times, seeds, ITEMS, ratio, noise)), mean)

    def ours(seeds: int, ratio: float, noise: float = 0.5) -> str:
        return per_cent(np.mean(p_values(*drawn(seeds, ratio, noise)) > 0.05))

    grid("Coverage of the 95 % interval, in per cent, by the ratio", ours)
    grid("Coverage, without noise", lambda seeds, ratio: ours(seeds, ratio, 0))
    grid("Coverage, nine tenths noise", lambda seeds, ratio: ours(seeds, ratio, 0.9))
    grid(
        "Coverage, where the ratio is of one seed",
        lambda seeds, ratio: ours(seeds, ratio / seeds),
    )
    grid(
        "Coverage of a percentile bootstrap over seeds × items, without noise",
        lambda seeds, ratio: per_cent(percentile(rng, times // 4, seeds, ratio)),
    )
    grid(
        "Coverage of a t with the degrees of freedom of Satterthwaite, without noise",
        lambda seeds, ratio: per_cent(np.mean(satterthwaite(*drawn(seeds, ratio, 0)) > 0.05)),
    )

    def width(seeds: int, ratio: float) -> str:
        half = half_widths(*drawn(seeds, ratio))[: times // 2]
        return f"{half.mean() / (1.96 * np.sqrt(1 + ratio)):.2f}"

    grid("Mean width, over that for a known variance", width)


def percentile(
    rng: np.random.Generator, times: int, seeds: int, ratio: float, noise: float = 0
) -> float:
    """How often the middle 95 % of 500 crossed bootstrap samples hold the truth."""
    inside = 0
    for scores in normal(rng, times, seeds, ITEMS, ratio, noise):
        of_seeds = rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=500) / seeds
        of_items = rng.multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), size=500) / ITEMS
        low, high = np.percentile(((of_seeds @ scores) * of_items).sum(-1), [2.5, 97.5])
        inside += low <= 0 <= high
    return inside / times


def satterthwaite(by_seed: np.ndarray, influences: np.ndarray) -> np.ndarray:
    """p-values of a t over the same variances, to a tenth of a degree of freedom."""
    seeds, items = influences.shape[-2:]
    of_seeds = seed_variance(by_seed) / seeds
    of_items = item_variance(influences)
    whole = np.maximum(of_seeds + of_items, mean_item_variance(influences))
    df = whole**2 / (of_seeds**2 / (seeds - 1) + of_items**2 / (items - 1))
    df = np.minimum(np.maximum(np.round(df, 1), 0.5), 200)
    p = np.empty_like(df)
    for one in np.unique(df):
        there = df == one
        scale = np.sqrt(whole[there])
        p[there] = StudentSum(scale, one, 0 * scale, 1).beyond(by_seed[there].mean(-1))
    return p


def bootstrap(times: int) -> None:
    """With noise, which it draws again with seeds and with items."""
    rng = np.random.default_rng(8)
    grid(
        "Coverage of a percentile bootstrap over seeds × items, half of it noise",
        lambda seeds, ratio: per_cent(percentile(rng, times // 4, seeds, ratio, 0.5)),
    )


def tails(times: int) -> None:
    """At the level of the first of five looks, which asks more of a law than 5 % do."""
    rng = np.random.default_rng(7)
    for what, p_of in (("a sum of two t", p_values), ("a t of Satterthwaite", satterthwaite)):

        def cell(seeds: int, ratio: float) -> str:
            scores = normal(rng, times, seeds, ITEMS, ratio, 0)
            return f"{100 * np.mean(p_of(*parts(*of_differences(scores), mean)) < 0.0075):.2f}"  # noqa: B023

        grid(f"p < 0.0075 where there is no difference, in per cent, {what}, without noise", cell)


def kinds(times: int) -> None:
    rng = np.random.default_rng(1)
    for kind, (draw, value) in KINDS.items():
        for items, effect in ((30, 0.0), (200, 0.0), (200, 0.5)):

            def cell(seeds: int, ratio: float) -> str:
                spread = spread_for(kind, ratio, seeds, items, rng)  # noqa: B023
                truth = 0.0
                if effect:  # noqa: B023
                    large = [
                        parts(*draw(rng, 1, 100, 2000, spread, effect), value)[0].mean()  # noqa: B023
                        for _ in range(10)
                    ]
                    truth = float(np.mean(large))
                drawn = parts(*draw(rng, times // 2, seeds, items, spread, effect), value)  # noqa: B023
                return per_cent(np.mean(p_values(*drawn, truth) > 0.05))

            what = "one of two is better" if effect else "none is better"
            grid(f"Coverage, {kind} of {items} items, {what}", cell, SEEDS[1:])


def looks(times: int) -> None:
    rng = np.random.default_rng(2)

    def errors(plan: tuple[int, ...], ratio: float) -> str:
        planned = naive = 0
        for _ in range(times // 500):  # for the memory
            scores = normal(rng, 500, plan[-1], 30, ratio, of=plan[0])
            by_seed, influences = parts(*of_differences(scores), mean)
            p = np.stack([p_values(by_seed[:, :n], influences[:, :n]) for n in plan], -1)
            planned += (p < look_errors(plan, 0.05)).any(-1).sum()
            naive += (p < 0.05).any(-1).sum()
        drawn = times // 500 * 500
        return f"{per_cent(planned / drawn)} ({per_cent(naive / drawn)})"

    print("**False decisions in per cent; stopping at the first p < 0.05 in brackets**\n")
    table(
        ["looks at seeds", *RATIOS],
        ([", ".join(map(str, plan)), *(errors(plan, ratio) for ratio in RATIOS)] for plan in PLANS),
    )


def courses(times: int) -> None:
    """Looks until all is closed, beside one look at the end."""
    rng = np.random.default_rng(6)

    def course(effect: float) -> list[object]:
        plan = Looks((3, 5, 8, 12, 20))
        ends = []
        for scores in normal(rng, times // 5, 20, 30, 3, of=3) + effect:
            counts = of_differences(scores)
            verdicts: dict = {}
            for seeds in plan.seeds:
                found = compare_scores(*(one[:seeds] for one in counts), mean)
                verdicts = plan.verdicts({0: found}, verdicts)
                if verdicts[0].closed:
                    break
            ends.append(verdicts[0])
        whole = parts(*of_differences(normal(rng, times, 20, 30, 3, of=3) + effect), mean)
        return [
            effect,
            per_cent(np.mean([end.decided for end in ends])),
            f"{np.mean([end.seeds for end in ends]):.1f}",
            per_cent(np.mean(p_values(*whole) < 0.05)),
        ]

    print("**Looks at 3, 5, 8, 12, 20 seeds, by the true difference, ratio 3 at the first**\n")
    table(
        ["difference", "decided, %", "seeds, mean", "20 seeds at once: decided, %"],
        [course(effect) for effect in (0.0, 2.0, 4.0, 8.0)],
    )


def family(times: int) -> None:
    rng = np.random.default_rng(3)
    print(
        "**Any of so many equal variants told apart from the baseline that they share, in per cent**\n"
    )
    rows = []
    for variants in (2, 5, 10):
        for seeds in (3, 10):
            scores = [normal(rng, times, seeds, 30, 1) for _ in range(variants + 1)]
            p = np.stack(
                [p_values(*parts(*of_differences(one - scores[0]), mean)) for one in scores[1:]], -1
            )
            held = np.mean([min(holm(one)) < 0.05 for one in p])
            rows.append([variants, seeds, per_cent(held), per_cent((p < 0.05).any(-1).mean())])
    table(["variants", "seeds", "Holm", "without"], rows)


def better(times: int) -> None:
    rng = np.random.default_rng(4)
    bins = ((0.5, 0.7), (0.7, 0.9), (0.9, 0.97), (0.97, 1))
    print(
        "**How often the one that is said to be better is, in per cent (what was said in brackets)**\n"
    )
    rows = []
    for seeds in (3, 5, 10):
        for ratio in (0.3, 3):
            true = rng.uniform(-12, 12, size=4 * times)
            scores = normal(rng, 4 * times, seeds, 30, ratio) + true[:, None, None]
            by_seed, influences = parts(*of_differences(scores), mean)
            sure = 1 - p_values(by_seed, influences) / 2
            right = np.sign(by_seed.mean(-1)) == np.sign(true)
            cells = []
            for low, high in bins:
                there = (sure >= low) & (sure < high)
                cells.append(f"{per_cent(right[there].mean())} ({per_cent(sure[there].mean())})")
            rows.append([seeds, ratio, *cells])
    table(["seeds", "ratio", *(f"{low} to {high}" for low, high in bins)], rows)


def power(times: int) -> None:
    """Of as many seeds as `seeds_for` says: from known spreads, and from those of three seeds."""
    rng = np.random.default_rng(5)
    rows = []
    for ratio in (0.3, 3):
        for effect in (2.5, 4.0):
            of_seed, shared, noise = 3 * ratio, 0.5, 1.5  # variances, as `normal` draws for 3 seeds
            known = Difference(
                effect, 3, 40, (of_seed + noise) ** 0.5, shared**0.5, (shared + noise / 3) ** 0.5
            )
            needed = known.seeds_for(effect)
            assert needed
            scores = effect + normal(rng, times, needed, 40, ratio, of=3)
            shown = p_values(*parts(*of_differences(scores), mean)) < 0.05
            guesses = [
                compare_scores(*of_differences(pilot), mean).seeds_for(effect)
                for pilot in effect + normal(rng, 60, 3, 40, ratio)
            ]
            there = sorted(guess for guess in guesses if guess)
            middle = f"{there[len(there) // 10]}, {there[len(there) // 2]}, {there[-1 - len(there) // 10]}"
            rows.append(
                [ratio, effect, needed, per_cent(shown.mean()), middle, guesses.count(None)]
            )
    print("**Seeds that `seeds_for` asks for, and how often they show the effect**\n")
    head = ["ratio at 3 seeds", "effect", "seeds, spreads known", "shown, %"]
    table([*head, "guessed from 3 seeds: 10 %, median, 90 %", "of 60: items too few"], rows)


def few_items(times: int) -> None:
    """Right or wrong, three seeds that agree: with the exact test of few items, and by a t alone."""
    rng = np.random.default_rng(9)

    def drawn(items: int, better: float, worse: float) -> list[list[Difference]]:
        found = [
            compare_scores(*right_or_wrong(rng, 3, items, better, worse), mean)
            for _ in range(times)
        ]
        return [found, [replace(one, items_exact=0.0) for one in found]]

    def both(shares: list[float], digits: int = 1) -> str:
        return f"{100 * shares[0]:.{digits}f} ({100 * shares[1]:.{digits}f})"

    print("**Equal variants told apart, in per cent; by a t alone in brackets**\n")
    rows = []
    for items, share in ((6, 1.0), (10, 0.6), (20, 0.3), (20, 1.0), (200, 0.03), (1000, 0.02)):
        each = drawn(items, share / 2, share / 2)
        levels = (
            both([np.mean([one.p < level for one in found]) for found in each], 2)
            for level in (0.05, 0.0075, 0.001)
        )
        rows.append([items, f"{share * items:g}", *levels])
    table(["items", "that differ, mean", "p < 0.05", "p < 0.0075", "p < 0.001"], rows)
    print("**Coverage of the 95 % interval, in per cent; of a t alone in brackets**\n")
    rows = []
    for items in (5, 10, 20, 50, 200):
        cells = []
        for better, worse in ((0.9, 0.05), (0.6, 0.0), (0.3, 0.1)):
            truth = better - worse
            each = drawn(items, better, worse)
            held = (
                np.mean(
                    [one.interval[0] - 1e-12 <= truth <= one.interval[1] + 1e-12 for one in found]
                )
                for found in each
            )
            cells.append(both(list(map(float, held))))
        rows.append([items, *cells])
    table(["items", "0.9, 0.05", "0.6, 0", "0.3, 0.1"], rows)


TABLES = {
    "coverage": coverage,
    "bootstrap": bootstrap,
    "tails": tails,
    "kinds": kinds,
    "looks": looks,
    "courses": courses,
    "holm": family,
    "better": better,
    "power": power,
    "few": few_items,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=2000, help="experiments for a number")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    chosen = parser.parse_args()
    for name in chosen.only:
        TABLES[name](chosen.times)


if __name__ == "__main__":
    main()
