"""The classic systems as published: `rnnenc`, `rnnsearch`, `luong`, `tutorial`, with the papers' sizes.

`recurrent` is the family they belong to, every part open.

>>> model = rnnsearch(6000, 6000, embedding=256, hidden=256, maxout=256)
"""

from __future__ import annotations

from typing import Literal

from regard.attention.module import Attention
from regard.models import initialise
from regard.models.decoder import Feed, Place, RecurrentDecoder
from regard.models.encoder import RecurrentEncoder
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.summary import Summary

Init = Literal["paper", "default"]


def rnnenc(
    source: int,
    target: int,
    *,
    embedding: int = 620,
    hidden: int = 1000,
    maxout: int = 500,
    dropout: float = 0.0,
    init: Init = "paper",
) -> EncoderDecoder:
    """RNN Encoder-Decoder: c = tanh(V h_S) starts the decoder, enters every step and the read-out.

    — Cho et al. 2014, https://arxiv.org/abs/1406.1078. source, target: the sizes of the vocabularies.
    """
    encoder = RecurrentEncoder(
        source, embedding, hidden, cell="gru-reset-before", bidirectional=False, dropout=dropout
    )
    decoder = RecurrentDecoder(
        target,
        embedding,
        hidden,
        summary=Summary("transform", hidden, hidden),
        feed=("initial", "step", "readout"),
        inside_reset=True,
        readout="maxout",
        readout_size=maxout,
        dropout=dropout,
    )
    return initialise.by_name(init, EncoderDecoder(encoder, decoder), initialise.bahdanau)


def rnnsearch(
    source: int,
    target: int,
    *,
    embedding: int = 620,
    hidden: int = 1000,
    alignment: int | None = None,
    maxout: int = 500,
    cell: str = "gru-reset-before",
    score: str | None = None,
    region: str = "everywhere",
    normalize: str = "softmax",
    readout_sees: Literal["previous", "current"] = "previous",
    dropout: float = 0.0,
    init: Init = "paper",
) -> EncoderDecoder:
    """RNNsearch: s_0 = tanh(W_s backward_1); attention asked by s_(i-1), context in all gates.

    — Bahdanau, Cho and Bengio 2015, https://arxiv.org/abs/1409.0473. alignment: n', `hidden` if not given.
    """
    encoder = RecurrentEncoder(source, embedding, hidden, cell=cell, dropout=dropout)
    decoder = RecurrentDecoder(
        target,
        embedding,
        hidden,
        summary=Summary("backward", 2 * hidden, 2 * hidden),
        cell=cell,
        attention=Attention(
            hidden,
            2 * hidden,
            score=score or f"additive({alignment or hidden})",
            region=region,
            normalize=normalize,
        ),
        place="before",
        readout="maxout",
        readout_size=maxout,
        readout_sees=readout_sees,
        dropout=dropout,
    )
    return initialise.by_name(init, EncoderDecoder(encoder, decoder), initialise.bahdanau)


def luong(
    source: int,
    target: int,
    *,
    attention: Literal["global", "local-m", "local-p", "none"] = "global",
    score: Literal["dot", "general", "concat", "location"] = "general",
    width: int = 10,
    feed: bool = True,
    reverse: bool = True,
    embedding: int = 1000,
    hidden: int = 1000,
    layers: int = 4,
    max_length: int = 100,
    dropout: float = 0.2,
    init: Init = "paper",
) -> EncoderDecoder:
    """Stacked LSTM, attention asked by h_t, h~_t = tanh(W_c [c_t; h_t]), input feeding.

    — Luong, Pham and Manning 2015, https://arxiv.org/abs/1508.04025. local-m: a window of
    2 · width + 1 around position t, kept inside the source; local-p: a Gaussian around a predicted position.
    location: over the first `max_length` positions, the keys are not used.
    """
    encoder = RecurrentEncoder(
        source,
        embedding,
        hidden,
        cell="lstm",
        layers=layers,
        bidirectional=False,
        reverse=reverse,
        dropout=dropout,
    )
    regions = {
        "global": "everywhere",
        "local-m": f"window({width}, clamp=True)",
        "local-p": f"predicted-window(width={width})",
    }
    scores = {
        "dot": "dot",
        "general": "bilinear",
        "concat": f"additive({hidden})",
        "location": f"location({max_length})",
    }
    attends = None
    if attention != "none":
        attends = Attention(hidden, hidden, score=scores[score], region=regions[attention])
    decoder = RecurrentDecoder(
        target,
        embedding,
        hidden,
        summary=Summary("last", hidden, hidden),
        bridge="copy",
        cell="lstm",
        layers=layers,
        attention=attends,
        place="after",
        input_feeding=feed and attends is not None,
        readout="tanh" if attends is not None else "state",
        readout_token=False,
        dropout=dropout,
    )
    return initialise.by_name(init, EncoderDecoder(encoder, decoder), initialise.luong)


def tutorial(
    source: int, target: int, *, hidden: int = 256, max_length: int = 50, dropout: float = 0.1
) -> EncoderDecoder:
    """GRU decoder with attention softmax(W [E y; s_(t-1)]) over positions: it looks at no word of the source.

    — the widely copied PyTorch seq2seq tutorial; batched, masked, and any source length: positions beyond
    `max_length` are not attended.
    """
    encoder = RecurrentEncoder(source, hidden, hidden, bidirectional=False, dropout=dropout)
    decoder = RecurrentDecoder(
        target,
        hidden,
        hidden,
        summary=Summary("last", hidden, hidden),
        bridge="copy",
        attention=Attention(2 * hidden, hidden, score=f"location({max_length})"),
        place="before",
        query_sees_token=True,
        entry="relu",
        readout="state",
        readout_token=False,
        dropout=dropout,
    )
    return EncoderDecoder(encoder, decoder)


def recurrent(
    source: int,
    target: int,
    *,
    cell: str = "gru",
    embedding: int = 256,
    hidden: int = 256,
    encoder_layers: int = 1,
    decoder_layers: int = 1,
    bidirectional: bool = True,
    reverse: bool = False,
    initial: Literal["zero", "random", "learned"] = "zero",
    context: str = "last",
    feed: tuple[Feed, ...] = ("initial",),
    score: str | None = "additive",
    region: str = "everywhere",
    normalize: str = "softmax",
    place: Place = "before",
    input_feeding: bool = False,
    readout: Literal["maxout", "tanh", "linear"] = "tanh",
    readout_token: bool = True,
    dropout: float = 0.0,
) -> EncoderDecoder:
    """Any recurrent encoder and decoder. Without a score there is no attention."""
    encoder = RecurrentEncoder(
        source,
        embedding,
        hidden,
        cell=cell,
        layers=encoder_layers,
        bidirectional=bidirectional,
        reverse=reverse,
        initial=initial,
        dropout=dropout,
    )
    attention = None
    if score is not None:
        sizes = (hidden, encoder.output_size)
        attention = Attention(*sizes, score=score, region=region, normalize=normalize)
    decoder = RecurrentDecoder(
        target,
        embedding,
        hidden,
        summary=Summary(context, encoder.output_size, encoder.output_size),
        feed=feed,
        cell=cell,
        layers=decoder_layers,
        attention=attention,
        place=place,
        input_feeding=input_feeding,
        readout=readout,
        readout_token=readout_token,
        dropout=dropout,
    )
    return initialise.by_name("default", EncoderDecoder(encoder, decoder), initialise.default)
