"""JoeyNMT 2.3.0 behind a pipe, as `toolkit_joeynmt.py` has it, with the Transformer of `transformer.py`.

python transformer_joeynmt.py FOLDER THREADS LIMIT

LIMIT: tokens of a translation at most; -1, its default: 1.5 times the longest source of a batch.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from toolkit_joeynmt import MODEL, configuration, serve

BLOCKS = {"type": "transformer", "num_layers": 4, "num_heads": 4, "hidden_size": 256,
          "ff_size": 1024, "dropout": 0.1, "layer_norm": "pre",
          "embeddings": {"embedding_dim": 256, "scale": True, "dropout": 0.1}}  # fmt: skip


def transformer(folder: Path) -> dict[str, Any]:
    given = configuration(folder)
    limit = int(sys.argv[3])
    search = given["testing"] | {
        "beam_alpha": 0,
        "min_output_length": 0,
        "max_output_length": limit,
    }
    return given | {"model": MODEL | {"encoder": BLOCKS, "decoder": BLOCKS}, "testing": search}


if __name__ == "__main__":
    serve(transformer)
