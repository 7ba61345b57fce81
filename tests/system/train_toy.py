"""Run as a program by test_processes.py: train the toy as `regard train` does.

    python train_toy.py FOLDER DEVICES[xNODES[xCOMPILE]] EPOCHS ...

Several numbers of epochs are as many starts, each of which goes on where the one before ended.
"""

from __future__ import annotations

import sys
from pathlib import Path

from toy import toy_recipe

from regard.training.run import train


def split(places: str) -> tuple[int | str, int, str]:
    devices, *more = places.split("x")
    nodes, *compile = more or ["1"]
    return (
        devices if devices == "auto" else int(devices),
        int(nodes),
        compile[0] if compile else "auto",
    )


if __name__ == "__main__":
    folder, (devices, nodes, compile) = Path(sys.argv[1]), split(sys.argv[2])
    for epochs in map(int, sys.argv[3:]):
        recipe = toy_recipe(
            folder,
            training={"epochs": epochs, "validate_every": 4, "checkpoint_every": 3},
            trainer={
                "accelerator": "cpu",
                "devices": devices,
                "num_nodes": nodes,
                "compile": compile,
            },
        )
        train(recipe, folder / "run")
