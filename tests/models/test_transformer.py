"""The Transformer family: equal to torch's own, blind to order without positions, deaf to the future."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from regard.attention.multi_head import MultiHead
from regard.attention.regions import Causal, Window
from regard.attention.rotary import Rotary
from regard.layers.embedding import Embedding
from regard.layers.feed_forward import FeedForward
from regard.layers.positions import Learned, Sinusoidal, TooLong, make_positions
from regard.layers.transformer_blocks import EncoderBlock, Residual
from regard.models import transformer_models as family
from regard.models.bare import bare_classifier, bare_self_attention

V = 23
SOURCE = torch.tensor([[5, 6, 7, 8, 9, 10, 3], [11, 12, 13, 3, 0, 0, 0]])
MASK = SOURCE != 0
INPUTS = torch.tensor([[2, 4, 5, 6, 7], [2, 8, 9, 10, 11]])
SMALL = {"size": 16, "heads": 4, "inner": 24, "norm": "pre", "dropout": 0.0}


def filled(model: nn.Module, std: float = 0.3) -> nn.Module:
    """With weights large enough that every part matters, norms and biases too."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(std=std, generator=generator)
    return model.eval()


def copy_heads(ours: MultiHead, theirs: nn.MultiheadAttention) -> None:
    parts = (ours.query, ours.key, ours.value)
    for part, weight in zip(parts, theirs.in_proj_weight.chunk(3), strict=True):
        part.weight.copy_(weight)
    for part, bias in zip(parts, theirs.in_proj_bias.chunk(3), strict=True):
        part.bias.copy_(bias)
    ours.output.load_state_dict(theirs.out_proj.state_dict())


def copy_layer(ours: nn.Module, theirs: nn.Module) -> None:
    copy_heads(ours.attention, theirs.self_attn)
    pairs = [(ours.feed_forward.inner, theirs.linear1), (ours.feed_forward.outer, theirs.linear2)]
    pairs.append((ours.around_attention.norm, theirs.norm1))
    if isinstance(theirs, nn.TransformerDecoderLayer):
        copy_heads(ours.cross, theirs.multihead_attn)
        pairs += [
            (ours.around_cross.norm, theirs.norm2),
            (ours.around_feed_forward.norm, theirs.norm3),
        ]
    else:
        pairs.append((ours.around_feed_forward.norm, theirs.norm2))
    for mine, other in pairs:
        mine.load_state_dict(other.state_dict())


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_equal_to_torchs_transformer_with_its_weights(norm: str, activation: str) -> None:
    theirs = filled(
        nn.Transformer(
            16, 4, 2, 3, 24, activation=activation, norm_first=norm == "pre", batch_first=True
        )
    )
    shape = {
        "size": 16,
        "heads": 4,
        "inner": 24,
        "activation": activation,
        "norm": norm,
        "final_norm": True,
    }
    ours = filled(family.transformer(V, V, **shape, encoder_layers=2, decoder_layers=3))
    with torch.no_grad():
        for mine, other in zip(ours.encoder.blocks, theirs.encoder.layers, strict=True):
            copy_layer(mine, other)
        for mine, other in zip(ours.decoder.blocks, theirs.decoder.layers, strict=True):
            copy_layer(mine, other)
        ours.encoder.norm.load_state_dict(theirs.encoder.norm.state_dict())
        ours.decoder.norm.load_state_dict(theirs.decoder.norm.state_dict())
        expected = theirs(
            ours.encoder.embed(SOURCE),
            ours.decoder.embed(INPUTS),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(5),
            src_key_padding_mask=~MASK,
            memory_key_padding_mask=~MASK,
        )
        got = ours(SOURCE, MASK, INPUTS).outputs
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


def test_nothing_of_the_future_leaks() -> None:
    """Changing token t changes no output before t, in any region, and does change those from t on."""
    for region in ("everywhere", "window(2)", "atrous(2)", "sparse(2)"):
        model = filled(family.language_model(V, **SMALL, layers=2, attention={"region": region}))
        other = INPUTS.clone()
        other[:, 3] = 20
        encoded = model.encode(INPUTS, INPUTS != 0)
        here, there = (model.decoder(x, encoded).outputs for x in (INPUTS, other))
        assert torch.equal(here[:, :3], there[:, :3]), region
        assert not torch.isclose(here[:, 3], there[:, 3]).all(), region


