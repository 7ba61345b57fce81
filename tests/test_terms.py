"""Names of the field: each is understood, or it is said what to write; our own mean what they meant."""

from __future__ import annotations

import pytest

from regard import plugins
from regard.attention.mechanism_text import written_normalizer, written_region, written_score
from regard.attention.normalizers import NORMALIZERS, as_normalizer
from regard.attention.regions import REGIONS, as_region
from regard.attention.scores import SCORES, as_score
from regard.models.attention_options import AttentionOptions, HeadOptions
from regard.models.embedding.embedding_options import Cbow
from regard.models.presets import luong
from regard.models.recurrent_options import Luong
from regard.models.transformer_options import TransformerClassifier
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe_files import read_recipe
from regard.registry import UnknownKind
from regard.terms import SEVERAL, TERMS, choice_of, in_our_words, plain, term_of

TABLES = {"score": SCORES, "region": REGIONS, "normalizer": NORMALIZERS}
MAKERS = {"score": as_score, "region": as_region, "normalizer": as_normalizer}
ARGUMENTS = {
    "location": "(9)",
    "window": "(2)",
    "predicted-window": "(2)",
    "atrous": "(2)",
    "first": "(2)",
    "sparse": "(2)",
}
BEHIND = (
    "{}",
    "{}-attention",
    "{} attention",
    "{}  Attention mechanism",
    "{}注意力",
    "{} 注意力机制",
)
NAMED = [(term, name) for term in TERMS for name in term.names if term.kind in TABLES]


def behind(name):
    """The spellings of a name: with blanks, and with "attention" behind it."""
    return [each.format(name) for each in BEHIND] + [name.replace("-", " ")]


@pytest.mark.parametrize(("term", "name"), NAMED, ids=[f"{t.kind}-{n}" for t, n in NAMED])
def test_every_name_makes_what_our_name_makes(term, name):
    arguments = ARGUMENTS.get(term.ours, "")
    sizes = {} if term.kind == "normalizer" else {"query_size": 4}
    sizes |= {"key_size": 4} if term.kind == "score" else {}
    for written in behind(name):
        made = MAKERS[term.kind](written + arguments, **sizes)
        assert type(made) is TABLES[term.kind][term.ours]


def test_no_name_is_in_the_tables_twice_or_hides_one_of_ours():
    seen = [(term.kind, plain(name)) for term in TERMS for name in term.names]
    seen += [(kind, plain(name)) for each in SEVERAL for kind in each.kinds for name in each.names]
    doubled = {each for each in seen if seen.count(each) > 1}
    assert not doubled
    for kind, table in TABLES.items():
        for name in table:
            term = term_of(name, kind)
            assert term is None or term.ours == name


@pytest.mark.parametrize("several", SEVERAL, ids=lambda each: each.names[0])
def test_a_name_of_several_meanings_is_refused_with_what_to_write(several):
    for kind in set(several.kinds) & TABLES.keys():
        for name in (spelt for each in several.names for spelt in behind(each)):
            with pytest.raises(UnknownKind) as refused:
                MAKERS[kind](name)
            for what, ours in several.meanings:
                assert what in str(refused.value)
                assert f"write {ours}" in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [(e.kinds[0], ours) for e in SEVERAL for _, ours in e.meanings if "(" in ours or "=" in ours],
)
def test_what_is_to_be_written_can_be_read(kind, text):
    option, _, written = text.rpartition("=") if text.split("=")[0].isalpha() else ("", "", text)
    kind = {"normalize": "normalizer", "": kind}.get(option, option)
    if kind in MAKERS and written[0].islower() and " " not in written.split("(")[0]:
        assert MAKERS[kind](written, query_size=4, key_size=4) is not None


@pytest.mark.parametrize(
    ("kind", "text", "ours"),
    [
        ("region", "全局 & ~local-m（3，0）", "everywhere & ~window(3,0)"),
        (
            "region",
            "(global | sliding window(2)) & 因果(end)",
            "(everywhere | window(2)) & causal(end)",
        ),
        ("region", "causal self-attention & first attention(２)", "causal & first(2)"),
        ("region", "窗口（２、２）　＆　因果 注意力", "window(2,2) & causal"),
        ("score", "ｃｏｓｉｎｅ（temperature＝０.１）", "cosine(temperature=0.1)"),
        ("score", "concat注意力", "concat"),
        ("region", "local attention | causal", "local_attention | causal"),  # told what to write
        ("region", "causal and first(2)", "causal and first(2)"),  # no name
        ("region", "my.regions:Global(3) & window(5)", "my.regions:Global(3) & window(5)"),
        ("normalizer", "gumbel(none)", "gumbel(none)"),  # an argument, not the normaliser
        ("score", "ScaledDot", "ScaledDot"),
        ("score", "cosine(temperature=0.1)", "cosine(temperature=0.1)"),
    ],
)
def test_texts_in_our_words(kind, text, ours):
    assert in_our_words(text, kind) == ours
    assert in_our_words(ours, kind) == ours


