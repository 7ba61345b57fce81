"""A small translator over the letters a … h, its weights drawn large so that its answers differ."""

from __future__ import annotations

import pytest
import torch

from regard.data.tokenizer import Tokenizer
from regard.models.presets import recurrent
from regard.tasks.translate.translate_loss import Translate

LETTERS = "a b c d e f g h"


@pytest.fixture
def make_task():
    def make(**options) -> Translate:
        torch.manual_seed(0)
        tokenizer = Tokenizer.train([LETTERS], kind="word")
        sections = {name: options.pop(name) for name in ("attention", "dropout") if name in options}
        model = recurrent(len(tokenizer), len(tokenizer), embedding=8, hidden=12, **sections)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.6)
        return Translate(model, tokenizer, tokenizer, **options)

    return make
