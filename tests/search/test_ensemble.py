"""Several models as one: the mean of their probabilities."""

from __future__ import annotations

import pytest
import torch
from small_decoders import GruDecoder, TableDecoder, sources
from torch import nn

from regard.search import Ensemble, EnsembleDecoder, EnsembleEncoded, Search, score, search


class Model(nn.Module):
    """Sources are given as the first token; encoders differ by their seed."""

    def __init__(self, decoder: nn.Module, seed: int = 0):
        super().__init__()
        self.decoder, self.seed = decoder, seed

    def encode(self, source, mask):
        return sources(mask.sum(1).tolist(), seed=self.seed)


def settled(found):
    return [[(h.tokens, pytest.approx(h.score, abs=1e-4)) for h in row] for row in found]


MASK = torch.arange(5) < torch.tensor([3, 5, 2])[:, None]
SETTINGS = Search(beam=3, nbest=3, max_length=8, attention=True)


def test_one_model_and_the_same_model_twice_are_that_model():
    model = Model(GruDecoder(70))
    alone = search(model.decoder, model.encode(MASK.long(), MASK), SETTINGS)
    for count in (1, 2):
        ensemble = Ensemble([model] * count)
        found = search(ensemble.decoder, ensemble.encode(MASK.long(), MASK), SETTINGS)
        assert settled(found) == [[(h.tokens, h.score) for h in row] for row in alone]
        torch.testing.assert_close(found[0][0].attention, alone[0][0].attention)


def test_probabilities_are_averaged_and_so_is_the_attention():
    models = [Model(TableDecoder(70, seed=1)), Model(GruDecoder(70), seed=5)]
    ensemble = Ensemble(models)
    encoded = ensemble.encode(MASK.long(), MASK)
    tokens = torch.tensor([2, 2, 2])
    step = ensemble.decoder.step(tokens, ensemble.decoder.start(encoded), weights=True)
    each = [
        m.decoder.step(tokens, m.decoder.start(e), weights=True)
        for m, e in zip(models, encoded.members, strict=True)
    ]
    mean = sum(one.logits.softmax(-1) for one in each) / 2
    torch.testing.assert_close(step.logits.exp(), mean)
    mean = sum(one.attended.weights for one in each) / 2
    torch.testing.assert_close(step.attended.weights, mean)


def test_scoring_the_answer_of_an_ensemble_gives_its_score():
    ensemble = Ensemble([Model(TableDecoder(70, seed=1)), Model(GruDecoder(70), seed=5)])
    encoded = ensemble.encode(MASK.long(), MASK)
    for row, hypotheses in enumerate(search(ensemble.decoder, encoded, SETTINGS)):
        for h in hypotheses:
            one, targets = encoded.select(torch.tensor([row])), torch.tensor([h.tokens])
            log_probs = score(ensemble.decoder, one, targets, torch.ones_like(targets).bool())
            assert h.log_probs == pytest.approx(log_probs[0].tolist(), abs=1e-5)


def test_members_without_attention_leave_it_to_the_others():
    attending, silent = TableDecoder(70), TableDecoder(70, attends=False, seed=3)
    encoded = sources([3, 5])
    pair = EnsembleEncoded.of([encoded, encoded])
    (h, *_), *_ = search(EnsembleDecoder([attending, silent]), pair, SETTINGS)
    torch.testing.assert_close(h.attention.sum(1), torch.ones(len(h.tokens)))
    (h, *_), *_ = search(EnsembleDecoder([silent, silent]), pair, SETTINGS)
    assert h.attention is None


def test_the_modules_of_an_ensemble_are_its_models():
    models = [Model(GruDecoder(70)), Model(GruDecoder(70))]
    parameters = {id(p) for model in models for p in model.parameters()}
    assert {id(p) for p in Ensemble(models).parameters()} == parameters


def test_what_is_no_ensemble():
    encoded = sources([3])
    with pytest.raises(ValueError, match="at least one model"):
        EnsembleDecoder([])
    with pytest.raises(ValueError, match=r"ensemble of 1 decoders needs .* EnsembleEncoded.of"):
        search(EnsembleDecoder([TableDecoder()]), encoded)
    different = EnsembleDecoder([TableDecoder(70), TableDecoder(90)])
    with pytest.raises(ValueError, match="share a vocabulary; given vocabularies of 70, 90"):
        search(different, EnsembleEncoded.of([encoded, encoded]))
