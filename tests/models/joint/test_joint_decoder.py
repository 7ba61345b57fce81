"""A joint model takes the same steps one by one and at once; every word has its own place."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.aligners import Lexicon
from regard.layers.contracts import Encoded
from regard.layers.special_tokens import BOS, EOS
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.joint.affiliated import NOWHERE, Affiliated
from regard.models.joint.joint_decoder import JointDecoder, meng

SOURCES, TARGETS = 12, 9
KINDS = ("in-cnn", "tag-cnn", "cnn", "window", "none")


def model(kind: str, **options: object) -> EncoderDecoder:
    torch.manual_seed(5)
    small = {"embedding": 6, "hidden": 7, "features": 5, "window": 3, "around": 1}
    made = meng(SOURCES, TARGETS, encoder=kind, **small | options).double().eval()  # type: ignore[arg-type]
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return made


def lexicon() -> Lexicon:
    draw = np.random.default_rng(1)
    sources, targets = np.meshgrid(np.arange(4, SOURCES), np.arange(4, TARGETS - 1))
    size = sources.size
    return Lexicon(TARGETS, sources.ravel(), targets.ravel(), draw.random(size))


def encoded(made: EncoderDecoder, rows: list[list[int]]) -> Encoded:
    width = max(map(len, rows)) + 1
    source = torch.tensor([[*row, EOS] + [0] * (width - len(row) - 1) for row in rows])
    mask = torch.arange(width) < torch.tensor([[len(row) + 1] for row in rows])
    found = made.encode(source, mask)
    if not made.decoder.aligned:  # type: ignore[union-attr]
        return found
    first = np.stack([lexicon().first_places(row) for row in rows])
    first[:, EOS] = [len(row) for row in rows]
    return Affiliated.of(found, torch.from_numpy(first))


ROWS = [[4, 5, 4, 6, 4, 11], [7, 8], [9, 9, 10, 5]]
INPUTS = torch.tensor([[BOS, 5, 8, 4], [BOS, 7, 7, 6], [BOS, 8, 5, 5]])


def decoder_of(made: EncoderDecoder) -> JointDecoder:
    assert isinstance(made.decoder, JointDecoder)
    return made.decoder


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_the_whole(kind: str) -> None:
    made = model(kind)
    decoder, read = decoder_of(made), encoded(made, ROWS)
    whole = decoder.forward(INPUTS, read, weights=True)
    logits = decoder.project(whole.outputs)
    state = decoder.start(read)
    for place, tokens in enumerate(INPUTS.unbind(1)):
        step = decoder.step(tokens, state, weights=True)
        assert torch.allclose(step.logits, logits[:, place], atol=1e-12)
        if whole.attended is not None:
            assert step.attended is not None
            assert whole.attended.weights is not None
            assert torch.allclose(step.attended.weights, whole.attended.weights[:, place])
        state = step.state
    assert (whole.attended is None) == (kind == "none")


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_alone_is_the_sentence_in_a_batch(kind: str) -> None:
    made = model(kind)
    decoder = decoder_of(made)
    together = decoder.forward(INPUTS, encoded(made, ROWS)).outputs
    for row, source in enumerate(ROWS):
        alone = decoder.forward(INPUTS[row : row + 1], encoded(made, [source])).outputs
        assert torch.allclose(alone[0], together[row], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_hypotheses_of_a_sentence_are_as_if_each_had_it_alone(kind: str) -> None:
    made = model(kind)
    decoder, read = decoder_of(made), encoded(made, ROWS[:2])
    rows, sentences = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1])
    state = decoder.step(torch.tensor([BOS, BOS]), decoder.start(read)).state.select(
        rows, sentences
    )
    said = torch.tensor([5, 7, 6, 4])
    step = decoder.step(said, state)
    for hypothesis, sentence in enumerate(rows.tolist()):
        inputs = torch.tensor([[BOS, int(said[hypothesis])]])
        alone = decoder.forward(inputs, encoded(made, [ROWS[sentence]])).outputs
        assert torch.allclose(decoder.project(alone)[0, -1], step.logits[hypothesis], atol=1e-12)


def by_definition(made: EncoderDecoder, source: list[int], inputs: Tensor) -> Tensor:
    """log q (T, V): p(v | …, a(v)) of every v, made a distribution again."""
    decoder, read, words = decoder_of(made), encoded(made, [source]), lexicon()
    assert isinstance(read, Affiliated)
    rows = []
    for step in range(inputs.shape[1]):
        before = inputs[0, 1 : step + 1].tolist()
        likely = []
        for v in range(TARGETS):
            place = len(source) if v == EOS else words.places(source, [*before, v])[-1]
            given = decoder.given(inputs[:, : step + 1], read, torch.full((1, step + 1), place))
            likely.append(decoder.output(given[0, -1]).log_softmax(-1)[v])
        rows.append(torch.stack(likely).log_softmax(-1))
    return torch.stack(rows)


@pytest.mark.parametrize("kind", ["tag-cnn", "window"])
def test_every_word_is_taken_at_its_own_place(kind: str) -> None:
    made = model(kind)
    decoder = decoder_of(made)
    for source, inputs in zip(ROWS, INPUTS.split(1), strict=True):
        found = decoder.project(decoder.forward(inputs, encoded(made, [source])).outputs)[0]
        assert torch.allclose(found, by_definition(made, source, inputs), atol=1e-12)
        assert torch.allclose(found.exp().sum(-1), torch.ones(len(found)).double())


def test_places_are_those_of_the_lexicon() -> None:
    made, words = model("window"), lexicon()
    read = encoded(made, ROWS)
    assert isinstance(read, Affiliated)
    said = torch.tensor([[5, 7, 6, 1, 4], [4, 8, 8, 5, 7], [6, 6, 1, 5, 7]])
    last = torch.full((3, 1), NOWHERE)
    for place, tokens in enumerate(said.unbind(1)):
        every = read.places(last)
        last = read.after(tokens[:, None], last)
        assert torch.equal(every.gather(-1, tokens[:, None, None]).squeeze(-1), last)
        for row, source in enumerate(ROWS):
            assert int(last[row]) == words.places(source, said[row].tolist())[place]


def test_what_is_there_at_a_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = model("tag-cnn")
    decoder, read = decoder_of(made), encoded(made, ROWS)
    whole = decoder.forward(INPUTS, read).outputs
    monkeypatch.setattr("regard.models.joint.joint_decoder.LOGITS", 1)
    assert torch.allclose(decoder.forward(INPUTS, read).outputs, whole, atol=1e-12)
