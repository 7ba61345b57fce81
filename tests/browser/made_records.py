"""Records that need no model: a translation by six heads, writing systems, a picture, long inputs."""

from __future__ import annotations

import numpy as np

from regard.looking.pictures import picture_record
from regard.records.attention_map import AttentionMap
from regard.records.beam_tree import Beam, BeamNode
from regard.records.explanation import Explanation
from regard.records.lens import Lens
from regard.records.levels import Levels
from regard.records.record import AttentionRecord
from regard.records.side import END, START, Side

LAYERS, HEADS, VALUES = 2, 3, 4
SHARPNESS = np.array([[1.0, 3.0, 0.5], [2.0, 0.2, 6.0]])  # of each head: its entropy is its own
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def softmax(scores):
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return (shares / shares.sum(-1, keepdims=True)).astype(np.float32)


def side(text: str, pieces: list[str], *, start: bool = False, end: bool = False, **more) -> Side:
    """The pieces in the order of the text, with marks before and after them."""
    offsets, place = [], 0
    for piece in pieces:
        place = text.index(piece, place)
        offsets.append((place, place + len(piece)))
        place += len(piece)
    tokens = [*[START] * start, *pieces, *[END] * end]
    places = [*[(0, 0)] * start, *offsets, *[(len(text), len(text))] * end]
    special = [*[True] * start, *[False] * len(pieces), *[True] * end]
    return Side.of(text, tokens, places, special=special, **more)


def translation_record(seed: int = 0, model: str = "six heads") -> AttentionRecord:
    """A Chinese sentence, an English one in subwords, and three maps of 2 layers × 3 heads."""
    source_text, target_text = "我是快乐的学生。", "I am a happy student."
    pieces = ["I", "am", "a", "hap", "py", "stud", "ent", "."]
    sides = {
        "source": side(source_text, list(source_text), end=True, language="zh", title="source"),
        "target": side(target_text, pieces, end=True, language="en", title="target"),
        "prefix": side(target_text, pieces, start=True, language="en", title="written before"),
    }
    draw = np.random.default_rng(seed)
    causal = np.tril(np.ones((9, 9), bool))
    maps = (
        drawn_map(draw, "cross", "target", "source", names=("decoder 1", "decoder 2")),
        drawn_map(draw, "encoder", "source", "source"),
        drawn_map(draw, "decoder", "target", "prefix", allowed=causal),
    )
    return AttentionRecord(
        sides,
        maps,
        title=source_text,
        model=model,
        output=target_text,
        beam=drawn_beam(draw),
        explanations=drawn_explanations(draw),
        question={"text": source_text},
    )


def neuron_record(added: bool) -> AttentionRecord:
    """One head with its queries and keys, and a bias; added: of an additive score."""
    draw = np.random.default_rng(5)
    query, key = (draw.normal(size=(1, 1, n, 6)).astype(np.float32) for n in (2, 3))
    vector = draw.normal(size=(1, 1, 6)).astype(np.float32) if added else None
    scores = query @ np.swapaxes(key, -1, -2) + np.float32(0.5)
    if vector is not None:
        summed = np.tanh(query[..., :, None, :] + key[..., None, :, :])
        scores = (summed * vector[:, :, None, None]).sum(-1)
    sides = {"queries": Side.of_labels(["a", "b"]), "keys": Side.of_labels(["x", "学", "z"])}
    made = AttentionMap(
        "cross",
        "queries",
        "keys",
        softmax(scores),
        scores=scores,
        normalizer="softmax",
        query_vectors=query,
        key_vectors=key,
        score_vector=vector,
    )
    return AttentionRecord(sides, (made,), "neurons")


def nothing_record() -> AttentionRecord:
    """A token of nothing and one of a blank, where the tables have headings of nothing."""
    weights = softmax(np.random.default_rng(0).normal(size=(1, 1, 3, 3)))
    vectors = np.ones((1, 1, 3, 4), np.float32)
    kept = {"scores": weights, "query_vectors": vectors, "key_vectors": vectors}
    of = Side.of_labels(["", " ", "b"])
    said = ((("a",), ("",), (" ",)),)
    lens = Lens("text", ("output",), said, np.ones((1, 3, 1), np.float32))
    drawn = AttentionMap("encoder", "text", "text", weights, **kept)
    return AttentionRecord({"text": of}, (drawn,), title="nothing", lens=lens)


