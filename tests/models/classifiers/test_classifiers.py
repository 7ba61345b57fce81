"""Models that judge a whole text: their formulas, and that nothing depends on padding or on batching."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.attention.pooling import AttentionPooling
from regard.models.classifiers.apcnn import apcnn
from regard.models.classifiers.classifier import classifier
from regard.models.classifiers.classifier_options import Classifier
from regard.models.classifiers.han import han
from regard.models.classifiers.lin import lin
from regard.models.classifiers.self_attentive import self_attentive

ENCODERS = ("rnn", "lstm", "gru", "cnn", "transformer", "bag")
POOLS = ("last", "mean", "max", "attention")
SMALL = {"embedding": 8, "hidden": 16}
HOPS = {"embedding": 8, "hidden": 6, "attention": 7, "inner": 9}
WORDS, LABELS = 20, 3
LENGTHS = (7, 0, 3, 1)
MODELS = {
    **{
        f"{encoder} {pool}": lambda n, v, e=encoder, p=pool: classifier(
            n, LABELS, encoder=e, pool=p, layers=2, **SMALL, vectors=v
        )
        for encoder in ENCODERS
        for pool in POOLS
    },
    "lin": lambda n, v: lin(n, LABELS, **HOPS, hops=4, vectors=v),
    "lin, one hop": lambda n, v: lin(n, LABELS, **HOPS, hops=1, vectors=v),
    "apcnn": lambda n, v: apcnn(n, LABELS, **SMALL, vectors=v),
    "self-attentive": lambda n, v: self_attentive(n, LABELS, **SMALL, vectors=v),
}


def drawn(make, *given) -> nn.Module:
    """In float64, with weights large enough that everything matters."""
    torch.manual_seed(1)
    model = make(*given).double()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.4)
    return model.eval()


def judged(model: nn.Module, source: Tensor, mask: Tensor) -> Tensor:
    """(B, K)"""
    start = torch.ones(len(mask), 1, dtype=torch.long)
    decoded = model.decoder(start, model.encode(source, mask), weights=True)
    return model.decoder.project(decoded.outputs[:, 0])


def ragged(vectors: bool) -> tuple[Tensor, Tensor]:
    torch.manual_seed(2)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    if vectors:
        return torch.randn(*mask.shape, WORDS, dtype=torch.float64), mask
    return torch.randint(4, WORDS, mask.shape), mask


@pytest.mark.parametrize("vectors", [False, True], ids=["words", "vectors"])
@pytest.mark.parametrize("name", MODELS)
def test_an_answer_depends_neither_on_padding_nor_on_the_batch(name, vectors):
    model = drawn(MODELS[name], WORDS, vectors)
    source, mask = ragged(vectors)
    together = judged(model, source, mask)
    assert together.isfinite().all()
    for row, length in enumerate(LENGTHS):
        for width in {length, length + 3}:
            alone = torch.full_like(source[:1], 5)[:, :1].repeat_interleave(width, 1)
            alone[:, :length] = source[row, :length]
            found = judged(model, alone, (torch.arange(width) < length)[None])
            torch.testing.assert_close(found[0], together[row], atol=1e-10, rtol=0)


@pytest.mark.parametrize("name", MODELS)
def test_empty_texts_harm_no_gradient(name):
    model = drawn(MODELS[name], WORDS, False)
    source, mask = ragged(False)
    for rows in (slice(None), slice(1, 2)):
        model.zero_grad()
        judged(model, source[rows], mask[rows]).square().sum().backward()
        assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("noise", [torch.nan, torch.inf])
@pytest.mark.parametrize("vectors", [False, True], ids=["words", "vectors"])
@pytest.mark.parametrize("name", MODELS)
def test_what_stands_in_the_padding_reaches_no_gradient(name, vectors, noise):
    def gradients(padding: float) -> list[Tensor | None]:
        model = drawn(MODELS[name], WORDS, vectors)
        source, mask = ragged(vectors)
        if vectors:
            source = source.masked_fill(~mask[..., None], padding).requires_grad_()
        else:  # no text has the word 0
            source = source.masked_fill(~mask, 0)
            nn.init.constant_(model.encoder.vectors.embed.weight[0].detach(), padding)
        judged(model, source, mask).square().sum().backward()
        of_source = [source.grad] if vectors else []
        return [*of_source, *(weight.grad for weight in model.parameters())]

    clean, noisy = gradients(0.0), gradients(noise)
    assert any(grad is not None and grad.abs().sum() > 0 for grad in clean)
    for one, other in zip(clean, noisy, strict=True):
        torch.testing.assert_close(other, one, rtol=0, atol=1e-12)


@pytest.mark.parametrize("pool", POOLS)
def test_a_pooled_bag_of_words_is_its_definition(pool):
    model = drawn(MODELS[f"bag {pool}"], WORDS, False)
    source, mask = ragged(False)
    words = model.encoder.vectors.embed.weight
    for row, length in enumerate(LENGTHS):
        states = words[source[row, :length]]  # (T, E)
        if not length:
            vector = torch.zeros(SMALL["embedding"], dtype=torch.float64)
        elif pool == "attention":
            part = model.decoder.summary.pool
            scores = part.hidden(states).tanh() @ part.query[0]
            vector = (scores.exp() / scores.exp().sum()) @ states
        else:
            vector = {"last": states[-1], "mean": states.mean(0), "max": states.amax(0)}[pool]
        expected = model.decoder.output(vector)
        torch.testing.assert_close(judged(model, source, mask)[row], expected)


def test_windows_are_centred_and_end_with_the_text():
    model = drawn(lambda: classifier(WORDS, LABELS, encoder="cnn", windows=(1, 2, 3, 4), **SMALL))
    source, mask = ragged(False)
    states = model.encode(source, mask).states
    x = model.encoder.vectors.embed.weight[source[2, :3]]
    for number, (width, reach) in enumerate({1: (0, 0), 2: (0, 1), 3: (1, 1), 4: (1, 2)}.items()):
        convolution = model.encoder.network.layers[0][number]
        before, after = (x.new_zeros(n, x.shape[1]) for n in reach)
        wide = torch.cat([before, x, after])
        for t in range(3):
            seen = torch.einsum(
                "doi,io->d", convolution.weight.transpose(1, 2), wide[t : t + width].T
            )
            expected = (seen + convolution.bias).relu()
            part = slice(16 * number, 16 * (number + 1))
            torch.testing.assert_close(states[2, t, part], expected)


# lin


def test_the_hops_and_their_penalty_are_those_of_the_paper():
    model = drawn(lambda: lin(WORDS, LABELS, **HOPS, hops=4, penalty=0.7))
    source, mask = ragged(False)
    encoded = model.encode(source, mask)
    decoded = model.decoder(torch.ones(len(mask), 1, dtype=torch.long), encoded, weights=True)
    pool = model.decoder.summary.pool
    for row, length in enumerate(LENGTHS):
        states = encoded.states[row, :length]  # H (n, 2u)
        a = (pool.query @ (states @ pool.hidden.weight.T + pool.hidden.bias).tanh().T).softmax(-1)
        torch.testing.assert_close(decoded.outputs[row, 0], (a @ states).flatten())
        penalty = torch.linalg.matrix_norm(a @ a.T - torch.eye(4, dtype=a.dtype)) ** 2
        torch.testing.assert_close(decoded.penalty[row], 0.7 * penalty)
        torch.testing.assert_close(decoded.attended.weights[row, 0, :length], a.mean(0))


def test_the_penalty_of_known_weights():
    one_hot = torch.eye(6, dtype=torch.float64)[[0, 3, 5]]
    same = torch.eye(6, dtype=torch.float64)[[2, 2, 2]]
    even = torch.full((3, 6), 1 / 6, dtype=torch.float64)
    found = AttentionPooling.penalty(torch.stack([one_hot, same, even]))
    torch.testing.assert_close(found, torch.tensor([0.0, 6.0, 2.25], dtype=torch.float64))


def test_the_gradient_of_the_penalty_is_that_of_its_formula():
    model = drawn(lambda: lin(WORDS, LABELS, **HOPS, hops=3, penalty=1.0))
    source, mask = ragged(False)
    start = torch.ones(len(mask), 1, dtype=torch.long)
    query = model.decoder.summary.pool.query
    model.decoder(start, model.encode(source, mask)).penalty.sum().backward()
    step = 1e-6
    for place in ((0, 0), (2, 5)):
        values = []
        for sign in (1, -1):
            with torch.no_grad():
                query[place] += sign * step
                values.append(model.decoder(start, model.encode(source, mask)).penalty.sum())
                query[place] -= sign * step
        slope = (values[0] - values[1]) / (2 * step)
        torch.testing.assert_close(query.grad[place], slope, rtol=1e-6, atol=1e-8)


# apcnn, self-attentive


def test_the_sentence_asks_for_the_windows():
    model = drawn(MODELS["apcnn"], WORDS, False)
    source, mask = ragged(False)
    encoded = model.encode(source, mask)
    score = model.decoder.summary.attention.score
    for row, length in ((0, 7), (2, 3)):
        windows, sentence = encoded.states[row, :length], encoded.summary[row]
        seen = (sentence @ score.query_weight + windows @ score.key_weight).tanh() @ score.vector
        vector = seen.squeeze(-1).softmax(0) @ windows
        torch.testing.assert_close(judged(model, source, mask)[row], model.decoder.output(vector))


def test_what_is_asked_of_windows_depends_on_the_sentence():
    model = drawn(MODELS["apcnn"], WORDS, False)
    encoded = model.encode(*ragged(False))
    before = model.decoder.summary.attend(encoded).weights
    encoded.summary.mul_(-1)
    assert not torch.allclose(before, model.decoder.summary.attend(encoded).weights)


def test_even_weights_leave_states_as_they_are():
    model = drawn(MODELS["self-attentive"], WORDS, False)
    (weighed,) = model.encoder.network.weighed
    with torch.no_grad():
        weighed.pool.query.zero_()
    mask = ragged(False)[1]
    states = torch.randn(*mask.shape, 32, dtype=torch.float64) * mask[..., None]
    torch.testing.assert_close(weighed(states, mask), states)


# han

SENTENCES = ((6, 2, 0, 1), (0, 0, 0, 0), (3, 3), (1,))  # words of the sentences of four documents


def documents() -> tuple[Tensor, Tensor]:
    torch.manual_seed(3)
    mask = torch.zeros(len(SENTENCES), 4, 6, dtype=torch.bool)
    for row, lengths in enumerate(SENTENCES):
        for sentence, length in enumerate(lengths):
            mask[row, sentence, :length] = True
    return torch.randint(4, WORDS, mask.shape), mask


def attended(pool: nn.Module, states: Tensor) -> tuple[Tensor, Tensor]:
    """softmax(u · tanh(W h + b)), and the sum of states by it"""
    weights = (pool.hidden(states).tanh() @ pool.query[0]).softmax(0)
    return weights, weights @ states


def pooled(pool: str, part: nn.Module, states: Tensor) -> Tensor:
    if pool == "attention":
        return attended(part.pool, states)[1]
    return states.mean(0) if pool == "mean" else states.amax(0)


@pytest.mark.parametrize("pool", ["attention", "mean", "max"])
def test_the_two_levels_of_a_document_are_those_of_the_paper(pool):
    model = drawn(lambda: han(WORDS, LABELS, pool=pool, embedding=8, hidden=5))
    source, mask = documents()
    found = judged(model, source, mask)
    encoder = model.encoder
    for row, lengths in enumerate(SENTENCES):
        vectors = []
        for sentence, length in enumerate(lengths):
            if length:
                x = encoder.words.vectors.embed(source[row, sentence, :length])
                states = encoder.words.network.recurrent(x[None]).outputs[0]
                vectors.append(pooled(pool, encoder.pool, states))
        vector = torch.zeros(10, dtype=torch.float64)
        if vectors:  # a sentence without words is as if it were not there
            states = encoder.between.recurrent(torch.stack(vectors)[None]).outputs[0]
            vector = pooled(pool, model.decoder.summary, states)
        torch.testing.assert_close(found[row], model.decoder.output(vector))


@pytest.mark.parametrize("pool", ["attention", "mean", "max"])
def test_a_document_is_judged_alike_alone_and_among_others(pool):
    model = drawn(lambda: han(WORDS, LABELS, pool=pool, embedding=8, hidden=5))
    source, mask = documents()
    together = judged(model, source, mask)
    assert together.isfinite().all()
    for row, lengths in enumerate(SENTENCES):
        high, wide = len(lengths), max(lengths)
        alone = judged(
            model, source[row : row + 1, :high, :wide], mask[row : row + 1, :high, :wide]
        )
        torch.testing.assert_close(alone[0], together[row], atol=1e-10, rtol=0)
    together.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_the_weights_of_words_are_kept_by_sentence():
    model = drawn(lambda: han(WORDS, LABELS, embedding=8, hidden=5))
    source, mask = documents()
    encoded = model.encode(source, mask)
    assert encoded.words.shape == mask.shape
    assert encoded.mask.sum(-1).tolist() == [3, 0, 2, 1]
    torch.testing.assert_close(encoded.words.sum(-1), encoded.mask.double())
    assert (encoded.words[2:][~mask[2:]] == 0).all()


def test_memory_of_a_long_document_grows_with_its_words():
    model = han(WORDS, 2, embedding=8, hidden=5)
    kept = []
    for sentences in (250, 1_000):
        held: set[tuple[int, int]] = set()

        def keep(x: Tensor, held=held) -> Tensor:
            held.add((x.untyped_storage().data_ptr(), x.untyped_storage().nbytes()))
            return x

        source = torch.randint(4, WORDS, (1, sentences, 12))
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
            loss = judged(model, source, torch.ones_like(source, dtype=torch.bool)).sum()
        kept.append(sum(size for _, size in held))
        loss.backward()
    assert kept[1] < 4.2 * kept[0]


@pytest.mark.parametrize(("hidden", "heads"), [(100, 5), (50, 5), (64, 4), (2, 1), (12, 3)])
def test_heads_of_a_transformer_share_out_whatever_hidden_is(hidden, heads):
    assert Classifier(encoder="transformer", hidden=hidden).sharing_heads == heads


def test_heads_without_pairs_of_features_are_told_by_their_keys():
    with pytest.raises(ValueError, match=r"model\.hidden=50 .* 4 heads .* take 56"):
        Classifier(encoder="transformer", hidden=50, heads=4)
    assert Classifier(encoder="lstm", hidden=51, heads=4).hidden == 51
