"""Explaining a label: one row of weights, and a model in which one token decides."""

from __future__ import annotations

import math

import pytest
import torch
from small_runs import text_field
from torch import Tensor, nn

from regard.data.tokenizer import EOS, Tokenizer
from regard.layers.contracts import Encoded
from regard.models import transformer_models as family
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.modes import LabelDecoder, many_to_one
from regard.models.summary import Summary
from regard.tasks.classify.classify_explain import explain_classification
from regard.tasks.classify.classify_module import Classify

LETTERS = Tokenizer.train(["a b c d e f g h"], kind="word")
LABELS = ["no", "perhaps", "yes"]
TEXT = "d a f b"
EVERYWHERE = {"gradient", "leave-one-out", "contrast", "erasure"}
ALL = EVERYWHERE | {"norm", "value-zeroing"}


def task_of(model: nn.Module, *, std: float | None = 0.6) -> Classify:
    if std is not None:
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=std)
    return Classify(model, text_field(LETTERS), LABELS)


def recurrent(pool: str) -> Classify:
    return task_of(many_to_one(len(LETTERS), len(LABELS), pool=pool, embedding=8, hidden=12))


def layers(pool: str) -> Classify:
    shape = {"size": 16, "heads": 4, "inner": 24, "norm": "pre", "dropout": 0.0}
    return task_of(family.classifier(len(LETTERS), len(LABELS), **shape, layers=2, pool=pool))


def explained(task: Classify) -> dict:
    found = explain_classification(task, LETTERS.encode(TEXT))
    return {e.name: e for e in found if e.map != "encoder" or e.name in ("rollout", "flow")}


@pytest.mark.parametrize("make", [recurrent, layers])
def test_a_model_that_pools_by_attention_has_every_measure(make):
    task = make("attention")
    found = explained(task)
    stacked = {"rollout", "flow"} if make is layers else set()
    assert set(found) == ALL | {"uniform", "permuted", "adversarial"} | stacked
    for name, each in found.items():
        assert each.map == ("encoder" if name in stacked else "pooling")
        assert all(len(row) == 1 for row in each.rows.values())
    (judged,) = task.classify([TEXT], attention=True)
    assert found["gradient"].matrix.shape == (1, len(judged.attention))
    assert "in the one row (" in found["gradient"].reading


@pytest.mark.parametrize(
    ("make", "pool"), [(recurrent, "mean"), (layers, "max"), (layers, "first")]
)
def test_a_model_that_pools_otherwise_has_what_needs_no_attention(make, pool):
    found = explained(make(pool))
    assert set(found) - {"rollout", "flow"} == EVERYWHERE
    assert found["gradient"].matrix.shape == (1, 5)


@pytest.mark.parametrize("pool", ["attention", "mean"])
def test_leaving_a_token_out_is_classifying_without_it(pool):
    task = recurrent(pool)
    (whole,) = task.classify([TEXT])
    losses = explained(task)["leave-one-out"].matrix[0]
    words = TEXT.split()
    for j in range(len(words)):
        (shorter,) = task.classify([" ".join(words[:j] + words[j + 1 :])])
        loss = whole.probability - shorter.probabilities[whole.label]
        assert losses[j] == pytest.approx(loss, abs=1e-5)


class Words(nn.Module):
    """Every token is a number, how much it says for "yes"; nothing else is known of it."""

    def __init__(self, numbers: dict[str, float]) -> None:
        super().__init__()
        table = torch.full((len(LETTERS), 1), 0.01)
        for letter, number in numbers.items():
            table[LETTERS.encode(letter).ids[0]] = number
        self.embed = nn.Embedding.from_pretrained(table)

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        states = self.embed(source)
        return Encoded(states, mask, states[:, 0])


def test_where_one_token_decides_every_measure_says_so():
    summary = Summary("attention", 1, 1)
    decoder = LabelDecoder(summary, len(LABELS))
    with torch.no_grad():
        summary.pool.hidden.weight.fill_(1.0)
        summary.pool.hidden.bias.fill_(0.0)
        summary.pool.query.fill_(5.0)
        decoder.output.weight.fill_(0.0)
        decoder.output.bias.fill_(0.0)
        decoder.output.weight[LABELS.index("yes")] = 4.0
    words = Words({"d": 0.02, "a": 1.0, "f": 0.06, "b": 0.03})
    task = task_of(EncoderDecoder(words, decoder), std=None)
    assert task.classify([TEXT])[0].label == "yes"
    found = explained(task)
    assert found["leave-one-out"].matrix.argmax() == found["gradient"].matrix.argmax() == 1
    assert found["leave-one-out"].matrix[0, 1] > 0.4
    assert found["gradient"].rows["τ"] == pytest.approx([1.0])
    assert found["uniform"].rows["TVD"][0] > 0.2
    assert 0 < found["adversarial"].rows["JSD"][0] < 0.1
    assert found["adversarial"].matrix.argmax() == 1


def test_equal_tokens_can_be_read_in_any_way():
    summary = Summary("attention", 1, 1)
    words = Words(dict.fromkeys("dafb", 0.01))
    found = explained(task_of(EncoderDecoder(words, LabelDecoder(summary, len(LABELS))), std=None))
    assert found["permuted"].rows["TVD"] == pytest.approx([0.0], abs=1e-6)
    assert found["adversarial"].rows["TVD"] == pytest.approx([0.0], abs=1e-6)
    # the furthest from five equal weights is all of it at one
    m = 0.5 * (1 + 0.2)
    most = 0.5 * (math.log(1 / m) + 0.2 * math.log(0.2 / m) + 0.8 * math.log(2))
    assert found["adversarial"].rows["JSD"] == pytest.approx([most], abs=0.01)


def test_an_empty_text_is_nothing_to_explain():
    assert explain_classification(recurrent("attention"), LETTERS.encode("")) == ()
    assert EOS not in LETTERS.encode("").ids
