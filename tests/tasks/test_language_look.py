"""A text that is looked at as a language model reads it."""

from __future__ import annotations

import numpy as np
import pytest
from small_runs import SHAPE, enlarge, small_run

from regard.data.tokenizer import Tokenizer
from regard.models import modes
from regard.models.transformer_models import language_model
from regard.records import blocks
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.side import END, START
from regard.search import Search
from regard.tasks.answer import Answer
from regard.tasks.language.language_look import look_at_language, with_prompt_attention
from regard.tasks.language.language_module import Language
from regard.view.attention_view import View


@pytest.fixture
def language() -> Language:
    tokenizer = Tokenizer.train(["abcd ef\n"], kind="character", verbatim=True)
    return Language(enlarge(language_model(len(tokenizer), **SHAPE, layers=3)), tokenizer)


def test_a_token_sees_itself_and_those_before_it(language):
    record = look_at_language(language, Question("ab c\nd学"))
    side = record.sides["text"]
    assert side.tokens == (START, "a", "b", "␣", "c", "⏎", "d", "学")
    assert side.special == (True, *[False] * 7)
    (shown,) = record.maps
    assert (shown.name, shown.weights.shape) == ("decoder", (3, 2, 8, 8))
    assert np.array_equal(shown.allowed[0, 0], np.tril(np.ones((8, 8), bool)))
    assert record.notes == ("the model has no token for 学: 14 % of this text",)
    assert AttentionRecord.from_json(record.to_json()).to_json() == record.to_json()


def test_a_recurrent_model_shows_which_of_its_states_it_attends_to():
    tokenizer = Tokenizer.train(["abcd ef\n"], kind="character", verbatim=True)
    size, how = len(tokenizer), {"score": "additive", "region": "window(2)"}
    model = modes.language_model(size, embedding=8, hidden=12, attention=how)
    task = Language(enlarge(model), tokenizer)
    (shown,) = look_at_language(task, Question("ab cd")).maps
    assert (shown.name, shown.weights.shape) == ("decoder", (1, 1, 6, 6))
    assert shown.mechanism.endswith("kind: self")
    near = np.tril(np.ones((6, 6))) - np.tril(np.ones((6, 6)), -3)
    np.testing.assert_allclose(shown.weights[0, 0].sum(-1), 1, atol=1e-6)
    assert (shown.weights[0, 0][near == 0] == 0).all()
    (written,) = task.generate(["ab"], length=4)
    assert written.text.startswith("ab")


def test_the_output_is_what_the_model_would_write_next(language):
    for text in ("ab", "c", "d d d", "a\nb"):
        record = look_at_language(language, Question(text))
        (found,) = language.generate([text], Search(beam=1), length=1)
        following = found.text.removeprefix(text)
        shown = {"": END if found.finished else "(unknown)", " ": "␣", "\n": "⏎"}
        chance = np.exp(found.log_probs[-1])
        assert record.output == f"{shown.get(following, following)} ({chance:.2f})"


def test_a_language_model_without_attention_shows_its_gates_and_states(language):
    tokenizer = language.tokenizer
    plain = modes.language_model(len(tokenizer), embedding=4, hidden=4, cell="lstm")
    record = look_at_language(Language(plain, tokenizer), Question("ab"))
    assert [each.name for each in record.maps] == ["memory", "gates", "states"]
    assert record.sides["gates"].tokens == ("input gate", "forget gate", "output gate")
    assert record.map("states").weights.shape == (1, 1, 3, 4)  # behind the start, a and b
    assert record.output
    assert "how much of each position is still there" in View((record,)).to_svg()
    assert AttentionRecord.from_json(record.to_json()).to_json() == record.to_json()


@pytest.mark.parametrize("asked", [{"text": "  "}, {"beam": 3}, {"target": "b"}])
def test_only_a_text_can_be_asked_about(language, asked):
    question = Question(**{"text": "a", **asked})
    with pytest.raises(BadQuestion):
        look_at_language(language, question)


def test_a_long_text_is_shown_in_blocks_that_say_so(language, monkeypatch):
    text = "abcd ef" * 5
    whole = look_at_language(language, Question(text)).maps[0].weights  # (3, 2, 36, 36)
    monkeypatch.setattr(blocks, "MOST_DRAWN", 36**2)
    monkeypatch.setattr(blocks, "MOST_BLOCKS", 8)
    record = look_at_language(language, Question(text))
    side, (shown,) = record.sides["text"], record.maps
    assert (len(side), shown.weights.shape) == (8, (3, 2, 8, 8))
    assert (side.tokens[0], side.tokens[1], side.tokens[7]) == (f"{START} … d", "␣ … b", "f")
    assert [text[a:b] for a, b in side.offsets] == [
        text[max(0, n - 1) : n + 4] for n in range(0, 36, 5)
    ]
    for row, first in enumerate(range(0, 36, 5)):
        for column, key in enumerate(range(0, 36, 5)):
            block = whole[..., first : first + 5, key : key + 5].sum(-1).mean(-1)
            np.testing.assert_allclose(shown.weights[..., row, column], block, atol=1e-6)
    assert record.notes == (
        "the text has 36 tokens: every row and column stands for 5 of them in a row, and a weight is the "
        "mean over the 5 tokens of a row of what they give to all those of a column",
    )
    assert record.output == look_at_language(language, Question(text)).output
    assert AttentionRecord.from_json(record.to_json()).to_json() == record.to_json()


def test_steps_of_a_recurrent_model_are_put_into_blocks_too(monkeypatch):
    tokenizer = Tokenizer.train(["abcd ef\n"], kind="character", verbatim=True)
    how = {"score": "additive", "region": "causal"}
    model = modes.language_model(len(tokenizer), embedding=8, hidden=12, attention=how)
    task = Language(enlarge(model), tokenizer)
    text = "abcd ef" * 2
    whole = look_at_language(task, Question(text)).maps[0].weights  # (1, 1, 15, 15)
    monkeypatch.setattr(blocks, "MOST_DRAWN", 99)
    monkeypatch.setattr(blocks, "MOST_BLOCKS", 5)
    shown = look_at_language(task, Question(text)).maps[0].weights
    wanted = whole.reshape(1, 1, 5, 3, 5, 3).sum(-1).mean(3)
    np.testing.assert_allclose(shown, wanted, atol=1e-6)


@pytest.mark.parametrize("prompt", ["a", "ab c", "dd dd\nabc"])
def test_an_answer_holds_what_a_look_at_its_prompt_shows(prompt, tmp_path):
    run = small_run("language", tmp_path, layers=2)
    answers = run.predict(["f f f", prompt], attention=True)
    record = run.task.look(run.module, Question(prompt))
    (shown,) = record.maps
    np.testing.assert_allclose(answers[1].attention, shown.weights[-1].mean(0), atol=1e-6)
    assert answers[1].rows == answers[1].columns
    assert len(answers[1].rows) == len(record.sides["text"])
    assert answers[1].answer == run.predict([prompt])[0].answer


def test_an_answer_holds_no_attention_where_there_is_none_or_too_much(language, monkeypatch):
    answer = Answer("ab c", "ab cd")
    assert with_prompt_attention(language, answer).attention.shape == (5, 5)
    monkeypatch.setattr(blocks, "MOST_DRAWN", 9)
    monkeypatch.setattr(blocks, "MOST_BLOCKS", 2)
    assert with_prompt_attention(language, answer) == answer
    tokenizer = language.tokenizer
    plain = Language(modes.language_model(len(tokenizer), embedding=4, hidden=4), tokenizer)
    assert with_prompt_attention(plain, answer) == answer
