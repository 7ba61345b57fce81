"""What regard's Transformer costs to train, beside the same one on plain SDPA, on one GPU.

    python benchmarks/transformer_cuda.py                             # needs nothing of regard but its models
    python benchmarks/transformer_cuda.py --only bfloat16
    python benchmarks/transformer_cuda.py --device cpu --tiny          # whether it runs

Base size: d 512, 8 heads, 6 + 6 layers, inner 2,048, 32,000 tokens, pre-norm, dropout 0.1, label smoothing
0.1, ragged sentences. A step is forward, loss and backward; "+ AdamW": and the fused optimiser. Both load
the same weights, and their outputs are compared first. They take turns of a few steps; numbers are
medians, a ratio above 1 is in our favour. float32 is TF32, bfloat16 is autocast.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.models.transformer import TransformerDecoder
from regard.models.transformer_models import transformer
from transformer_parts.plain_transformer import PlainTransformer, largest_difference

PAD, BOS, FIRST = 0, 2, 4
DROPOUT, SMOOTHING = 0.1, 0.1
STEPS = 3  # in a turn


class Size(NamedTuple):
    vocabulary: int
    size: int
    heads: int
    inner: int
    layers: int
    batches: tuple[tuple[int, int], ...]  # sentences, tokens


BASE = Size(32_000, 512, 8, 2048, 6, ((64, 64), (8, 1024)))
TINY = Size(50, 32, 4, 64, 2, ((4, 12), (2, 24)))


class Batch(NamedTuple):
    source: Tensor
    mask: Tensor
    inputs: Tensor
    wanted: Tensor


def make_batch(size: Size, sentences: int, tokens: int, device: str) -> Batch:
    """Random tokens; a length is anything from half of the longest on."""
    sides = []
    for _ in range(2):
        ids = torch.randint(FIRST, size.vocabulary, (sentences, tokens))
        lengths = torch.randint(tokens // 2, tokens + 1, (sentences, 1))
        lengths[0] = tokens
        sides.append(ids.masked_fill(torch.arange(tokens) >= lengths, PAD).to(device))
    source, wanted = sides
    inputs = torch.cat([torch.full_like(wanted[:, :1], BOS), wanted[:, :-1]], 1)
    return Batch(source, source != PAD, inputs, wanted)


class Regard(nn.Module):
    """regard's model, from tokens to logits."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.model = transformer(
            size.vocabulary,
            size.vocabulary,
            size=size.size,
            heads=size.heads,
            inner=size.inner,
            encoder_layers=size.layers,
            decoder_layers=size.layers,
            share="all",
            dropout=DROPOUT,
        )

    def forward(self, source: Tensor, mask: Tensor, inputs: Tensor) -> Tensor:
        outputs = self.model(source, mask, inputs).outputs
        return cast(TransformerDecoder, self.model.decoder).project(outputs)


class Criterion(nn.Module):
    """The loss of a model's logits: what is compiled as one."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> Tensor:
        logits = self.model(*batch[:3]).flatten(0, 1)
        return F.cross_entropy(
            logits.float(), batch.wanted.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING
        )


class Steps:
    """One contender: turns of steps, with and without the optimiser."""

    def __init__(self, model: nn.Module, batch: Batch, half: bool, *, compiled: bool) -> None:
        self.batch, self.half = batch, half
        criterion = Criterion(model.train())
        self.loss = cast(
            Callable[[Batch], Tensor], torch.compile(criterion) if compiled else criterion
        )
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def turn(self, *, updating: bool) -> float:
        """Milliseconds a step."""
        device = self.batch.source.device
        _wait(device)
        start = time.perf_counter()
        for _ in range(STEPS):
            self.optimizer.zero_grad()
            with torch.autocast(device.type, torch.bfloat16, enabled=self.half):
                loss = self.loss(self.batch)
            loss.backward()
            if updating:
                self.optimizer.step()
        _wait(device)
        return (time.perf_counter() - start) * 1000 / STEPS


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def compare(regard: Regard, plain: PlainTransformer, batch: Batch) -> float:
    """The largest difference of the logits of real positions, without dropout."""
    regard.eval()
    plain.eval()
    real = batch.wanted != PAD
    with torch.no_grad():
        return largest_difference(regard(*batch[:3])[real], plain(*batch[:3])[real])


def rows(size: Size, half: bool, rounds: int, device: str) -> Iterator[str]:
    precision = "bfloat16" if half else "float32"
    for sentences, tokens in size.batches:
        batch = make_batch(size, sentences, tokens, device)
        regard = Regard(size).to(device)
        plain = PlainTransformer(*size[:5], DROPOUT).to(device)
        plain.load_state_dict(regard.model.state_dict())
        error = compare(regard, plain, batch)
        for compiled in (True, False):
            pair = [Steps(model, batch, half, compiled=compiled) for model in (regard, plain)]
            for updating in (False, True):
                mine, theirs = in_turns(pair, rounds, updating=updating)
                ratio = median(b / a for a, b in zip(mine, theirs, strict=True))
                kind = f"{'compiled' if compiled else 'eager'}{', + AdamW' if updating else ''}"
                yield (
                    f"| {sentences} × {tokens} {precision}, {kind} | {median(mine):.2f} "
                    f"| {median(theirs):.2f} | {ratio:.3f} | {error:.0e} |"
                )
        torch.compiler.reset()


def in_turns(pair: list[Steps], rounds: int, *, updating: bool) -> tuple[list[float], list[float]]:
    """Some turns to warm up (and compile), then the rounds, every other one backwards."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(-3, rounds):
        for place in (0, 1) if number % 2 else (1, 0):
            milliseconds = pair[place].turn(updating=updating)
            if number >= 0:
                times[place].append(milliseconds)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--only", choices=["bfloat16", "float32"])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--layers", type=int, help="of each half; compiling takes time with many")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")  # TF32
    size = TINY if options.tiny else BASE
    size = size._replace(layers=options.layers or size.layers)
    place = torch.cuda.get_device_name() if options.device == "cuda" else options.device
    print(f"torch {torch.__version__}, {place}\n")
    print("| step | regard ms | plain SDPA ms | ratio | largest difference |")
    print("| --- | --- | --- | --- | --- |")
    for precision in ("bfloat16", "float32") if options.only is None else (options.only,):
        for row in rows(size, precision == "bfloat16", options.rounds, options.device):
            print(row, flush=True)
    breaks = torch._dynamo.utils.counters["graph_break"]
    print(f"\ngraph breaks while compiling: {dict(breaks) or 'none'}")


if __name__ == "__main__":
    main()
