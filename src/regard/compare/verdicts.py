"""What was found, in sentences: which is better, what could have been seen, and whether attention helps."""

from __future__ import annotations

import math
from typing import Any

from regard.compare.advice import advice
from regard.compare.comparison import Compared, Comparison
from regard.compare.findings import Findings
from regard.compare.variants import UNIFORM, WITHOUT
from regard.measures.measure import Measure
from regard.report.score_words import amount, display_name, interval, score, signed, unit
from regard.words import t

NAMED = 4  # variants in a sentence
FEW_ITEMS = 100  # to be judged by: fewer are worth a warning


def sentences(found: Findings) -> list[str]:
    """The most important first."""
    comparison = found.comparison
    said = [*_always(found), *_best(comparison), *_advice(found), *_few_items(found)]
    said += [*_resolution(found), *_attention(found)]
    if found.comparison.looks is not None:
        said.append(_seeds(found.comparison))
    said += [
        t("The trainings warned: {warning}.", warning=each.rstrip(".")) for each in found.warnings
    ]
    return said


def _always(found: Findings) -> list[str]:
    """What has learnt nothing: who answers the same to everything, or scores no more than that."""
    groups: dict[str, list[str]] = {}
    for name, by_seed in found.always.items():
        for answer in dict.fromkeys(by_seed.values()):
            count, seeds = list(by_seed.values()).count(answer), len(found.judged[name])
            some = t("{name} in {count} of {seeds} seeds", name=name, count=count, seeds=seeds)
            groups.setdefault(answer, []).append(name if count == seeds else some)
    said = [
        t("To everything the answer is {answer}: {names}.", answer=answer, names=", ".join(names))
        for answer, names in groups.items()
    ]
    floor, measure = simplest_score(found), found.measure
    if floor is not None and found.simplest is not None and not above_simplest(found):
        per_cent = " %" if measure.share else ""
        said.append(
            t(
                "No variant is better than {simplest}: {score}.",
                simplest=found.simplest.name,
                score=f"{display_name(measure)} {score(floor, measure)}{per_cent}",
            )
        )
    return said


def above_simplest(found: Findings) -> bool:
    """Whether the best is better than the same answer to everything, where that has a score."""
    floor, best = simplest_score(found), found.comparison.means[found.comparison.best]
    return floor is None or (best < floor if found.measure.error else best > floor)


def simplest_score(found: Findings) -> float | None:
    """Of the same answer to everything, by the measure of the comparison; None: it has none."""
    return found.simplest.measures.get(found.measure.name) if found.simplest else None


def _best(found: Comparison) -> list[str]:
    best, second = found.order[:2]
    ranks, measure = found.ranks(), found.measure
    first = [name for name in found.order if ranks[name][0] == 1]
    if ranks[best] == (1, 1):
        return [
            t(
                "{best} is the best: {difference} against {second}, {interval}.",
                best=best,
                second=second,
                **_known(found.pair(best, second), measure),
            )
        ]
    if len(first) == len(found.order):
        if not any(pair.shown for pair in found.pairs.values()):
            return [t("No difference shown between any two of {count}.", count=len(found.order))]
        return [t("No variant is shown to be worse than every other.")]
    among = ", ".join(first[:NAMED]) + (" …" if len(first) > NAMED else "")
    return [
        t(
            "No difference shown among the first {count}: {names}.",
            count=len(first),
            names=among,
        )
    ]


def _advice(found: Findings) -> list[str]:
    """For who has to take one."""
    taken, best = advice(found), found.comparison.best
    if taken is None or not above_simplest(found):
        return []
    others = ", ".join(taken.as_cheap[:NAMED]) + (" …" if len(taken.as_cheap) > NAMED else "")
    if not taken.as_cheap:
        why = t("it is the cheapest")
    elif taken.fewest:
        why = t("it is as cheap as {others}, with the fewest parameters", others=others)
    else:
        why = t("it is as cheap as {others}, and cheaper than the others", others=others)
    if taken.name == best:
        return [t("Take {name}: none is shown to be better, and {why}.", name=best, why=why)]
    return [
        t(
            "Take {name}: as good as {best} as far as could be shown, at most {behind} {measure} behind, "
            "and {why}.",
            name=taken.name,
            best=best,
            why=why,
            behind=amount(taken.behind, found.measure),
            measure=unit(found.measure),
        )
    ]


def _few_items(found: Findings) -> list[str]:
    """Warnings: few items in all, or few on which the first two differ."""
    comparison, said, count = found.comparison, list[str](), len(found.items)
    known: dict[str, Any] = {"items": found.counted_items}
    if count < FEW_ITEMS and found.measure.share:
        each = amount(1 / max(count, 1), found.measure)
        said.append(t("Only {items}: one of them is {each} points.", each=each, **known))
    elif count < FEW_ITEMS:
        said.append(t("Only {items}: others may well say otherwise.", **known))
    pair = comparison.pair(*comparison.order[:2])
    known |= {"one": pair.a, "other": pair.b, "count": pair.difference.differing}
    if pair.difference.differing == 0:
        share = f"{100 * (1 - (1 - comparison.level) ** (1 / max(count, 1))):.2g}"
        message = t(
            "{one} and {other} do the same with all of {items}: that tells no more than that of others "
            "they differ on less than {share} %.",
            share=share,
            **known,
        )
        said.append(message)
    elif (pair.difference.differing or count) < (need := _fewest(comparison)) and not pair.shown:
        message = t(
            "{one} and {other} differ on {count} of {items}: fewer than {need} show nothing, however "
            "clear they are.",
            need=need,
            **known,
        )
        said.append(message)
    return said


