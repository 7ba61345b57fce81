"""Hard against soft, general against self, static against dynamic attention, and attention led astray.

    python benchmarks/attention_contrasts.py                          # all five tables, minutes on a CPU
    python benchmarks/attention_contrasts.py --only hard --steps 4000 --seeds 5 --device cuda
    python benchmarks/attention_contrasts.py --only time corrupted --steps 4000 --device cuda

hard       One of 20 keys is asked for, by a fixed rotation of it that must be learnt, and the class of its
           value told (chance: 10 %). A column is an accuracy after so many updates, in evaluation, where hard
           and Gumbel attention take the best key. `reads`: values that enter one answer.
kind       The same in two ways: the key is asked for from outside, or it is the one with a mark on it. An
           attention of kind self never sees the question; what it can tell is which class is frequent.
time       A sequence of letters is written again, backwards, by a recurrent encoder and decoder: dynamic
           attention, static attention, dynamic with even weights from the start, and none. Accuracy of the
           letters, by length.
width      The same, 20 letters, by how wide the states of the encoder are: what one vector holds is a
           matter of its width, what attention finds again is not.
corrupted  The dynamic model of `time`, its weights replaced at every step while it writes: even, in another
           order, or those of the step before.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import regard
from regard.attention.recording import recording
from regard.attention.steering import Steer, steering
from regard.layers.special_tokens import BOS, PAD
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.presets import recurrent
from regard.pooling import AttentionPooling

KEYS, CLASSES, SIZE = 20, 10, 8
LETTERS, SPECIAL = 26, 4
LENGTHS = (5, 10, 20)
WIDTHS = (16, 32, 64, 128)
Draw = Callable[[int], "Asked"]


@dataclass(frozen=True)
class Asked:
    """Which key is meant, and the class of its value."""

    query: Tensor  # (B, 1, SIZE)
    states: Tensor  # (B, KEYS, SIZE + 1 + CLASSES): key, mark, value
    answer: Tensor  # (B,)


def question(device: str, *, marked: bool = False) -> Draw:
    """marked: the key has a mark of 1, and the query says nothing."""
    fixed = torch.Generator().manual_seed(7)
    turn = torch.linalg.qr(torch.randn(SIZE, SIZE, generator=fixed)).Q.to(device)

    def draw(batch: int) -> Asked:
        keys = torch.randn(batch, KEYS, SIZE, device=device)
        values = torch.randint(CLASSES, (batch, KEYS), device=device)
        rows, wanted = torch.arange(batch), torch.randint(KEYS, (batch,), device=device)
        mark = torch.zeros(batch, KEYS, 1, device=device)
        if marked:
            mark[rows, wanted] = 1.0
        query = torch.randn(batch, SIZE, device=device) if marked else keys[rows, wanted] @ turn
        states = torch.cat([keys, mark, F.one_hot(values, CLASSES).float()], -1)
        return Asked(query[:, None], states, values[rows, wanted])

    return draw


class Reader(nn.Module):
    """An attention over the states, and a class from what it read."""

    def __init__(self, normalize: str = "softmax", *, kind: str = "general") -> None:
        super().__init__()
        states = SIZE + 1 + CLASSES
        self.attention: nn.Module
        if kind == "general":
            self.attention = regard.Attention(
                SIZE, states, score="additive(32)", normalize=normalize
            )
        else:
            self.attention = AttentionPooling(states, hidden=32, normalize=normalize)
        self.output = nn.Linear(states, CLASSES)

    def forward(self, asked: Asked) -> tuple[Tensor, object]:
        if isinstance(self.attention, AttentionPooling):
            return self.output(self.attention(asked.states).vector), None
        attended = self.attention(asked.query, asked.states)
        return self.output(attended.context.squeeze(1)), attended.choice


def curve(
    model: Reader, draw: Draw, given: argparse.Namespace, reinforce: nn.Module | None = None
) -> Iterator[float]:
    """The accuracy at each of the checks, in percent."""
    model.to(given.device).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(1, given.steps + 1):
        asked = draw(given.batch)
        logits, choice = model(asked)
        likely = -F.cross_entropy(logits, asked.answer, reduction="none")  # (B,)
        loss = -likely.mean()
        if reinforce is not None:
            loss = loss + reinforce(choice, likely[:, None])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in checks(given.steps):
            model.eval()
            with torch.no_grad():
                asked = draw(4000)
                yield 100 * (model(asked)[0].argmax(-1) == asked.answer).float().mean().item()
            model.train()


def checks(steps: int) -> list[int]:
    return [steps // 16, steps // 8, steps // 4, steps // 2, steps]


def table(
    name: str,
    rows: dict[str, Callable[[], Iterator[float]]],
    given: argparse.Namespace,
    heads: list[object],
    extra: dict[str, str] | None = None,
) -> None:
    extra = extra or {}
    print(f"\n{name}")
    last = f"{'reads':>8}" if extra else ""
    print(f"{'':<40}" + "".join(f"{head!s:>9}" for head in heads) + last)
    for title, run in rows.items():
        found = []
        for seed in range(1, given.seeds + 1):
            torch.manual_seed(seed)
            found.append(list(run()))
        means = [statistics.mean(column) for column in zip(*found, strict=True)]
        cells = "".join(f"{mean:>9.1f}" for mean in means)
        print(f"{title:<40}{cells}" + (f"{extra[title]:>8}" if extra else ""), flush=True)


def hard(given: argparse.Namespace) -> None:
    draw, estimate = question(given.device), regard.Reinforce
    straight = "gumbel(0.5, straight_through=true)"
    rows = {
        "soft": lambda: curve(Reader(), draw, given),
        "Gumbel, straight through": lambda: curve(Reader(straight), draw, given),
        "Gumbel": lambda: curve(Reader("gumbel(0.5)"), draw, given),
        "hard, REINFORCE, moving baseline": lambda: curve(
            Reader("hard"), draw, given, estimate("moving").to(given.device)
        ),
        "hard place, soft window of 3, REINFORCE": lambda: curve(
            Reader("hard(1)"), draw, given, estimate("moving").to(given.device)
        ),
        "hard, REINFORCE, no baseline": lambda: curve(Reader("hard"), draw, given, estimate(None)),
    }
    few = {"Gumbel, straight": "1", "hard, ": "1", "hard place": "3"}
    reads = {
        title: next((n for start, n in few.items() if title.startswith(start)), f"{KEYS}")
        for title in rows
    }
    table(f"hard: accuracy, %, one of {KEYS} keys", rows, given, [*checks(given.steps)], reads)


def kind(given: argparse.Namespace) -> None:
    asked, marked = question(given.device), question(given.device, marked=True)
    rows = {
        "asked from outside, general": lambda: curve(Reader(), asked, given),
        "asked from outside, self": lambda: curve(Reader(kind="self"), asked, given),
        "marked, general": lambda: curve(Reader(), marked, given),
        "marked, self": lambda: curve(Reader(kind="self"), marked, given),
    }
    table(f"kind: accuracy, %, one of {KEYS} keys", rows, given, [*checks(given.steps)])


def letters(batch: int, length: int, device: str) -> tuple[Tensor, Tensor, Tensor]:
    """Source, inputs and outputs of a decoder that writes the source backwards."""
    source = torch.randint(SPECIAL, SPECIAL + LETTERS, (batch, length), device=device)
    outputs = source.flip(1)
    inputs = torch.cat([torch.full_like(outputs[:, :1], BOS), outputs[:, :-1]], 1)
    return source, inputs, outputs


def writer(
    attention: dict[str, object] | None, given: argparse.Namespace, *, width: int = 64
) -> EncoderDecoder:
    """A model that has learnt to write letters backwards, of all lengths up to the longest."""
    size = SPECIAL + LETTERS
    how = {"embedding": 32, "hidden": width, "attention": attention}
    model = recurrent(size, size, **how).to(given.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    model.train()
    for step in range(given.steps):
        source, inputs, outputs = letters(given.batch, 1 + step % max(LENGTHS), given.device)
        decoded = model(source, source != PAD, inputs)
        logits = model.decoder.project(decoded.outputs)
        loss = F.cross_entropy(logits.flatten(0, 1), outputs.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


def right(model: EncoderDecoder, source: Tensor, inputs: Tensor, outputs: Tensor) -> float:
    """Percent of the letters that are told, those before them given."""
    logits = model.decoder.project(model(source, source != PAD, inputs).outputs)
    return 100 * (logits.argmax(-1) == outputs).float().mean().item()


@torch.no_grad()
def by_length(model: EncoderDecoder, given: argparse.Namespace) -> list[float]:
    return [right(model, *letters(200, length, given.device)) for length in LENGTHS]


def time(given: argparse.Namespace) -> None:
    rows = {
        "dynamic": lambda: iter(by_length(writer({}, given), given)),
        "static": lambda: iter(by_length(writer({"dynamic": False}, given), given)),
        "even": lambda: iter(by_length(writer({"normalize": "uniform"}, given), given)),
        "none": lambda: iter(by_length(writer(None, given), given)),
    }
    table("time: letters right, %, by length", rows, given, [*LENGTHS])


def width(given: argparse.Namespace) -> None:
    def by_width(attention: dict[str, object] | None) -> Iterator[float]:
        for width in WIDTHS:
            yield by_length(writer(attention, given, width=width), given)[-1]

    rows: dict[str, Callable[[], Iterator[float]]] = {
        "dynamic": lambda: by_width({}),
        "none": lambda: by_width(None),
    }
    table(f"width: {LENGTHS[-1]} letters right, %, by width", rows, given, [*WIDTHS])


@torch.no_grad()
def led(
    model: EncoderDecoder, change: Callable[[Tensor], Tensor], given: argparse.Namespace
) -> list[float]:
    """With other weights than its own, made of its own by `change`: (B, T, S) -> (B, T, S)."""
    found = []
    for length in LENGTHS:
        batch = letters(200, length, given.device)
        with recording(model) as recorded:
            model(batch[0], batch[0] != PAD, batch[1])
        own = torch.cat([each.weights for each in recorded], -2)  # a call for each step
        rows = torch.ones(own.shape[:2], dtype=torch.bool, device=own.device)
        with steering(model, {recorded[0].name: Steer(change(own), rows)}):
            found.append(right(model, *batch))
    return found


def corrupted(given: argparse.Namespace) -> None:
    models: dict[int, EncoderDecoder] = {}

    def own() -> EncoderDecoder:
        seed = torch.initial_seed()  # a model for each, whatever is done to it
        if seed not in models:
            models[seed] = writer({}, given)
        return models[seed]

    def mixed(weights: Tensor) -> Tensor:
        return weights[..., torch.randperm(weights.shape[-1], device=weights.device)]

    changes: dict[str, Callable[[Tensor], Tensor]] = {
        "its own weights": lambda w: w,
        "even": lambda w: torch.full_like(w, 1 / w.shape[-1]),
        "in another order": mixed,
        "those of the step before": lambda w: torch.cat([w[:, :1], w[:, :-1]], 1),
    }
    rows: dict[str, Callable[[], Iterator[float]]] = {
        title: lambda change=change: iter(led(own(), change, given))
        for title, change in changes.items()
    }
    table("corrupted: letters right, %, by length", rows, given, [*LENGTHS])


TABLES = {"hard": hard, "kind": kind, "time": time, "width": width, "corrupted": corrupted}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--steps", type=int, default=800, help="updates of each model")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    for name in given.only:
        TABLES[name](given)


if __name__ == "__main__":
    main()
