"""JoeyNMT 2.3.0 behind a pipe, run by the Python of its own environment, for `toolkit.py`.

    python joeynmt_process.py FOLDER THREADS

FOLDER holds the pairs (train.src, train.trg, test.src, test.trg), tokens written as numbers, and the
vocabularies (vocab.src, vocab.trg). Commands come on standard input, one JSON answer to each goes out:

    train SECONDS     updates as its TrainManager makes them, for so long
    load FILE.npz     weights by its own names
    translate         its `predict` over the test pairs, by beam 5

It needs small repairs to run today: `pip install joeynmt==2.3.0 importlib_metadata "setuptools<80"`, and the
line with "verbose" removed from its builders.py.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

RECURRENT = {"type": "recurrent", "rnn_type": "gru", "hidden_size": 256, "num_layers": 1, "dropout": 0.2,
             "embeddings": {"embedding_dim": 256, "dropout": 0.2}}  # fmt: skip
MODEL = {
    "initializer": "xavier_uniform", "embed_initializer": "normal", "embed_init_weight": 0.1,
    "bias_initializer": "zeros", "tied_softmax": False,
    "encoder": {**RECURRENT, "bidirectional": True},
    "decoder": {**RECURRENT, "hidden_dropout": 0.2, "input_feeding": True,
                "init_hidden": "bridge", "attention": "bahdanau"},
}  # fmt: skip


def configuration(folder: Path) -> dict[str, Any]:
    """The model and the training of `toolkit.py`, in JoeyNMT's words; the rest are its defaults."""
    side = {"max_length": 60, "lowercase": False, "normalize": False, "level": "word",
            "tokenizer_cfg": {"pretokenizer": "none"}}  # fmt: skip
    return {
        "name": "toolkit",
        "model_dir": str(folder / "joeynmt"),
        "use_cuda": False,
        "fp16": False,
        "random_seed": 42,
        "data": {
            "train": str(folder / "train"),
            "dev": str(folder / "test"),
            "test": str(folder / "test"),
            "dataset_type": "plain",
            "src": {"lang": "src", "voc_file": str(folder / "vocab.src"), **side},
            "trg": {"lang": "trg", "voc_file": str(folder / "vocab.trg"), **side},
            "special_symbols": {"unk_token": "<unk>", "unk_id": 0, "pad_token": "<pad>", "pad_id": 1,
                                "bos_token": "<s>", "bos_id": 2, "eos_token": "</s>", "eos_id": 3},
        },
        "testing": {"n_best": 1, "beam_size": 5, "beam_alpha": 1.0, "max_output_length": 60,
                    "batch_size": 64, "batch_type": "sentence", "return_prob": "none",
                    "eval_metrics": []},
        "training": {
            "optimizer": "adamw", "learning_rate": 0.001, "weight_decay": 0.0, "clip_grad_norm": 1.0,
            "batch_size": 64, "batch_type": "sentence", "shuffle": True, "epochs": 1000,
            "loss": "crossentropy", "label_smoothing": 0.1, "normalization": "tokens",
            "early_stopping_metric": "loss", "scheduling": "plateau", "overwrite": True,
        },
        "model": MODEL,
    }  # fmt: skip


class Peer:
    """JoeyNMT's own objects, and its loop of updates without logging, validation and checkpoints."""

    def __init__(self, settings: dict[str, Any]) -> None:
        from joeynmt.config import parse_global_args  # type: ignore[import-not-found]
        from joeynmt.prediction import prepare  # type: ignore[import-not-found]
        from joeynmt.training import TrainManager  # type: ignore[import-not-found]

        Path(settings["model_dir"]).mkdir()
        self.args = parse_global_args(settings, rank=0, mode="train")
        self.model, self.train_data, _, self.test_data = prepare(self.args, rank=0, mode="train")
        self.manager = TrainManager(
            rank=0,
            model=self.model,
            model_dir=self.args.model_dir,
            device=self.args.device,
            autocast=self.args.autocast,
            train_args=self.args.train,
            dev_args=self.args.test,
        )
        self.batches = self._batches()

    def _batches(self) -> Iterator[Any]:
        ids = {"pad_index": self.model.pad_index, "eos_index": self.model.eos_index}
        given = self.train_data.make_iter(
            batch_size=64, shuffle=True, device=self.args.device, **ids
        )
        for epoch in range(1000):
            given.batch_sampler.set_seed(epoch)
            yield from given

    def train(self, seconds: float) -> dict[str, float]:
        tokens, start, cpu = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - start < seconds:
            batch = next(self.batches)
            tokens += int(batch.ntokens)
            self.manager._train_step(batch)
            self.manager.clip_grad_fun(parameters=self.model.parameters())
            self.manager.optimizer.step()
            self.model.zero_grad()
        return _spent(start, cpu) | {"tokens": tokens}

    def load(self, path: str) -> dict[str, float]:
        weights = {name: torch.from_numpy(value) for name, value in np.load(path).items()}
        self.model.load_state_dict(weights)
        return {}

    def translate(self) -> dict[str, Any]:
        from joeynmt.prediction import predict

        start, cpu = time.perf_counter(), time.process_time()
        _, _, _, said, _, _ = predict(
            model=self.model,
            data=self.test_data,
            device=self.args.device,
            n_gpu=0,
            args=self.args.test,
            autocast=self.args.autocast,
        )
        spent = _spent(start, cpu)
        words = [[int(token) for token in one if token.isdigit()] for one in said]
        return spent | {"translations": words}


def _spent(start: float, cpu: float) -> dict[str, float]:
    return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


def serve(configure: Callable[[Path], dict[str, Any]]) -> None:
    """Answer what is asked on standard input, until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what it prints itself is not an answer
    torch.set_num_threads(int(sys.argv[2]))
    peer = Peer(configure(Path(sys.argv[1])))
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        command, *words = line.split()
        if command == "train":
            answer = peer.train(float(words[0]))
        elif command == "load":
            answer = peer.load(words[0])
        else:
            answer = peer.translate()
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(configuration)
