"""Language modelling as a task: text in, its next token out.

Legend: B texts or blocks, T positions, M real tokens, V the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import torch
from torch import Tensor, nn

from regard.data.text_blocks import TextBlock
from regard.data.tokenizer import BOS, PAD, UNK, Tokenizer, Tokens
from regard.layers.contracts import Translator, longest_target
from regard.measures.likelihood import Likelihood
from regard.search import Search, search
from regard.tasks.longest_first import BATCH
from regard.tasks.loss import smoothed_cross_entropy
from regard.tasks.prediction import Prediction
from regard.tasks.task_module import LikelihoodModule, Loss, Unanswerable
from regard.words import t

LENGTH = 200  # tokens that follow a prompt, if nobody says how many


class Language(LikelihoodModule):
    """A model without a source, whose decoder scores the next token.

    running: what it learns from are blocks of a longer text, so that the end of a block is not the
    end of the text, and EOS is not to be predicted there; the stream has an EOS where it ends.
    """

    model: Translator

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Tokenizer,
        *,
        running: bool = False,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(model)
        self.tokenizer = tokenizer
        self.running, self.label_smoothing = running, label_smoothing

    def forward(self, text: Tensor, text_mask: Tensor) -> Loss:
        """text (B, T + 1) = BOS y1 … EOS PAD …; of a block the last EOS is left out."""
        logits, wanted = self._force(text, text_mask)
        return Loss(
            smoothed_cross_entropy(logits, wanted, self.label_smoothing),
            wanted.new_tensor(len(wanted)),
        )

    def likelihoods(self, blocks: Sequence[TextBlock], *, batch: int = BATCH) -> list[Likelihood]:
        """How probable the model finds each of these texts or blocks."""

        def of_each(rows: list[int]) -> list[Likelihood]:
            ids = [blocks[i].ids for i in rows]
            logits, wanted = self._force(*self.padded(ids, bos=True))
            return Likelihood.of_each(logits, wanted, [len(x) + (not self.running) for x in ids])

        return self.in_batches([len(block.ids) for block in blocks], batch, of_each)

    def generate(
        self,
        prompts: Sequence[str],
        settings: Search | None = None,
        *,
        length: int = LENGTH,
        batch: int = BATCH,
    ) -> list[Prediction]:
        """Each prompt with what follows it, at most `length` tokens; the prompt may be empty.

        It ends earlier at EOS, or where the positions of the model end.
        """
        settings = settings or Search(beam=1)
        read = self.tokenizer.encode_many(prompts)
        longest = longest_target(self.model.decoder) or math.inf
        found: dict[int, Prediction] = {}
        order = sorted(range(len(prompts)), key=lambda i: -len(read[i]))
        with self.inference():
            # of one length, so that each is continued by as many tokens
            for size, same in groupby(order, key=lambda i: len(read[i])):
                most = int(min(size + length, longest))
                if size >= most:
                    raise Unanswerable(
                        t(
                            "a prompt has {size} tokens: the model has positions for {most} in all",
                            size=size,
                            most=most,
                        ),
                        t("give a shorter prompt"),
                    )
                # there is no source whose length would tell how long an answer may be
                limited = replace(settings, max_length=most, max_ratio=float(most))
                numbers = list(same)
                for start in range(0, len(numbers), batch):
                    rows = numbers[start : start + batch]
                    answers = search(
                        self.model.decoder,
                        self.model.encode(*self.padded([[]] * len(rows))),  # no source
                        limited,
                        prefix=[read[i].ids for i in rows],
                        numbers=rows,
                    )
                    for i, ranked in zip(rows, answers, strict=True):
                        asked = prompts[i], read[i], self.tokenizer
                        kept = _unknown(prompts[i], read[i])
                        found[i] = Prediction.best(
                            Prediction.of(one, *asked, unknown=kept) for one in ranked
                        )
        return [found[i] for i in range(len(prompts))]

    def read(self, ids: Sequence[int]) -> Tensor:
        """The decoder's outputs after BOS and after each token of a text: (T + 1, R)"""
        text = torch.tensor([[BOS, *ids]], device=self.device)
        return self.model.decoder.forward(text, self.model.encode(text, text != PAD)).outputs[0]

    def _force(self, text: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """logits (M, V) and what they should say (M,)"""
        encoded = self.model.encode(text, mask)  # no source: it only says how many rows there are
        scored = mask[:, 1:].clone()
        if self.running:  # the last of a row is the EOS that every batch adds
            scored[:, :-1] &= mask[:, 2:]
            scored[:, -1] = False
        decoder = self.model.decoder
        decoded = decoder.forward(text[:, :-1], encoded)
        return decoder.project(decoded.outputs[scored]), text[:, 1:][scored]


def _unknown(prompt: str, tokens: Tokens) -> dict[int, str]:
    """What the prompt has at each place where the tokenizer knows no token, to be written as it stands."""
    pairs = zip(tokens.ids, tokens.offsets, strict=True)
    return {place: prompt[slice(*at)] for place, (token, at) in enumerate(pairs) if token == UNK}
