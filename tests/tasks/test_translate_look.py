"""A translation that is looked at: the maps are what the model used, the tree is what it searched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_runs import DYNAMIC, MODELS, RECURRENT, translator_of

import regard
from regard.attention.normalizers import as_normalizer
from regard.models.presets import rnnenc
from regard.records import maps
from regard.records.attention_map import AttentionMap
from regard.records.maps import within_budget
from regard.records.question import BadQuestion, Force, HeadOff, Question
from regard.records.record import AttentionRecord
from regard.records.side import END, START
from regard.search import Ensemble, Search
from regard.tasks.search_settings import search_settings
from regard.tasks.translate.text_translator import TextTranslator
from regard.tasks.translate.translate_look import look_at_translation
from regard.words import speaking

SETTINGS = Search(beam=3, min_length=3, max_length=9)
FULL = replace(SETTINGS, nbest=3, attention=True)
TEXT = "a b c d e f"


def look(translator: TextTranslator, text: str = TEXT, **asked) -> AttentionRecord:
    return look_at_translation(translator, Question(text, **asked), SETTINGS)


def as_reported(shown: AttentionMap) -> np.ndarray:
    """The weights that the map says the model itself reports."""
    layer, *mean = shown.reported.removeprefix("layer ").split(", ")
    assert mean in ([], ["mean over heads"])
    return shown.weights[int(layer) - 1].mean(0)


def path_to(record: AttentionRecord, rank: int) -> list[int]:
    nodes = record.beam.nodes
    way = [next(n for n, node in enumerate(nodes) if node.rank == rank)]
    while nodes[way[0]].parent >= 0:
        way.insert(0, nodes[way[0]].parent)
    return way


@pytest.mark.parametrize("kind", MODELS)
def test_the_cross_map_is_the_attention_of_the_prediction(kind):
    translator = translator_of(kind)
    for text in (TEXT, "h", "b b zzz"):
        record = look(translator, text)
        (found,) = translator.predict([text], FULL)
        cross = record.map("cross")
        assert record.maps[0] is cross
        assert record.output == found.text
        np.testing.assert_allclose(as_reported(cross), found.attention.numpy(), atol=1e-5)
        best = [record.beam.nodes[n] for n in path_to(record, 0)]
        assert [node.log_prob for node in best] == pytest.approx(found.log_probs, abs=1e-5)
        assert best[-1].score == pytest.approx(found.score, abs=1e-5)


@pytest.mark.parametrize("kind", MODELS)
def test_what_led_to_the_weights_gives_the_weights(kind):
    for shown in look(translator_of(kind)).maps:
        scores = torch.from_numpy(shown.scores)
        allowed = None
        if shown.allowed is not None:
            allowed = torch.from_numpy(np.broadcast_to(shown.allowed, shown.weights.shape).copy())
        weights, _ = as_normalizer(shown.normalizer)(scores, allowed)
        factor = 1.0 if shown.factor is None else shown.factor
        np.testing.assert_allclose(weights.numpy() * factor, shown.weights, atol=1e-6)
        assert shown.values.shape[:3] == (*shown.weights.shape[:2], shown.weights.shape[3])


@pytest.mark.parametrize("kind", MODELS)
def test_scores_are_the_sums_of_what_queries_and_keys_make(kind):
    for shown in look(translator_of(kind)).maps:
        query, key, vector = shown.query_vectors, shown.key_vectors, shown.score_vector
        assert (vector is not None) == ("additive" in shown.mechanism)
        if vector is None:
            sums = query @ np.swapaxes(key, -1, -2)
        else:
            added = np.tanh(query[..., :, None, :] + key[..., None, :, :])
            sums = (added * vector[:, :, None, None]).sum(-1)
        np.testing.assert_allclose(sums, shown.scores, atol=1e-5, rtol=1e-4)


def test_a_transformer_has_three_maps_and_a_recurrent_one_has_one():
    record = look(translator_of("transformer"))
    source, target = len(record.sides["source"]), len(record.sides["target"])
    assert {each.name: each.weights.shape for each in record.maps} == {
        "cross": (3, 2, target, source),
        "encoder": (2, 2, source, source),
        "decoder": (3, 2, target, target),
    }
    past = record.map("decoder")
    assert (past.queries, past.keys) == ("target", "prefix")
    assert np.array_equal(past.allowed[0, 0], np.tril(np.ones((target, target), bool)))
    assert record.map("cross").reported == "layer 2, mean over heads"
    for kind in RECURRENT:
        assert [each.name for each in look(translator_of(kind)).maps] == ["cross"]


def test_layers_that_attend_differently_are_named_each():
    record = look(translator_of("local transformer"))
    assert record.map("encoder").mechanism == (
        "layers 1: score: scaled-dot · region: window(before=1, after=1) · normalize: softmax · kind: self; "
        "layers 2: score: scaled-dot · region: everywhere · normalize: softmax · kind: self"
    )
    assert record.map("cross").normalizer == "sparsemax"
    near = record.map("encoder").allowed
    assert not near[0].all()
    assert near[1].all()


def test_sides_say_what_was_read_written_and_written_before():
    record = look(translator_of("transformer"), "a b zzz", beam=2)
    source, target, prefix = (record.sides[name] for name in ("source", "target", "prefix"))
    assert source.tokens == ("a", "b", "zzz", END)
    assert source.special == (False, False, False, True)
    assert target.text == prefix.text == record.output
    assert target.tokens == (*record.output.split(), END)
    assert [record.output[a:b] for a, b in target.offsets] == [*record.output.split(), ""]
    assert prefix.tokens == (START, *record.output.split())
    assert record.notes == ("the model has no token for zzz: 33 % of this text",)
    assert record.question == Question("a b zzz", beam=2).to_dict()


@pytest.mark.parametrize("kind", ["rnnsearch", "transformer"])
def test_a_translation_cut_at_the_length_limit_has_no_end(kind):
    translator = translator_of(kind)
    cut = Search(beam=2, min_length=2, max_length=3)
    record = look_at_translation(translator, Question(TEXT), cut)
    (found,) = translator.predict([TEXT], replace(cut, nbest=2, attention=True))
    assert len(record.sides["target"]) == len(record.sides["prefix"]) == len(found.log_probs) == 3
    assert (record.sides["target"].tokens[-1] == END) == found.finished
    np.testing.assert_allclose(as_reported(record.maps[0]), found.attention, atol=1e-5)


@pytest.mark.parametrize("kind", ["rnnsearch", "transformer"])
def test_the_tree_spells_the_hypotheses_and_knows_where_they_looked(kind):
    translator = translator_of(kind)
    record = look(translator, nbest=3)
    (found,) = translator.predict([TEXT], FULL)
    for rank, one in enumerate((found, *found.alternatives)):
        way = path_to(record, rank)
        said = [record.beam.nodes[n].token for n in way if record.beam.nodes[n].token != END]
        assert "".join(said) == one.text
        np.testing.assert_allclose(record.beam.weights[way], one.attention, atol=1e-5)
    assert {node.fate for node in record.beam.nodes} == {"open", "ended", "dropped"}


def test_a_prefix_is_kept_and_gone_on_from():
    translator = translator_of("rnnsearch")
    record = look(translator, prefix="h g")
    assert record.output.startswith("h g")
    assert [node.token for node in record.beam.nodes if node.parent < 0] == ["h"]
    assert record.output == translator.predict([TEXT], SETTINGS, prefixes=["h g"])[0].text


@pytest.mark.parametrize("kind", ["rnnsearch", "transformer", "predicted window"])
def test_a_given_target_is_looked_at_as_it_is(kind):
    translator = translator_of(kind)
    record = look(translator, target="c  zzz d")
    (scored,) = translator.score([TEXT], ["c  zzz d"], FULL)
    assert record.output == "c  zzz d"
    assert record.sides["target"].tokens == ("c", "zzz", "d", END)
    np.testing.assert_allclose(as_reported(record.maps[0]), scored.attention, atol=1e-5)
    assert [node.log_prob for node in record.beam.nodes] == pytest.approx(scored.log_probs)
    assert record.beam.nodes[-1].score == pytest.approx(scored.score)
    assert record.beam.nodes[-1].rank == 0


@pytest.mark.parametrize("kind", DYNAMIC)
def test_a_forced_step_attends_evenly_to_what_it_is_told(kind):
    translator = translator_of(kind)
    plain = look(translator, target="a b c")
    forced = look(translator, target="a b c", force=Force(1, (0, 5)))
    row = forced.map("cross").weights[:, :, 1]
    np.testing.assert_allclose(row[..., [0, 5]], 0.5)
    np.testing.assert_allclose(row.sum(-1), 1)
    before = [each.map("cross").weights[:, :, 0] for each in (plain, forced)]
    np.testing.assert_allclose(*before, atol=1e-6)
    log_probs = [[node.log_prob for node in each.beam.nodes] for each in (plain, forced)]
    assert log_probs[0][0] == pytest.approx(log_probs[1][0], abs=1e-6)
    assert log_probs[0][1] != pytest.approx(log_probs[1][1], abs=1e-6)
    assert forced.notes == (
        "forced: token 1 (b) attends to a, f in every cross-attention",
        "given: this output was not searched for",
    )
    assert forced.changes == ("forced: b → a, f", "given output")


@pytest.mark.parametrize("kind", DYNAMIC)
def test_a_forced_search_finds_what_the_forced_model_scores(kind):
    translator = translator_of(kind)
    force = Force(1, (2,))
    found = look(translator, force=force)
    again = look(translator, target=found.output, force=force)
    searched = [found.beam.nodes[n].log_prob for n in path_to(found, 0)]
    scored = [node.log_prob for node in again.beam.nodes][: len(searched)]
    assert searched == pytest.approx(scored, abs=1e-4)
    np.testing.assert_allclose(found.map("cross").weights[:, :, 1, 2], 1.0)
    way = path_to(found, 0)
    reported = as_reported(found.map("cross"))
    np.testing.assert_allclose(found.beam.weights[way], reported, atol=1e-5)


@pytest.mark.parametrize(("layer", "head"), [(2, None), (2, 1), (None, 2), (1, 2)])
def test_one_layer_or_one_head_alone_is_forced(layer, head):
    translator = translator_of("transformer")
    plain = look(translator, target="a b c")
    forced = look(translator, target="a b c", force=Force(1, (3,), layer, head))
    weights, own = (each.map("cross").weights[:, :, 1] for each in (forced, plain))
    layers = [layer - 1] if layer is not None else [0, 1, 2]
    heads = [head - 1] if head is not None else [0, 1]
    told = np.zeros((3, 2), bool)
    told[np.ix_(layers, heads)] = True
    np.testing.assert_allclose(weights[told][:, 3], 1.0)
    assert (weights[~told][:, 3] < 1).all()
    first = min(layers)  # what lies before it cannot know
    np.testing.assert_allclose(weights[:first], own[:first], atol=1e-6)
    others = [h for h in range(2) if h not in heads]
    np.testing.assert_allclose(weights[first, others], own[first, others], atol=1e-6)
    searched = look(translator, force=Force(1, (3,), layer, head))
    np.testing.assert_allclose(searched.map("cross").weights[:, :, 1][told][:, 3], 1.0)
    way = path_to(searched, 0)
    reported = as_reported(searched.map("cross"))
    np.testing.assert_allclose(searched.beam.weights[way], reported, atol=1e-5)


def test_a_model_that_was_forced_is_as_before():
    translator = translator_of("transformer")
    plain = look(translator)
    look(translator, force=Force(0, (1,), 1, 1))
    assert look(translator).to_json() == plain.to_json()


def test_given_weights_are_taken_as_shares():
    for kind in ("rnnsearch", "transformer"):
        force = Force(1, (0, 2, 5), weights=(2, 1, 1))
        forced = look(translator_of(kind), prefix="a", force=force)
        row = forced.map("cross").weights[:, :, 1]
        for place, share in ((0, 0.5), (2, 0.25), (5, 0.25)):
            np.testing.assert_allclose(row[..., place], share, atol=1e-6)
        assert forced.notes[0].endswith(
            "attends 0.50 to a, 0.25 to c, 0.25 to f in every cross-attention"
        )
        assert forced.changes[0].endswith("→ a, c, f")
        with speaking("zh"):
            note = look(translator_of(kind), prefix="a", force=force).notes[0]
        assert note.startswith("强制：词元 1（")
        assert note.endswith("按份额注意 a（0.50）、c（0.25）、f（0.25），位置：每个交叉注意力")
        assert forced.changes[1] == "begins with “a”"


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_heads_that_are_off_give_nothing_and_others_are_as_before(kind):
    """As if their values were 0: the model is asked again with those zeroed."""
    translator = translator_of("transformer")
    off = (HeadOff(2, 1, kind), HeadOff(3, map=kind))
    if kind == "encoder":
        off = (HeadOff(1, 1, kind), HeadOff(2, map=kind))
    record = look(translator, target="a b c", off=off)
    weights = record.map(kind).weights
    for each in off:
        heads = slice(None) if each.head is None else each.head - 1
        assert (weights[each.layer - 1, heads] == 0).all()
    np.testing.assert_allclose(weights[off[0].layer - 1, 1].sum(-1), 1, atol=1e-5)
    attentions = list(maps.attentions_in(translator.model)[kind].values())

    def without(attention, heads):
        """Zero the columns of the values that belong to these heads."""

        def hook(module, args, output):
            kept = output.clone()
            size = kept.shape[-1] // attention.heads
            for head in heads:
                kept[..., head * size : (head + 1) * size] = 0
            return kept

        return attention.value.register_forward_hook(hook)

    hooks = [
        without(attentions[each.layer - 1], range(2) if each.head is None else [each.head - 1])
        for each in off
    ]
    (scored,) = translator.score([TEXT], ["a b c"], FULL)
    for hook in hooks:
        hook.remove()
    found = [node.log_prob for node in record.beam.nodes]
    plain = [node.log_prob for node in look(translator, target="a b c").beam.nodes]
    assert found == pytest.approx(scored.log_probs, abs=1e-5)
    assert found != pytest.approx(plain, abs=1e-5)


def test_a_search_without_heads_finds_what_the_model_without_them_scores():
    for kind in ("rnnsearch", "transformer"):
        translator = translator_of(kind)
        off = (HeadOff(1),)
        found = look(translator, off=off)
        again = look(translator, target=found.output, off=off)
        searched = [found.beam.nodes[n].log_prob for n in path_to(found, 0)]
        scored = [node.log_prob for node in again.beam.nodes][: len(searched)]
        assert searched == pytest.approx(scored, abs=1e-4)
        assert found.changes == ("without cross 1",)
        assert "switched off: cross 1" in found.notes


def test_a_forced_step_and_heads_that_are_off_go_together():
    record = look(
        translator_of("transformer"),
        target="a b c",
        force=Force(1, (3,)),
        off=(HeadOff(1, 1),),
    )
    row = record.map("cross").weights[:, :, 1, 3]
    assert row[0, 0] == 0
    np.testing.assert_allclose(np.delete(row.ravel(), 0), 1.0)


@pytest.mark.parametrize(
    "asked", [{"force": Force(1, (0,))}, {"explain": True}, {"off": (HeadOff(1),)}]
)
def test_no_step_of_a_static_attention_is_forced_or_explained_by_itself(asked):
    with pytest.raises(BadQuestion, match="attends once for a whole translation"):
        look(translator_of("static"), **asked)


def test_a_step_that_is_never_reached_is_said():
    record = look(translator_of("rnnsearch"), target="a", force=Force(7, (0,)))
    assert record.notes[0] == "nothing was forced: the output ends before token 7"


@pytest.mark.parametrize("kind", ["rnnsearch", "transformer"])
def test_explanations_are_of_the_maps_and_of_the_model_without_force(kind):
    translator = translator_of(kind)
    assert look(translator).explanations == ()
    record = look(translator, "a b c", target="d e", explain=True, force=Force(0, (1,)))
    plain = look(translator, "a b c", target="d e", explain=True)
    assert record.notes[-1] == (
        "the measures of explanation are of the model as it is, without these changes"
    )
    assert len(record.explanations) == len(plain.explanations) > 1
    for one in plain.explanations:
        shape = plain.map(one.map).weights.shape[2:]
        assert one.matrix is None or one.matrix.shape == shape
        assert all(len(row) == shape[0] for row in one.rows.values())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"text": "  \n"}, "the text is blank"),
        ({"force": Force(0, (7,))}, "force.keys has 7, but the source has 7 tokens"),
        ({"force": Force(0, (0,), layer=2)}, "force.layer is 2, but there is 1"),
        ({"force": Force(0, (0,), head=2)}, "force.head is 2, but there is 1"),
        ({"off": (HeadOff(2),)}, r"off.layer is 2, but there is 1 \(cross\)"),
        ({"off": (HeadOff(1, 2),)}, "off.head is 2, but there is 1 in a layer"),
        ({"off": (HeadOff(1, map="encoder"),)}, "no encoder attention to switch off"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(asked, message):
    with pytest.raises(BadQuestion, match=message) as error:
        look(translator_of("rnnsearch"), **asked)
    assert "\n" not in str(error.value)


def test_ensembles_and_models_without_attention_are_refused():
    translator = translator_of("rnnsearch")
    tokenizer = translator.source_tokenizer
    together = TextTranslator(Ensemble([translator.model] * 2), tokenizer, tokenizer)
    with pytest.raises(BadQuestion, match="look at one of them"):
        look(together)
    size = len(tokenizer)
    without = rnnenc(size, size, embedding=4, hidden=4, maxout=4)
    with pytest.raises(BadQuestion, match="nothing to look at"):
        look(TextTranslator(without, tokenizer, tokenizer))


def test_without_details_the_weights_are_the_same_and_the_mechanism_is_named():
    translator = translator_of("transformer")
    full, plain = look(translator), look(translator, details=False)
    for one, other in zip(full.maps, plain.maps, strict=True):
        assert np.array_equal(one.weights, other.weights)
        assert one.mechanism == other.mechanism
        assert other.scores is other.values is other.allowed is None


def test_too_many_numbers_are_left_out_and_it_is_said():
    full = look(translator_of("transformer")).maps
    scores, values = (sum(getattr(each, x).size for each in full) for x in ("scores", "values"))
    vectors = sum(each.query_vectors.size + each.key_vectors.size for each in full)
    assert within_budget(full, vectors + scores + values) == (full, ())
    kept, notes = within_budget(full, vectors + scores + values - 1)
    assert all(each.query_vectors is None and each.values is not None for each in kept)
    assert notes[0].startswith("queries and keys are left out")
    kept, notes = within_budget(full, scores + values - 1)
    assert all(each.values is None and each.scores is not None for each in kept)
    assert notes[0].startswith("queries, keys and values are left out")
    kept, notes = within_budget(full, scores - 1)
    assert all(each.values is None and each.scores is None for each in kept)
    assert notes[0].startswith("queries, keys, scores and values are left out")
    with speaking("zh"):
        assert within_budget(full, scores - 1)[1][0].startswith("略去了查询、键、分数和值")
    assert all(np.array_equal(a.weights, b.weights) for a, b in zip(kept, full, strict=True))


def test_a_text_with_too_many_tokens_to_attend_to_each_other_is_refused(monkeypatch):
    monkeypatch.setattr(maps, "MOST_WEIGHTS", 4 * 6**2)
    translator = translator_of("transformer")
    assert look(translator, "a b c d e").output
    with pytest.raises(BadQuestion, match=r"7 tokens, and 4 heads .* at most 6 can be looked at"):
        look(translator, TEXT)


@pytest.fixture(scope="module")
def embedded():
    run = regard.load(device="cpu")
    settings = search_settings(run.recipe)
    return lambda text, **asked: look_at_translation(
        run.translator, Question(text, **asked), settings, model="zh-en", languages=("zh", "en")
    )


@pytest.mark.parametrize(
    "text", ["猫", "👩‍👧🎉", "שלום עולם", "e\u0301\u0301", "a", "<img src=x>", "我 是"]
)
def test_any_text_can_be_looked_at(embedded, text):
    record = embedded(text)
    assert record.sides["source"].text == text
    assert all(token.strip() for side in record.sides.values() for token in side.tokens)
    assert all(node.token.strip() for node in record.beam.nodes)
    assert AttentionRecord.from_json(record.to_json()).to_json() == record.to_json()


def test_the_embedded_model_is_looked_at(embedded):
    record = embedded("我是一个学生。", beam=5, nbest=2)
    assert record.output == "I am a student."
    assert [record.sides[x].language for x in ("source", "target", "prefix")] == ["zh", "en", "en"]
    assert record.sides["source"].tokens == ("我", "是", "一", "个", "学", "生", "。", END)
    assert sorted(n.rank for n in record.beam.nodes if n.rank is not None) == [0, 1]
    assert next(n.token for n in record.beam.nodes if n.parent < 0) == "I"
    assert " student" in {node.token for node in record.beam.nodes}
    assert record.model == "zh-en"
