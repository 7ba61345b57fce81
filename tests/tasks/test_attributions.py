"""Attributions of translations and labels: each against a definition that can be read, in float64."""

from __future__ import annotations

import math
from contextlib import contextmanager

import pytest
import torch
from small_runs import text_field
from torch import Tensor, nn

from regard.attention.module import AttentionModule
from regard.attention.recording import recording
from regard.data.tokenizer import BOS, EOS, Tokenizer
from regard.explanations.attributions import METHODS, attributions, second_likeliest
from regard.explanations.erasure import PERCENT
from regard.explanations.faithfulness import erasing_readings, faithfulness
from regard.models import transformer_models as family
from regard.models.modes import many_to_one
from regard.models.presets import luong, recurrent, rnnsearch
from regard.tasks.classify.classify_explain import ClassificationReading
from regard.tasks.classify.classify_module import Classify
from regard.tasks.translate.translate_explain import TranslationReading

LETTERS = Tokenizer.train(["a b c d e f g h"], kind="word")
V = len(LETTERS)
SOURCE, SAID = [4, 7, 5, 9], [6, 4, 10, EOS]
SHAPE = {"size": 16, "heads": 4, "inner": 24, "norm": "pre", "dropout": 0.0}
NEAR = {"region": "window(1)"}

MODELS = {
    "before": lambda: recurrent(V, V, embedding=6, hidden=8),
    "between": lambda: recurrent(V, V, embedding=6, hidden=8, place="between", cell="lstm"),
    "rnnsearch": lambda: rnnsearch(V, V, embedding=6, hidden=8, maxout=4, init="default"),
    "luong": lambda: luong(V, V, embedding=6, hidden=8, layers=2, init="default"),
    "transformer": lambda: family.transformer(V, V, **SHAPE, encoder_layers=2, decoder_layers=3),
    "windows": lambda: family.transformer(
        V, V, **SHAPE, encoder_layers=2, decoder_layers=2, cross_attention=NEAR
    ),
}


def filled(model: nn.Module) -> nn.Module:
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(std=0.5)
    return model.double().eval()


def translation_reading(name: str) -> TranslationReading:
    with torch.no_grad():
        return TranslationReading(filled(MODELS[name]()), SOURCE, SAID)


@pytest.fixture(params=MODELS)
def reading(request) -> TranslationReading:
    return translation_reading(request.param)


def label_reading(pool: str = "attention") -> ClassificationReading:
    model = many_to_one(V, 3, pool=pool, embedding=8, hidden=12)
    task = Classify(filled(model), text_field(LETTERS), ["no", "perhaps", "yes"])
    with torch.no_grad():
        return ClassificationReading(task, SOURCE)


def close(found: Tensor, wanted: Tensor, within: float = 1e-10) -> None:
    torch.testing.assert_close(found, wanted, atol=within, rtol=within)


def attended(reading: TranslationReading) -> AttentionModule:
    """That whose weights the model reports."""
    decoder = reading.model.decoder
    return (
        decoder.attention
        if hasattr(decoder, "attention")
        else decoder.blocks[decoder.reported].cross
    )


@torch.no_grad()
def test_norms_are_those_of_the_parts(reading):
    attention = attended(reading)
    with recording(attention) as recorded:
        reading.model.decoder.forward(reading.inputs, reading.encoded)
    weights = torch.cat([each.weights[0] for each in recorded], -2)  # ([H,] Q, K)
    memory = attention.remember(reading.encoded.states, reading.encoded.mask)
    values = attention.recall(memory)[1][0]
    found = reading.norms()
    for j in range(len(SOURCE) + 1):
        alone = torch.zeros_like(weights)
        alone[..., j] = weights[..., j]
        part = attention.merge(alone @ values) - attention.merge(torch.zeros_like(alone) @ values)
        close(found[:, j], part.norm(dim=-1), 1e-7)


@contextmanager
def value_of_0(reading: TranslationReading, key: int, weights: dict[str, Tensor]):
    """Inside the block, attentions to the source sum values by these weights, all but that of one key."""
    handles = []
    for name, own in weights.items():
        attention = reading.module.get_submodule(name)
        memory = attention.remember(reading.encoded.states, reading.encoded.mask)
        parts = own.clone()
        parts[..., key] = 0
        context = attention.merge(parts @ attention.recall(memory)[1])
        handles.append(
            attention.register_forward_hook(
                lambda _, args, made, context=context: made._replace(
                    context=context.view_as(made.context)
                )
            )
        )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@torch.no_grad()
def test_value_zeroing_is_one_step_with_a_value_of_0(reading):
    """In all layers at once, with the weights that they have."""
    decoder, states = reading.model.decoder, []
    handle = decoder.output.register_forward_pre_hook(lambda _, args: states.append(args[0][0]))
    wanted = torch.empty(len(SAID), len(SOURCE) + 1, dtype=torch.float64)
    state = decoder.start(reading.encoded)
    for q, token in enumerate(reading.inputs[0]):
        with recording(reading.module) as recorded:
            _, after, *_ = decoder.step(token[None], state)
        weights = {each.name: each.weights for each in recorded if each.name in reading.heads}
        whole = states[-1]
        for j in range(len(SOURCE) + 1):
            with value_of_0(reading, j, weights):
                decoder.step(token[None], state)
            wanted[q, j] = 1 - torch.cosine_similarity(whole, states[-1], dim=-1)
        state = after
    handle.remove()
    close(reading.zeroed(), wanted)


