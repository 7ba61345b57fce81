"""Taggers: padding and batches change nothing, spelling tells unknown words apart."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.models.tagger import Tagger, WordVectors, recurrent_tagger, transformer_tagger

SIZES = (20, 12)
MODELS = {
    **{
        f"{cell}{'-characters' * spelt}": lambda cell=cell, spelt=spelt: recurrent_tagger(
            SIZES, 4, cell=cell, embedding=8, hidden=6, characters=5 if spelt else None, dropout=0.0
        )
        for cell in ("elman", "gru", "gru-reset-before", "lstm")
        for spelt in (False, True)
    },
    "transformer": lambda: transformer_tagger(SIZES, 4, size=8, heads=2, inner=8, dropout=0.0),
    "transformer-characters": lambda: transformer_tagger(
        SIZES, 4, size=8, heads=2, inner=8, characters=5, dropout=0.0
    ),
}


@pytest.fixture(params=MODELS)
def model(request) -> Tagger:
    return MODELS[request.param]().double().eval()


def inputs(lengths: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    words = torch.randint(2, 20, (len(lengths), max(lengths)))
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    characters = torch.randint(0, 12, (*words.shape, 6)) * mask[..., None]
    return words * mask, mask, characters


def test_a_row_beside_others_is_the_row_alone(model):
    words, mask, characters = inputs([5, 2, 7, 1])
    together = model(words, mask, characters)
    assert together.shape == (4, 7, 4)
    for row, length in enumerate((5, 2, 7, 1)):
        one = slice(row, row + 1)
        alone = model(words[one, :length], mask[one, :length], characters[one, :length])
        torch.testing.assert_close(together[row, :length], alone[0])


def test_what_stands_in_the_padding_changes_nothing(model):
    words, mask, characters = inputs([5, 2])
    noise = words.where(mask, torch.randint(2, 20, words.shape))
    letters = characters.where(mask[..., None], 3)
    torch.testing.assert_close(
        model(words, mask, characters)[mask], model(noise, mask, letters)[mask]
    )


def test_gradients_reach_every_weight(model):
    words, mask, characters = inputs([5, 3])
    model.train()
    model(words, mask, characters)[mask].square().sum().backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.isfinite().all(), name


def test_spelling_is_the_largest_of_each_feature_over_real_characters():
    vectors = WordVectors(20, 4, 12, 5).double()
    letters = torch.tensor([[[3, 4, 0, 0]]])
    found = vectors(torch.tensor([[7]]), letters)[0, 0, 4:]
    embedded = vectors.characters(letters[0, 0])  # padding is 0
    padded = torch.cat([torch.zeros(1, 32).double(), embedded, torch.zeros(1, 32).double()])
    weight, bias = vectors.convolution.weight, vectors.convolution.bias
    each = [(weight * padded[t : t + 3].T).sum((1, 2)) + bias for t in range(2)]
    torch.testing.assert_close(found, torch.stack(each).relu().amax(0))


def test_a_model_that_reads_characters_says_so_without_them():
    model = recurrent_tagger(SIZES, 4, characters=5)
    with pytest.raises(ValueError, match="reads characters"):
        model(*inputs([3])[:2])