def lens_record() -> AttentionRecord:
    """A text with predictions of two layers and the output."""
    draw = np.random.default_rng(3)
    words = ("I", "am", "学生", "ok")
    chances = np.sort(draw.random((3, 4, 2)).astype(np.float32) / 2)[..., ::-1]
    tokens = tuple(
        tuple((words[(line + place) % 4], words[line]) for place in range(4)) for line in range(3)
    )
    lens = Lens("text", ("embedding", "layer 1", "output"), tokens, np.ascontiguousarray(chances))
    weights = softmax(draw.normal(size=(1, 2, 4, 4)))
    text = side("I am a dog", ["I", "am", "a", "dog"])
    return AttentionRecord(
        {"text": text}, (AttentionMap("decoder", "text", "text", weights),), "I am a dog", lens=lens
    )


def label_record() -> AttentionRecord:
    """A judgement: its one query is the label, asked from outside, as by `apcnn`."""
    text = "a fine film"
    sides = {"text": side(text, text.split(), end=True), "label": Side.of_labels(["good"])}
    weights = softmax(np.arange(4.0).reshape(1, 1, 1, 4))
    maps = (AttentionMap("cross", "label", "text", weights),)
    return AttentionRecord(sides, maps, title=text, output="good (0.9)", question={"text": text})


def drawn_map(draw, name: str, queries: str, keys: str, *, allowed=None, names=()) -> AttentionMap:
    scores = draw.normal(size=(LAYERS, HEADS, 9, 9)) * SHARPNESS[..., None, None]
    open_scores = scores if allowed is None else np.where(allowed, scores, -np.inf)
    return AttentionMap(
        name,
        queries,
        keys,
        softmax(open_scores),
        layers=names,
        mechanism="score: scaled-dot · region: everywhere · normalize: softmax",
        normalizer="softmax",
        scores=scores.astype(np.float32),
        allowed=None if allowed is None else allowed[None, None],
        values=draw.normal(size=(LAYERS, HEADS, 9, VALUES)).astype(np.float32),
    )


def drawn_beam(draw) -> Beam:
    """Two hypotheses that part after the third token, and one that was dropped."""
    tokens = ["I", "am", "a", "hap", "py", "stud", "ent", ".", END]
    nodes, total = [], 0.0
    for place, token in enumerate(tokens):
        total -= 0.1 * (place + 1)
        last = token == END
        nodes.append(
            BeamNode(
                place - 1,
                token,
                -0.1 * (place + 1),
                total,
                "ended" if last else "open",
                total / 9 if last else None,
                0 if last else None,
            )
        )
    nodes += [
        BeamNode(2, "glad", -1.2, nodes[2].total - 1.2, "open"),
        BeamNode(9, END, -0.4, nodes[2].total - 1.6, "ended", -0.55, 1),
        BeamNode(1, "the", -2.3, nodes[1].total - 2.3, "dropped"),
    ]
    return Beam(tuple(nodes), softmax(2 * draw.normal(size=(len(nodes), 9))), "source")


def drawn_explanations(draw) -> tuple[Explanation, ...]:
    def numbers(low: float, high: float) -> list[float]:
        return [float(x) for x in draw.uniform(low, high, 9)]

    gradient = softmax(draw.normal(size=(9, 9)))
    signed = (draw.normal(size=(9, 9)) / 4).astype(np.float32)
    tau = [*numbers(-0.3, 0.9)[:8], float("nan")]
    return (
        Explanation(
            "gradient", "gradient × input", "They agree a little.", "cross", gradient, {"τ": tau}
        ),
        Explanation(
            "leave-one-out",
            "leave one out",
            "Words matter.",
            "cross",
            signed,
            {"τ": numbers(0, 1)},
            True,
        ),
        Explanation("uniform", "uniform", "It moves.", "cross", None, {"TVD": numbers(0, 1)}),
    )


