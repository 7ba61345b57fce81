"""Readers: a story and a question are read apart, and the question says where to look in the story.

— Hermann et al. 2015 (Attentive, Uniform and Impatient Reader), https://arxiv.org/abs/1506.03340

Legend: B examples, S words of a story, Q of a question, D features of a state (both directions), G of what
answers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from regard.attention import pooling
from regard.attention.memory import Memory
from regard.attention.module import Attention
from regard.attention.pooling import AttentionPooling
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding
from regard.layers.recurrent import Recurrent
from regard.layers.recurrent_cells import CellState
from regard.models import reader_options
from regard.models.reader_answers import ChoiceReader, SpanReader, StoryReader, answering
from regard.words import t


class AskedQuestion(NamedTuple):
    """A question as it was read."""

    states: Tensor  # (B, Q, D)
    mask: Tensor  # (B, Q): True where a word is real
    vector: Tensor  # (B, D)

    def after(self, seen: Tensor) -> AskedQuestion:
        """The question of who has found `seen` (B, D) already."""
        return self._replace(states=self.states + seen[:, None], vector=self.vector + seen)


class ReadStory(NamedTuple):
    """A story as it was read, and the question that it was read for."""

    states: Tensor  # (B, S, D)
    mask: Tensor  # (B, S)
    last: Tensor  # (B, D): of both directions
    question: AskedQuestion


class LastStates(nn.Module):
    """r = [→y_d(|d|); ←y_d(1)]: no attention"""

    def forward(self, story: ReadStory) -> Tensor:
        return story.last


class OneLook(nn.Module):
    """r = Σ_t s(t) y_d(t),  s = softmax_t(w · tanh(W_ym y_d(t) + W_um u)): (B, D)

    The Attentive Reader with an additive score; general attention. With the normaliser `uniform` it is the
    Uniform Reader, all s(t) equal, whose weights no question enters: self.
    """

    per_word = False

    def __init__(self, size: int, **mechanisms: Any) -> None:
        super().__init__()
        self.attention = Attention(size, size, **mechanisms)

    def forward(self, story: ReadStory) -> Tensor:
        asked = story.question.vector[:, None]
        return self.attention(asked, story.states, mask=story.mask).context[:, 0]


class LookPerWord(nn.Module):
    """r(i) = Σ_t s(i, t) y_d(t) + tanh(W_rr r(i-1)),  i = 1 … |q|, and r(|q|): (B, D)

    s(i) = softmax_t(w · tanh(W_dm y_d(t) + W_rm r(i-1) + W_qm y_q(i))): general attention. The Impatient
    Reader; r(0) is learnt. static: s is one for all words, asked by [r(0); u].
    """

    def __init__(self, size: int, *, dynamic: bool = True, **mechanisms: Any) -> None:
        super().__init__()
        self.per_word = dynamic  # a look for each word of the question
        self.attention = Attention(
            2 * size, size, **mechanisms, bridge=True
        )  # asked by [r(i-1); y_q(i)]
        self.again = nn.Linear(size, size, bias=False)
        self.first = nn.Parameter(torch.zeros(size))

    def forward(self, story: ReadStory) -> Tensor:
        question = story.question
        memory = self.attention.remember(story.states, story.mask)
        read = self.first.expand(len(story.states), -1)
        seen = None if self.per_word else self._look(read, question.vector, memory)
        for word, real in zip(question.states.unbind(1), question.mask.unbind(1), strict=True):
            now = self._look(read, word, memory) if seen is None else seen
            read = torch.where(real[:, None], now + torch.tanh(self.again(read)), read)
        return read

    def _look(self, read: Tensor, asked: Tensor, memory: Memory) -> Tensor:
        """(B, D)"""
        return self.attention(torch.cat([read, asked], -1)[:, None], memory).context[:, 0]


class BesideWords(nn.Module):
    """What of the question stands beside each word of the story: (B, S, D)

    general: q_t = Σ_j softmax_j(w · tanh(W p_t + U y_q(j))) y_q(j), asked by the words p_t of the story;
    static: asked once, by their mean, and the same for every word.
    vector, self: the vector of the question, the same for every word.
    """

    def __init__(
        self, embedding: int, size: int, *, dynamic: bool = True, **mechanisms: Any
    ) -> None:
        super().__init__()
        self.dynamic = dynamic
        self.attention = (
            Attention(embedding, size, **mechanisms, bridge=True) if mechanisms else None
        )

    def forward(self, words: Tensor, mask: Tensor, question: AskedQuestion) -> Tensor:
        """words (B, S, E) of the story, mask (B, S)"""
        if self.attention is None:
            return question.vector[:, None].expand(-1, words.shape[1], -1)
        asked = words if self.dynamic else pooling.mean(words, mask).vector[:, None]
        found = self.attention(asked, question.states, mask=question.mask).context
        return found.expand(-1, words.shape[1], -1)


class PairReader(StoryReader):
    """g = tanh(W_rg r + W_ug u): the story read by the focus, and the question

    u = [→y_q(|q|); ←y_q(1)], or the question's states pooled by attention (self).
    """

    def __init__(self, words: int, options: reader_options.Reader) -> None:
        super().__init__()
        size, attention = 2 * options.hidden, options.attention
        chosen = {**attention.mechanism, "dynamic": attention.dynamic}
        cells: dict[str, Any] = {
            "cell": options.cell,
            "layers": options.layers,
            "dropout": options.dropout,
        }
        apart = options.question == "apart"
        self.dropout = options.dropout
        self.embed = TokenEmbedding(words, options.embedding)
        self.question = Recurrent(options.embedding, options.hidden, bidirectional=True, **cells)
        self.pool = AttentionPooling(size, size) if options.question == "self" else None
        given = chosen if options.question == "general" else {}
        self.beside = None if apart else BesideWords(options.embedding, size, **given)
        width = options.embedding + (0 if apart else size)
        self.story = Recurrent(width, options.hidden, bidirectional=True, **cells)
        self.focus = _focus(options.focus, size, chosen)
        self.from_story = nn.Linear(size, size)
        self.from_question = nn.Linear(size, size, bias=False)
        self.states_size = self.output_size = size

    def forward(
        self, story: Tensor, story_mask: Tensor, question: Tensor, question_mask: Tensor
    ) -> ReadStory:
        """story (B, S), question (B, Q): word numbers; masks: True where a word is real"""
        asked = self._ask(question, question_mask)
        words = self._words(story, story_mask)
        if self.beside is not None:
            words = torch.cat([words, self.beside(words, story_mask, asked)], -1)
        states, final = self.story(words, story_mask)
        return ReadStory(self._drop(states), story_mask, self._last(final, story_mask), asked)

    def understood(self, story: ReadStory) -> Tensor:
        """g: (B, G)"""
        read = self.from_story(self.focus(story)) + self.from_question(story.question.vector)
        return self._drop(torch.tanh(read))

    def _ask(self, question: Tensor, mask: Tensor) -> AskedQuestion:
        states, final = self.question(self._words(question, mask), mask)
        states = self._drop(states)
        if self.pool is None:
            return AskedQuestion(states, mask, self._last(final, mask))
        return AskedQuestion(states, mask, self.pool(states, mask).vector)

    def _words(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(B, S, E): 0 where there is no word"""
        return self._drop(self.embed(ids).masked_fill(~mask[..., None], 0.0))

    def _last(self, final: tuple[CellState, ...], mask: Tensor) -> Tensor:
        """[→y(|x|); ←y(1)] of the top layer, (B, D): 0 of a text without words"""
        return self._drop(final[-1][0].masked_fill(~mask.any(-1)[:, None], 0.0))

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training)


def _focus(name: str, size: int, chosen: dict[str, Any]) -> nn.Module:
    if name == "last":
        return LastStates()
    if name == "uniform":
        return OneLook(size, score="dot", normalize="uniform")
    if name == "impatient":
        return LookPerWord(size, **chosen)
    return OneLook(size, **{part: it for part, it in chosen.items() if part != "dynamic"})


def reader(
    words: int,
    options: reader_options.Reader | None = None,
    /,
    *,
    choice: bool = True,
    **changes: Any,
) -> ChoiceReader | SpanReader:
    """words: how many there are, markers included. choice: answers are candidates, else spans."""
    options = reader_options.Reader.of(options, changes)
    looks_once = options.focus != "impatient" and options.question != "general"
    if looks_once and not options.attention.dynamic:
        raise ValueError(
            t(
                "attention.dynamic=false: focus={focus} with question={question} is static as "
                "it is, with one distribution at most; it is of focus=impatient and "
                "question=general",
                focus=options.focus,
                question=options.question,
            )
        )
    return answering(PairReader(words, options), words, choice, dynamic=options.dynamic)
