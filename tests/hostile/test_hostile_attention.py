"""Thousands of random attentions, each against its definition: forward, backward, poisoned."""

from __future__ import annotations

import math
import random

import pytest
import torch
from comparing import assert_gradients, assert_outputs
from defined_attentions import Definition, define
from random_attentions import SCORES, Problem, draw_problem
from random_modules import draw_module
from torch import Tensor

PART = "random attentions"
POISONS = (math.nan, math.inf, -math.inf, 3e38, -3e38, 1e30)


@pytest.fixture(autouse=True)
def _one_thread():
    """Most are small: a team of threads would only wait."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def check(problem: Problem, definition: Definition, inputs: list[Tensor]) -> None:
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    found = problem.attend(*leaves)
    dtype = problem.query.dtype
    assert (found.weights is not None) == problem.weights
    assert_outputs(found, definition, dtype)
    assert_gradients(found, definition, [*leaves, *problem.parameters()], dtype)


@pytest.mark.parametrize("score", SCORES)
def test_attend_gives_what_is_defined(trials, score):
    with trials(PART, score) as trial:
        for case in trial.cases(1_500):
            with case:
                problem = draw_problem(case.draw, score)
                case.said = str(problem)
                check(problem, define(problem), problem.inputs)


@pytest.mark.parametrize("score", SCORES)
def test_modules_give_what_is_defined(trials, score):
    with trials(PART, f"modules, {score}") as trial:
        for case in trial.cases(250):
            with case:
                asked = draw_module(case.draw, score)
                case.said = str(asked)
                inputs = [x.detach().clone().requires_grad_() for x in asked.inputs]
                found, definition = asked.attend(*inputs), asked.define()
                dtype = asked.query.dtype
                assert_outputs(found, definition, dtype)
                leaves = [*inputs, *asked.module.parameters()]
                assert_gradients(found, definition, leaves, dtype)


@pytest.mark.parametrize("score", SCORES)
def test_what_nobody_may_attend_changes_nothing(trials, score):
    with trials(PART, f"poisoned, {score}") as trial:
        for case in trial.cases(300):
            with case:
                poison = case.draw.choice(POISONS)
                problem, definition, forbidden = draw_forbidden(case.draw, score)
                case.said = f"{poison} in {problem}"
                spoilt = [
                    x.masked_fill(places[..., None], poison)
                    for x, places in zip(problem.inputs[1:], forbidden, strict=True)
                ]
                check(problem, definition, [problem.query, *spoilt])


def draw_forbidden(draw: random.Random, score: str) -> tuple[Problem, Definition, list[Tensor]]:
    """A problem in which some keys may be attended by nobody, and which keys, which values those are."""
    while True:
        problem = draw_problem(draw, score, least=1)
        definition = define(problem)
        attended = definition.reachable.any(-2).long()  # (..., Lk)
        forbidden = [attended.sum_to_size(x.shape[:-1]) == 0 for x in problem.inputs[1:]]
        if any(places.any() for places in forbidden):
            return problem, definition, forbidden


@pytest.mark.parametrize("score", SCORES)
def test_who_may_attend_a_nan_is_nan_and_nobody_else(trials, score):
    with trials(PART, f"NaN attended, {score}") as trial:
        for case in trial.cases(150):
            with case:
                problem = draw_problem(case.draw, score, least=1)
                definition = define(problem)
                of_key = not (score == "Location" or problem.normalizer == "uniform")
                place = 1 if of_key and case.draw.random() < 0.5 else len(problem.inputs) - 1
                inputs = [x.clone() for x in problem.inputs]
                flags = torch.zeros(inputs[place].shape[:-1], dtype=torch.bool)
                flags.view(-1)[case.draw.randrange(flags.numel())] = True
                inputs[place][flags] = math.nan
                case.said = f"NaN in {('query', 'key', 'value')[place]} of {problem}"
                reached = (definition.reachable & flags[..., None, :]).any(-1)
                found = problem.attend(*inputs)
                assert_outputs(found, definition, problem.query.dtype, but=reached)
                poisoned = found.context[reached & definition.answer.certain]
                assert poisoned.isnan().all(), "a row that attends a NaN is not NaN"


@pytest.mark.parametrize("score", SCORES)
def test_a_nan_in_a_query_is_its_own_affair(trials, score):
    with trials(PART, f"NaN asks, {score}") as trial:
        for case in trial.cases(100):
            with case:
                problem = draw_problem(case.draw, score, least=1)
                case.said = f"NaN in a query of {problem}"
                definition = define(problem)
                flags = torch.zeros(problem.query.shape[:-1], dtype=torch.bool)
                flags.view(-1)[case.draw.randrange(flags.numel())] = True
                query = problem.query.masked_fill(flags[..., None], math.nan)
                found = problem.attend(query, *problem.inputs[1:])
                asked = flags.expand(definition.answer.certain.shape)
                assert_outputs(found, definition, problem.query.dtype, but=asked)
