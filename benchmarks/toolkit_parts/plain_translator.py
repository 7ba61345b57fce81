"""The translator and its loops as most people write them in plain PyTorch, for `toolkit.py`.

A packed nn.GRU reads, an nn.GRUCell writes with input feeding and additive attention whose keys are projected
once; the logits of all steps are one product. Batches are drawn at random.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PAD, BOS, EOS = 0, 2, 3


class PlainTranslator(nn.Module):
    """h~_t = tanh(W [h_t; c_t]),  h_t = GRU([E y_(t-1); h~_(t-1)], h_(t-1))"""

    def __init__(self, source: int, target: int, size: int = 256, dropout: float = 0.2) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(source, size), nn.Embedding(target, size)
        self.encoder = nn.GRU(size, size, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * size, size)
        self.cell = nn.GRUCell(2 * size, size)
        self.keys = nn.Linear(2 * size, size, bias=False)
        self.query = nn.Linear(size, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)
        self.mix = nn.Linear(3 * size, size)
        self.output = nn.Linear(size, target, bias=False)
        self.dropout = nn.Dropout(dropout)

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """States, projected keys, where they are padding, and the first state of the decoder."""
        embedded = self.dropout(self.source(source))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        outputs, last = self.encoder(packed)
        states, _ = pad_packed_sequence(outputs, batch_first=True)
        first = torch.tanh(self.bridge(torch.cat([last[0], last[1]], -1)))
        return states, self.keys(states), source == PAD, first

    def step(
        self, x: Tensor, fed: Tensor, h: Tensor, states: Tensor, keys: Tensor, padding: Tensor
    ) -> tuple[Tensor, Tensor]:
        h = self.cell(torch.cat([x, fed], -1), h)
        scores = self.energy(torch.tanh(self.query(h)[:, None] + keys)).squeeze(-1)
        weights = torch.softmax(scores.masked_fill(padding, -torch.inf), -1)
        context = torch.bmm(weights[:, None], states).squeeze(1)
        return torch.tanh(self.mix(torch.cat([h, context], -1))), h

    def forward(self, source: Tensor, lengths: Tensor, inputs: Tensor) -> Tensor:
        states, keys, padding, h = self.encode(source, lengths)
        embedded, fed, outputs = self.dropout(self.target(inputs)), torch.zeros_like(h), []
        for t in range(inputs.shape[1]):
            fed, h = self.step(embedded[:, t], fed, h, states, keys, padding)
            outputs.append(fed)
        return self.output(self.dropout(torch.stack(outputs, 1)))


def learn(
    model: PlainTranslator,
    optimizer: torch.optim.Optimizer,
    source: Tensor,
    lengths: Tensor,
    target: Tensor,
) -> int:
    """One update; how many target tokens it learnt from."""
    logits = model(source, lengths, target[:, :-1])
    wanted = target[:, 1:]
    loss = F.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD, label_smoothing=0.1
    )
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return int((wanted != PAD).sum())


@torch.no_grad()
def beam_search(
    model: PlainTranslator, source: Tensor, lengths: Tensor, beam: int, most: int
) -> list[list[int]]:
    """The best of `beam` hypotheses of each sentence, by log_prob / ((5 + length) / 6).

    Every hypothesis has its own copy of the source, a finished one is continued by PAD at no cost, and
    the batch goes on until all are finished.
    """
    batch = len(source)
    kept = [x.repeat_interleave(beam, 0) for x in model.encode(source, lengths)]
    states, keys, padding, h = kept
    fed, tokens = torch.zeros_like(h), torch.full((batch * beam, 1), BOS)
    totals = torch.full((batch, beam), -torch.inf)
    totals[:, 0] = 0.0
    done = torch.zeros(batch * beam, dtype=torch.bool)
    first = torch.arange(batch)[:, None] * beam
    for length in range(most):
        fed, h = model.step(model.target(tokens[:, -1]), fed, h, states, keys, padding)
        log_probs = torch.log_softmax(model.output(fed), -1)
        log_probs[:, [PAD, BOS, EOS] if length == 0 else [PAD, BOS]] = -torch.inf
        log_probs[done] = -torch.inf
        log_probs[done, PAD] = 0.0
        ends = totals.flatten()[:, None] + log_probs
        totals, places = ends.view(batch, -1).topk(beam)
        rows = (places // log_probs.shape[1] + first).flatten()
        chosen = (places % log_probs.shape[1]).view(-1, 1)
        tokens, fed, h = torch.cat([tokens[rows], chosen], 1), fed[rows], h[rows]
        done = done[rows] | (chosen.squeeze(1) == EOS)
        if done.all():
            break
    said = (tokens[:, 1:] != PAD).sum(1).view(batch, beam)
    best = (totals / ((5 + said) / 6)).argmax(1) + first.squeeze(1)
    return [[t for t in row if t not in (PAD, EOS)] for row in tokens[best, 1:].tolist()]
