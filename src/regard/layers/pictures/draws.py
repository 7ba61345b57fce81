"""Numbers drawn by keys: the same on every machine and device, in every batch, and in any order.

A generator gives another number to the same picture whenever the batch, the device or the number of
processes changes. Here each picture has a key, and the n-th number of a key is a function of both:
splitmix64 (Steele, Lea and Flood 2014), in whole numbers of 64 bits.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_GOLDEN = -7046029254386353131  # 0x9E3779B97F4A7C15, as all whole numbers here, with a sign
_FIRST, _SECOND = (
    -4658895280553007687,
    -7723592293110705685,
)  # 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_DIGITS = 24  # bits that float32 has


def mixed(keys: Tensor) -> Tensor:
    """int64 -> int64, one to one: neighbours become strangers."""
    keys = keys + _GOLDEN
    keys = (keys ^ _shifted(keys, 30)) * _FIRST
    keys = (keys ^ _shifted(keys, 27)) * _SECOND
    return keys ^ _shifted(keys, 31)


def keys_of(pictures: Tensor, *also: int) -> Tensor:
    """(B,): of what is in the pictures (B, ...), in steps of 1 / 255, and of further numbers.

    Pictures that are equal have one key; further numbers (a seed, an epoch) give them others.
    """
    pixels = (pictures.detach().flatten(1).double() * 255).round().long()
    places = mixed(torch.arange(pixels.shape[1], device=pixels.device)) | 1
    keys = (pixels * places).sum(1)
    for number in also:  # mixed here: nobody waits for another device
        keys = mixed(keys ^ int(mixed(torch.tensor(number))))
    return mixed(keys)


def salted(keys: Tensor, salt: Tensor) -> Tensor:
    """(B,), and one number, (1,): other keys for every salt."""
    return mixed(keys ^ mixed(salt))


def uniform(keys: Tensor, count: int) -> Tensor:
    """(B,) -> (B, count) float32 in [0, 1)"""
    numbers = mixed(keys[:, None] + _GOLDEN * torch.arange(1, count + 1, device=keys.device))
    return _shifted(numbers, 64 - _DIGITS).float() / 2**_DIGITS


def whole(keys: Tensor, count: int, below: int) -> Tensor:
    """(B,) -> (B, count) int64 in 0 … below - 1"""
    return (uniform(keys, count).double() * below).long()


def normal(keys: Tensor, count: int) -> Tensor:
    """(B,) -> (B, count) float32 of mean 0 and deviation 1, by the rule of Box and Muller"""
    far, turn = uniform(keys, 2 * count).chunk(2, 1)
    return (-2 * torch.log1p(-far)).sqrt() * (2 * math.pi * turn).cos()


def _shifted(numbers: Tensor, bits: int) -> Tensor:
    """To the right, with zeros from the left."""
    return (numbers >> bits) & ((1 << (64 - bits)) - 1)
