"""How far back a layer can see, and whether it minds the order: recurrent cells beside self-attention.

    python benchmarks/distance.py                      # all three tables, minutes on a CPU
    python benchmarks/distance.py --only recall --steps 3000 --seeds 3 --device cuda

gradients  |∂ h_T / ∂ x_(T-d)|, the norm of the last state's derivative, beside that at d = 0, before anything
           is learnt. What vanishes here can hardly be learnt (Bengio et al. 1994, Pascanu et al. 2013).
recall     One of the letters has a mark on it, and at the end the reader says which letter it was: accuracy
           by the distance of the mark from the end (chance: 3.8 %).
order      Two questions about a text of 12 letters: which of two comes first, and which is more frequent.
           Each reader is trained on texts as they are and asked about others, as they are and shuffled.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.multi_head import MultiHead
from regard.layers.feed_forward import FeedForward
from regard.layers.positions import Sinusoidal
from regard.layers.recurrent import Recurrent
from regard.layers.transformer_blocks import EncoderBlock
from run_folders import head, interval_of, mean_of, row

LETTERS, SIZE, LENGTH, SHORT = 26, 64, 100, 12
DISTANCES = (0, 1, 2, 5, 10, 20, 50, 99)
FIRST, SECOND = 0, 1  # the two letters that `order` asks for
CELLS = {"Elman": "elman", "GRU": "gru", "LSTM": "lstm"}
ATTENTIONS = {"self-attention": True, "self-attention, no positions": False}
Draw = Callable[[int], tuple[Tensor, Tensor, Tensor]]  # letters (B, T), marks (B, T), answers (B,)


class DistanceReader(nn.Module):
    """Letters, some of them with a mark, and an answer from the last state, or from the mean of them."""

    def __init__(self, name: str, answers: int, *, mean: bool = False) -> None:
        super().__init__()
        self.letters, self.mark = nn.Embedding(LETTERS, SIZE), nn.Parameter(torch.randn(SIZE))
        self.network: nn.Module
        self.places = Sinusoidal(SIZE) if ATTENTIONS.get(name) else None
        if name in CELLS:
            self.network = Recurrent(SIZE, SIZE, cell=CELLS[name])
        else:
            network = FeedForward(SIZE, 2 * SIZE)
            self.network = EncoderBlock(MultiHead(SIZE, heads=4), network, norm="pre", dropout=0.0)
        self.answer, self.mean = nn.Linear(SIZE, answers), mean

    def embedded(self, letters: Tensor, marks: Tensor) -> Tensor:
        return self.letters(letters) + marks[..., None] * self.mark

    def states(self, x: Tensor) -> Tensor:
        if self.places is not None:
            places = self.places(x.shape[1])
            assert places is not None
            x = x + places
        found = self.network(x)
        return found if isinstance(found, Tensor) else found.outputs

    def forward(self, letters: Tensor, marks: Tensor) -> Tensor:
        states = self.states(self.embedded(letters, marks))
        return self.answer(states.mean(1) if self.mean else states[:, -1])


def marked(device: str, length: int = LENGTH) -> Draw:
    """Which letter has the mark. It stands anywhere but at the end, which is where the answer is given."""

    def draw(batch: int) -> tuple[Tensor, Tensor, Tensor]:
        letters = torch.randint(LETTERS, (batch, length), device=device)
        place = torch.randint(length - 1, (batch, 1), device=device)
        marks = torch.zeros(batch, length, device=device).scatter_(1, place, 1.0)
        return letters, marks, letters.gather(1, place)[:, 0]

    return draw


def which_first(device: str) -> Draw:
    """Which of the two letters comes first: each is there once."""

    def draw(batch: int) -> tuple[Tensor, Tensor, Tensor]:
        letters = torch.randint(2, LETTERS, (batch, SHORT), device=device)
        places = torch.rand(batch, SHORT, device=device).argsort(1)[:, :2]
        both = torch.tensor([FIRST, SECOND], device=device).expand(batch, 2)
        letters.scatter_(1, places, both)
        return letters, torch.zeros_like(letters), (places[:, 0] < places[:, 1]).long()

    return draw


def which_more(device: str) -> Draw:
    """Which of the two letters is there more often: five, of which at least three are the same."""

    def draw(batch: int) -> tuple[Tensor, Tensor, Tensor]:
        letters = torch.randint(2, LETTERS, (batch, SHORT), device=device)
        places = torch.rand(batch, SHORT, device=device).argsort(1)[:, :5]
        both = torch.randint(2, (batch, 5), device=device)
        letters.scatter_(1, places, both)
        return letters, torch.zeros_like(letters), (both.sum(1) > 2).long()

    return draw


def learnt(
    name: str, draw: Draw, answers: int, seed: int, given: argparse.Namespace, *, mean: bool
) -> DistanceReader:
    torch.manual_seed(seed)
    model = DistanceReader(name, answers, mean=mean).to(given.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=given.lr)
    for _ in range(given.steps):
        letters, marks, wanted = draw(given.batch)
        loss = F.cross_entropy(model(letters, marks), wanted)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


def gradients(given: argparse.Namespace) -> Iterator[str]:
    yield from head("layer", *(f"d = {distance}" for distance in DISTANCES))
    for name in (*CELLS, "self-attention"):
        rows = []
        for seed in given.seeds:
            torch.manual_seed(seed)
            model = DistanceReader(name, LETTERS).to(given.device)
            letters, marks, _ = marked(given.device)(32)
            x = model.embedded(letters, marks).detach().requires_grad_()
            total = torch.zeros(x.shape[:2], device=given.device)
            for _ in range(16):  # E |uᵀ J|² = |J|² for a u of unit variance
                (found,) = torch.autograd.grad(
                    (model.states(x)[:, -1] * torch.randn(SIZE, device=given.device)).sum(), x
                )
                total += found.square().sum(-1) / 16
            norms = total.mean(0).sqrt().flip(0)
            rows.append((norms / norms[0]).tolist())
        means = [sum(found[d] for found in rows) / len(rows) for d in DISTANCES]
        yield row(name, *(f"{value:.1e}" if value < 0.01 else f"{value:.2f}" for value in means))


@torch.no_grad()
def recall(given: argparse.Namespace) -> Iterator[str]:
    asked = [distance for distance in DISTANCES if distance]
    yield from head("layer", *(f"d = {distance}" for distance in asked), "all, each seed")
    for name in (*CELLS, "self-attention"):
        found: dict[int, list[float]] = {distance: [] for distance in asked}
        whole = []
        for seed in given.seeds:
            with torch.enable_grad():
                model = learnt(name, marked(given.device), LETTERS, seed, given, mean=False)
            right = []
            for distance in range(1, LENGTH):
                letters, marks, _ = marked(given.device)(200)
                marks.zero_()[:, -1 - distance] = 1.0
                hits = model(letters, marks).argmax(-1) == letters[:, -1 - distance]
                right.append(100 * hits.float().mean().item())
                if distance in found:
                    found[distance].append(right[-1])
            whole.append(sum(right) / len(right))
        cells = [mean_of(found[distance]) for distance in asked]
        yield row(name, *cells, ", ".join(f"{share:.1f}" for share in whole))


@torch.no_grad()
def order(given: argparse.Namespace) -> Iterator[str]:
    yield from head(
        "reader",
        "which is first",
        "the same, shuffled",
        "which is more frequent",
        "the same, shuffled",
    )
    for name in ("GRU", *ATTENTIONS):
        cells = []
        for make in (which_first, which_more):
            plain, shuffled = [], []
            for seed in given.seeds:
                with torch.enable_grad():
                    draw = make(given.device)
                    model = learnt(name, draw, 2, seed, given, mean=name in ATTENTIONS)
                letters, marks, wanted = draw(4000)
                mixed = letters.gather(1, torch.rand(letters.shape, device=given.device).argsort(1))
                for texts, found in ((letters, plain), (mixed, shuffled)):
                    hits = model(texts, marks).argmax(-1) == wanted
                    found.append(100 * hits.float().mean().item())
            cells += [interval_of(plain), interval_of(shuffled)]
        yield row(name, *cells)


TABLES = {"gradients": gradients, "recall": recall, "order": order}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seeds", type=int, default=3, help="1, 2 … so many")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    given.seeds = range(1, given.seeds + 1)
    for name in given.only:
        print(f"## {name}\n", flush=True)
        for line in TABLES[name](given):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
