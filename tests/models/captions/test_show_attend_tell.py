"""Show, Attend and Tell: its formulas, in float64; padding, batches and steps change nothing."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.attention.recording import recording
from regard.layers.special_tokens import BOS, EOS
from regard.models.captions.captioner_options import ShowAttendTell
from regard.models.captions.show_attend_tell import Captioner, show_attend_tell
from regard.search import Search, search

SMALL = {"filters": (3, 5), "size": 6, "embedding": 7, "hidden": 8}
KINDS = {
    "soft": {},
    "no gate": {"gate": False},
    "bilinear": {"attention": {"score": "bilinear"}},
    "dot": {"attention": {"score": "dot"}},
    "uniform": {"attention": {"normalize": "uniform"}},
    "none": {"attention": None},
    "hard": {"attention": {"normalize": "hard"}},
    "gumbel": {"attention": {"normalize": "gumbel(0.5, straight_through=true)"}},
    "norm": {"norm": True},
}


def made(picture: object = (2, None, None), **options: object) -> Captioner:
    torch.manual_seed(0)
    model = show_attend_tell(picture, 11, **{**SMALL, **options}).double().eval()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.5)
    return model


def ragged() -> tuple[Tensor, Tensor]:
    """Three pictures of other sizes, padded with what must not be seen, and their masks."""
    torch.manual_seed(1)
    pictures, mask = torch.full((3, 2, 13, 10), 9.0).double(), torch.zeros(3, 13, 10).bool()
    for number, (high, wide) in enumerate(((13, 7), (5, 10), (1, 1))):
        pictures[number, :, :high, :wide] = torch.randn(2, high, wide)
        mask[number, :high, :wide] = True
    return pictures, mask


def alone(pictures: Tensor, mask: Tensor, number: int) -> Tensor:
    high, wide = int(mask[number].any(1).sum()), int(mask[number].any(0).sum())
    return pictures[number : number + 1, :, :high, :wide]


def plain_logits(model: Captioner, states: Tensor, tokens: list[int]) -> Tensor:
    """The equations of the paper for one picture, states (L, D), word by word: logits (T, V)."""
    decoder = model.decoder
    n = decoder.cell.hidden
    score = decoder.attention.score
    h, c = torch.tanh(decoder.first.weight @ states.mean(0) + decoder.first.bias).split(n)
    found = []
    for token in tokens:
        query, keys = score.project_query(h[None])[0], score.project_key(states)
        e = torch.stack([score.pair(query[None], key[None])[0, 0] for key in keys])
        alpha = e.exp() / e.exp().sum()
        beta = torch.sigmoid(decoder.gate.weight[0] @ h + decoder.gate.bias[0])
        z = beta * sum(a * state for a, state in zip(alpha, states, strict=True))
        y = decoder.embed.weight[token]
        cell = decoder.cell
        gates = (
            cell.weight_ih @ torch.cat([y, z]) + cell.bias_ih + cell.weight_hh @ h + cell.bias_hh
        )
        i, f, g, o = gates.split(n)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        deep = y + decoder.from_state(h) + decoder.from_seen.weight @ z
        found.append(decoder.output.weight @ deep.tanh() + decoder.output.bias)
    return torch.stack(found)


def test_the_decoder_is_the_papers_formula_and_so_are_its_gradients() -> None:
    model = made(6)
    states = torch.randn(1, 5, 6).double().requires_grad_()
    tokens = [BOS, 4, 9, 4]
    encoded = model.encode(states)
    ours = model.decoder.project(model.decoder(torch.tensor([tokens]), encoded).outputs)[0]
    wanted = plain_logits(model, states[0], tokens)
    torch.testing.assert_close(ours, wanted, atol=1e-12, rtol=0)
    weights = [states, *model.parameters()]
    turned = torch.randn_like(ours)
    first, second = (torch.autograd.grad((x * turned).sum(), weights) for x in (ours, wanted))
    for one, other in zip(first, second, strict=True):
        torch.testing.assert_close(one, other, atol=1e-11, rtol=1e-9)


def test_annotation_vectors_of_a_picture_know_their_places() -> None:
    model = made((1, 8, 8), filters=(3,))
    states = model.encode(torch.zeros(1, 1, 8, 8).double()).states[0]
    assert states.shape == (16, 6)
    assert len(states.round(decimals=6).unique(dim=0)) == 16  # nothing is in it but places
    assert model.encoder.grid(8, 8) == (4, 4)
    assert model.encoder.grid(9, 7) == (5, 4)
    assert model.encode(torch.zeros(1, 1, 9, 7).double()).states.shape[1] == 20


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_in_a_padded_batch_is_what_it_is_alone(kind: str) -> None:
    model, (pictures, mask) = made(**KINDS[kind]), ragged()
    tokens = torch.tensor([[BOS, 5, 6, 7], [BOS, 8, 0, 0], [BOS, 4, 4, 0]])
    prompt, there = torch.tensor([[4, 5], [6, 0], [0, 0]]), torch.tensor([[1, 1], [1, 0], [0, 0]])
    encoded = model.encode(pictures, mask, prompt=prompt, prompt_mask=there.bool())
    decoded = model.decoder(tokens, encoded, weights=True)
    found = search(model.decoder, encoded, Search(beam=3, max_length=6, attention=True))
    for row, (words, asked) in enumerate(((4, 2), (2, 1), (3, 0))):
        own = {"prompt": prompt[row : row + 1, :asked]} if asked else {}
        single = model.encode(alone(pictures, mask, row), **own)
        real = encoded.mask[row]
        torch.testing.assert_close(single.states[0], encoded.states[row, real], atol=1e-12, rtol=0)
        read = model.decoder(tokens[row : row + 1, :words], single, weights=True)
        torch.testing.assert_close(
            read.outputs[0], decoded.outputs[row, :words], atol=1e-12, rtol=0
        )
        if read.attended is not None:
            seen = decoded.attended.weights[row, :words]
            torch.testing.assert_close(read.attended.weights[0], seen[:, real], atol=1e-12, rtol=0)
            assert not seen[:, ~real].any()
        (apart,) = search(model.decoder, single, Search(beam=3, max_length=6, attention=True))
        assert apart[0].tokens == found[row][0].tokens
        assert apart[0].score == pytest.approx(found[row][0].score, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_the_whole(kind: str) -> None:
    model, (pictures, mask) = made(**KINDS[kind]), ragged()
    encoded = model.encode(pictures, mask, prompt=torch.tensor([[4], [5], [6]]))
    tokens = torch.tensor([[BOS, 5, 6], [BOS, 8, 9], [BOS, 4, 4]])
    whole = model.decoder(tokens, encoded, weights=True)
    logits, state = model.decoder.project(whole.outputs), model.decoder.start(encoded)
    for t in range(3):
        step = model.decoder.step(tokens[:, t], state, weights=True)
        state = step.state
        torch.testing.assert_close(step.logits, logits[:, t], atol=1e-12, rtol=0)
        if whole.attended is not None:
            torch.testing.assert_close(step.attended.weights, whole.attended.weights[:, t])


def test_what_a_search_reports_is_what_the_whole_caption_has() -> None:
    model, (pictures, mask) = made(), ragged()
    encoded = model.encode(pictures, mask)
    found = [each[0] for each in search(model.decoder, encoded, Search(beam=4, max_length=5))]
    for row, best in enumerate(found):
        inputs = torch.tensor([[BOS, *best.tokens[:-1]]])
        single = encoded.select(torch.tensor([row]))
        outputs = model.decoder(inputs, single).outputs
        log_probs = model.decoder.project(outputs).log_softmax(-1)[0]
        each = log_probs.gather(-1, torch.tensor(best.tokens)[:, None])
        assert float(each.detach().sum()) == pytest.approx(best.log_prob, abs=1e-5)


def test_a_prompt_changes_what_is_said_and_is_selected_with_its_picture() -> None:
    model = made()
    picture = torch.randn(1, 2, 8, 8).double().expand(2, -1, -1, -1)
    encoded = model.encode(picture, prompt=torch.tensor([[4], [5]]))
    left, right = (model.decoder.start(encoded).cell[0]).unbind(0)
    assert not torch.allclose(left, right)
    turned = encoded.select(torch.tensor([1, 0]))
    torch.testing.assert_close(model.decoder.start(turned).cell[0][0], right)


def test_hard_attention_draws_one_cell_a_word_and_none_while_a_prompt_is_read() -> None:
    model = made(attention={"normalize": "hard"}).train()
    encoded = model.encode(torch.randn(2, 2, 8, 8).double(), prompt=torch.tensor([[4], [5]]))
    with recording(model) as recorded:
        decoded = model.decoder(torch.tensor([[BOS, 5, 6], [BOS, 8, 9]]), encoded, weights=True)
    assert len(recorded) == 3
    assert decoded.attended.choice.index.shape == (2, 3)
    assert torch.equal(decoded.attended.weights.sum(-1), torch.ones(2, 3).double())
    assert set(decoded.attended.weights.unique().tolist()) == {0.0, 1.0}


def test_without_attention_nothing_but_the_mean_is_known_of_a_picture() -> None:
    model = made(6, attention=None)
    states = torch.randn(1, 5, 6).double()
    shuffled = states + torch.randn(1, 5, 6).double()
    shuffled = shuffled - shuffled.mean(1, keepdim=True) + states.mean(1, keepdim=True)
    tokens = torch.tensor([[BOS, 5, EOS]])
    first, second = (model.decoder(tokens, model.encode(x)).outputs for x in (states, shuffled))
    torch.testing.assert_close(first, second)


def test_a_penalty_that_no_gradient_passes_is_refused() -> None:
    with pytest.raises(ValueError, match="doubly_stochastic"):
        ShowAttendTell(doubly_stochastic=1.0, attention={"normalize": "hard"})


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(ValueError, match=r"pictures are \(B, C, H, W\)"):
        made().encode(torch.zeros(2, 8, 8).double())
