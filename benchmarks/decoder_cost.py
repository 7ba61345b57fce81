"""What attention costs a recurrent decoder: parameters, products, time and memory, with it and without.

    python benchmarks/decoder_cost.py                                # small, minutes on a CPU
    python benchmarks/decoder_cost.py --device cuda --hidden 512 --vocabulary 16000 --lengths 10 20 50 100 200

Models of one width: one vector for the whole source (no attention), static attention, and dynamic attention
by two scores and in two places. `products`: multiplications and additions of one decoder step, counted from
the sizes of what it multiplies, for sources S of the first length and of the last. A matrix has 2 for each
weight; a context 2 · S · D; scores 2 · S · D where they are products, 4 · S · a where they are additive of
width a. Keys are projected once a sentence, which is not counted. Then milliseconds of an update by batch and
length, source and target equally long, the median of --rounds after one that warms up; the most memory it
took (on a GPU); and milliseconds a token of greedy decoding. On a CPU they are of one thread's own time.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from regard.attention.scores import Additive
from regard.layers.special_tokens import BOS
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.presets import recurrent

FIXED: dict[str, Any] = {"attention": None, "feed": ["initial", "step", "readout"]}
KINDS: dict[str, dict[str, Any]] = {
    "no attention": FIXED,
    "static, additive": {"attention": {"dynamic": False}},
    "additive": {},
    "bilinear": {"attention": {"score": "bilinear"}},
    "bilinear, after the cell": {"attention": {"score": "bilinear"}, "place": "after"},
}


def built(name: str, given: argparse.Namespace) -> EncoderDecoder:
    torch.manual_seed(1)
    size = given.vocabulary
    how = {"hidden": given.hidden, "embedding": given.hidden, **KINDS[name]}
    return recurrent(size, size, **how).to(given.device)


def products(model: EncoderDecoder, source: int) -> float:
    """Of a decoder step, in millions."""
    decoder: Any = model.decoder
    attention = decoder.attention
    once = {id(p) for p in decoder.embed.parameters()}  # looked up
    for part in (decoder.bridge, decoder.summary):  # multiplied once a sentence
        once |= {id(p) for p in part.parameters()}
    if attention is not None:
        if decoder.static:
            once |= {id(p) for p in attention.parameters()}
        else:  # keys are projected once a sentence, queries at every step
            score = attention.score
            if isinstance(score, Additive):  # its vector is counted with the keys, below
                once |= {id(score.key_weight), id(score.vector)}
    total = sum(2 * p.numel() for p in decoder.parameters() if p.dim() == 2 and id(p) not in once)
    if attention is not None and not decoder.static:
        width = attention.value_size
        total += 2 * source * width
        additive = isinstance(attention.score, Additive)
        inner = attention.score.key_weight.shape[-1] if additive else width
        total += (4 if additive else 2) * source * inner
    return total / 1e6


def update_of(
    model: EncoderDecoder, batch: int, length: int, given: argparse.Namespace
) -> Callable[[], None]:
    optimizer = torch.optim.Adam(model.parameters())
    shape = (batch, length)
    source, target = (
        torch.randint(4, given.vocabulary, shape, device=given.device) for _ in range(2)
    )
    mask = torch.ones_like(source, dtype=torch.bool)

    def update() -> None:
        decoded = model(source, mask, target)
        logits = model.decoder.project(decoded.outputs)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return update


@torch.no_grad()
def token_time(model: EncoderDecoder, length: int, given: argparse.Namespace) -> float:
    """Milliseconds of a step of greedy decoding, one sentence at a time."""
    model.eval()
    source = torch.randint(4, given.vocabulary, (1, length), device=given.device)
    state = model.decoder.start(model.encode(source))
    tokens = torch.tensor([BOS], device=given.device)
    times = []
    for _ in range(4 * (given.rounds + 1)):
        start = now(given.device)
        step = model.decoder.step(tokens, state)
        state, tokens = step.state, step.logits.argmax(-1)
        times.append(now(given.device) - start)
    model.train()
    return 1000 * statistics.median(times[4:])


def now(device: str) -> float:
    """On a CPU of this thread alone: others may use the machine too."""
    if device != "cuda":
        return time.thread_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def measured(run: Callable[[], None], given: argparse.Namespace) -> str:
    """Milliseconds, and on a GPU MiB."""
    times = []
    try:
        for _ in range(given.rounds + 1):  # the first warms up
            start = now(given.device)
            run()
            times.append(now(given.device) - start)
    except torch.OutOfMemoryError:
        return "no room"
    took = f"{1000 * statistics.median(times[1:]):.0f}"
    if given.device != "cuda":
        return took
    torch.cuda.reset_peak_memory_stats()
    run()
    return f"{took} ({torch.cuda.max_memory_allocated() / 2**20:.0f})"


def at_least_one(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{number}: one round or more is measured")
    return number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--vocabulary", type=int, default=2000)
    parser.add_argument("--batches", nargs="+", type=int, default=[8, 64])
    parser.add_argument("--lengths", nargs="+", type=int, default=[10, 40])
    parser.add_argument("--rounds", type=at_least_one, default=4)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    torch.set_num_threads(1)
    first, last = given.lengths[0], given.lengths[-1]
    print(f"{'':<26}{'weights':>12}{f'M products, S={first}':>20}{f'S={last}':>10}")
    for name in KINDS:
        model = built(name, given)
        weights = sum(p.numel() for p in model.parameters())
        least, most = products(model, first), products(model, last)
        print(f"{name:<26}{weights:>12,}{least:>20.2f}{most:>10.2f}", flush=True)
    for batch in given.batches:
        memory = " (MiB)" if given.device == "cuda" else ""
        print(f"\nan update of {batch} sentences, ms{memory}, by length")
        row("", [f"{length}" for length in given.lengths])
        for name in KINDS:
            model = built(name, given)
            row(name, [measured(update_of(model, batch, n, given), given) for n in given.lengths])
    print("\na token of greedy decoding, ms, by the length of the source")
    row("", [f"{length}" for length in given.lengths])
    for name in KINDS:
        model = built(name, given)
        row(name, [f"{token_time(model, length, given):.2f}" for length in given.lengths])


def row(name: str, cells: list[str]) -> None:
    print(f"{name:<26}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
