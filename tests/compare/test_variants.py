"""What is compared: every combination of the values, and the attentions to measure them by."""

from __future__ import annotations

import unicodedata

import pytest

from regard.cli import main
from regard.compare.variants import Variant, _distinct, plan, split_values, variant_name
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe


def test_commas_in_brackets_and_quotes_divide_nothing():
    assert split_values("a,b") == ["a", "b"]
    assert split_values("window(5),window(2, 0), minkowski(1)") == [
        "window(5)",
        "window(2, 0)",
        "minkowski(1)",
    ]
    assert split_values("[window(16),atrous(8)],everywhere") == [
        "[window(16),atrous(8)]",
        "everywhere",
    ]
    assert split_values("'a,b',c") == ["'a,b'", "c"]


def test_all_combinations_are_variants():
    found = plan(
        "mr",
        ["training.steps=5"],
        vary=["model.attention.score=additive,cosine", "training.clip=1.0,5.0"],
    )
    plain = [variant for variant in found.variants if not variant.role]
    assert [variant.name for variant in plain] == [
        "additive, clip=1.0",
        "additive, clip=5.0",
        "cosine, clip=1.0",
        "cosine, clip=5.0",
    ]
    seen = [(v.recipe.model.attention.score, v.recipe.training.clip) for v in plain]
    assert seen == [("additive", 1.0), ("additive", 5.0), ("cosine", 1.0), ("cosine", 5.0)]
    assert all(variant.recipe.training.steps == 5 for variant in found.variants)
    assert all(variant.recipe.training.paired for variant in found.variants)
    assert len({variant.folder for variant in found.variants}) == len(found.variants)


def test_pairing_can_be_refused():
    found = plan("mr", ["training.paired=false"], vary=["training.clip=1.0,2.0"])
    assert not any(variant.recipe.training.paired for variant in found.variants)


def test_mechanisms_with_brackets_are_values():
    found = plan("mr", vary=["model.attention.region=window(2, 0),window(5)"])
    regions = [v.recipe.model.attention.region for v in found.variants if not v.role]
    assert regions == ["window(2, 0)", "window(5)"]
    assert [v.folder for v in found.variants][:2] == ["window-2-0", "window-5"]


def models(found) -> dict[str, Recipe]:
    return {v.name: v.recipe.model for v in found.variants if v.role}


def test_uniform_weights_and_no_attention_run_along_with_attention():
    found = models(plan("mr", vary=["model.attention.score=additive,cosine"]))
    base = read_recipe("mr").model
    assert found["uniform"].attention == base.attention.model_copy(update={"normalize": "uniform"})
    assert found["no attention"].attention.region == "window(0)"
    assert found["uniform"].model_copy(update={"attention": base.attention}) == base


def test_what_runs_along_says_in_what_it_is_not_the_recipe():
    found = plan("mr", vary=["model.attention.score=additive,cosine"])
    changes = {v.name: v.changes for v in found.variants if v.role}
    assert changes["uniform"] == {"model.attention.normalize": "uniform"}
    assert changes["no attention"] == {"model.attention.region": "window(0)"}
    found = plan("rnnsearch", vary=["model.attention.score=additive,bilinear"])
    changes = {v.name: v.changes for v in found.variants if v.role}
    assert changes["no attention"]["model.kind"] == "rnnenc"


def test_without_attention_rnnsearch_is_the_encoder_decoder_before_it():
    found = models(plan("rnnsearch", vary=["model.attention.score=additive,bilinear"]))
    without, base = found["no attention"], read_recipe("rnnsearch").model
    assert without.kind == "rnnenc"
    assert (without.hidden, without.embedding) == (base.hidden, base.embedding)


def test_an_attention_that_may_be_none_is_none():
    words = ["model.kind=recurrent"]
    found = models(plan("zh-en", words, vary=["model.attention.score=additive,bilinear"]))
    assert found["no attention"].attention is None
    found = models(plan("luong", vary=["model.attention=global,local-m"]))
    assert found["no attention"].attention == "none"


def test_what_a_model_cannot_do_without_is_said():
    found = plan("zh-en-transformer", vary=["model.cross_attention.score=additive,scaled-dot"])
    assert list(models(found)) == ["uniform"]
    assert list(found.notes) == ["transformer cannot do without cross_attention"]
    found = plan("luong", vary=["model.attention=global,local-m", "model.score=dot,general"])
    assert list(models(found)) == ["no attention"]
    assert list(found.notes) == ["luong has no uniform weights to choose for attention"]


def test_nothing_runs_along_twice_or_without_attention():
    found = plan("mr", vary=["model.attention.normalize=softmax,uniform"])
    assert [v.name for v in found.variants] == ["softmax", "uniform", "no attention"]
    assert [v.role for v in found.variants] == ["", "uniform", "no attention"]
    assert models(plan("mr", vary=["training.clip=1.0,2.0"])) == {}


