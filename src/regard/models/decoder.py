"""The recurrent decoder: any cell, with attention placed anywhere, or with one vector for the whole source.

    place     query             where the context goes
    before    s_(t-1)           into the cell and the read-out          RNNsearch
    after     h_t               into the read-out                       Luong et al.
    between   s'_t              into a second transition, read-out      the conditional GRU of dl4mt
    next      h_t               into the read-out and the next cell

The attention is dynamic, with weights of its own for every token, or static: asked once, by the first state,
and the same for the whole target.

Legend: N hypotheses of B sentences (N = B · k), T target positions, E embedding, n hidden, D states' size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.memory import Memory
from regard.attention.module import Attention
from regard.attention.normalizers import HardChoice
from regard.layers.attend_per_sentence import attend_per_sentence
from regard.layers.contracts import Decoded, Encoded, Prefilled, Step
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding, without_padding
from regard.layers.names import check_name
from regard.layers.recurrent import Recurrent
from regard.layers.recurrent_cells import GRU, CellState, Linear, make_cell
from regard.layers.scan import SharedLinear
from regard.models.readout import ReadOut
from regard.models.summary import Bridge, Summary
from regard.words import t

Place = Literal["before", "after", "between", "next"]
Feed = Literal["initial", "step", "readout"]


@dataclass(frozen=True)
class RecurrentState:
    """What the next step needs; what belongs to a sentence is kept once for all its hypotheses."""

    cells: tuple[CellState, ...]  # of every layer, (N, n)
    fed: Tensor | None  # (N, ...) what the last step hands to this one
    context: Tensor | None  # (B, ...) one vector for the whole source
    memory: Memory | None  # B sources
    attended: Attended | None = None  # (B, ...) of a static attention, for all tokens
    position: int = 0

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> RecurrentState:
        context, memory, attended = self.context, self.memory, self.attended
        if sentences is not None:
            context = None if context is None else context.index_select(0, sentences)
            memory = None if memory is None else memory.select(sentences)
            if attended is not None:
                attended = _each_part(attended, lambda x: x.index_select(0, sentences))
        return replace(
            self,
            cells=tuple(tuple(s.index_select(0, rows) for s in layer) for layer in self.cells),
            fed=None if self.fed is None else self.fed.index_select(0, rows),
            context=context,
            memory=memory,
            attended=attended,
        )


class RecurrentDecoder(nn.Module):
    """p(y_t | y_<t, x) = softmax(W_o t_t),  t_t = readout(s, E y_(t-1), c)

    attention: asked with `hidden`-sized states (with the token too if `query_sees_token`), or None.
    static: it is asked once, by the first state of the top layer, and what it gives holds for every token.
    summary, bridge, feed: one vector of the whole source, how the first state is made of it, and where it
        enters: the "initial" state, every "step", the "readout".
    inside_reset: at a step it enters under the reset gate, as in Cho et al. 2014.
    input_feeding: t_t is part of the next cell's input (Luong); gradients pass through it.
    entry: the first cell reads [E y; c] as it is, or relu(W [E y; c]) as in the tutorial decoder.
    readout_sees: the state before the step ("previous", as RNNsearch is printed) or after it ("current").
    """

    covers: ClassVar[bool] = False  # what was attended to before decides what is attended to now

    def __init__(
        self,
        vocabulary: int,
        embedding: int,
        hidden: int,
        *,
        summary: Summary,
        bridge: Literal["zero", "transform", "copy"] = "transform",
        feed: tuple[Feed, ...] = ("initial",),
        inside_reset: bool = False,
        cell: str = "gru",
        layers: int = 1,
        attention: Attention | None = None,
        static: bool = False,
        place: Place = "before",
        query_sees_token: bool = False,
        input_feeding: bool = False,
        entry: Literal["plain", "relu"] = "plain",
        readout: Literal["maxout", "tanh", "linear", "state"] = "tanh",
        readout_size: int | None = None,
        readout_token: bool = True,
        readout_sees: Literal["previous", "current"] = "current",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_name("place of attention", place, get_args(Place))
        for way in feed:
            check_name("way to feed the context", way, get_args(Feed))
        if static and query_sees_token:
            raise ValueError(t("a static attention is asked before there is a token to see"))
        self.static = static and attention is not None
        self.summary, self.attention, self.place, self.feed = summary, attention, place, feed
        self.input_feeding, self.inside_reset, self.dropout = input_feeding, inside_reset, dropout
        self.query_sees_token = query_sees_token
        self.readout_token, self.readout_sees = readout_token, readout_sees
        self.embed = TokenEmbedding(vocabulary, embedding)

        attended = 0 if attention is None else attention.value_size
        fixed = summary.output_size
        sizes = (hidden, readout_token * embedding, attended, ("readout" in feed) * fixed)
        self.readout = ReadOut(readout, sizes, readout_size or hidden)
        self.output = nn.Linear(self.readout.output_size, vocabulary)

        # the first cell's input: what is known beforehand, then what the steps before it gave
        self.known_size = embedding + ("step" in feed and not inside_reset) * fixed
        self.fed_size = (place == "next") * attended + input_feeding * self.readout.output_size
        width = self.known_size + (place == "before") * attended + self.fed_size
        self.enter = nn.Linear(width, hidden) if entry == "relu" else None
        first = width if self.enter is None else hidden
        self.network = Recurrent(first, hidden, cell=cell, layers=layers, dropout=dropout)
        if inside_reset:
            self.network.forwards[0] = GRU(first, hidden, inner_size=fixed)
        self.second = make_cell(cell, attended, hidden) if place == "between" and attended else None
        begins = bridge if "initial" in feed else "zero"
        self.bridge = Bridge(begins, fixed, hidden, layers, self.network.cells[0].states)

    def start(self, encoded: Encoded) -> RecurrentState:
        context = self.summary(encoded) if self.feed and self.bridge.kind != "copy" else None
        attention = self.attention
        memory = None if attention is None else attention.remember(encoded.states, encoded.mask)
        like = self.output.weight
        fed = like.new_zeros(len(encoded.mask), self.fed_size) if self.fed_size else None
        state = RecurrentState(self.bridge(encoded, context, like), fed, context, memory)
        if not self.static:
            return state
        return replace(state, attended=self._ask(state.cells[-1][0], None, state, weights=True))

    def step(self, tokens: Tensor, state: RecurrentState, *, weights: bool = False) -> Step:
        x = dropout(self.embed(tokens), self.dropout, self.training)
        context = _for_each(state.context, len(x))
        moment = self._advance(
            x,
            self._known(x, context),
            self._inner(context),
            state,
            self._late_weight(),
            F.linear,
            weights,
        )
        out = self._read(moment.seen, x, moment.attended, context)
        return Step(self.project(out), self._hand_on(state, moment, out), moment.attended)

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        read = self.prefill(inputs, self.start(encoded), weights=weights)
        return Decoded(read.outputs, read.attended)

    def prefill(self, tokens: Tensor, state: RecurrentState, *, weights: bool = False) -> Prefilled:
        x = without_padding(self.embed(tokens), tokens)  # (B, T, E)
        x = dropout(x, self.dropout, self.training)
        comes_back = self.attention is not None and (self.place != "after" or self.input_feeding)
        run = self._in_turn if comes_back or self.fed_size or self.inside_reset else self._at_once
        return run(x, state, weights)

    def project(self, outputs: Tensor) -> Tensor:
        return self.output(dropout(outputs, self.dropout, self.training))

    def _at_once(self, x: Tensor, state: RecurrentState, weights: bool) -> Prefilled:
        """Nothing that is attended to comes back into the cells: all steps, then all queries."""
        context = (
            None if state.context is None else state.context[:, None].expand(-1, x.shape[1], -1)
        )
        inputs = x if "step" not in self.feed or context is None else torch.cat([x, context], -1)
        if self.enter is not None:
            inputs = self.enter(inputs).relu()
        states, cells = self.network(inputs, None, state.cells)
        attended = None
        if state.attended is not None:
            attended = _throughout(state.attended, x.shape[1], weights)
        elif self.attention is not None:
            query = torch.cat([x, states], -1) if self.query_sees_token else states
            at = state.position
            attended = self.attention(query, state.memory, offset=at, weights=weights)
        if self.readout_sees == "previous":
            states = torch.cat([state.cells[-1][0][:, None], states[:, :-1]], 1)
        new = replace(state, cells=cells, position=state.position + x.shape[1])
        return Prefilled(self._read(states, x, attended, context), new, attended)

    def _in_turn(self, x: Tensor, state: RecurrentState, weights: bool) -> Prefilled:
        """Step by step; what does not depend on the steps is computed before or after them, at once."""
        context = (
            None if state.context is None else state.context[:, None].expand(-1, x.shape[1], -1)
        )
        inner, late, linear = self._inner(state.context), self._late_weight(), SharedLinear()
        moments, outs = [], []
        for x_t, known in zip(x.unbind(1), self._known(x, context).unbind(1), strict=True):
            moment = self._advance(x_t, known, inner, state, late, linear, weights)
            out = None
            if self.input_feeding:
                out = self._read(moment.seen, x_t, moment.attended, state.context, linear)
                outs.append(out)
            state = self._hand_on(state, moment, out)
            moments.append(moment)
        attended = _stack([m.attended for m in moments])
        if outs:
            return Prefilled(torch.stack(outs, 1), state, attended)
        seen = torch.stack([m.seen for m in moments], 1)
        return Prefilled(self._read(seen, x, attended, context), state, attended)

    def _known(self, x: Tensor, context: Tensor | None) -> Tensor:
        """What the first cell reads and does not depend on the steps before, projected."""
        if context is not None and "step" in self.feed and not self.inside_reset:
            x = torch.cat([x, context], -1)
        weight, bias = self._entry()
        return F.linear(x, weight[:, : self.known_size], bias)

    def _entry(self) -> tuple[Tensor, Tensor]:
        if self.enter is not None:
            return self.enter.weight, self.enter.bias
        return self.network.cells[0].weight_ih, self.network.cells[0].bias_ih

    def _late_weight(self) -> Tensor:
        """The columns for what depends on the steps before; cut once for all steps."""
        return self._entry()[0][:, self.known_size :]

    def _inner(self, context: Tensor | None) -> Tensor | None:
        first = self.network.cells[0]
        if context is None or not self.inside_reset or not isinstance(first, GRU):
            return None
        return first.project_inner(context)

    def _advance(
        self,
        x: Tensor,
        known: Tensor,
        inner: Tensor | None,
        state: RecurrentState,
        late: Tensor,
        linear: Linear,
        weights: bool,
    ) -> DecoderMoment:
        """One step: x (N, E) -> the new cells, the state for the read-out, what was attended to."""
        before, attended = state.cells[-1][0], None
        given = [] if state.fed is None else [state.fed]
        if self.attention is not None and self.place == "before":
            attended = self._ask(before, x, state, weights)
            given.insert(0, attended.context)
        if given:
            known = known + linear(torch.cat(given, -1) if given[1:] else given[0], late, None)
        cells = self._transition(known, inner, state.cells, linear)
        if self.attention is not None and attended is None:
            attended = self._ask(cells[-1][0], x, state, weights)
        if self.second is not None and attended is not None:
            entering = linear(attended.context, self.second.weight_ih, self.second.bias_ih)
            top, _ = self.second.step(entering, cells[-1], linear)
            cells = (*cells[:-1], top)
        seen = before if self.readout_sees == "previous" else cells[-1][0]
        return DecoderMoment(cells, seen, attended)

    def _transition(
        self, entering: Tensor, inner: Tensor | None, old: tuple[CellState, ...], linear: Linear
    ) -> tuple[CellState, ...]:
        first, *others = self.network.cells
        if self.enter is not None:
            entering = linear(entering.relu(), first.weight_ih, first.bias_ih)
        if inner is not None and isinstance(first, GRU):
            now, _ = first.step(entering, old[0], linear, inner)
        else:
            now, _ = first.step(entering, old[0], linear)
        new = [now]
        for cell, state in zip(others, old[1:], strict=True):
            x = dropout(now[0], self.dropout, self.training)
            now, _ = cell.step(linear(x, cell.weight_ih, cell.bias_ih), state, linear)
            new.append(now)
        return tuple(new)

    def _ask(self, top: Tensor, x: Tensor | None, state: RecurrentState, weights: bool) -> Attended:
        """top (N, n), token x (N, E) -> of each hypothesis; what is known already is not asked again."""
        if state.attended is not None:
            known = state.attended if weights else state.attended._replace(weights=None)
            each = len(top) // len(known.context)
            return _each_part(known, lambda part: part.repeat_interleave(each, 0))
        attention, memory = self.attention, state.memory
        assert attention is not None
        assert memory is not None
        query = torch.cat([x, top], -1) if self.query_sees_token and x is not None else top
        attended = attend_per_sentence(
            attention, query[:, None], memory, position=state.position, weights=weights
        )
        return _each_part(attended, lambda part: part.squeeze(1))

    def _read(
        self,
        state: Tensor,
        x: Tensor,
        attended: Attended | None,
        context: Tensor | None,
        linear: Linear = F.linear,
    ) -> Tensor:
        parts = [state]
        if self.readout_token:
            parts.append(x)
        if attended is not None:
            parts.append(attended.context)
        if context is not None and "readout" in self.feed:
            parts.append(context)
        return self.readout(*parts, linear=linear)

    def _hand_on(
        self, state: RecurrentState, moment: DecoderMoment, out: Tensor | None
    ) -> RecurrentState:
        fed = []
        if self.place == "next" and moment.attended is not None:
            fed.append(moment.attended.context)
        if self.input_feeding and out is not None:
            fed.append(out)
        return replace(
            state,
            cells=moment.cells,
            fed=torch.cat(fed, -1) if fed else None,
            position=state.position + 1,
        )


class DecoderMoment(NamedTuple):
    """One step of the cells, before the read-out."""

    cells: tuple[CellState, ...]
    seen: Tensor  # (N, n): the state that the read-out sees
    attended: Attended | None


def _for_each(context: Tensor | None, hypotheses: int) -> Tensor | None:
    """(B, c) -> (N, c)"""
    if context is None:
        return None
    return context.repeat_interleave(hypotheses // len(context), 0)


def _each_part(attended: Attended, change: Callable[[Tensor], Tensor]) -> Attended:
    choice = attended.choice
    return Attended(
        change(attended.context),
        None if attended.weights is None else change(attended.weights),
        None if choice is None else HardChoice(*map(change, choice)),
    )


def _throughout(attended: Attended, length: int, weights: bool) -> Attended:
    """(B, ...) -> (B, T, ...), the same at every step"""
    kept = attended if weights else attended._replace(weights=None)
    return _each_part(kept, lambda x: x[:, None].expand(-1, length, *x.shape[1:]))


def _stack(steps: list[Attended | None]) -> Attended | None:
    """Of every step (N, ...) -> (N, T, ...)"""
    real = [step for step in steps if step is not None]
    if not real:
        return None
    weights = [step.weights for step in real if step.weights is not None]
    choices = [step.choice for step in real if step.choice is not None]
    return Attended(
        torch.stack([step.context for step in real], 1),
        torch.stack(weights, 1) if weights else None,
        HardChoice(*(torch.stack(parts, 1) for parts in zip(*choices, strict=True)))
        if choices
        else None,
    )