def scripts_record() -> AttentionRecord:
    """Hebrew keys from right to left; queries of Arabic, Japanese and the bytes of one character."""
    keys = side("שלום עולם טוב", ["שלום", "עו", "לם", "טוב"], language="he", title="Hebrew")
    text = "كتاب 東京に 🎉"
    offsets = [(0, 2), (2, 4), (5, 7), (7, 8), *[(9, 10)] * 3]
    tokens = ["كت", "اب", "東京", "に", "🎉 1/3", "🎉 2/3", "🎉 3/3"]
    queries = Side.of(text, tokens, offsets, title="many scripts")
    weights = softmax(2 * np.random.default_rng(5).normal(size=(1, 1, 7, 4)))
    made = AttentionMap("attention", "queries", "keys", weights)
    return AttentionRecord({"queries": queries, "keys": keys}, (made,), title="scripts")


def hostile_record() -> AttentionRecord:
    """Markup wherever a record has a text."""
    weights = softmax(np.random.default_rng(1).normal(size=(2, 2, 3)))
    labels = [HOSTILE, "b", "c"]
    record = AttentionRecord.of(
        weights, labels[:2], labels, title=HOSTILE, model=HOSTILE, mechanism=HOSTILE, name=HOSTILE
    )
    given = record.to_dict() | {"output": HOSTILE, "notes": [HOSTILE]}
    return AttentionRecord.from_dict(given)


def image_record() -> AttentionRecord:
    """Three words over a grid of 4 × 6 cells, with one glimpse each."""
    down, across = np.mgrid[:80, :120]
    disc = (across - 80) ** 2 + (down - 30) ** 2 < 400
    pixels = np.stack([2 * across, 3 * down, 255 * disc], -1).astype(np.uint8)
    weights = softmax(2 * np.random.default_rng(2).normal(size=(3, 24)))
    boxes = [(0.0, 0.0, 0.4, 0.5), (0.5, 0.1, 0.4, 0.5), (0.3, 0.5, 0.4, 0.5)]
    words = ["a", "blue", "disc"]
    return picture_record(
        weights, words, pixels, grid=(4, 6), glimpses=boxes, title="a disc", model="captioner"
    )


def square_record(tokens: int, layers: int = 1, heads: int = 1) -> AttentionRecord:
    draw = np.random.default_rng(3)
    weights = softmax(3 * draw.normal(size=(layers, heads, tokens, tokens)))
    return AttentionRecord.of(weights, [f"w{n}" for n in range(tokens)], title=f"{tokens} tokens")


def document_record(lengths: tuple[int, ...] = (4, 7, 0, 2), seed: int = 0) -> AttentionRecord:
    """A document of sentences with so many words, none for an empty one; some words are of two tokens."""
    draw = np.random.default_rng(seed)
    pieces, offsets, spans, end = [], [], [], 0
    for number, length in enumerate(lengths):
        begin = end
        for n in range(length):
            piece = f"w{number}x{n}"
            offsets.append((end, end + len(piece)))
            pieces.append(piece)
            end += len(piece) + (n % 3 != 0)  # every third goes on with the next: one word
        spans.append((begin, max(begin, offsets[-1][1] if length else begin)))
        end += 1
    text = "".join(
        piece.rjust(b - before)
        for piece, (_, b), before in zip(
            pieces, offsets, [0, *(b for _, b in offsets)][: len(offsets)], strict=True
        )
    )
    upper = softmax(2 * draw.normal(size=len(lengths)))
    shares = [softmax(2 * draw.normal(size=n)) for n in lengths if n]
    lower = np.concatenate(shares) if shares else np.zeros(0, np.float32)
    levels = Levels("sentences", "document", lengths, upper, lower, "score: u · tanh(W h)")
    numbers = range(len(lengths))
    sides = {
        "document": Side.of(text, pieces, offsets, title="document", language="en"),
        "sentences": Side.of(
            text, [f"{n + 1} …" for n in numbers], spans, words=numbers, title="sentences"
        ),
        "label": Side.of_labels(["yes"], title="label"),
    }
    maps = (
        AttentionMap("pooling", "label", "document", levels.product[None, None, None]),
        AttentionMap("sentences", "label", "sentences", upper[None, None, None]),
    )
    return AttentionRecord(
        sides, maps, title=text, model="two levels", output="yes (0.8)", levels=levels
    )
