"""The same search on a GPU, which waits for it once a step."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from small_decoders import GruDecoder, sources

from regard.search import Search, search

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.mark.parametrize(
    "settings",
    [
        Search(nbest=3, coverage_penalty=0.2, no_repeat_ngram=2, attention=True, max_length=15),
        Search(method="sample", nbest=3, top_p=0.9, attention=True, max_length=15),
    ],
    ids=["beam", "sample"],
)
def test_a_gpu_finds_the_same(settings):
    decoder, encoded = GruDecoder(150), sources([5, 1, 8, 3])
    prefix = [[], [9], [], [7, 8]]
    wanted = search(decoder, encoded, settings, prefix=prefix)
    there = dataclasses.replace(
        encoded, **{name: getattr(encoded, name).cuda() for name in ("states", "mask", "summary")}
    )
    found = search(decoder.cuda(), there, settings, prefix=prefix)
    for a, b in zip(found, wanted, strict=True):
        assert [h.tokens for h in a] == [h.tokens for h in b]
        for h, k in zip(a, b, strict=True):
            assert h.score == pytest.approx(k.score, abs=1e-4)
            torch.testing.assert_close(h.attention, k.attention, atol=1e-4, rtol=1e-4)
