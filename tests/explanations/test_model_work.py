"""Measures in pieces: what is in memory at a time does not grow with what there is to measure."""

from __future__ import annotations

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from regard.data.tokenizer import EOS
from regard.explanations import model_work as work
from regard.explanations.measured import measure
from regard.models import transformer_models as family
from regard.models.presets import rnnsearch
from regard.tasks.translate.translate_explain import TranslationReading

V = 20
MODELS = {
    "rnnsearch": lambda: rnnsearch(V, V, embedding=6, hidden=8, maxout=4, init="default"),
    "transformer": lambda: family.transformer(V, V, size=8, heads=2, inner=8, encoder_layers=1),
}


class Largest(TorchDispatchMode):
    """The most numbers in a tensor that was made meanwhile."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for each in made if isinstance(made, tuple | list) else [made]:
            if isinstance(each, torch.Tensor):
                self.numbers = max(self.numbers, each.untyped_storage().nbytes() // 4)
        return made


def test_pieces_are_all_of_it_once_and_none_is_more_than_a_piece():
    for count, each in [(10, 1.0), (10, work.PIECE / 3), (7, work.PIECE / 2), (3, 2 * work.PIECE)]:
        parts = list(work.pieces(count, each))
        assert [n for part in parts for n in range(count)[part]] == list(range(count))
        assert all(len(range(count)[p]) * each <= max(work.PIECE, each) for p in parts)


@pytest.mark.parametrize("name", MODELS)
def test_memory_does_not_grow_with_the_rows_that_are_measured(name, monkeypatch):
    monkeypatch.setattr("regard.explanations.measured.STEPS", 2)
    monkeypatch.setattr("regard.measures.explanation_measures.MOST_PAIRS", 0)
    model = MODELS[name]().eval()

    def largest(piece: float) -> int:
        monkeypatch.setattr(work, "PIECE", piece)
        with torch.no_grad(), Largest() as seen:
            measure(TranslationReading(model, [5] * 40, [*[6] * 30, EOS]), "cross")
        return seen.numbers

    one, all_at_once = largest(0.0), largest(1e30)
    assert all_at_once > 8 * one
    model_work = work.ModelWork.of(model)
    assert largest(work.GRADIENT * model_work.reading(41, 31)) < all_at_once / 2  # a copy at a time
