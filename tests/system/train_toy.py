"""Run as a program by test_processes.py: train the toy as `regard train` does.

    python train_toy.py FOLDER DEVICES EPOCHS ...

Several numbers of epochs are as many starts, each of which goes on where the one before ended.
"""

from __future__ import annotations

import sys
from pathlib import Path

from toy import toy_recipe

from regard.training.run import train

if __name__ == "__main__":
    folder, devices = Path(sys.argv[1]), int(sys.argv[2])
    for epochs in map(int, sys.argv[3:]):
        recipe = toy_recipe(
            folder,
            training={"epochs": epochs, "validate_every": 4, "checkpoint_every": 3},
            trainer={"accelerator": "cpu", "devices": devices},
        )
        train(recipe, folder / "run")
