"""Unknown words are copied from the source."""

from __future__ import annotations

import pytest
import torch

from regard.search import replace_unknown


def test_an_unknown_word_is_the_source_word_it_attends_to():
    attention = torch.tensor([[0.1, 0.2, 0.7], [0.1, 0.3, 0.6], [0.8, 0.1, 0.1]])
    source = ["北京", "李雷"]  # and the end of the source, which is no word
    pieces = ["Hello", "<unk>", "<unk>"]
    assert replace_unknown(pieces, [9, 1, 1], attention, source) == ["Hello", "李雷", "北京"]
    assert replace_unknown(pieces, [9, 8, 7], attention, source) == pieces
    assert replace_unknown(pieces, [9, 1, 1], attention, []) == pieces


def test_every_token_needs_its_row_of_attention():
    with pytest.raises(ValueError, match=r"1 pieces, 2 tokens, attention \(2, 3\)"):
        replace_unknown(["a"], [1, 1], torch.ones(2, 3), ["b"])