def test_a_causal_model_has_no_gradient_from_the_future() -> None:
    model = filled(family.transformer(V, V, **SMALL, encoder_layers=1, decoder_layers=2))
    x = model.decoder.embed(INPUTS).detach().requires_grad_()
    for block, source in zip(
        model.decoder.blocks, model.decoder.start(model.encode(SOURCE, MASK)).source, strict=True
    ):
        y = block(x, None, source).output
        for t in range(5):
            (gradient,) = torch.autograd.grad(y[:, t].sum(), x, retain_graph=True)
            assert not bool(gradient[:, t + 1 :].any())
            assert bool(gradient[:, : t + 1].any(-1).all())


@pytest.mark.parametrize("score", ["scaled-dot", "additive", "cosine(0.2)", "bilinear"])
def test_without_positions_an_encoder_is_equivariant_to_permutations(score: str) -> None:
    """encode(P x) = P encode(x); with any kind of positions it is not."""
    order = torch.randperm(7, generator=torch.Generator().manual_seed(1))
    source, mask = SOURCE[:1], MASK[:1]
    for positions in ("none", "sinusoidal", "learned", "rotary"):
        shape = {**SMALL, "positions": positions, "max_positions": 9}
        how = {"score": score}
        encoder = filled(family.classifier(V, 3, **shape, layers=2, attention=how)).double().encoder
        states = encoder(source, mask).states[:, order]
        shuffled = encoder(source[:, order], mask).states
        assert torch.allclose(states, shuffled, atol=1e-6) is (positions == "none"), positions


def test_bare_self_attention_is_equivariant_and_has_no_parameters() -> None:
    x, order = torch.randn(2, 6, 8).double(), torch.randperm(6)
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    for softmax in (True, False):
        y = bare_self_attention(x, mask, softmax=softmax)
        shuffled = bare_self_attention(x[:, order], mask[:, order], softmax=softmax)
        torch.testing.assert_close(shuffled, y[:, order])
        raw = x[1, :4] @ x[1, :4].T
        weights = raw.softmax(-1) if softmax else raw
        torch.testing.assert_close(y[1, :4], weights @ x[1, :4])
    encoder = bare_classifier(V, 2, size=8, layers=3).encoder
    assert [name for name, _ in encoder.named_parameters()] == ["embed.weight"]


@pytest.mark.parametrize("pool", ["mean", "max", "first", "attention"])
def test_a_classifier_is_blind_to_padding(pool: str) -> None:
    model = filled(family.classifier(V, 3, **SMALL, layers=2, pool=pool)).double()
    begin = torch.full((2, 1), 2)

    def logits(source: Tensor) -> Tensor:
        decoded = model(source, source != 0, begin[: len(source)], weights=True)
        if pool == "attention":
            torch.testing.assert_close(
                decoded.attended.weights.sum(-1), torch.ones(len(source), 1).double()
            )
        return model.decoder.project(decoded.outputs)

    together = logits(SOURCE)
    longer = torch.cat([SOURCE, torch.zeros(2, 4, dtype=torch.long)], 1)
    torch.testing.assert_close(logits(longer), together)
    torch.testing.assert_close(logits(SOURCE[1:, :4]), together[1:])


def test_a_masked_model_looks_both_ways_and_shares_its_matrix() -> None:
    model = filled(family.masked_language_model(V, **SMALL, layers=1))
    assert model.output.weight is model.encoder.embed.table.weight
    other = SOURCE.clone()
    other[0, -2] = 20
    here, there = (model.project(model.encode(x, MASK).states) for x in (SOURCE, other))
    assert here.shape == (2, 7, V)
    assert not torch.isclose(here[0, 0], there[0, 0]).all()
    assert torch.equal(here[1], there[1])


def test_a_window_keeps_only_the_window() -> None:
    """…in the cache of incremental decoding, and the outputs are those of the whole."""
    how = {"region": "window(2)"}
    model = filled(family.language_model(V, **SMALL, layers=2, attention=how))
    tokens = torch.randint(4, V, (3, 12), generator=torch.Generator().manual_seed(2))
    encoded = model.encode(tokens, tokens != 0)
    whole = model.decoder.project(model.decoder(tokens, encoded).outputs)
    state = model.decoder.start(encoded)
    for t in range(12):
        step = model.decoder.step(tokens[:, t], state)
        state = step.state
        torch.testing.assert_close(step.logits, whole[:, t], atol=1e-5, rtol=1e-5)
        for memory in state.past:
            assert memory.length == min(t + 1, 3)
            assert memory.start + memory.length == t + 1