def _fewest(found: Comparison) -> int:
    """Items that have to differ before anything can be shown of the first pair that is."""
    return math.ceil(1 - math.log2((1 - found.level) / len(found.pairs)))


def _resolution(found: Findings) -> list[str]:
    """dot against additive: 3 seeds resolve 0.9 BLEU; 0.3 would need about 14. Other pairs may vary more."""
    comparison = found.comparison
    pair = comparison.pair(*comparison.order[:2])
    said = resolution(pair, found.measure, trained=found.trained)
    if said and pair.difference.resolves is not None and len(comparison.order) > 2:
        said = t("{one} against {other}: {said}", one=pair.a, other=pair.b, said=said)
    return [said] if said else []


def resolution(pair: Compared, measure: Measure, *, trained: bool = True) -> str:
    """What these seeds could have shown, and what a smaller difference would need.

    trained: by the comparison, which then takes --seeds.
    """
    difference = pair.difference
    if difference.resolves is None and not trained:
        return t(
            "One seed does not tell what another would give: train each variant with seed=2 and seed=3 "
            "too, and name all the runs."
        )
    if difference.resolves is None:
        return t("One seed does not tell what another would give: --seeds 3 does.")
    if not difference.resolves:
        return ""
    known = {
        "seeds": difference.seeds,
        "resolves": amount(difference.resolves, measure),
        "measure": unit(measure),
    }
    seen = abs(difference.difference)
    of_use = difference.resolves / 10 < seen < difference.resolves * 0.9  # to be asked about
    effect = seen if of_use else difference.resolves / 3
    need = difference.seeds_for(effect)
    known |= {"smaller": amount(effect, measure), "need": f"{need or 0:,}"}
    if need is None and of_use:
        return t(
            "{seeds} seeds resolve {resolves} {measure}; the {smaller} seen here would need more items, "
            "not more seeds.",
            **known,
        )
    if need is None:
        return t(
            "{seeds} seeds resolve {resolves} {measure}; a third of that, {smaller}, would need more items, "
            "not more seeds.",
            **known,
        )
    if of_use:
        return t(
            "{seeds} seeds resolve {resolves} {measure}; the {smaller} seen here would need about {need}.",
            **known,
        )
    return t(
        "{seeds} seeds resolve {resolves} {measure}; a third of that, {smaller}, would need about {need}.",
        **known,
    )


def _attention(found: Findings) -> list[str]:
    """Whether the best that attends is better than those that ran along to tell.

    It helps where it is better than the best that there is without it: to beat a poor one is no help.
    """
    comparison, said = found.comparison, []
    attending = [name for name in comparison.order if name not in found.roles]
    if not attending:
        return []
    best, rival = attending[0], _best_without(found)
    for name, role in found.roles.items():
        pair = comparison.pair(best, name)
        known = {"best": best, "other": name, **_known(pair, found.measure)}
        if pair.winner == best and role == UNIFORM:
            message = t(
                "Where it looks matters: {best} is {difference} against {other}, {interval}.",
                **known,
            )
        elif pair.winner == best and name == rival:
            message = t(
                "Attention helps: {best} is {difference} against {other}, {interval}.", **known
            )
        elif pair.winner is not None:
            loser = name if pair.winner == best else best
            won = _known(comparison.pair(pair.winner, loser), found.measure)
            message = t(
                "{winner} is better than {loser}: {difference}, {interval}.",
                winner=pair.winner,
                loser=loser,
                **won,
            )
        else:
            message = t(
                "No difference from {other} shown: {best} is {difference}, {interval}.", **known
            )
        said.append(message)
    return said


def _best_without(found: Findings) -> str | None:
    """The best that does not attend; who pools by the mean does not either."""
    for name in found.comparison.order:
        pools = "model.pool" in found.changes.get(name, {})
        if found.roles.get(name) == WITHOUT or (name in found.roles and pools):
            return name
    return None


def _seeds(found: Comparison) -> str:
    open_ones = [verdict for verdict in found.verdicts.values() if not verdict.decided]
    most = max(len(variant.seeds) for variant in found.variants)
    return t(
        "{decided} of {pairs} pairs are decided, with up to {seeds} seeds.",
        decided=len(found.verdicts) - len(open_ones),
        pairs=len(found.verdicts),
        seeds=most,
    )


def _known(pair: Compared, measure: Measure) -> dict[str, str]:
    return {
        "difference": f"{signed(pair.difference.difference, measure)} {unit(measure)}",
        "interval": interval(pair.difference, measure),
    }
