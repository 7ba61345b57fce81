"""The classic systems as published: `rnnenc`, `rnnsearch`, `luong`, `tutorial`, with the papers' sizes.

`recurrent` is the family they belong to, every part open.

>>> model = rnnsearch(6000, 6000, embedding=256, hidden=256, maxout=256)
"""

from __future__ import annotations

from typing import Any

from regard.attention.module import Attention
from regard.attention.scores import Location
from regard.models import initialise
from regard.models.decoder import RecurrentDecoder
from regard.models.encoder import RecurrentEncoder
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.recurrent_options import Luong, RecurrentTranslator, RnnEnc, RnnSearch, Tutorial
from regard.models.summary import Summary


def rnnenc(
    source: int, target: int, options: RnnEnc | None = None, /, **changes: Any
) -> EncoderDecoder:
    """RNN Encoder-Decoder: c = tanh(V h_S) starts the decoder, enters every step and the read-out.

    — Cho et al. 2014, https://arxiv.org/abs/1406.1078. source, target: the sizes of the vocabularies.
    """
    options = RnnEnc.of(options, changes)
    hidden = options.hidden
    encoder = RecurrentEncoder(
        source,
        options.embedding,
        hidden,
        cell="gru-reset-before",
        bidirectional=False,
        dropout=options.dropout,
    )
    decoder = RecurrentDecoder(
        target,
        options.embedding,
        hidden,
        summary=Summary("transform", hidden, hidden),
        feed=("initial", "step", "readout"),
        inside_reset=True,
        readout="maxout",
        readout_size=options.maxout,
        dropout=options.dropout,
    )
    return initialise.by_name(options.init, EncoderDecoder(encoder, decoder), initialise.bahdanau)


def rnnsearch(
    source: int, target: int, options: RnnSearch | None = None, /, **changes: Any
) -> EncoderDecoder:
    """RNNsearch: s_0 = tanh(W_s backward_1); attention asked by s_(i-1), context in all gates.

    — Bahdanau, Cho and Bengio 2015, https://arxiv.org/abs/1409.0473. alignment: n', `hidden` if not given.
    """
    options = RnnSearch.of(options, changes)
    hidden, score = options.hidden, options.attention.score
    encoder = RecurrentEncoder(
        source, options.embedding, hidden, cell=options.cell, dropout=options.dropout
    )
    decoder = RecurrentDecoder(
        target,
        options.embedding,
        hidden,
        summary=Summary("backward", 2 * hidden, 2 * hidden),
        cell=options.cell,
        attention=Attention(
            hidden,
            2 * hidden,
            score=f"additive({options.alignment or hidden})" if score == "additive" else score,
            region=options.attention.region,
            normalize=options.attention.normalize,
            cap=options.attention.cap,
            sinks=options.attention.sinks,
            bridge=True,
        ),
        static=not options.attention.dynamic,
        place="before",
        readout="maxout",
        readout_size=options.maxout,
        readout_sees=options.readout,
        dropout=options.dropout,
    )
    return initialise.by_name(options.init, EncoderDecoder(encoder, decoder), initialise.bahdanau)


def luong(
    source: int, target: int, options: Luong | None = None, /, **changes: Any
) -> EncoderDecoder:
    """Stacked LSTM, attention asked by h_t, h~_t = tanh(W_c [c_t; h_t]), input feeding.

    — Luong, Pham and Manning 2015, https://arxiv.org/abs/1508.04025. local-m: a window of
    2 · width + 1 around position t, kept inside the source; local-p: a Gaussian around a predicted position.
    location: over the first `max_length` positions, the keys are not used.
    """
    options = Luong.of(options, changes)
    hidden, attention = options.hidden, _luong_attention(options)
    encoder = RecurrentEncoder(
        source,
        options.embedding,
        hidden,
        cell="lstm",
        layers=options.layers,
        bidirectional=False,
        reverse=options.reverse,
        dropout=options.dropout,
    )
    decoder = RecurrentDecoder(
        target,
        options.embedding,
        hidden,
        summary=Summary("last", hidden, hidden),
        bridge="copy",
        cell="lstm",
        layers=options.layers,
        attention=attention,
        place="after",
        input_feeding=options.feed and attention is not None,
        readout="tanh" if attention is not None else "state",
        readout_token=False,
        dropout=options.dropout,
    )
    return initialise.by_name(options.init, EncoderDecoder(encoder, decoder), initialise.luong)


def _luong_attention(options: Luong) -> Attention | None:
    if options.attention == "none":
        return None
    hidden, width = options.hidden, options.width
    regions = {
        "global": "everywhere",
        "local-m": f"window({width}, clamp=True)",
        "local-p": f"predicted-window(width={width})",
    }
    scores = {
        "dot": "dot",
        "general": "bilinear",
        "concat": f"additive({hidden})",
        "location": f"location({options.max_length})",
    }
    return Attention(hidden, hidden, score=scores[options.score], region=regions[options.attention])


def tutorial(
    source: int, target: int, options: Tutorial | None = None, /, **changes: Any
) -> EncoderDecoder:
    """GRU decoder with attention softmax(W [E y; s_(t-1)] + b) over positions, whatever words stand there.

    — the widely copied PyTorch seq2seq tutorial; batched, masked, and any source length: positions beyond
    `max_length` are not attended. Without `bias` b is 0.
    """
    options = Tutorial.of(options, changes)
    hidden, dropout = options.hidden, options.dropout
    encoder = RecurrentEncoder(source, hidden, hidden, bidirectional=False, dropout=dropout)
    decoder = RecurrentDecoder(
        target,
        hidden,
        hidden,
        summary=Summary("last", hidden, hidden),
        bridge="copy",
        attention=Attention(
            2 * hidden, hidden, score=Location(2 * hidden, options.max_length, bias=options.bias)
        ),
        place="before",
        query_sees_token=True,
        entry="relu",
        readout="state",
        readout_token=False,
        dropout=dropout,
    )
    return EncoderDecoder(encoder, decoder)


def recurrent(
    source: int, target: int, options: RecurrentTranslator | None = None, /, **changes: Any
) -> EncoderDecoder:
    """Any recurrent encoder and decoder; with `attention=None` there is no attention."""
    options = RecurrentTranslator.of(options, changes)
    encoder = RecurrentEncoder(
        source,
        options.embedding,
        options.hidden,
        cell=options.cell,
        layers=options.encoder_layers,
        bidirectional=options.bidirectional,
        reverse=options.reverse,
        initial=options.initial,
        dropout=options.dropout,
    )
    size, how = encoder.output_size, options.attention
    attention = (
        None if how is None else Attention(options.hidden, size, **how.mechanism, bridge=True)
    )
    decoder = RecurrentDecoder(
        target,
        options.embedding,
        options.hidden,
        summary=Summary(options.context, size, size),
        feed=tuple(options.feed),
        cell=options.cell,
        layers=options.decoder_layers,
        attention=attention,
        static=how is not None and not how.dynamic,
        place=options.place,
        input_feeding=options.input_feeding,
        readout=options.readout,
        readout_token=options.readout_token,
        dropout=options.dropout,
    )
    return initialise.by_name("default", EncoderDecoder(encoder, decoder), initialise.default)