def test_chunks_of_several_tokens_advance_like_single_ones() -> None:
    attention = filled(
        MultiHead(8, heads=2, region=Window(2) & Causal(), rotary=Rotary(), nan_safe=False)
    ).double()
    x = torch.randn(2, 9, 8).double()
    whole = attention(x).context
    memory = attention.remember(x[:, :4])
    for start, end in ((4, 7), (7, 9)):
        memory = memory.advance(x[:, start:end])
        assert memory.length == end - start + 2
        part = attention(x[:, start:end], memory, offset=start).context
        torch.testing.assert_close(part, whole[:, start:end])


def test_rotary_scores_depend_on_the_distance_alone() -> None:
    q, k = torch.randn(5, 8).double(), torch.randn(5, 8).double()
    near = Rotary().turn(q, 0) @ Rotary().turn(k, 0).T
    far = Rotary().turn(q, 1000) @ Rotary().turn(k, 1000).T
    torch.testing.assert_close(near, far, atol=1e-4, rtol=1e-4)  # angles are of float32
    assert not torch.allclose(near, Rotary().turn(q, 0) @ Rotary().turn(k, 1).T)
    torch.testing.assert_close(Rotary().turn(q, 3).norm(dim=-1), q.norm(dim=-1))
    with pytest.raises(ValueError, match="odd"):
        Rotary().turn(torch.randn(2, 3), 0)


def test_rotary_attention_does_not_change_when_all_moves() -> None:
    attention = filled(MultiHead(8, heads=2, rotary=Rotary())).double()
    x = torch.randn(1, 6, 8).double()
    here = attention(x, attention.remember(x), offset=0).context
    there = attention(x, attention.remember(x, start=50), offset=50).context
    torch.testing.assert_close(here, there, atol=1e-5, rtol=1e-5)


def test_sinusoids_are_those_of_the_paper_and_turn_with_the_distance() -> None:
    table = Sinusoidal(8)(50)
    for t, i in ((0, 0), (7, 1), (49, 3)):
        angle = t / 10_000 ** (2 * i / 8)
        assert table[t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
        assert table[t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)
    halves = Sinusoidal(8, halves=True)(50)
    torch.testing.assert_close(halves, torch.cat([table[:, ::2], table[:, 1::2]], -1))
    # PE(pos + k) = R_k PE(pos): the dot product of two positions depends on their distance
    products = table @ table.T
    torch.testing.assert_close(products[3, 10], products[30, 37])
    torch.testing.assert_close(Sinusoidal(8)(3, 1_000_000)[1], Sinusoidal(8)(1, 1_000_001)[0])


def test_beyond_what_was_learnt_there_is_a_clear_error_and_the_others_go_on() -> None:
    with pytest.raises(TooLong, match=r"21 tokens .* longer than the 20 positions"):
        Learned(8, 20)(21)
    with pytest.raises(TooLong, match="max_positions"):
        Learned(8, 20)(1, 20)
    tokens = torch.full((1, 1500), 5)
    for positions in ("sinusoidal", "sinusoidal-halves", "rotary", "none"):
        shape = {"size": 8, "heads": 2, "inner": 8, "positions": positions}
        states = (
            family.classifier(V, 2, **shape, layers=1).eval().encode(tokens, tokens != 0).states
        )
        assert bool(states.isfinite().all())
        assert make_positions(positions, 8, 20).longest is None


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("fed", [True, False])
def test_a_block_without_some_of_its_parts(norm: str, residual: bool, fed: bool) -> None:
    options = {"norm": norm, "residual": residual, "feed_forward": fed, "final_norm": False}
    model = filled(family.classifier(V, 3, **SMALL | options, layers=1)).double()
    (block,) = model.encoder.blocks
    x = torch.randn(2, 5, 16, dtype=torch.float64)

    def around(part, way, x):
        y = part(way.norm(x) if norm == "pre" else x)
        y = x + y if residual else y
        return way.norm(y) if norm == "post" else y

    wanted = around(lambda x: block.attention(x).context, block.around_attention, x)
    if fed:
        wanted = around(block.feed_forward, block.around_feed_forward, wanted)
    assert torch.equal(block(x), wanted)
    norms = sum(isinstance(part, nn.LayerNorm) for part in block.modules())
    assert norms == (0 if norm == "none" else 1 + fed)
    assert (block.feed_forward is None) == (not fed)


def test_a_layer_norm_is_over_features_alone() -> None:
    """The output of a position does not change when others do, but through attention."""
    around = Residual(8, "post", 0.0)
    x = torch.randn(2, 5, 8)
    other = x.clone()
    other[:, 1:] = torch.randn(2, 4, 8) * 10
    assert torch.equal(around.after(x, x)[:, 0], around.after(other, other)[:, 0])


def test_where_dropout_acts() -> None:
    """Embeddings and sublayers, as the paper has it; the weights reported are before any."""
    for where in ("dropout", "attention_dropout", "inner_dropout"):
        shape = {"size": 8, "heads": 2, "inner": 16, "dropout": 0.0, where: 0.5}
        model = family.transformer(V, V, **shape, encoder_layers=1, decoder_layers=2).train()
        torch.manual_seed(0)
        first = model(SOURCE, MASK, INPUTS).outputs
        assert not torch.equal(first, model(SOURCE, MASK, INPUTS).outputs), where
        weights = model(SOURCE, MASK, INPUTS, weights=True).attended.weights
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, 5))


