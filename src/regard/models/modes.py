"""What a recurrent network can map to what, behind the one interface of `EncoderDecoder`:
`encode(source, mask)`, then `decoder.start`, `step`, `forward` and `project`.

    one-to-many    a vector -> a sequence; it enters at the first step, at every step or at chosen ones
    many-to-one    a sequence -> one label
    aligned        a sequence -> an output at every step: a language model
    many-to-many   a sequence -> another sequence: `presets.recurrent`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.pooling import AttentionPooling
from regard.layers.contracts import Decoded, Encoded, Step
from regard.models.decoder import RecurrentDecoder
from regard.models.encoder import NoEncoder, RecurrentEncoder, VectorEncoder
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.past_decoder import PastDecoder
from regard.models.recurrent_options import RecurrentClassifier, RecurrentLanguage
from regard.models.summary import Summary
from regard.models.tellers.entering_decoder import EnteringDecoder
from regard.words import t


def one_to_many(
    source_size: int,
    target: int,
    options: RecurrentLanguage | None = None,
    /,
    *,
    enters: Literal["first", "every"] | Sequence[int] = "first",
    step_index: Literal["none", "sinusoidal", "learned"] = "none",
    **changes: Any,
) -> EncoderDecoder:
    """y_1 … y_T from one vector x (B, source_size): h_0 = tanh(W x), or h_t = f([E y_(t-1); x], h_(t-1)),
    at every step or at those of these numbers, from 1.

    The options are those of a language model, which this is, told of x. step_index: whether a step knows its
    number. `regard.models.tellers.one_to_many` reads labels, pictures and texts too.
    """
    options = RecurrentLanguage.of(options, changes)
    if options.attention is not None:
        raise ValueError(t("one vector is all there is to attend to: leave `attention` out"))
    decoder = EnteringDecoder(
        target,
        Summary("last", source_size, source_size),
        options.embedding,
        options.hidden,
        enters=enters,
        step_index=step_index,
        cell=options.cell,
        layers=options.layers,
        dropout=options.dropout,
    )
    return EncoderDecoder(VectorEncoder(source_size), decoder)


def language_model(
    vocabulary: int, options: RecurrentLanguage | None = None, /, **changes: Any
) -> EncoderDecoder:
    """o_t scores x_(t+1) at every t. No source: `encode` takes any tensor with a row for each text.

    With `attention` it attends to the states that it has been in.
    """
    options = RecurrentLanguage.of(options, changes)
    decoder: nn.Module
    if options.attention is None:
        decoder = RecurrentDecoder(
            vocabulary,
            options.embedding,
            options.hidden,
            summary=Summary("last", 0, 0),
            feed=(),
            cell=options.cell,
            layers=options.layers,
            readout="state",
            readout_token=False,
            dropout=options.dropout,
        )
    else:
        decoder = PastDecoder(
            vocabulary,
            options.embedding,
            options.hidden,
            options.attention,
            cell=options.cell,
            layers=options.layers,
            dropout=options.dropout,
        )
    return EncoderDecoder(NoEncoder(), decoder)


def many_to_one(
    source: int, labels: int, options: RecurrentClassifier | None = None, /, **changes: Any
) -> LabelModel:
    """y = g(pool(h_1 … h_S)); pool: last, transform, mean, max, ends, linear or attention."""
    options = RecurrentClassifier.of(options, changes)
    encoder = RecurrentEncoder(
        source,
        options.embedding,
        options.hidden,
        cell=options.cell,
        layers=options.layers,
        bidirectional=options.bidirectional,
        dropout=options.dropout,
    )
    size = encoder.output_size
    return LabelModel(encoder, LabelDecoder(Summary(options.pool, size, size), labels))


@dataclass(frozen=True)
class LabelState:
    """The sources, and their weights."""

    context: Tensor  # (N, c)
    weights: Tensor | None  # (N, S) of the states in it, where it is made by attention

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> LabelState:
        weights = None if self.weights is None else self.weights.index_select(0, rows)
        return LabelState(self.context.index_select(0, rows), weights)


class LabelDecoder(nn.Module):
    """A target of one token, the label, whatever the input token is.

    summary: a `Summary`, or another module that pools what was encoded and says how it attends. output: how
    many labels there are, or what makes answers of the summary. penalty: coefficient of ‖A Aᵀ - I‖²_F of a
    summary that attends several times.
    """

    longest = 1

    def __init__(self, summary: Any, output: int | nn.Module, *, penalty: float = 0.0) -> None:
        super().__init__()
        self.summary, self.penalty = summary, penalty
        self.output = nn.Linear(summary.output_size, output) if isinstance(output, int) else output

    def start(self, encoded: Encoded) -> LabelState:
        if (attended := self.summary.attend(encoded)) is None:
            return LabelState(self.summary(encoded), None)
        return LabelState(attended.context.squeeze(1), attended.weights.mean(1))

    def step(self, tokens: Tensor, state: LabelState, *, weights: bool = False) -> Step:
        attended = None
        if state.weights is not None:
            attended = Attended(state.context, state.weights if weights else None)
        return Step(self.project(state.context), state, attended)

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        length = inputs.shape[1]
        if (attended := self.summary.attend(encoded)) is None:
            return Decoded(self.summary(encoded)[:, None].expand(-1, length, -1))
        context, used = attended.context.expand(-1, length, -1), attended.weights
        mean = used.mean(1, keepdim=True).expand(-1, length, -1)  # of one row, or of several hops
        cost = self.penalty * AttentionPooling.penalty(used) if self.penalty else None
        return Decoded(context, Attended(context, mean if weights else None), cost)

    def project(self, outputs: Tensor) -> Tensor:
        return self.output(outputs)


class LabelModel(EncoderDecoder):
    """Sources in, logits of their labels out: model(source, mask), or model(source, lengths=lengths)"""

    decoder: LabelDecoder

    def __init__(self, encoder: nn.Module, decoder: LabelDecoder) -> None:
        super().__init__(encoder, decoder)

    @overload
    def forward(
        self,
        source: Tensor,
        mask: Tensor | None = None,
        inputs: None = None,
        *,
        lengths: Tensor | None = None,
    ) -> Tensor: ...

    @overload
    def forward(
        self,
        source: Tensor,
        mask: Tensor | None,
        inputs: Tensor,
        *,
        lengths: Tensor | None = None,
        weights: bool = False,
    ) -> Decoded: ...

    def forward(
        self,
        source: Tensor,
        mask: Tensor | None = None,
        inputs: Tensor | None = None,
        *,
        lengths: Tensor | None = None,
        weights: bool = False,
    ) -> Tensor | Decoded:
        """Logits (B, K), or a number for each source (B, 1).

        With inputs (B, 1), whichever they are, it is the `Decoded` of every `EncoderDecoder`: with weights,
        and with a penalty where there is one.
        """
        if inputs is not None:
            return super().forward(source, mask, inputs, lengths=lengths, weights=weights)
        if weights:
            raise ValueError(
                t(
                    "weights are in what a decoder gives: give inputs too, torch.zeros(B, 1), "
                    "whichever they are"
                )
            )
        encoded = self.encode(source, mask, lengths=lengths)
        return self.decoder.project(self.decoder.start(encoded).context)
