"""Classification: labels only, cut texts, and answers that do not depend on the batch."""

from __future__ import annotations

import math

import pytest
import torch
from small_runs import text_field

from regard.data.tokenizer import Tokenizer
from regard.models.modes import many_to_one
from regard.tasks.classify.classify_module import Classify

TEXTS = ["a b c", "h g", "a", "", "e e e e f g h a b c d"]


@pytest.fixture
def make_classifier():
    def make(**options) -> Classify:
        torch.manual_seed(0)
        tokenizer = Tokenizer.train(["a b c d e f g h"], kind="word")
        labels = ["no", "perhaps", "yes"]
        pool = options.pop("pool", "attention")
        model = many_to_one(len(tokenizer), len(labels), pool=pool, embedding=8, hidden=12)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.6)
        field = text_field(tokenizer, options.pop("max_length", None))
        return Classify(model, field, labels, **options)

    return make


def batch_of(task: Classify, texts: list[str], labels: list[str]):
    wanted = torch.tensor([task.labels.index(label) for label in labels])
    texts_read = task.given.encode([{"text": text} for text in texts])
    return {**task.given.collate(texts_read), "label": wanted}


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_loss_is_the_cross_entropy_over_the_labels_alone(make_classifier, smoothing):
    task = make_classifier(label_smoothing=smoothing).double().train()
    texts, labels = TEXTS[:3], ["yes", "no", "no"]
    found = task(**batch_of(task, texts, labels))
    total = 0.0
    for one, label in zip(task.classify(texts), labels, strict=True):
        assert sum(one.probabilities.values()) == pytest.approx(1)
        spread = sum(one.log_probs.values()) / len(one.log_probs)
        total -= (1 - smoothing) * one.log_probs[label] + smoothing * spread
    assert int(found.tokens) == 3
    assert found.total.item() == pytest.approx(total, rel=1e-6)


def test_dev_losses_are_not_smoothed(make_classifier):
    plain, smooth = (make_classifier(label_smoothing=x).double().eval() for x in (0.0, 0.3))
    batch = batch_of(plain, TEXTS[:2], ["yes", "no"])
    assert plain(**batch).total == smooth(**batch).total


def test_a_text_gets_the_same_answer_whatever_it_is_batched_with(make_classifier):
    task = make_classifier().double()
    together = task.classify(TEXTS, attention=True)
    for text, one in zip(TEXTS, together, strict=True):
        (alone,) = task.classify([text], attention=True)
        assert alone.label == one.label
        assert alone.log_probs == pytest.approx(one.log_probs)
        torch.testing.assert_close(alone.attention, one.attention)


def test_attention_has_a_weight_for_every_token_and_the_end(make_classifier):
    one = make_classifier().classify(["a b c"], attention=True)[0]
    assert one.attention.shape == (4,)
    assert float(one.attention.sum()) == pytest.approx(1)
    assert make_classifier().classify(["a"])[0].attention is None
    assert make_classifier(pool="max").classify(["a"], attention=True)[0].attention is None


def test_what_follows_max_length_is_not_read(make_classifier):
    task = make_classifier(max_length=3)
    short, long = task.classify(["a b c", "a b c d e"])
    assert long.log_probs == pytest.approx(short.log_probs)
    assert long.tokens.pieces == ["a", "b", "c"]


def test_probabilities_are_in_the_json(make_classifier):
    one = make_classifier().classify(["a b"], attention=True)[0]
    plain = one.to_dict()
    assert plain["label"] == max(plain["probabilities"], key=plain["probabilities"].get)
    assert plain["probabilities"][plain["label"]] == pytest.approx(
        math.exp(max(one.log_probs.values()))
    )
    assert len(plain["attention"]) == len(plain["tokens"]["ids"]) + 1
