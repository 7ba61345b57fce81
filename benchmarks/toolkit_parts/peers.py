"""What regard is compared with in `toolkit.py`: the plain loop, and JoeyNMT in a process of its own."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.data.examples import read_pairs
from regard.data.padding import pad
from regard.data.store import Store
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import SPECIALS
from toolkit_parts.plain_translator import PlainTranslator, beam_search, learn
from toolkit_parts.regard_translator import BATCH

TEST = "tatoeba-zh-en:test"
BEAM, LONGEST = 5, 60


class Turn(NamedTuple):
    done: int  # tokens or sentences
    seconds: float
    cpu: float  # seconds, of all threads


def timed(work: Callable[[], int]) -> Turn:
    start, cpu = time.perf_counter(), time.process_time()
    done = work()
    return Turn(done, time.perf_counter() - start, time.process_time() - cpu)


class PlainLoop:
    def __init__(self, store: Store, source: int, target: int) -> None:
        self.store, self.model = store, PlainTranslator(source, target)
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.rows = self._random_rows()

    def _random_rows(self) -> Iterator[list[int]]:
        while True:
            for rows in torch.randperm(len(self.store)).split(BATCH):
                yield rows.tolist()

    def train(self, seconds: float) -> int:
        start, tokens = time.perf_counter(), 0
        self.model.train()
        while time.perf_counter() - start < seconds:
            pairs = [self.store.example(row) for row in next(self.rows)]
            source, mask = pad([pair["source"][0] for pair in pairs])
            target, _ = pad([pair["target"][0] for pair in pairs], bos=True)
            tokens += learn(self.model, self.optimizer, source, mask.sum(1), target)
        return tokens

    def translate(self, sources: list[list[int]]) -> list[list[int]]:
        said: list[list[int]] = []
        self.model.eval()
        for start in range(0, len(sources), BATCH):
            source, mask = pad(sources[start : start + BATCH])
            said += beam_search(self.model, source, mask.sum(1), BEAM, LONGEST)
        return said


class JoeyNMT:
    """The other process: `joeynmt_process.py`, or another script that answers as it does."""

    def __init__(self, python: str, folder: Path, script: str = "joeynmt_process.py") -> None:
        self.folder, self.log = folder, folder / "joeynmt.log"
        path, threads = Path(__file__).with_name(script), torch.get_num_threads()
        command = [python, str(path), str(folder), str(threads)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"JoeyNMT ended. It said:\n{self.log.read_text()[-3000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, command: str) -> dict[str, Any]:
        print(command, file=self.process.stdin, flush=True)
        return self._answer()

    def close(self) -> None:
        self.process.communicate()

    def train(self, seconds: float) -> Turn:
        answer = self.ask(f"train {seconds}")
        return Turn(answer["tokens"], answer["seconds"], answer["cpu"])

    def translate(self) -> tuple[Turn, list[list[int]]]:
        answer = self.ask("translate")
        said: list[list[int]] = answer["translations"]
        return Turn(len(said), answer["seconds"], answer["cpu"]), said

    def load(self, weights: Mapping[str, Tensor]) -> None:
        """Weights by its own names."""
        arrays: dict[str, Any] = {name: x.numpy() for name, x in weights.items()}
        np.savez(self.folder / "weights.npz", **arrays)
        self.ask(f"load {self.folder / 'weights.npz'}")


def joeynmt_weights(plain: PlainTranslator) -> dict[str, Tensor]:
    """The weights of the plain model, which is the same one."""
    names = {
        "source": "src_embed.lut",
        "target": "trg_embed.lut",
        "encoder": "encoder.rnn",
        "bridge": "decoder.bridge_layer",
        "cell": "decoder.rnn",
        "keys": "decoder.attention.key_layer",
        "query": "decoder.attention.query_layer",
        "energy": "decoder.attention.energy_layer",
        "mix": "decoder.att_vector_layer",
        "output": "decoder.output_layer",
    }
    weights = {}
    for name, value in plain.state_dict().items():
        module, part = name.split(".")
        if module in ("source", "target", "output"):
            value = joeynmt_rows(value)
        weights[f"{names[module]}.{part}{'_l0' if module == 'cell' else ''}"] = value
    return weights


def joeynmt_rows(matrix: Tensor) -> Tensor:
    """Its vocabularies begin with UNK, PAD, not with PAD, UNK."""
    return torch.cat([matrix[[1, 0]], matrix[2:]])


def write_for_joeynmt(folder: Path, store: Store, source: Tokenizer, target: Tokenizer) -> None:
    """The same tokens as text, every one written as its number; and the vocabularies."""
    train = [store.example(row) for row in range(len(store))]
    test = list(read_pairs(TEST))
    sides = {"src": ("source", source), "trg": ("target", target)}
    for name, (field, tokenizer) in sides.items():
        learnt = (example[field][0] for example in train)
        tested = tokenizer.encode_ids([getattr(pair, field) for pair in test])
        _write_lines(folder / f"train.{name}", (" ".join(map(str, ids)) for ids in learnt))
        _write_lines(folder / f"test.{name}", (" ".join(map(str, ids)) for ids in tested))
        numbers = map(str, range(len(SPECIALS), len(tokenizer)))
        _write_lines(folder / f"vocab.{name}", (*SPECIALS, *numbers))


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
