"""Who computes causal attention on a GPU, and in which order: as numbers of a made-up device have it."""

import math

import pytest
import torch

from regard.attention.kernels import checked_sdpa, on_trial, tile_sizes
from regard.attention.region import Pattern

CACHE = 40 * 2**20  # bytes


@pytest.fixture
def device(monkeypatch):
    """132 multiprocessors of Hopper's kind, which share so much cache."""
    monkeypatch.setattr(tile_sizes, "multiprocessors", lambda _: 132)
    monkeypatch.setattr(tile_sizes, "_cache", lambda _: CACHE)
    monkeypatch.setattr(checked_sdpa, "_has_flash", lambda _: True)
    monkeypatch.setattr(checked_sdpa, "_capability", lambda _: (9, 0))
    monkeypatch.setattr(on_trial, "ON", {on_trial.CHECKED_SDPA})
    monkeypatch.setattr(torch.backends.cuda, "cudnn_sdp_enabled", lambda: True)


def heads(batch, count, length, size=64):
    return torch.empty(batch, count, length, size, dtype=torch.bfloat16, device="meta")


@pytest.mark.parametrize(
    ("shape", "many"),
    [
        ((1, 16, 2048), 132),
        ((1, 16, 8192), 132),  # 32 MiB of keys and values
        ((1, 16, 16384), 0),  # 64 MiB
        ((8, 16, 2048), 0),
        ((1, 2, 512), 0),  # 16 programs
    ],
)
def test_unequal_programs_are_dealt_out_where_all_heads_stay_in_the_cache(device, shape, many):
    key = heads(*shape)
    programs = math.prod(shape[:2]) * -(-shape[2] // 64)
    assert tile_sizes.dealt_out_to(programs, key, key) == many


@pytest.mark.parametrize(
    ("shape", "kernel"),
    [
        ((1, 16, 2048, 64), None),
        ((1, 16, 8192, 64), None),  # dealt out
        ((1, 16, 16384, 64), "cudnn"),
        ((1, 1, 8192, 64), "cudnn"),  # too few programs to be dealt out
        ((1, 16, 4096, 128), "cudnn"),  # wide heads were not measured
        ((8, 16, 2048, 64), None),
    ],
)
def test_causal_attention_is_ours_where_its_work_is_dealt_out(device, shape, kernel):
    x = heads(*shape)
    assert checked_sdpa.better_kernel(x, x, x, x.dtype, [Pattern(after=0)]) == kernel


def test_all_keys_are_torchs_from_its_length_on(device):
    for length, kernel in ((1024, None), (2048, "cudnn"), (8192, "cudnn")):
        x = heads(1, 16, length)
        assert checked_sdpa.better_kernel(x, x, x, x.dtype, [Pattern()]) == kernel
