"""A text that is looked at as a masked language model reads it."""

from __future__ import annotations

import numpy as np
import pytest
from small_runs import LETTERS, SHAPE, enlarge

from regard.data.tokenizer import Tokenizer
from regard.models.transformer_models import masked_language_model
from regard.records.question import BadQuestion, Question
from regard.records.side import END
from regard.tasks.masked.masked_look import look_at_masked
from regard.tasks.masked.masked_module import Masked


@pytest.fixture
def masked() -> Masked:
    tokenizer = Tokenizer.train([LETTERS], kind="word", mask=True)
    return Masked(enlarge(masked_language_model(len(tokenizer), SHAPE, layers=2)), tokenizer)


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
def test_only_a_text_can_be_asked_about(masked, asked):
    question = Question(**{"text": "a", **asked})
    with pytest.raises(BadQuestion):
        look_at_masked(masked, question)
