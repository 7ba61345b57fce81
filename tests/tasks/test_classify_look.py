"""A classification that is looked at: the weights of its pooling, and what led to them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from small_runs import LETTERS, SHAPE, enlarge, text_field

from regard.attention.normalizers import as_normalizer
from regard.compare.case_maps import attention_drawing
from regard.data.tokenizer import EOS, Tokenizer
from regard.models.classifiers.apcnn import apcnn
from regard.models.modes import many_to_one
from regard.models.transformer_models import classifier
from regard.records.question import BadQuestion, Force, Question
from regard.records.record import AttentionRecord
from regard.records.side import END, START
from regard.tasks.classify.classify_look import look_at_judgement
from regard.tasks.classify.classify_module import Classify
from regard.view.attention_view import View

TEXT = "a b c zzz h"


def classifier_of(kind: str, pool: str, **options) -> Classify:
    tokenizer = Tokenizer.train([LETTERS], kind="word")
    labels = ["no", "perhaps", "yes"]
    sizes = len(tokenizer), len(labels)
    if kind == "recurrent":
        model = many_to_one(*sizes, pool=pool, embedding=8, hidden=12)
    else:
        model = classifier(*sizes, **SHAPE, layers=2, pool=pool)
    field = text_field(tokenizer, options.pop("max_length", None))
    return Classify(enlarge(model), field, labels, **options)


@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_the_pooling_map_is_the_attention_of_the_classification(kind):
    task = classifier_of(kind, "attention")
    for text in (TEXT, "h"):
        record = look_at_judgement(task, Question(text), language="en")
        (found,) = task.classify([text], attention=True)
        pooling = record.maps[0]
        assert (pooling.name, pooling.queries, pooling.keys) == ("pooling", "label", "text")
        assert record.sides["label"].tokens == (found.label,)
        assert record.output == f"{found.label} ({found.probability:.2f})"
        np.testing.assert_allclose(pooling.weights[0, 0, 0], found.attention, atol=1e-6)
        weights, _ = as_normalizer(pooling.normalizer)(torch.from_numpy(pooling.scores))
        np.testing.assert_allclose(weights, pooling.weights, atol=1e-6)
        assert pooling.values.shape[:3] == (1, 1, len(record.sides["text"]))
        assert AttentionRecord.from_json(record.to_json()).to_json() == record.to_json()


def test_a_transformer_also_has_the_attention_of_the_text_to_itself():
    record = look_at_judgement(classifier_of("transformer", "attention"), Question(TEXT))
    assert [each.name for each in record.maps] == ["pooling", "encoder"]
    assert record.map("encoder").weights.shape == (2, 2, 6, 6)
    assert record.sides["text"].tokens == ("a", "b", "c", "zzz", "h", END)
    assert record.notes == ("the model has no token for zzz: 20 % of this text",)


def test_a_text_that_is_asked_by_its_own_summary_is_attended_over():
    tokenizer = Tokenizer.train([LETTERS], kind="word")
    model = apcnn(len(tokenizer), 2, embedding=8, hidden=6).eval()
    task = Classify(model, text_field(tokenizer), ["no", "yes"])
    record = look_at_judgement(task, Question(TEXT))
    assert [(one.name, one.queries, one.keys) for one in record.maps] == [
        ("cross", "label", "text")
    ]
    drawn = str(attention_drawing(record, "apcnn", ["cross"]))
    assert "attention over the text" in drawn
    assert "cross-attention" not in drawn


def test_a_place_before_the_text_is_a_token_too():
    record = look_at_judgement(classifier_of("transformer", "first"), Question("a b"))
    assert [each.name for each in record.maps] == ["encoder"]
    assert record.sides["text"].tokens == (START, "a", "b", END)


def test_what_is_not_read_is_said():
    task = classifier_of("recurrent", "attention", max_length=2)
    record = look_at_judgement(task, Question("a b c d"))
    assert record.sides["text"].tokens == ("a", "b", END)
    assert record.notes == ("the first 2 of 4 tokens were read",)


def test_without_details_only_the_weights_are_kept():
    task = classifier_of("transformer", "attention")
    record = look_at_judgement(task, Question(TEXT, details=False))
    assert all(each.scores is each.values is None for each in record.maps)


def test_explanations_are_of_the_maps():
    record = look_at_judgement(
        classifier_of("transformer", "attention"), Question(TEXT, explain=True)
    )
    assert {one.map for one in record.explanations} == {"pooling", "encoder"}
    for one in record.explanations:
        assert one.matrix is None or one.matrix.shape == record.map(one.map).weights.shape[2:]


def test_a_text_that_is_pooled_without_attention_shows_what_each_position_gave():
    task = classifier_of("recurrent", "max")
    record = look_at_judgement(task, Question(TEXT, explain=True))
    (given,) = record.maps
    assert (given.name, given.queries, given.keys) == ("max pooling", "label", "text")
    tokens = task.given.tokens([TEXT])[0].ids
    ids = torch.tensor([[*tokens, EOS]])
    states = task.model.encode(ids, torch.ones_like(ids, dtype=torch.bool)).states[0]  # (S, D)
    won = torch.bincount(states.argmax(0), minlength=len(states)) / states.shape[1]
    np.testing.assert_allclose(given.weights[0, 0, 0], won.numpy(), atol=1e-6)
    found = {each.name for each in record.explanations}
    assert found == {"gradient", "leave-one-out", "contrast", "erasure"}
    assert {each.map for each in record.explanations} == {"max pooling"}
    assert "max pooling, no attention: the share of features" in View((record,)).to_svg()
    mean = look_at_judgement(classifier_of("recurrent", "mean"), Question(TEXT))
    np.testing.assert_allclose(mean.map("mean pooling").weights, 1 / 6, atol=1e-6)
    both = look_at_judgement(classifier_of("transformer", "mean"), Question(TEXT))
    assert [each.name for each in both.maps] == ["encoder"]


def test_without_a_pooling_to_show_the_gates_are_shown():
    record = look_at_judgement(classifier_of("recurrent", "last"), Question(TEXT, explain=True))
    assert [each.name for each in record.maps] == ["memory", "gates", "states"]
    assert record.maps[0].weights.shape[-2:] == (6, 6)
    assert record.maps[0].layers[:2] == ("layer 1", "layer 1, backwards")
    assert not record.explanations


@pytest.mark.parametrize(
    ("pool", "asked", "message"),
    [
        ("attention", {"text": " "}, "the text is blank"),
        ("attention", {"prefix": "a"}, "a classifier has no prefix"),
        ("attention", {"force": Force(0, (0,))}, "a classifier has no force"),
    ],
)
def test_what_cannot_be_asked_is_said(pool, asked, message):
    with pytest.raises(BadQuestion, match=message):
        look_at_judgement(classifier_of("recurrent", pool), Question(**{"text": "a", **asked}))
