"""JoeyNMT 2.3.0 behind a pipe, as `joeynmt_process.py` has it, with the Transformer of `transformer.py`.

python joeynmt_transformer.py FOLDER THREADS
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from joeynmt_process import MODEL, configuration, serve

BLOCKS = {"type": "transformer", "num_layers": 4, "num_heads": 4, "hidden_size": 256,
          "ff_size": 1024, "dropout": 0.1, "layer_norm": "pre",
          "embeddings": {"embedding_dim": 256, "scale": True, "dropout": 0.1}}  # fmt: skip


def transformer(folder: Path) -> dict[str, Any]:
    given = configuration(folder)
    search = given["testing"] | {"beam_alpha": 0, "min_output_length": 0}
    return given | {"model": MODEL | {"encoder": BLOCKS, "decoder": BLOCKS}, "testing": search}


if __name__ == "__main__":
    serve(transformer)
