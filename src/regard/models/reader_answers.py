"""What a reader answers with: one of the candidates, or the first and the last word of a span of the story.

Legend: B examples, S words of a story, K candidates of up to L words, G features of what answers.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.module import Attention
from regard.layers.embedding import TokenEmbedding
from regard.models.encoder_decoder import token_mask
from regard.words import t


class StoryReader(nn.Module):
    """What reads for an answer: called with a story, a question and their masks, it gives what it read of
    them, among it `states` (B, S, D), of which `understood` makes one vector.
    """

    states_size: int  # D
    output_size: int  # G

    def understood(self, story: Any) -> Tensor:
        """g: (B, G)"""
        raise NotImplementedError(t("{kind} understands nothing", kind=type(self).__name__))


class ChoiceReader(nn.Module):
    """p(a | d, q) ∝ exp(W(a) · g(d, q)) over the candidates a; of several words, W(a) is the mean of theirs

    — Hermann et al. 2015, https://arxiv.org/abs/1506.03340, whose a are all words
    """

    def __init__(self, reader: StoryReader, words: int) -> None:
        super().__init__()
        self.reader = reader
        self.output = TokenEmbedding(words, reader.output_size)
        self.output.draw(std=reader.output_size**-0.5)

    def forward(
        self,
        story: Tensor,
        story_mask: Tensor | None,
        question: Tensor,
        question_mask: Tensor | None,
        candidates: Tensor,
        candidates_mask: Tensor | None,
        *,
        story_lengths: Tensor | None = None,
        question_lengths: Tensor | None = None,
        candidates_lengths: Tensor | None = None,
    ) -> Tensor:
        """candidates (B, K, L) -> logits (B, K), -inf for those that an example has not

        Masks, or lengths instead: (B,) of stories and questions, (B, K) of candidates.
        """
        story_mask = token_mask(story, story_mask, story_lengths)
        question_mask = token_mask(question, question_mask, question_lengths)
        candidates_mask = token_mask(candidates, candidates_mask, candidates_lengths)
        read = self.reader(story, story_mask, question, question_mask)
        vector = self.reader.understood(read)
        real = candidates_mask[..., None]
        named = self.output(candidates).masked_fill(~real, 0.0).sum(-2)
        named = named / real.sum(-2).clamp(min=1)  # (B, K, G)
        logits = (named @ vector[..., None])[..., 0]
        return logits.masked_fill(~candidates_mask.any(-1), -math.inf)


class Pointer(nn.Module):
    """s(t) = g · W y_d(t), and what a softmax of them would find: general attention"""

    def __init__(self, query_size: int, states_size: int) -> None:
        super().__init__()
        self.attention = Attention(query_size, states_size, score="bilinear")

    def forward(self, vector: Tensor, states: Tensor) -> Tensor:
        """(B, G), (B, S, D) -> scores (B, S)"""
        score = self.attention.score
        return score.pair(score.project_query(vector[:, None]), score.project_key(states))[:, 0]

    def find(self, vector: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """Σ_t softmax(s)_t y_d(t): (B, D)"""
        return self.attention(vector[:, None], states, mask=mask).context[:, 0]


class SpanReader(nn.Module):
    """p(first = t) ∝ exp(g · W_1 y_d(t)),  p(last = t) ∝ exp(g' · W_2 y_d(t))

    static: g' = g, one look at the story for the whole answer. dynamic: g' is asked for anew by a question
    that knows the first word, q + W Σ_t p(first = t) y_d(t).
    """

    def __init__(self, reader: StoryReader, *, dynamic: bool = False) -> None:
        super().__init__()
        self.reader = reader
        sizes = reader.output_size, reader.states_size
        self.first, self.last = Pointer(*sizes), Pointer(*sizes)
        self.found = nn.Linear(sizes[1], sizes[1], bias=False) if dynamic else None

    def forward(
        self,
        story: Tensor,
        story_mask: Tensor | None,
        question: Tensor,
        question_mask: Tensor | None,
        *,
        story_lengths: Tensor | None = None,
        question_lengths: Tensor | None = None,
    ) -> Tensor:
        """logits (B, 2, S) of the first and of the last word, -inf where no word is real

        Masks, or lengths (B,) instead.
        """
        story_mask = token_mask(story, story_mask, story_lengths)
        question_mask = token_mask(question, question_mask, question_lengths)
        read = self.reader(story, story_mask, question, question_mask)
        vector = self.reader.understood(read)
        first = self.first(vector, read.states)
        if self.found is not None:
            seen = self.found(self.first.find(vector, read.states, read.mask))
            vector = self.reader.understood(read._replace(question=read.question.after(seen)))
        last = self.last(vector, read.states)
        return torch.stack([first, last], 1).masked_fill(~story_mask[:, None], -math.inf)


def answering(
    reader: StoryReader, words: int, choice: bool, *, dynamic: bool = False
) -> ChoiceReader | SpanReader:
    """The reader with what it answers with. words: how many there are."""
    if not choice:
        return SpanReader(reader, dynamic=dynamic)
    if dynamic:
        raise ValueError(
            t(
                "dynamic is of spans, which have two ends: a choice is one output, and static. "
                "attention.dynamic is of the looks before it, for the words of question and "
                "story"
            )
        )
    return ChoiceReader(reader, words)