def test_embeddings_are_scaled_and_shared_as_asked() -> None:
    embedding = Embedding(5, 16, make_positions("none", 16, 1), scaled=True, dropout=0.0)
    torch.testing.assert_close(embedding(torch.tensor([[3]]))[0, 0], 4 * embedding.table.weight[3])
    for share, matrices in (("all", 1), ("target", 2), ("none", 3)):
        model = family.transformer(V, V, **SMALL, encoder_layers=1, decoder_layers=1, share=share)
        tables = (model.encoder.embed.table, model.decoder.embed.table, model.decoder.output)
        assert len({id(table.weight) for table in tables}) == matrices
    with pytest.raises(ValueError, match=r"tokenizer\.shared=true"):
        family.transformer(V, V + 1, **SMALL, share="all")


def test_what_cannot_be_is_refused_with_a_reason() -> None:
    for how, words in (
        ({"region": "predicted-window(width=2)"}, "sees no later position"),
        ({"normalize": "hard"}, "take gumbel"),
        ({"score": "scald-dot"}, "scaled-dot"),
    ):
        with pytest.raises(ValueError, match=words):
            family.language_model(V, **SMALL, attention=how)
    with pytest.raises(ValueError, match="Did you mean 'swiglu'"):
        FeedForward(8, 8, activation="swigl")
    with pytest.raises(ValueError, match="Did you mean 'pre'"):
        Residual(8, "prae", 0.0)
    with pytest.raises(ValueError, match="Did you mean 'rotary'"):
        make_positions("rotari", 8, 8)


def test_an_empty_source_gives_finite_outputs_and_gradients() -> None:
    """A row with no allowed key, in encoder and cross-attention."""
    source, mask = SOURCE.clone(), MASK.clone()
    mask[1] = False
    for norm in ("pre", "post"):
        shape = {"size": 16, "heads": 4, "inner": 24, "norm": norm}
        model = family.transformer(V, V, **shape, encoder_layers=2, decoder_layers=2)
        loss = model.decoder.project(model(source, mask, INPUTS).outputs).square().sum()
        loss.backward()
        assert all(bool(p.grad.isfinite().all()) for p in model.parameters())
        seen = model(source, mask, INPUTS, weights=True).attended.weights
        assert not bool(seen[1].any())
        assert bool((seen[0].sum(-1) > 0.99).all())


@pytest.mark.parametrize("region", ["window(2)", "atrous(3)", "sparse(3)"])
def test_padding_that_sees_no_real_key_stays_finite(region: str) -> None:
    """…and reaches nothing: long padding behind a short source, in a region of positions."""
    how = {"region": region}
    model = filled(family.classifier(V, 2, **SMALL, layers=3, attention=how))
    source = torch.zeros(2, 90, dtype=torch.long)
    source[0, :80], source[1, :4] = 7, torch.tensor([5, 6, 7, 3])
    states = model.encode(source, source != 0).states
    assert bool(states.isfinite().all())
    alone = model.encode(source[1:, :4], source[1:, :4] != 0).states
    torch.testing.assert_close(states[1:, :4], alone, atol=1e-5, rtol=1e-5)


def test_a_block_takes_any_attention() -> None:
    heads = MultiHead(8, heads=2, score="additive(4)", region="sparse(2)", normalize="sparsemax")
    block = EncoderBlock(heads, FeedForward(8, 16), norm="pre", dropout=0.0)
    assert block(torch.randn(2, 5, 8), torch.ones(2, 5, dtype=torch.bool)).shape == (2, 5, 8)


@pytest.mark.parametrize(("layers", "reported"), [(1, 0), (2, 1), (3, 1), (6, 4)])
def test_what_is_reported_is_the_last_block_but_one_and_of_few_the_last(layers, reported):
    shape = {"size": 8, "heads": 2, "inner": 8, "encoder_layers": 1}
    assert family.transformer(9, 9, **shape, decoder_layers=layers).decoder.reported == reported
