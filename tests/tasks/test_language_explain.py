"""Explaining a language model: each answer comes from the tokens before it, and from no other."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.data.tokenizer import BOS, Tokenizer
from regard.explanations.attributions import METHODS, attributions
from regard.explanations.faithfulness import faithfulness
from regard.models import transformer_models as family
from regard.models.modes import language_model
from regard.tasks.language.language_explain import LanguageReading, explain_language
from regard.tasks.language.language_module import Language

LETTERS = Tokenizer.train(["a b c d e f g h"], kind="word")
V, TEXT = len(LETTERS), [4, 7, 5, 9, 6]
SHAPE = {"size": 16, "heads": 4, "inner": 24, "norm": "pre", "dropout": 0.0}
MODELS = {
    "transformer": lambda: family.language_model(V, **SHAPE, layers=3),
    "recurrent": lambda: language_model(V, embedding=6, hidden=8, attention={"score": "additive"}),
    "unattending": lambda: language_model(V, embedding=6, hidden=8),
}


def task_of(name: str) -> Language:
    model = MODELS[name]()
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(std=0.4)
    return Language(model.double().eval(), LETTERS)


@pytest.fixture(params=MODELS)
def task(request) -> Language:
    return task_of(request.param)


def reading_of(task: Language) -> LanguageReading:
    with torch.no_grad():
        return LanguageReading(task, TEXT)


def after(task: Language, ids: list[int]) -> Tensor:
    """log p of what follows these tokens."""
    with torch.no_grad():
        return task.model.decoder.project(task.read(ids)[-1]).log_softmax(-1)


def close(found: Tensor, wanted: Tensor) -> None:
    torch.testing.assert_close(found, wanted, atol=1e-10, rtol=1e-10)


def test_answers_are_the_likeliest_next_tokens(task):
    reading = reading_of(task)
    for q in range(len(TEXT) + 1):
        close(reading.answers[q].log(), after(task, TEXT[:q]))
        chances = reading.answers[q].tolist()
        chances[0] = chances[BOS] = 0
        assert reading.said[q] == chances.index(max(chances))


@torch.no_grad()
def test_leaving_one_out_is_reading_the_others(task):
    reading = reading_of(task)
    found = reading.log_probs_without_each(reading.said[None])[0]
    for q in range(len(TEXT) + 1):
        for j in range(len(TEXT) + 1):
            ids = [token for place, token in enumerate(TEXT[:q], 1) if place != j]
            close(found[q, j], after(task, ids)[reading.said[q]])


@torch.no_grad()
def test_choices_of_tokens_are_read_as_if_alone(task):
    reading = reading_of(task)
    kept = torch.tensor([[1, 0, 1, 0, 1, 0], [1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]).bool()
    rows, tokens = torch.tensor([4, 3, 1]), torch.tensor([5, 6, 7])
    found = reading.log_probs(kept, rows, tokens)
    for n, ids in enumerate(([7, 9], [], [4])):
        close(found[n], after(task, ids)[tokens[n]])


def test_gradients_are_what_a_little_more_of_a_token_does(task):
    reading, share = reading_of(task), 1e-5
    found = reading.gradients()
    table = next(m for m in task.modules() if isinstance(m, nn.Embedding))
    for j, token in enumerate([BOS, *TEXT]):

        def grow(_: nn.Module, args: tuple[Tensor], vectors: Tensor, token: int = token) -> Tensor:
            return torch.where((args[0] == token)[..., None], (1 + share) * vectors, vectors)

        handle = table.register_forward_hook(grow)
        longer = reading_of(task).answers
        handle.remove()
        pairs = torch.stack([longer, reading.answers]).log()
        slopes = (pairs[0] - pairs[1]).gather(-1, reading.said[:, None]).squeeze(-1) / share
        torch.testing.assert_close(found[:, j].double(), slopes, atol=1e-3, rtol=1e-3)


@torch.no_grad()
def test_nothing_comes_from_later_tokens(task):
    reading = reading_of(task)
    for name, each in attributions(reading).items():
        assert float(each.abs().triu(1).max()) < 1e-7, name


def test_which_methods_there_are():
    assert set(attributions(reading_of(task_of("transformer")))) == {*METHODS}
    assert set(attributions(reading_of(task_of("recurrent")))) == {*METHODS}
    assert set(attributions(reading_of(task_of("unattending")))) == {*METHODS[3:]}


@torch.no_grad()
def test_the_answer_to_nothing_has_nothing_to_take_out(task):
    reading = reading_of(task)
    found = faithfulness(reading, attributions(reading, ["leave-one-out"]))["leave-one-out"]
    assert found.comprehensiveness.isnan().tolist() == [True] + [False] * len(TEXT)


def test_a_record_has_them_of_its_map(task):
    found = explain_language(task, TEXT)
    names = [each.name for each in found]
    assert len(names) == len(set(names))
    assert {"gradient", "leave-one-out", "contrast", "erasure"} <= set(names)
    for each in found:
        assert each.map == "decoder"
        assert each.matrix is None or each.matrix.shape == (len(TEXT) + 1,) * 2
    assert explain_language(task, []) == ()


def test_a_stack_has_its_rollout_and_flow():
    names = [each.name for each in explain_language(task_of("transformer"), TEXT)]
    assert {"rollout", "flow", "norm", "value-zeroing"} <= set(names)
    assert not {"uniform", "adversarial"} & set(names)
