"""Scores in, results out: what is known of made-up variants is found, and no more."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from made_scores import HOSTILE, comparison, findings, made_counts

from regard.compare import experiment
from regard.compare.cases import Case
from regard.compare.compare_page import page
from regard.compare.comparison import Comparison, ScoredVariant
from regard.compare.cost_chart import front
from regard.compare.findings import Closer, Findings
from regard.compare.judged_run import Cost
from regard.compare.score_table import ScoreTable, csv_of
from regard.compare.slices import slices
from regard.compare.verdicts import sentences
from regard.measures.accuracy import Accuracy
from regard.measures.likelihood_measures import TokenLoss
from regard.recipe.recipe_files import read_recipe
from regard.report.score_words import amount
from regard.statistics import Looks, compare_scores, holm
from regard.tasks.simplest_answers import SimplestAnswer

APART = {"weak": 0.0, "strong": 1.0}
ALIKE = {"one": 0.5, "two": 0.5, "three": 0.5}


def test_a_difference_that_is_there_is_shown():
    found = comparison(APART)
    pair = found.pair("strong", "weak")
    means = {
        n: np.mean([c[:, 0].mean() for c in v.counts.values()]) for n, v in found.by_name.items()
    }
    assert pair.difference.difference == pytest.approx(means["strong"] - means["weak"])
    assert pair.shown
    assert pair.winner == "strong"
    assert pair.difference.interval[0] > 0
    assert found.order == ["strong", "weak"]
    assert found.ranks() == {"strong": (1, 1), "weak": (2, 2)}


def test_no_difference_shown_is_a_result_and_no_rank():
    found = comparison(ALIKE)
    assert not any(pair.shown for pair in found.pairs.values())
    assert set(found.ranks().values()) == {(1, 3)}


def test_nothing_is_ranked_inside_overlapping_intervals():
    found = comparison({"worst": 0.0, "a": 1.0, "b": 1.0})
    assert found.ranks() == {"worst": (3, 3), "a": (1, 2), "b": (1, 2)}


def test_a_pair_turned_around_is_the_same():
    found = comparison(APART)
    one, other = found.pair("weak", "strong"), found.pair("strong", "weak")
    assert one.difference.difference == pytest.approx(-other.difference.difference)
    assert one.difference.better == pytest.approx(1 - other.difference.better)
    assert one.winner == other.winner == "strong"


def test_all_pairs_are_corrected_together():
    found = comparison(ALIKE | APART)
    p = [pair.difference.p for pair in found.pairs.values()]
    assert [pair.p_holm for pair in found.pairs.values()] == holm(p)


def test_an_error_is_better_when_smaller():
    made = [
        ScoredVariant(
            name, {seed: np.column_stack([c[:, 0] + up, c[:, 1]]) for seed, c in base.items()}
        )
        for (name, up), base in zip(
            {"high": 1.0, "low": 0.0}.items(),
            [made_counts(0.5, seeds=3, items=100, noise=0.01, seed=s) for s in (1, 2)],
            strict=True,
        )
    ]
    found = Comparison(TokenLoss(), made)
    assert found.order == ["low", "high"]
    assert found.pair("low", "high").winner == "low"
    assert found.pair("low", "high").difference.better > 0.99


def test_seeds_are_matched_by_their_numbers():
    counts = made_counts(0.5, seeds=4, items=50, noise=0.5, seed=1)
    one = ScoredVariant("one", counts)
    other = ScoredVariant("other", {seed: counts[seed] for seed in (4, 2)})
    pair = Comparison(Accuracy(), [one, other]).pair("one", "other")
    assert pair.seeds == (2, 4)
    assert pair.difference.difference == 0.0  # the same runs: their seeds were found


def test_without_a_common_seed_they_are_matched_in_order():
    counts = made_counts(0.5, seeds=3, items=50, noise=0.5, seed=1)
    other = {seed + 10: value for seed, value in counts.items()}
    made = [ScoredVariant("one", counts), ScoredVariant("other", other)]
    assert Comparison(Accuracy(), made).pair("one", "other").seeds == ()


def test_looks_decide_where_seeds_were_added():
    found = comparison(APART)
    looks = Looks.planned(3, 6, comparisons=1)
    pairs = {("weak", "strong"): found.between("weak", "strong")[1]}
    decided = Comparison(found.measure, found.variants, looks=looks, verdicts=looks.verdicts(pairs))
    assert decided.pairs["weak", "strong"].verdict.state == "b"
    assert decided.pair("strong", "weak").verdict.state == "a"
    assert decided.pair("strong", "weak").winner == "strong"


# what is said of it


def test_the_sentences_say_what_could_have_been_seen():
    said = " ".join(sentences(findings(ALIKE)))
    assert "No difference shown between any two of 3." in said
    assert "3 seeds resolve" in said
    assert "would need" in said
    said = " ".join(sentences(findings(APART)))
    assert "strong is the best: +" in said


def test_what_could_have_been_seen_is_said_of_a_pair_that_is_named():
    made = findings(ALIKE)
    one, other = made.comparison.order[:2]
    assert any(said.startswith(f"{one} against {other}: 3 seeds") for said in sentences(made))
    assert any(said.startswith("3 seeds resolve") for said in sentences(findings(APART)))


def told_to_take(made: Findings) -> str:
    return next((said for said in sentences(made) if said.startswith("Take ")), "")


def priced(made: Findings, *costs: float) -> Findings:
    """Costs in the order of the scores."""
    return replace(
        made,
        costs={
            name: Cost(1000, cost, 2**20, 50.0)
            for name, cost in zip(made.comparison.order, costs, strict=True)
        },
    )


def test_the_cheapest_of_those_that_are_as_good_is_to_be_taken():
    made = findings({"one": 0.8, "other": 0.8}, items=4000, noise=0.001)
    best, second = made.comparison.order
    assert f"Take {second}: as good as {best} as far" in told_to_take(priced(made, 10.0, 5.0))
    behind = -made.comparison.pair(second, best).difference.interval[0]
    assert f"at most {amount(behind, made.measure)} points" in told_to_take(priced(made, 10.0, 5.0))
    assert f"Take {best}: none is shown to be better" in told_to_take(priced(made, 5.0, 10.0))
    assert not told_to_take(priced(made, 10.0, 9.9))  # as dear
    assert not told_to_take(replace(made, costs={}))


def test_nothing_is_to_be_taken_that_may_be_far_behind_or_is_worse():
    assert not told_to_take(priced(findings(APART), 10.0, 5.0))
    noisy = priced(findings({"one": 0.8, "other": 0.8}, items=20), 10.0, 5.0)
    assert not noisy.comparison.pair("one", "other").shown
    assert not told_to_take(noisy)


def pooled(levels: dict[str, float], **roles: str) -> str:
    """What is said of variants of model.pool, one line each."""
    changes = {name: {"model.pool": name} for name in levels}
    made = replace(findings(levels), roles=roles, changes=changes)
    return "\n".join(sentences(made))


def test_attention_helps_where_it_is_better_than_the_best_without_it():
    without = {"last": "no attention", "max": "no attention"}
    said = pooled({"last": 1.0, "attention": 0.5, "max": 0.0}, **without)
    assert "attention is better than max: +" in said
    assert "last is better than attention: +" in said
    assert "helps" not in said
    said = pooled({"last": 0.5, "attention": 1.0, "max": 0.0}, **without)
    assert "Attention helps: attention is +" in said.split("attention is better than max: +")[0]
    assert said.count("helps") == 1
    said = pooled({"mean": 1.0, "attention": 1.0, "max": 0.0}, mean="uniform", max="no attention")
    assert "attention is better than max: +" in said
    assert "helps" not in said


def test_who_answers_the_same_to_everything_is_named():
    made = replace(
        findings(ALIKE),
        simplest=SimplestAnswer("NEUTRAL", {"accuracy": 0.5}),
        always={"one": {1: "NEUTRAL", 2: "NEUTRAL", 3: "NEUTRAL"}, "two": {2: "NEUTRAL"}},
        warnings=["the run has 60 updates", "two: 10 % are unknown."],
    )
    said = sentences(made)
    assert said[0] == "To everything the answer is NEUTRAL: one, two in 1 of 3 seeds."
    assert said[-2:] == [
        "The trainings warned: the run has 60 updates.",
        "The trainings warned: two: 10 % are unknown.",
    ]
    assert not any("No variant is better than always" in each for each in said)
    table = ScoreTable.of(made)
    for text in (table.text, table.markdown, table.latex, page(made)):
        assert "; always answering NEUTRAL: 50.00" in text
    assert all(each in page(made) for each in (said[0], *said[-2:]))
    high = replace(made, simplest=SimplestAnswer("NEUTRAL", {"accuracy": 0.95}))
    told = "No variant is better than always answering NEUTRAL: accuracy 95.00 %."
    assert told in sentences(high)
    cheap = timed({"last": (12.0, 13.0, 14.0), "attention": (30.0, 32.0, 40.0)})
    assert told_to_take(cheap)
    assert not told_to_take(replace(cheap, simplest=high.simplest))
    read = json.loads(json.dumps(made.to_dict()))
    assert read["simplest"]["measures"] == {"accuracy": 0.5}
    assert read["always"]["two"] == {"2": "NEUTRAL"}


def test_one_seed_tells_nothing_of_others_and_says_so():
    said = " ".join(sentences(findings(APART, seeds=1)))
    assert "One seed does not tell" in said


def test_few_items_are_told_wherever_a_result_is():
    assert not any("Only" in one for one in sentences(findings(ALIKE, items=100)))
    made = findings(ALIKE, items=40)
    assert "Only 40 texts: one of them is 2.50 points." in sentences(made)
    assert "Only 40 texts" in page(made)
    assert all("40 texts" in each for each in (ScoreTable.of(made).markdown, page(made)))


def made_of(differ: int, items: int = 200) -> Findings:
    """Two variants of three seeds that agree: one is better, on so many items and no others."""
    made = findings(APART, items=items)
    right = np.ones((items, 2))
    wrong = right.copy()
    wrong[:differ, 0] = 0
    pairs = {"one": right, "other": wrong}
    variants = [ScoredVariant(n, dict.fromkeys((1, 2, 3), c)) for n, c in pairs.items()]
    return replace(made, comparison=Comparison(Accuracy(), variants))


def test_items_that_differ_are_few_or_none():
    said = " ".join(sentences(made_of(5)))
    assert "one and other differ on 5 of 200 texts: fewer than 6 show nothing" in said
    assert "No difference shown" in said
    assert "differ on" not in " ".join(sentences(made_of(6)))
    assert "one is the best" in " ".join(sentences(made_of(6)))
    said = " ".join(sentences(made_of(0)))
    assert "do the same with all of 200 texts" in said
    assert "less than 1.5 %" in said  # 1 - 0.05^(1/200)


def test_the_front_is_what_nothing_beats():
    places = {"a": (1.0, 5.0), "b": (2.0, 6.0), "c": (2.0, 5.5), "d": (3.0, 6.0), "e": (0.5, 1.0)}

    def less(one: str, other: str) -> bool:
        return places[one][0] < places[other][0]

    def faster(one: str, other: str) -> bool:
        return less(other, one)

    def never(one: str, other: str) -> bool:
        return False

    assert front(places, less) == ["e", "a", "b"]
    assert front(places, less, error=True) == ["e"]
    assert front(places, faster) == ["d"]
    assert front(places, never) == ["b", "d"]


def timed(seconds: dict[str, tuple[float, ...]], parameters: int = 1000) -> Findings:
    """Variants that are alike in all but the seconds of their seeds; the first has such parameters."""
    made = findings(dict.fromkeys(seconds, 0.8), items=4000, noise=0.001)
    each = {
        name: [Cost(1000 if place else parameters, each) for each in times]
        for place, (name, times) in enumerate(seconds.items())
    }
    return replace(made, costs={name: Cost.of_several(several) for name, several in each.items()})


def test_the_noise_of_a_clock_decides_nothing():
    noise = timed({"last": (12.0, 12.0, 13.0), "attention": (13.0, 14.0, 13.0)})
    assert not told_to_take(noise)
    assert "On the front" not in page(noise)
    assert "The same for all: parameters, training time, s." in page(noise)
    spread = timed({"last": (12.0, 30.0, 14.0), "attention": (30.0, 12.0, 40.0)})
    assert spread.costs["last"].seconds < 0.8 * spread.costs["attention"].seconds
    assert not told_to_take(spread)
    assert "On the front" not in page(spread)
    real = timed({"last": (12.0, 13.0, 14.0), "attention": (30.0, 32.0, 40.0)})
    assert told_to_take(real).endswith("and it is the cheapest.")
    assert "On the front: last" in page(real)


def test_of_those_that_are_as_cheap_the_one_with_the_fewest_parameters_is_to_be_taken():
    alike = {"last": (12.0, 13.0), "attention": (13.0, 12.0)}
    said = told_to_take(timed(alike, parameters=990))
    assert said.startswith("Take last: ")
    assert said.endswith("and it is as cheap as attention, with the fewest parameters.")
    dear = {"slow": (50.0, 50.0)}
    made = timed(alike | dear)
    first = next(name for name in made.comparison.order if name != "slow")
    other = next(name for name in alike if name != first)
    assert told_to_take(made).startswith(f"Take {first}: ")
    assert told_to_take(made).endswith(
        f"and it is as cheap as {other}, and cheaper than the others."
    )


def test_of_two_that_cost_the_same_the_better_is_on_the_front():
    made = timed({"one": (12.0, 12.0), "two": (13.0, 13.0), "slow": (50.0, 50.0)})
    best = max(("one", "two"), key=made.comparison.means.__getitem__)
    fronts = page(made).split("On the front: ")[1].split('"')[0].split(", ")
    assert fronts[0] == best
    assert not ({"one", "two"} - {best}) & set(fronts)


def test_slices_are_parts_of_the_items():
    made = findings(APART)
    parts = slices(made.comparison, "strong", "weak", made.items)
    assert {part.by for part in parts} == {"length", "rarity", "label"}
    for part in parts:
        rows = list(part.items)
        means = [
            np.mean([c[rows, 0].mean() for c in made.comparison.by_name[n].counts.values()])
            for n in ("strong", "weak")
        ]
        assert list(part.values) == pytest.approx(means)
        assert part.difference.difference == pytest.approx(means[0] - means[1])
    of_length = [row for part in parts if part.by == "length" for row in part.items]
    assert sorted(of_length) == list(range(len(made.items)))


# what is written of it


def test_the_json_is_enough_to_do_the_statistics_again():
    made = findings(ALIKE | APART)
    read = json.loads(json.dumps(made.to_dict()))
    counts = {
        variant["name"]: np.array(
            [variant["seeds"][str(s)]["counts"]["accuracy"] for s in (1, 2, 3)], np.float64
        )
        for variant in read["variants"]
    }
    assert len(read["items"]) == read["item_count"] == counts["one"].shape[1]
    assert [{p["a"], p["b"]} for p in read["pairs"]] == [set(p) for p in combinations(counts, 2)]
    again = []
    for pair in read["pairs"]:
        found = compare_scores(
            counts[pair["a"]], counts[pair["b"]], lambda sums: sums[..., 0] / sums[..., 1]
        )
        assert found.difference == pytest.approx(pair["difference"])
        assert list(found.interval) == pytest.approx(pair["interval"])
        assert found.better == pytest.approx(pair["better"])
        again.append(found.p)
    assert holm(again) == pytest.approx([pair["p_holm"] for pair in read["pairs"]])
    for variant in read["variants"]:
        for seed in variant["seeds"].values():
            right, total = np.sum(seed["counts"]["accuracy"], 0)
            assert seed["scores"]["accuracy"] == pytest.approx(right / total)


def test_tables_to_paste():
    table = ScoreTable.of(findings(APART | {"a_b & <c>": 0.5}))
    lines = table.markdown.splitlines()
    assert lines[5:] == ["", "400 texts of made.tsv; 3 seeds; intervals of 95 %"]
    lines = lines[:5]
    assert {line.count(" | ") for line in lines} == {len(table.heads) - 1}
    assert "**" in lines[2]
    assert r"a\_b \& <c>" in table.latex
    assert table.latex.count(r"\\") == 5
    assert r"{\footnotesize 400 texts of made.tsv; 3 seeds; intervals of 95 \%} \\" in table.latex
    assert table.latex.startswith(r"\begin{tabular}{l" + "r" * (len(table.heads) - 1) + "}")
    text = table.text.splitlines()
    assert text[0].startswith("variant")
    assert len(text) == 5


def test_bold_is_where_something_is_shown():
    nothing = findings(ALIKE)
    assert "**" not in ScoreTable.of(nothing).markdown
    assert "textbf" not in ScoreTable.of(nothing).latex
    assert 'class="first"' not in page(nothing)
    some = findings({"weak": 0.0, "one": 1.0, "other": 1.0})
    table = ScoreTable.of(some)
    assert table.markdown.count("**") == 4
    assert table.markdown.endswith("; bold: not told apart from the best\n")
    assert "In colour: not told apart from the best." in page(some)
    best = ScoreTable.of(findings(APART)).markdown
    assert best.count("**") == 2
    assert "bold" not in best


def test_a_chance_of_one_pair_that_is_not_enough_for_all_has_its_footnote():
    draw = np.random.default_rng(0)
    base = (draw.random((3, 100)) < 0.5).astype(float)
    counts = {name: base.copy() for name in ("best", "second", *"abcdef")}
    wrong = np.flatnonzero(base.all(0))[:6]
    counts["second"][:, wrong] = 0  # p = 1/32 alone
    variants = [
        ScoredVariant(name, {n: np.stack([row, np.ones(100)], -1) for n, row in enumerate(rows)})
        for name, rows in counts.items()
    ]
    made = findings(ALIKE)
    made = replace(
        made, comparison=Comparison(Accuracy(), variants), closer=(), judged={"": {1: 0}}
    )
    pair = made.comparison.pair("best", "second")
    assert pair.difference.p < 0.05
    assert not pair.shown
    assert "of one pair alone; what is shown holds for all 28 pairs" in ScoreTable.of(made).text
    assert "of one pair alone" not in ScoreTable.of(findings(APART)).text


def test_a_variant_that_ran_along_says_what_it_is():
    made = findings(ALIKE)
    made = replace(made, roles={"two": "no attention"}, changes={"two": {"model.pool": "last"}})
    assert "two, a baseline, is the recipe with model.pool=last." in page(made)


def test_why_nothing_is_drawn_is_told_once():
    made = findings(ALIKE)
    runs = tuple(made.judged[name][1] for name in ("one", "two"))
    why = "one: there is nothing", "two: nor here"
    picked = [Case(row, 1.0, runs, ("", ""), why_not=why) for row in range(4)]
    made = replace(
        made, closer=[Closer("one", "two", (), picked), Closer("one", "three", (), picked)]
    )
    shown = page(made)
    assert [shown.count(each) for each in why] == [1, 1]


def test_the_csv_has_a_line_for_every_run():
    rows = list(csv.DictReader(io.StringIO(csv_of(findings(APART)))))
    assert [(row["variant"], row["seed"]) for row in rows] == [
        (name, str(seed)) for name in ("strong", "weak") for seed in (1, 2, 3)
    ]
    assert all(0 < float(row["accuracy"]) < 1 for row in rows)
    assert {row["items"] for row in rows} == {"400"}


def test_the_page_escapes_whatever_it_shows():
    written = page(findings({"plain": 1.0, HOSTILE: 0.0}))
    assert "<script" not in written
    assert "&lt;script&gt;" in written
    assert "http://" not in written.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in written


def test_the_page_of_planned_looks():
    made = findings(APART | {"middle": 0.95})
    found = made.comparison
    looks = Looks.planned(3, 9, comparisons=3)
    pairs = {pair: found.between(*pair)[1] for pair in combinations(found.by_name, 2)}
    verdicts = looks.verdicts(pairs, spent=True)
    decided = Comparison(found.measure, found.variants, looks=looks, verdicts=verdicts)
    made = replace(made, comparison=decided)
    assert f"{sum(v.decided for v in verdicts.values())} of 3 pairs are decided" in " ".join(
        sentences(made)
    )
    assert "Seeds were added at planned looks" in page(made)
    read = json.loads(json.dumps(made.to_dict()))
    assert read["looks"][0] == 3
    assert {pair["look"]["state"] for pair in read["pairs"]} <= {"a", "b", "spent"}


def test_runs_take_turns_on_the_gpus_and_one_thread_on_a_cpu(monkeypatch):
    recipe = read_recipe("mr", ["trainer.accelerator=cpu"])
    assert experiment.one_place(recipe, 5).threads == 1
    assert experiment.one_place(read_recipe("mr", ["trainer.threads=4"]), 0).threads == 4
    monkeypatch.setattr(experiment, "device_of", lambda _: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [experiment.one_place(recipe, n).devices for n in range(3)] == [[0], [1], [0]]
    monkeypatch.setattr(experiment, "cores", lambda: 16)
    assert experiment.one_place(recipe, 0, jobs=4).threads == 4
    assert experiment.one_place(recipe, 0, jobs=40).threads == 1
    assert experiment.one_place(read_recipe("mr", ["trainer.threads=7"]), 0, jobs=4).threads == 7
    chosen = read_recipe("mr", ["trainer.devices=[1]"])
    assert experiment.one_place(chosen, 0).devices == [1]
