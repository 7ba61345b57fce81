"""idx, the format of MNIST: two zeros, a type, how many axes, their sizes, and the numbers, all big-endian.

http://yann.lecun.com/exdb/mnist. Files are called train-images-idx3-ubyte, or end in .idx.
"""

from __future__ import annotations

import re
from typing import BinaryIO

import numpy as np

from regard.data.formats.arrays import ArrayHead, Arrays, read_exactly
from regard.data.formats.format import bare_name
from regard.words import t

TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_NAME = re.compile(r"[-.]idx[0-9]?(-[a-z]+)?$")


class Idx(Arrays):
    """Arrays of numbers."""

    def has(self, name: str) -> bool:
        return _NAME.search(bare_name(name)) is not None

    def head(self, stream: BinaryIO) -> ArrayHead:
        zeros, kind, axes = (start := read_exactly(stream, 4))[:2], start[2], start[3]
        if zeros != b"\0\0" or kind not in TYPES:
            raise ValueError(t("it is no idx file: those begin with two zeros and a type"))
        sizes = np.frombuffer(read_exactly(stream, 4 * axes), ">u4")
        return ArrayHead(np.dtype(TYPES[kind]), tuple(sizes.tolist()))
