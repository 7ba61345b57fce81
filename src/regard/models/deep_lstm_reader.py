"""The Deep LSTM Reader: question and story are one long text.

Legend: B examples, S words of a story, Q of a question, T = S + Q, D features of all layers side by side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding
from regard.layers.recurrent import Recurrent
from regard.models import reader_options
from regard.models.reader_answers import ChoiceReader, SpanReader, StoryReader, answering
from regard.words import t


class ReadInOne(NamedTuple):
    states: Tensor  # (B, S, D): of the words of the story
    mask: Tensor  # (B, S)
    last: Tensor  # (B, D): after the last word


class DeepLstm(StoryReader):
    """y(t) = [y_1(t); …; y_K(t)],  y_k = LSTM_k([x(t); y_(k-1)(t)]),  g = y(|q| + |d|)

    — Hermann et al. 2015, https://arxiv.org/abs/1506.03340, without the peepholes of its cells. The end of
    the first text separates the two. There is no attention.
    """

    def __init__(self, words: int, options: reader_options.DeepLstmReader) -> None:
        super().__init__()
        size, hidden = options.embedding, options.hidden
        self.first, self.dropout = options.first, options.dropout
        self.embed = TokenEmbedding(words, size)
        self.layers = nn.ModuleList(
            Recurrent(size + (hidden if layer else 0), hidden, cell="lstm")
            for layer in range(options.layers)
        )
        self.states_size = self.output_size = hidden * options.layers

    def forward(
        self, story: Tensor, story_mask: Tensor, question: Tensor, question_mask: Tensor
    ) -> ReadInOne:
        given = [(question, question_mask), (story, story_mask)]
        (before, before_mask), (after, after_mask) = given if self._question_first else given[::-1]
        words, mask = joined(before, before_mask, after, after_mask)
        if not words.shape[1]:  # at least one column, of padding
            words, mask = F.pad(words, (0, 1)), F.pad(mask, (0, 1))
        x = self._drop(self.embed(words).masked_fill(~mask[..., None], 0.0))
        outputs: list[Tensor] = []
        for layer in self.layers:
            entering = torch.cat([x, self._drop(outputs[-1])], -1) if outputs else x
            outputs.append(layer(entering, mask).outputs)
        states = self._drop(torch.cat(outputs, -1))
        end = mask.sum(-1).clamp(min=1) - 1
        last = states[torch.arange(len(states), device=states.device), end]
        start = question_mask.sum(-1) if self._question_first else torch.zeros_like(end)
        places = start[:, None] + torch.arange(story.shape[1], device=story.device)
        places = places.clamp(max=words.shape[1] - 1)[..., None].expand(-1, -1, states.shape[-1])
        of_story = states.gather(1, places).masked_fill(~story_mask[..., None], 0.0)
        return ReadInOne(of_story, story_mask, last)

    def understood(self, story: ReadInOne) -> Tensor:
        return story.last

    @property
    def _question_first(self) -> bool:
        return self.first == "question"

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training)


def joined(
    before: Tensor, before_mask: Tensor, after: Tensor, after_mask: Tensor
) -> tuple[Tensor, Tensor]:
    """Each row's real words of both, one after the other: (B, T) and its mask. Padding stands at the end."""
    words, mask = torch.cat([before, after], 1), torch.cat([before_mask, after_mask], 1)
    order = (~mask).byte().argsort(dim=1, stable=True)
    return words.gather(1, order), mask.gather(1, order)


def deep_lstm_reader(
    words: int,
    options: reader_options.DeepLstmReader | None = None,
    /,
    *,
    choice: bool = True,
    **changes: Any,
) -> ChoiceReader | SpanReader:
    """words: how many there are, markers included. choice: answers are candidates, else spans."""
    options = reader_options.DeepLstmReader.of(options, changes)
    if not choice and options.first == "story":
        raise ValueError(t("first=story: a span is pointed at by states that know the question"))
    return answering(DeepLstm(words, options), words, choice)
