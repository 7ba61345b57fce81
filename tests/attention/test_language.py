"""The small language: what it reads, and what it answers to a mistake."""

from __future__ import annotations

import re

import pytest

import regard
from regard.attention.normalizers import NORMALIZERS, as_normalizer
from regard.attention.regions import REGIONS, as_region
from regard.attention.scores import SCORES, as_score
from regard.regions import Atrous, Causal, Everywhere, PredictedWindow, Sparse, Window


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("everywhere", Everywhere()),
        ("causal(end)", Causal("end")),
        ("causal(align='start')", Causal("start")),
        ("window(5, 5) & causal", Window(5, 5) & Causal()),
        ("window(3)", Window(3, 3)),
        (" Window( before=2 , after=0 ) ", Window(2, 0)),
        ("~(atrous(4) | sparse(rate=2))", ~(Atrous(4) | Sparse(2))),
        ("atrous(4) | causal & window(1)", Atrous(4) | (Causal() & Window(1))),
        ("window(2, clamp=true)", Window(2, clamp=True)),
    ],
)
def test_regions(text, region):
    assert as_region(text) == region
    assert as_region(repr(region)) == region  # what is printed can be read back


def test_sizes_come_from_the_caller():
    score = as_score("additive(128)", query_size=8, key_size=6)
    assert (score.query_size, score.key_size, score.size) == (8, 6, 128)
    assert as_score("location(50)", query_size=8, key_size=6).max_keys == 50
    window = as_region("predicted-window(width=10, renormalize=true)", query_size=8)
    assert isinstance(window, PredictedWindow)
    assert window.weight.shape == (8, 8)
    assert as_normalizer("gumbel(0.5, straight_through=True)").straight_through
    for spelling in ("scaled-dot", "scaled_dot", "ScaledDot", "SCALED-DOT"):
        assert isinstance(as_score(spelling), regard.scores.ScaledDot)


@pytest.mark.parametrize("name", [*SCORES, *REGIONS, *NORMALIZERS])
def test_every_name_can_be_written(name):
    arguments = {
        "location": "(9)",
        "first": "(2)",
        "window": "(2)",
        "predicted-window": "(2)",
        "atrous": "(2)",
        "sparse": "(2)",
    }
    text = name + arguments.get(name, "")
    if name in SCORES:
        assert type(as_score(text, query_size=4, key_size=4)) is SCORES[name]
    elif name in REGIONS:
        assert type(as_region(text, query_size=4)) is REGIONS[name]
    else:
        assert type(as_normalizer(text)) is NORMALIZERS[name]


@pytest.mark.parametrize(
    ("make", "text", "answer"),
    [
        (
            as_score,
            "additve",
            "no score 'additve'. Did you mean 'additive'? The scores: additive, bilinear,",
        ),
        (as_region, "prefix(4)", "no region 'prefix'. It takes a tensor"),
        (as_region, "prefix(4)", "give regions.Prefix(lengths)"),
        (as_region, "causal & Documents", "give regions.Documents(ids)"),
        (as_region, "windwo(3)", "Did you mean 'window'?"),
        (
            as_region,
            "globl",
            "no region 'globl'. Did you mean 'global', which is 'everywhere' here?",
        ),
        (as_region, "fulll", "Did you mean 'full', which is 'everywhere' here?"),
        (
            as_region,
            "window",
            "window(before, after=None, align=None, clamp=False) needs before, as in window(5)",
        ),
        (as_region, "window(1, befor=2)", "has no argument 'befor'. Did you mean 'before'?"),
        (as_region, "causal(1, 2, 3)", "causal(align=None) was given 3 arguments: 1, 2, 3"),
        (as_region, "window(5", "cannot read the region 'window(5'"),
        (as_region, "window(5) + causal", "cannot read 'window(5) + causal'"),
        (as_region, "window(__import__('os'))", "cannot read the argument"),
        (as_region, "", "cannot read the region ''"),
        (as_normalizer, "gumbel(straight_through=no)", "must be true or false, not 'no'"),
        (
            as_score,
            "cosine(foo)",
            "cosine(temperature=1.0, *, learned=False) cannot be made of"[:20],
        ),
        (as_normalizer, "softmax & hard", "cannot read 'softmax & hard' in the normalizer"),
        (as_normalizer, "softmax(-1)", "must be above 0, not -1"),
        (as_normalizer, "softmax(1e-320)", "the least that float32 has"),
        (as_region, "window(10000000000000)", "at most it is"),
        (as_region, "~" * 3000 + "causal", "joined of too many parts"),
        (as_region, " & ".join(["window(3)"] * 3000), "joined of too many parts"),
        (
            as_normalizer,
            "soft",
            "no normalizer 'soft'. It means several things: write normalize=softmax",
        ),
    ],
)
def test_mistakes_are_answered(make, text, answer):
    with pytest.raises(ValueError, match=re.escape(answer)):
        make(text)
