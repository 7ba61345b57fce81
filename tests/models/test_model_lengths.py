"""Every model takes lengths where it takes a mask, and says what is wrong with them."""

from __future__ import annotations

import pytest
import torch
from registered_models import LENGTHS, MODELS, built, drawn_of, run, texts_of

from regard.layers.recurrent import Recurrent
from regard.models.bare import bare_self_attention
from regard.models.classifiers.classifier import classifier

READING = [kind for kind in MODELS if texts_of(kind)]
SEVERAL = [kind for kind in READING if len(texts_of(kind)) > 1]


@pytest.mark.parametrize("kind", READING)
def test_lengths_say_what_the_mask_says(kind):
    model, texts = built(kind), drawn_of(kind)
    by_mask, by_lengths = run(model, kind, texts), run(model, kind, texts, lengths=True)
    torch.testing.assert_close(by_lengths, by_mask, rtol=0, atol=0)
    assert by_mask.isfinite().any()


@pytest.mark.parametrize("kind", READING)
def test_mask_and_lengths_together_are_refused(kind):
    with pytest.raises(ValueError, match="give mask or lengths, not both"):
        run(built(kind), kind, drawn_of(kind), both=True)


@pytest.mark.parametrize("kind", SEVERAL)
def test_without_a_mask_or_lengths_every_word_is_real(kind):
    model, texts = built(kind), drawn_of(kind)
    none, every = ([x for text in texts.values() for x in (text, mask(text))] for mask in NO_MASKS)
    a, b = model(*none), model(*every)
    torch.testing.assert_close(*((a, b) if isinstance(a, torch.Tensor) else (a.outputs, b.outputs)))


NO_MASKS = (lambda _: None, lambda text: torch.ones_like(text, dtype=torch.bool))


@pytest.mark.parametrize("kind", READING)
@pytest.mark.parametrize(("spoilt", "said"), [(-1, "given -1"), (9, "given 9")])
def test_a_length_that_cannot_be_is_refused(kind, spoilt, said, monkeypatch):
    name = texts_of(kind)[0]
    lengths = LENGTHS[name].clone()
    lengths.view(-1)[0] = spoilt
    texts, model = drawn_of(kind), built(kind)
    monkeypatch.setitem(LENGTHS, name, lengths)
    with pytest.raises(ValueError, match=f"lengths must be from 0 to .*{said}"):
        run(model, kind, texts, lengths=True)


def test_sequences_of_vectors_take_lengths():
    model = classifier(5, 3, vectors=True, embedding=6, hidden=4).double().eval()
    vectors, lengths = torch.randn(2, 4, 5).double(), torch.tensor([4, 1])
    labels, mask = torch.full((2, 1), 3), torch.arange(4) < lengths[:, None]
    by_mask = model(vectors, mask, labels).outputs
    torch.testing.assert_close(model(vectors, None, labels, lengths=lengths).outputs, by_mask)
    everything = model(vectors, torch.ones_like(mask), labels).outputs
    torch.testing.assert_close(model(vectors, None, labels).outputs, everything)


def test_the_layers_of_models_take_lengths():
    x, lengths = torch.randn(3, 4, 5).double(), torch.tensor([4, 0, 2])
    mask = torch.arange(4) < lengths[:, None]
    network = Recurrent(5, 3, bidirectional=True).double()
    torch.testing.assert_close(network(x, lengths=lengths), network(x, mask))
    torch.testing.assert_close(
        bare_self_attention(x, lengths=lengths), bare_self_attention(x, mask)
    )
    with pytest.raises(ValueError, match="not both"):
        network(x, mask, lengths=lengths)
