"""The widely copied tutorial as it was published, beside our `tutorial`: one update after another."""

from __future__ import annotations

from typing import ClassVar

import pytest
import torch
import torch.nn.functional as F
from pair_batches import pair_batch
from torch import Tensor, nn

from regard.data.tokenizer import BOS, EOS, Tokenizer
from regard.models.presets import tutorial
from regard.recipe import recipe
from regard.recipe.recipe_files import read_recipe
from regard.tasks.translate.translate_loss import Translate
from regard.training.optimizers import build_optimizer

LETTERS = "a b c d e f g h"
HIDDEN, PLACES = 6, 7
PAIRS = [
    ([4, 5, 6], [6, 5, 4]),
    ([7, 8], [8, 7, 9, 10]),
    ([9, 4, 4, 5, 7], [9]),
]  # and each its EOS


class AttnDecoderRNN(nn.Module):
    """The tutorial's: one sentence, one token at a time."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, HIDDEN)
        self.attn = nn.Linear(2 * HIDDEN, PLACES)
        self.attn_combine = nn.Linear(2 * HIDDEN, HIDDEN)
        self.gru = nn.GRU(HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN, vocabulary)

    def forward(self, token: Tensor, hidden: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        embedded = self.embedding(token).view(1, 1, -1)
        every = self.attn(torch.cat((embedded[0], hidden[0]), 1))
        every = every[:, : len(states)]  # ours leaves out what is no word; the tutorial adds zeros
        context = torch.bmm(F.softmax(every, dim=1)[None], states[None])
        output = self.attn_combine(torch.cat((embedded[0], context[0]), 1))[None].relu()
        output, hidden = self.gru(output, hidden)
        return F.log_softmax(self.out(output[0]), dim=1), hidden


class Published:
    """Two optimisers, and a sum over the tokens that were scored."""

    optimizers: ClassVar = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}

    def __init__(self, ours: Translate, kind: str, rate: float) -> None:
        vocabulary = len(ours.target_tokenizer)
        encoder, decoder = ours.model.encoder, ours.model.decoder
        self.embedding = nn.Embedding(vocabulary, HIDDEN).double()
        self.gru = nn.GRU(HIDDEN, HIDDEN).double()
        self.decoder = AttnDecoderRNN(vocabulary).double()
        self.pairs = [
            (self.embedding.weight, encoder.embed.weight),
            *zip(self.gru.parameters(), encoder.network.forwards[0].parameters(), strict=True),
            (self.decoder.embedding.weight, decoder.embed.weight),
            (self.decoder.attn.weight, decoder.attention.score.table),
            (self.decoder.attn.bias, decoder.attention.score.bias[:, 0]),
            (self.decoder.attn_combine.weight, decoder.enter.weight),
            (self.decoder.attn_combine.bias, decoder.enter.bias),
            *zip(self.decoder.gru.parameters(), decoder.network.forwards[0].parameters(), strict=True),
            (self.decoder.out.weight, decoder.output.weight),
            (self.decoder.out.bias, decoder.output.bias),
        ]  # fmt: skip
        with torch.no_grad():
            for theirs, own in self.pairs:
                theirs.copy_(own)
        make = self.optimizers[kind]
        self.encoder_optimizer = make([*self.embedding.parameters(), *self.gru.parameters()], rate)
        self.decoder_optimizer = make(self.decoder.parameters(), rate)

    def train(self, source: list[int], target: list[int], forced: bool) -> int:
        """How many tokens were scored."""
        self.encoder_optimizer.zero_grad()
        self.decoder_optimizer.zero_grad()
        states, hidden = self.gru(self.embedding(torch.tensor(source))[:, None])
        token, loss, scored = torch.tensor([BOS]), 0.0, 0
        for wanted in target:
            said, hidden = self.decoder(token, hidden, states[:, 0])
            loss, scored = loss + F.nll_loss(said, torch.tensor([wanted])), scored + 1
            token = torch.tensor([wanted]) if forced else said.argmax(1).detach()
            if token.item() == EOS:
                break
        loss.backward()
        self.encoder_optimizer.step()
        self.decoder_optimizer.step()
        return scored


@pytest.mark.parametrize("forced", [True, False])
@pytest.mark.parametrize("kind", ["sgd", "adam"])
def test_two_optimisers_of_one_kind_and_rate_are_one_of_both(kind: str, forced: bool) -> None:
    """And by SGD the sum of the losses of a sentence is their mean at so many times the rate."""
    torch.manual_seed(0)
    words = Tokenizer.train([LETTERS], kind="word")
    model = tutorial(len(words), len(words), hidden=HIDDEN, max_length=PLACES, bias=True, dropout=0)
    ours = Translate(model.double(), words, words, teacher_forcing=float(forced)).train()
    with torch.no_grad():
        for weight in ours.parameters():
            weight.normal_(std=0.6)
    published = Published(ours, kind, 0.01)
    optimizer = build_optimizer(recipe.Optimizer(kind=kind, lr=0.01), ours.parameters())  # type: ignore[arg-type]
    for source, target in PAIRS * 2:
        scored = published.train([*source, EOS], [*target, EOS], forced)
        optimizer.zero_grad()
        loss = ours(**pair_batch([(source, target)]))
        assert loss.tokens == scored
        total, rate = loss.total, 0.01
        if kind == "sgd":  # as we train: Adam's steps hardly know the size of a gradient
            total, rate = total / scored, rate * scored
        total.backward()
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
    for theirs, own in published.pairs:
        torch.testing.assert_close(own.detach(), theirs.detach(), rtol=1e-5, atol=1e-6)


def test_the_recipe_trains_as_published() -> None:
    training = read_recipe("tutorial-published", []).training
    assert (training.optimizer.kind, training.batch_sentences, training.clip) == ("sgd", 1, None)
    assert (training.teacher_forcing.ratio, training.teacher_forcing.draw) == (0.5, "sequence")
    assert read_recipe("tutorial-published", []).model.bias
