"""A text that is looked at as a language model reads it."""

from __future__ import annotations

import numpy as np
import pytest
from small_runs import LETTERS, SHAPE, enlarge

from regard.data.tokenizer import Tokenizer
from regard.looking.language import look_at_language, look_at_masked
from regard.looking.question import BadQuestion, Question
from regard.models import modes
from regard.models.transformer_models import language_model, masked_language_model
from regard.records.record import AttentionRecord
from regard.records.side import END, START
from regard.search import Search
from regard.tasks.language import Language
from regard.tasks.masked import Masked


@pytest.fixture
def language() -> Language:
    tokenizer = Tokenizer.train(["abcd ef\n"], kind="character", verbatim=True)
    return Language(enlarge(language_model(len(tokenizer), **SHAPE, layers=3)), tokenizer)


@pytest.fixture
def masked() -> Masked:
    tokenizer = Tokenizer.train([LETTERS], kind="word", mask=True)
    return Masked(enlarge(masked_language_model(len(tokenizer), **SHAPE, layers=2)), tokenizer)


def test_a_token_sees_itself_and_those_before_it(language):
    record = look_at_language(language, Question("ab c\nd学"))
    side = record.sides["text"]
    assert side.tokens == (START, "a", "b", "␣", "c", "⏎", "d", "学")
    assert side.special == (True, *[False] * 7)
    (shown,) = record.maps
    assert (shown.name, shown.weights.shape) == ("decoder", (3, 2, 8, 8))
    assert np.array_equal(shown.allowed[0, 0], np.tril(np.ones((8, 8), bool)))
    assert record.notes == ("the model has no token for 学",)
    assert AttentionRecord.from_json(record.to_json()).to_json() == record.to_json()


def test_the_output_is_what_the_model_would_write_next(language):
    for text in ("ab", "c", "d d d", "a\nb"):
        record = look_at_language(language, Question(text))
        (found,) = language.generate([text], Search(beam=1), length=1)
        following = found.text.removeprefix(text)
        shown = {"": END if found.finished else "(unknown)", " ": "␣", "\n": "⏎"}
        chance = np.exp(found.log_probs[-1])
        assert record.output == f"{shown.get(following, following)} ({chance:.2f})"


def test_a_language_model_without_attention_has_nothing_to_show(language):
    tokenizer = language.target_tokenizer
    plain = modes.language_model(len(tokenizer), embedding=4, hidden=4)
    with pytest.raises(BadQuestion, match="nothing to look at"):
        look_at_language(Language(plain, tokenizer), Question("ab"))


def test_masked_tokens_are_filled_and_all_see_all(masked):
    record = look_at_masked(masked, Question("a <mask> c"))
    assert record.sides["text"].tokens == ("a", "<mask>", "c", END)
    assert record.output == masked.fill(["a <mask> c"])[0].filled
    (shown,) = record.maps
    assert (shown.name, shown.weights.shape, shown.allowed) == ("encoder", (2, 2, 4, 4), None)
    np.testing.assert_allclose(shown.weights.sum(-1), 1, atol=1e-5)
    assert record.notes == ()


def test_a_text_without_a_mask_is_looked_at_as_it_is(masked):
    record = look_at_masked(masked, Question("a b"))
    assert record.output == "a b"
    assert record.notes == ("nothing was filled in: there is no <mask> in the text",)


def test_a_text_longer_than_the_model_reads_is_refused(masked):
    masked.max_length = 2
    with pytest.raises(BadQuestion, match="3 tokens, and the model reads 2"):
        look_at_masked(masked, Question("a b c"))


@pytest.mark.parametrize("asked", [{"text": "  "}, {"beam": 3}, {"target": "b"}])
def test_only_a_text_can_be_asked_about(language, masked, asked):
    question = Question(**{"text": "a", **asked})
    for look, task in ((look_at_language, language), (look_at_masked, masked)):
        with pytest.raises(BadQuestion):
            look(task, question)