def test_a_name_that_another_package_brings_is_its_own(monkeypatch):
    class General(SCORES["dot"]):
        pass

    names, load = plugins.names, plugins.load
    brought = lambda group, taken=(): ("general",) if group == "regard.scores" else names(group)  # noqa: E731
    monkeypatch.setattr(plugins, "names", brought)
    monkeypatch.setattr(plugins, "load", lambda g, n: General if n == "general" else load(g, n))
    for name in ("general", "general attention", "general注意力"):
        assert type(as_score(name, query_size=2, key_size=2)) is General
    assert AttentionOptions(score="general").score == "general"


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("region", "casual attention", "Did you mean 'causal'?"),
        ("score", "bahdanu attention", "Did you mean 'bahdanau'"),
        ("score", "some attention", "no score 'some-attention'. The scores:"),
    ],
)
def test_what_stands_behind_a_name_makes_no_name_likely(kind, name, told):
    with pytest.raises(UnknownKind) as refused:
        MAKERS[kind](name)
    assert told in str(refused.value)


def test_recipes_keep_our_names():
    words = ["model.attention.score=加性(8)", "model.attention.region=global"]
    attention = read_recipe("rnnsearch", words).model.attention
    assert (attention.score, attention.region) == ("additive(8)", "everywhere")
    assert HeadOptions(region=["滑动窗口(4)", "空洞(2)"]).region == ["window(4)", "atrous(2)"]


def test_the_choices_of_an_option_have_the_names_of_the_field_too():
    options = Luong(attention="全局", score="multiplicative")
    assert (options.attention, options.score) == ("global", "general")
    assert Luong(score="加性").score == "concat"  # his concat has a tanh
    decoder = luong(9, 9, Luong(score="additive", hidden=8)).decoder
    assert written_score(decoder.attention.score) == "additive"
    assert TransformerClassifier(pool="平均池化").pool == "mean"
    assert Cbow(attention="均匀").attention == "uniform"  # weights, not a region
    assert choice_of("raw", "positions", ("learned", "none")) is None  # no mechanism
    with pytest.raises(ValueError, match="pool"):
        TransformerClassifier(pool="last")


@pytest.mark.parametrize(
    ("recipe", "words", "told"),
    [
        ("luong", "model.attention=局部", "write local-m for a window about the position of the"),
        ("luong", "model.attention=local", "write local-p for one about a position that is pred"),
        ("luong", "model.attention=soft", "Write global for every key looked at"),
        ("luong", "model.score=similarity", "Write dot for q · k"),
        ("mr", "model.pool=软", "write attention for weights that are learnt"),
        ("mr", "model.pool=general", "write score=bilinear for the score"),
        ("mr", "model.pool=general", "; a decoder attends so to its source, with any score."),
        ("rnnsearch", "model.attention.region=局部", "write window(5) for a window about"),
        ("rnnsearch", "model.attention.region=local attention", "write window(5) for a window"),
        ("luong", "model.score=content-based attention", "write dot, bilinear or additive for any"),
    ],
)
def test_a_choice_of_several_meanings_is_refused_with_what_to_write(recipe, words, told):
    with pytest.raises(RecipeError) as refused:
        read_recipe(recipe, [words])
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("recipe", "words", "told"),
    [
        (
            "mr",
            "score=multi-head attention",
            "several attentions side by side: write model.heads=8.",
        ),
        ("rnnsearch", "score=多头", "side by side: a Transformer has model.heads (model.kind)."),
        (
            "rnnsearch",
            "score=hard",
            "write model.attention.normalize=hard for a single key that is",
        ),
        ("mr", "score=global", "That is a region: write model.attention.region=everywhere."),
        ("mr", "score=self", "one sequence: the layers of a Transformer attend so, with any score"),
        ("mr", "region=掩码", "to its right; padding is left out of every attention. The regions"),
    ],
)
def test_advice_in_a_recipe_is_what_is_written_there(recipe, words, told):
    with pytest.raises(RecipeError) as refused:
        read_recipe(recipe, [f"model.attention.{words}"])
    assert told in str(refused.value)
    assert "(size" not in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("score", "局部", "write region=window(5) for a window about"),
        ("score", "全局", "That is a region: write region=everywhere."),
        ("region", "加性", "That is a score: write score=additive."),
        ("score", "global(3)", "That is a region: write region=everywhere."),
        ("normalizer", "global", "That is a region: write region=everywhere."),
        ("score", "硬", "write normalize=hard for a single key"),
        ("score", "multi-head", "write MultiHead(size, heads=8)."),
    ],
)
def test_a_name_of_another_kind_is_told_where_it_belongs(kind, name, told):
    with pytest.raises(UnknownKind) as refused:
        MAKERS[kind](name)
    assert told in str(refused.value)


def test_what_is_written_back_is_ours():
    assert written_region(as_region("全局")) == "everywhere"
    assert written_normalizer(as_normalizer("平均")) == "uniform"
