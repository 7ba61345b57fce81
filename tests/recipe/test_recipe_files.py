"""Recipes: later wins, types decide, mistakes are told in one line, and what is written reads back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.models.recurrent_options import Luong, RnnSearch
from regard.recipe import yaml_1_2
from regard.recipe.mistakes import RecipeError
from regard.recipe.named_recipes import shipped_recipes
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import dump_recipe, read_recipe
from regard.recipe.recipe_schema import recipe_schema


def refused(name: str, *words: str) -> str:
    with pytest.raises(RecipeError) as error:
        read_recipe(name, words)
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "mine.yaml") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.mark.parametrize("name", shipped_recipes())
def test_every_shipped_recipe_is_valid_described_and_reads_back(name, write):
    recipe = read_recipe(name)
    assert recipe.name == name
    assert recipe.description
    assert recipe.data.dev or name == "tag-zh"  # whose training part is not there
    assert recipe.data.test
    assert recipe.training.limits
    assert read_recipe(write(dump_recipe(recipe))) == recipe


def test_the_recipes_that_are_promised_are_there():
    promised = {"zh-en", "demo", "rnnsearch", "rnnenc", "luong", "tutorial", "multi30k-luong"}
    assert promised <= set(shipped_recipes())


def test_later_wins(write):
    below = write("name: below\nseed: 2\nmodel: {hidden: 8, embedding: 9}\n", "below.yaml")
    path = write(f"extends: {Path(below).name}\nseed: 3\nmodel: {{hidden: 10}}\n")
    recipe = read_recipe(path, ["model.hidden=11"])
    assert (recipe.name, recipe.seed) == ("below", 3)
    assert (recipe.model.embedding, recipe.model.hidden) == (9, 11)
    assert recipe.model.maxout == RnnSearch().maxout


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("data.dev=a.zh,a.en", "a.zh,a.en"),
        ("data.dev=[a.zh,a.en]", ["a.zh", "a.en"]),
        ("training.optimizer.lr=1e-3", 0.001),
        ("training.epochs=1e2", 100),
        ("training.clip=null", None),
        ("training.optimizer.betas=0.9,0.98", (0.9, 0.98)),
        ("training.optimizer.betas=[0.9, 0.98]", (0.9, 0.98)),
        ("data.target=no", "no"),
        ("tokenizer.target.lowercase=yes", True),
        ("tokenizer.target.lowercase=false", False),
        ("trainer.precision=32", "32"),
        ("trainer.devices=2", 2),
        ("trainer.devices=0,1", "0,1"),
        ("name=2024", "2024"),
        ("name=1.10", "1.10"),
        ("name=#1 a: b", "#1 a: b"),
        ("name='32'", "32"),
        ("description=a = b", "a = b"),
        ("model.attention.score=bilinear", "bilinear"),
        ("model.attention.region=window(2) & causal", "window(2) & causal"),
    ],
)
def test_a_word_is_read_as_its_type_wants(word, value):
    found: object = read_recipe("rnnsearch", [word])
    for key in word.partition("=")[0].split("."):
        found = getattr(found, key)
    assert found == value
    assert type(found) is type(value)


def test_a_file_is_read_as_its_types_want(write):
    path = write(
        "name: 12\ndata: {source: no, target: on}\ntrainer: {precision: 16-mixed}\n"
        "training: {optimizer: {lr: 1e-3}, epochs: 010}\ntokenizer: {target: {lowercase: true}}\n"
    )
    recipe = read_recipe(path)
    assert (recipe.name, recipe.data.source, recipe.data.target) == ("12", "no", "on")
    assert (recipe.training.optimizer.lr, recipe.training.epochs) == (0.001, 10)


def test_lists_are_written_with_or_without_brackets():
    kind = "model.kind=recurrent"
    for word in ("model.feed=[initial,step]", "model.feed=initial,step"):
        assert read_recipe("rnnsearch", [kind, word]).model.feed == ["initial", "step"]
    assert read_recipe("rnnsearch", [kind, "model.feed=[]"]).model.feed == []
    assert read_recipe("rnnsearch", [kind, "model.attention=null"]).model.attention is None
    revived = [kind, "model.attention=null", "model.attention.score=bilinear"]
    assert read_recipe("rnnsearch", revived).model.attention.score == "bilinear"


def test_another_kind_of_model_starts_from_its_own_defaults():
    for words in (
        ["model.kind=luong", "model.layers=2"],
        ["model.layers=2", "model.kind=luong"],
        ["model={kind: luong, layers: 2}"],
    ):
        assert read_recipe("zh-en", words).model == Luong(layers=2)
    same = read_recipe("zh-en", ["model.kind=rnnsearch"])
    assert same == read_recipe("zh-en")


@pytest.mark.parametrize(
    ("train", "dev"),
    [
        ("a.tsv+b.tsv#1,0", "a.tsv@dev+b.tsv#1,0@dev"),
        ("[a.de, a.fr]", "a.de,a.fr@dev"),
        ("-", None),  # standard input is read once
        ("a.tsv@train", None),
    ],
)
def test_pairs_are_held_out_where_none_are_named_to_judge_by(train, dev):
    assert read_recipe("zh-en", [f"data.train={train}"]).data.dev == dev
    refused = read_recipe("zh-en", [f"data.train={train}", "data.dev=null"]).data
    assert (refused.dev, refused.test) == (None, None)


def test_another_corpus_is_not_judged_by_the_pairs_of_the_old_one():
    data = read_recipe("zh-en", ["data.train=a.de,a.fr"]).data
    assert (data.source, data.target) == ("de", "fr")
    assert (data.train, data.dev, data.test) == (
        "a.de,a.fr@train",
        "a.de,a.fr@dev",
        "a.de,a.fr@test",
    )
    data = read_recipe("zh-en", ["data.train=a.de,a.fr", "data.dev=b.tsv", "data.target=nl"]).data
    assert (data.dev, data.test, data.source, data.target) == ("b.tsv", None, "de", "nl")
    data = read_recipe("zh-en", ["data.train=tatoeba-zh-en:train"]).data
    assert data == read_recipe("zh-en").data


@pytest.mark.parametrize(
    ("corpus", "languages"),
    [
        ("x/a.zh,x/a.en", ("zh", "en")),
        ("[a.zh,a.en]", ("zh", "en")),
        ("a.zh,a.en+more.tsv", ("zh", "en")),
        ("tatoeba-zh-en:train#1,0", ("en", "zh")),
        ("pairs.tsv", ("und", "und")),
        ("a.src,a.txt", ("und", "und")),
    ],
)
def test_languages_are_told_by_the_names_of_the_files(corpus, languages):
    data = read_recipe("rnnenc", [f"data.train={corpus}"]).data
    assert (data.source, data.target) == languages


@pytest.mark.parametrize("own", ["", "data: {train: texts.tsv}"])
def test_no_language_is_claimed_that_nobody_said(own, tmp_path):
    """Neither of a file that is named in the recipe, nor of one that the command names."""
    path = tmp_path / "mine.yaml"
    path.write_text(f"task: {{kind: classify}}\n{own}\n")
    words = [] if own else ["data.train=texts.tsv"]
    data = read_recipe(str(path), words).data
    assert (data.source, data.target) == ("und", "und")
    assert read_recipe(str(path), [*words, "data.source=de"]).data.source == "de"
    path.write_text("data: {train: 'a.nl,a.fr'}")
    assert read_recipe(str(path)).data.source == "nl"
    path.write_text("data: {max_length: 9}")  # the pairs of regard
    assert read_recipe(str(path)).data.source == "zh"


def test_one_size_of_batches_takes_the_place_of_the_other():
    training = read_recipe("rnnsearch", ["training.batch_sentences=80"]).training
    assert (training.batch_sentences, training.batch_tokens) == (80, None)
    both = ("training.batch_sentences=80", "training.batch_tokens=100")
    assert "give batch_tokens or batch_sentences" in refused("rnnsearch", *both)
    kept = read_recipe("rnnsearch", ["training.batch_sentences=null"]).training
    assert kept.batch_tokens == 4000


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        (["training.steps=400"], {"steps": 400}),
        (["training.minutes=2"], {"minutes": 2}),
        (["training.epochs=9"], {"epochs": 9}),
        (["training.epochs=null", "training.minutes=2"], {"minutes": 2}),
        (["training.steps=400", "training.minutes=2"], {"steps": 400, "minutes": 2}),
        (["training.minutes=null"], {"epochs": 30, "steps": 7}),
        (["training.patience=3"], {"epochs": 30, "steps": 7}),
    ],
)
def test_a_limit_takes_the_place_of_those_below_it(words, limits, write):
    path = write("training: {epochs: 30, steps: 7, patience: 5}\n")
    training = read_recipe(path, words).training
    assert training.limits == limits
    assert training.patience == (3 if "training.patience=3" in words else 5)


def test_a_limit_in_a_file_takes_the_place_of_that_of_the_file_it_extends(write):
    path = write("extends: rnnsearch\ntraining: {minutes: 2}\n")
    assert read_recipe(path).training.limits == {"minutes": 2}


def test_a_shared_vocabulary_is_made_as_target_says_whatever_source_does():
    words = ["tokenizer.shared=true", "tokenizer.target.size=6000"]
    assert read_recipe("rnnsearch", words).tokenizer.target.size == 6000


@pytest.mark.parametrize("score", ["dot", "scaled-dot", "cosine", "distance", "cosine(0.1)"])
def test_a_score_of_one_width_is_bridged_to_the_keys_of_both_directions(score):
    for words in ([], ["model.kind=recurrent"]):
        model = read_recipe("rnnsearch", [*words, f"model.attention.score={score}"]).model
        bridge = model.build({"source": 9, "target": 9}).decoder.attention.bridge
        assert (bridge.in_features, bridge.out_features) == (512, 256)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("model.hiden=3", "unknown key 'model.hiden'. Did you mean 'model.hidden'?"),
        (
            "lr=0.01",
            "unknown key 'lr': it belongs to training.optimizer: training.optimizer.lr=0.01",
        ),
        ("training.lr=1", "it belongs to training.optimizer: training.optimizer.lr=1"),
        ("score=dot", "it belongs to model.attention: model.attention.score=dot"),
        ("tokenizer.size=9", "tokenizer.source.size or tokenizer.target.size"),
        ("batch_size=3", "it is called training.batch_sentences here"),
        ("epoch=3", "Did you mean 'training.epochs'?"),
        ("model.layers=2", "only model.kind=luong has it"),
        ("data.flavour=3", "The keys of data: train, dev, test"),
        ("model.kind=luon", "no model.kind 'luon'. Did you mean 'luong'?"),
        ("model.cell=grru", "model.cell is 'grru'. Did you mean 'gru'? Allowed: gru-reset-before"),
        ("model.hidden=many", "model.hidden is 'many': it must be a whole number"),
        ("model.hidden=0", "model.hidden is 0: it must be greater than 0"),
        ("model.hidden=2.5", "model.hidden is 2.5: it must be a whole number"),
        ("tokenizer.source.size=4", "tokenizer.source.size is 4: it must be greater than 4"),
        ("model.dropout=1", "model.dropout is 1: it must be less than 1"),
        ("training.clip=.nan", "must be a finite number"),
        ("training.optimizer.betas=[0.9]", "must be a longer list"),
        ("tokenizer.shared=perhaps", "tokenizer.shared is 'perhaps': it must be true or false"),
        ("training.optimizer=adam", "is a section: write training.optimizer.KEY=VALUE"),
        ("model=luong", "model is 'luong', but it is a section"),
        ("model.hidden.size=3", "model.hidden is a value, not a section"),
        ("hidden", "'hidden' is not key=value"),
        ("=3", "'=3' is not key=value"),
        ("model..hidden=3", "is not key=value"),
        ("model.attention.score=aditive", "no score 'aditive'. Did you mean 'additive'?"),
        ("model.attention.region=local", "It means several things: write window(5)"),
        ("model.attention.normalize=softmax(", "cannot read the normalizer 'softmax('"),
    ],
)
def test_a_mistake_is_told_in_one_line(word, said):
    assert said in refused("rnnsearch", word)


def test_a_key_of_another_kind_of_model_names_those_of_the_chosen_one():
    said = refused("zh-en-transformer", "model.layers=2")
    assert said == (
        "unknown key 'model.layers': of the models for translate only model.kind=luong has it. "
        "Did you mean 'model.encoder_layers' or 'model.decoder_layers'?"
    )
    assert refused("rnnsearch", "model.heads=2").endswith("only model.kind=transformer has it.")


def test_several_mistakes_are_counted():
    assert refused("rnnsearch", "model.hiden=3", "seed=x", "epoch=3").endswith("(2 more mistakes)")


def test_a_mistake_in_a_file_names_the_file_and_the_line(write):
    path = write("extends: zh-en\nmodel:\n  # wide\n  hiden: 3\n")
    assert refused(path) == (
        f"unknown key 'model.hiden' ({path}, line 4). Did you mean 'model.hidden'?"
    )
    path = write("extends: zh-en\ntraining: {epochs: lots}\n")
    assert refused(path).startswith(f"training.epochs is 'lots' ({path}, line 2)")
    assert "line" not in refused(path, "training.epochs=many")


def test_a_section_is_blamed_where_its_key_stands(write):
    path = write("model:\n  kind: luong\n  attention:\n    score: dot\n    lost: 3\n")
    assert f"model.attention is a value, not a section ({path}, line 3)" in refused(path)
    path = write("model:\n  kind: rnnsearch\n  attention:\n    score: dot\n    lost: 3\n")
    assert f"unknown key 'model.attention.lost' ({path}, line 5)" in refused(path)
    path = write("model:\n  kind: rnnsearch\n  attention:\n    score: dott\n")
    assert f"model.attention.score ({path}, line 4): no score 'dott'" in refused(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed: 1\nseed: 2\n", "the key 'seed' is there twice, again at line 2, column 1"),
        ("model:\n  hidden: [1\n", "line 3, column 1"),
        ("a: b: c\n", "line 1, column 5"),
        ("model: &m {kind: luong}\ntask: *m\n", "write out what *m stands for"),
        ("!!python/name:os.system x\n", "could not determine a constructor"),
        ("name: \x07\n", "character 7"),
        ("- a\n", "it holds ['a'], not 'key: value' lines"),
        ("just words\n", "it holds 'just words'"),
        ("extends: [zh-en]\n", "the name or the path of one recipe"),
        ("extends: zh-em\n", "Did you mean 'zh-en'?"),
        ("extends: mine.yaml\n", "extends itself"),
    ],
)
def test_a_file_that_is_no_recipe_is_named(text, said, write):
    message = refused(write(text))
    assert said in message
    assert "mine.yaml" in message


def test_a_file_that_is_not_utf8(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"name: \xff\n")
    assert "byte 6 is not UTF-8" in refused(str(tmp_path / "a.yaml"))


def test_a_recipe_that_is_not_there(write, tmp_path):
    count = len(shipped_recipes())
    with pytest.raises(RecipeError) as error:
        read_recipe("zn-en")
    assert str(error.value) == "no recipe 'zn-en'. Did you mean 'zh-en'?"
    assert error.value.hint == f"regard recipes lists all {count}"
    write("seed: 1\n", "recipe.yaml")
    assert "Did you mean 'recipe.yaml'?" in refused(str(tmp_path / "recpe.yaml"))
    assert f"write {tmp_path / 'recipe.yaml'}" in refused(f"{tmp_path}/")


def test_an_empty_file_is_all_defaults(write):
    assert read_recipe(write("")) == read_recipe(write("# nothing\n")) == Recipe()


def test_checking_a_mechanism_draws_no_random_numbers():
    import torch

    before = torch.get_rng_state()
    read_recipe("rnnsearch", ["model.attention.score=additive(8)"])
    assert torch.equal(before, torch.get_rng_state())


def test_the_schema_knows_every_key_of_a_file():
    schema = recipe_schema()
    assert set(schema["properties"]) == {"extends", *Recipe.model_fields}
    assert schema["additionalProperties"] is False
    assert schema["properties"]["model"]["discriminator"]["propertyName"] == "kind"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("-1.5E+2", -150.0),
        (".5", 0.5),
        ("1.", 1.0),
        (".inf", float("inf")),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("TRUE", True),
        ("~", None),
        ("", None),
        *((word, word) for word in ("no", "yes", "on", "off", "y", "1:30", "2020-01-01", "1_000")),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text, value):
    found, _ = yaml_1_2.load(text)
    assert found == value
    assert type(found) is type(value)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=8)
trees = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(trees)
def test_what_is_dumped_loads_equal(tree):
    found, _ = yaml_1_2.load(yaml_1_2.dump(tree))
    assert found == tree


def test_a_section_of_the_command_line_is_not_blamed_on_the_recipe(write):
    path = write("model:\n  kind: rnnsearch\n  attention:\n    score: dot\n")
    said = refused(str(path), "model.atention.score=dot")
    assert (
        "unknown key 'model.atention' (given on the command line: model.atention.score=dot)" in said
    )
    assert "line" not in refused(str(path), "model.hiden=3")
    assert "line 4" in refused(str(write("model:\n  kind: rnnsearch\n\n  hiden: 3\n")))


def test_what_a_plain_view_makes_idle_gives_way_to_it_but_not_beside_it():
    assert read_recipe("stn").task.grows == 900
    assert read_recipe("stn", ["task.view=plain"]).task.grows == 0
    assert read_recipe("stn", ["task.view=projected"]).task.grows == 900
    said = refused("stn", "task.view=plain", "task.grows=900")
    assert "leave it out, or write task.grows=0" in said