@torch.no_grad()
def test_a_choice_of_tokens_is_the_text_without_the_others(reading):
    kept = torch.tensor([[1, 1, 1, 1, 1], [0, 1, 0, 1, 1], [0, 0, 0, 0, 1], [1, 0, 0, 0, 1]]).bool()
    rows, tokens = torch.tensor([0, 2, 1, 3]), torch.tensor([6, 10, 5, EOS])
    found = reading.log_probs(kept, rows, tokens)
    for n, choice in enumerate(kept):
        ids = [token for token, there in zip(SOURCE, choice[:-1], strict=True) if there]
        alone = TranslationReading(reading.model, ids, SAID)
        close(found[n], alone.answers[rows[n], tokens[n]].log())


@torch.no_grad()
def test_leaving_out_and_the_contrast_are_their_definitions(reading):
    others = torch.tensor([5, 5, 4, 8])
    found = attributions(reading, ["leave-one-out", "contrast"], against=others)
    for j in range(len(SOURCE)):
        shorter = TranslationReading(reading.model, SOURCE[:j] + SOURCE[j + 1 :], SAID)
        for q, (said, other) in enumerate(zip(SAID, others.tolist(), strict=True)):
            p, without = reading.answers[q], shorter.answers[q]
            close(found["leave-one-out"][q, j], p[said] - without[said])
            lead = (p[said] / p[other]).log() - (without[said] / without[other]).log()
            close(found["contrast"][q, j], lead)


def test_the_gradient_of_a_contrast_is_the_difference_of_gradients(reading):
    others = second_likeliest(reading)
    said, found = reading.gradients(), reading.contrast_gradients(others)
    reading.said = others
    close(found.double(), (said - reading.gradients()).double(), 1e-6)


@torch.no_grad()
def test_the_second_likeliest_is_another_answer(reading):
    others = second_likeliest(reading)
    for q, row in enumerate(reading.answers.tolist()):
        row[SAID[q]] = -1.0
        assert row.index(max(row)) == others[q]


@torch.no_grad()
@pytest.mark.parametrize("of", ["before", "transformer", "label"])
def test_faithfulness_is_its_definition(of):
    one = label_reading() if of == "label" else translation_reading(of)
    given = attributions(one, ["attention", "leave-one-out"])
    found = faithfulness(one, given)
    for name, attribution in given.items():
        for q, row in enumerate(attribution[:, :-1].tolist()):
            ranked = sorted(range(len(SOURCE)), key=lambda j, row=row: -row[j])
            lost, short = [], []
            for percent in PERCENT:
                named = ranked[: math.ceil(percent * len(SOURCE) / 100)]
                others = [j for j in range(len(SOURCE)) if j not in named]
                for losses, there in ((lost, others), (short, sorted(named))):
                    p = probability(one, [SOURCE[j] for j in there], q)
                    losses.append(float(one.answers[q, one.said[q]] - p))
            close(found[name].comprehensiveness[q], torch.tensor(lost).double().mean(), 1e-6)
            close(found[name].sufficiency[q], torch.tensor(short).double().mean(), 1e-6)


def probability(one, ids: list[int], q: int) -> Tensor:
    """Of answer q, of a text of these tokens."""
    source = torch.tensor([[*ids, EOS]])
    encoded = one.model.encode(source, torch.ones_like(source, dtype=torch.bool))
    outputs = one.model.decoder.forward(one.inputs, encoded).outputs[0, q]
    return one.model.decoder.project(outputs).softmax(-1)[one.said[q]]


def test_no_more_is_read_than_was_said(monkeypatch):
    one, counts = label_reading(), []
    read = one._with_only
    monkeypatch.setattr(one, "_with_only", lambda kept: counts.append(len(kept)) or read(kept))
    with torch.no_grad():
        given = attributions(one)
        counts.clear()
        faithfulness(one, given)
    assert 0 < sum(counts) <= erasing_readings(len(SOURCE), 1, len(given))


@torch.no_grad()
def test_attributions_of_a_label_are_those_of_the_vector_that_is_judged():
    one = label_reading()
    states, weights = one.encoded.states[0], one.weighed.weights[0, 0]
    close(one.norms()[0], weights * states.norm(dim=-1))
    for j in range(len(weights)):
        without = (weights[:, None] * states).sum(0) - weights[j] * states[j]
        turn = 1 - torch.cosine_similarity((weights[:, None] * states).sum(0), without, dim=-1)
        close(one.zeroed()[0, j], turn)


def test_a_model_without_attention_has_the_methods_that_need_none():
    assert set(attributions(label_reading("mean"))) == {*METHODS[3:]}
    assert set(attributions(label_reading())) == {*METHODS}


@torch.no_grad()
def test_a_text_of_one_token_can_be_taken_out_too():
    one = TranslationReading(filled(MODELS["transformer"]()), [5], [6, EOS])
    for each in faithfulness(one, attributions(one, ["attention"])).values():
        assert not each.comprehensiveness.isnan().any()
        assert not each.sufficiency.isnan().any()
    assert BOS not in one.source