def test_names_say_the_key_where_the_value_does_not():
    assert variant_name({"a.score": "dot", "b.average": "true", "c.lr": "1e-3"}) == (
        "dot, average=true, lr=1e-3"
    )


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ("model.atention.score=additive,dot", "did you mean 'model.attention'"),
        ("model.attention.score=additve,dot", "did you mean 'additive'"),
        ("training.clip=big,small", "training.clip"),
        ("training.clip", "not key=value,value"),
        ("training.clip=1.0,", "not key=value,value"),
        ("training.clip=1.0,1.0", "twice"),
        ("seed=1,2", "same seeds"),
        ("training.clip=1.0", "one variant"),
    ],
)
def test_mistakes_are_told_as_in_train(vary, said):
    with pytest.raises(RecipeError) as told:
        plan("mr", vary=[vary])
    assert said.lower() in str(told.value).lower()


@pytest.mark.parametrize("values", ["0.1,.10", "0.1,1e-1", "1,1.0"])
def test_one_value_in_two_spellings_is_refused(values):
    with pytest.raises(RecipeError, match="are the same variant"):
        plan("mr", vary=[f"training.clip={values}"])


def test_folders_of_very_long_names_are_short_and_their_own():
    long = ["window(5)"] * 30
    values = ",".join(f"[{','.join([*long, last])}]" for last in ("causal", "everywhere"))
    names = [
        Variant(variant_name({"a.region": v}), read_recipe("mr")) for v in split_values(values)
    ]
    folders = [variant.folder for variant in names]
    assert len(set(folders)) == 2
    assert all(len(folder.encode()) <= 100 for folder in folders)
    assert all(folder.startswith("region=-window-5") for folder in folders)
    assert Variant("字" * 80, read_recipe("mr")).folder.startswith("字" * 29 + "-")
    assert Variant("cosine, clip=1.0", read_recipe("mr")).folder == "cosine-clip=1.0"


def roles(recipe: str, vary: str, *words: str) -> dict[str, str]:
    return {v.name: v.role for v in plan(recipe, words, vary=[vary]).variants}


def test_a_reader_runs_along_uniform_and_by_its_last_states():
    found = plan("reader-attentive", vary=["model.attention.score=additive,dot"])
    along = models(found)
    assert along["uniform"].focus == "uniform"
    assert along["no attention"].focus == "last"
    assert roles("reader-attentive", "model.focus=attentive,impatient,uniform") == {
        "attentive": "",
        "impatient": "",
        "uniform": "uniform",
        "no attention": "no attention",
    }


def test_abcnn_runs_along_without_its_attention():
    found = plan("abcnn-paraphrase", vary=["model.variant=1,3"])
    assert models(found)["no attention"].kind == "bcnn"
    assert models(found)["no attention"].width == found.recipe.model.width
    assert any("uniform" in note for note in found.notes)


def test_pooling_by_the_mean_is_uniform_and_by_the_last_state_no_attention():
    assert roles("lstm-mr", "model.pool=attention,max") == {
        "attention": "",
        "max": "no attention",
        "uniform": "uniform",
        "no attention": "no attention",
    }
    assert roles("mr", "model.pool=attention,mean") == {"attention": "", "mean": "uniform"}
    # nothing that attends is compared: nothing is to be measured by
    assert roles("lstm-mr", "model.pool=last,max") == {
        "last": "no attention",
        "max": "no attention",
    }


def test_what_cannot_run_along_is_told_unless_it_was_asked_for():
    assert plan("han-imdb", vary=["model.pool=attention,max"]).notes == []
    (note,) = plan("han-imdb", vary=["model.pool=attention,mean"]).notes
    assert note == "han cannot do without pool"


@pytest.mark.parametrize(
    "names",
    [
        ["a b", "a  b", "a b (2)"],
        ["x", "X", "x-2"],
        ["x-2", "x", "X"],
        ["\u00e9", "e\u0301"],
        ["judged", "Judged"],
    ],
)
def test_folders_are_of_one_variant_each_on_any_disk(names):
    made = _distinct([Variant(name, read_recipe("mr")) for name in names])
    folders = {unicodedata.normalize("NFC", each.folder).casefold() for each in made}
    assert len(folders | {"judged"}) == len(names) + 1
    assert len({each.name for each in made}) == len(names)


def test_thousands_of_variants_are_refused_unless_they_are_asked_for():
    many = ",".join(str(n) for n in range(1, 52))
    vary = [f"model.size={many}", "training.clip=1.0,2.0"]
    with pytest.raises(RecipeError, match="102 variants, more than 100: that is 5,151 pairs"):
        plan("mr", vary=vary)
    values = ",".join(str(float(n)) for n in range(1, 102))
    assert len(plan("mr", vary=[f"training.clip={values}"], most=101).variants) == 101


def test_out_is_a_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SystemExit) as ended:
            main(["compare", "mr", "--vary", "training.clip=1.0,2.0", "--out", str(out)])
        assert ended.value.code == 2
        assert "is a file" in " ".join(capsys.readouterr().err.split())
