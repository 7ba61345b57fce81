"""The loss of captions: its parts, and that hard attention is trained by the gradient it should have."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor, nn

from regard.attention import normalizers
from regard.data.tokenizer import BOS, EOS, Tokenizer
from regard.models.captions.show_attend_tell import show_attend_tell
from regard.tasks.caption.caption_loss import CaptionTraining, ChosenCells, uneven_looks

WORDS = Tokenizer.train(["a b c d"], kind="word")
CELLS = 3


def made(normalize: str = "softmax", penalty: float = 0.0, **options: object) -> CaptionTraining:
    torch.manual_seed(0)
    model = show_attend_tell(
        4,
        len(WORDS),
        embedding=5,
        hidden=6,
        attention={"normalize": normalize},
        doubly_stochastic=penalty,
    )
    for weight in model.double().parameters():
        nn.init.normal_(weight, std=0.7)
    return CaptionTraining(model, WORDS, **options).train()


def batch(words: int = 2) -> dict[str, Tensor]:
    torch.manual_seed(1)
    caption = torch.tensor([[BOS, *[5, 6, 4][: words - 1], EOS]])
    return {
        "image": torch.randn(1, CELLS, 4).double(),
        "caption": caption,
        "caption_mask": torch.ones_like(caption, dtype=torch.bool),
    }


@pytest.mark.parametrize("baseline", [True, False])
def test_reinforce_has_the_gradient_of_the_expected_likelihood(
    baseline: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every way to look at three cells in two words, weighed by its probability: nothing is drawn."""
    policy = ChosenCells(baseline=baseline).double()
    module, given = made("hard", reinforce=policy), batch(2)
    weights = list(module.model.parameters())
    wanted = given["caption"][0, 1:]
    estimated = [torch.zeros_like(w) for w in weights]
    expected = torch.zeros(()).double()
    for cells in product(range(CELLS), repeat=2):
        looks = iter(cells)

        def noise(like: Tensor, generator: object, looks=looks) -> Tensor:
            chosen = torch.zeros_like(like)
            chosen[..., next(looks)] = 1e9
            return chosen

        monkeypatch.setattr(normalizers, "gumbel_noise", noise)
        decoded = module.model.decoder(given["caption"][:, :-1], module.encode(given))
        choice = decoded.attended.choice
        assert choice.index[0].tolist() == list(cells)
        logits = module.model.decoder.project(decoded.outputs)[0]
        likelihood = logits.log_softmax(-1).gather(-1, wanted[:, None]).sum()
        probability = choice.log_prob.sum().exp()
        expected = expected + probability * likelihood

        policy.averages.fill_(-0.9)
        policy.seen.fill_(True)
        looks = iter(cells)
        monkeypatch.setattr(normalizers, "gumbel_noise", lambda x, g, i=looks: noise(x, g, i))
        grads = torch.autograd.grad(module(**given).total, weights, allow_unused=True)
        for total, grad in zip(estimated, grads, strict=True):
            total += probability.detach() * (0 if grad is None else grad)
    exact = torch.autograd.grad(-expected, weights, allow_unused=True)
    moved = 0.0
    for ours, wanted_grad in zip(estimated, exact, strict=True):
        theirs = torch.zeros_like(ours) if wanted_grad is None else wanted_grad
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-6)  # rewards are float32
        moved += float(theirs.abs().sum())
    assert moved > 1


def test_a_moving_baseline_follows_the_rewards_by_the_words_that_are_left() -> None:
    policy = ChosenCells(decay=0.9)
    choice = normalizers.HardChoice(
        torch.zeros(2, 3).long(), torch.full((2, 3), -1.0, requires_grad=True), torch.zeros(2, 3)
    )
    scored = torch.tensor([[True, True, True], [True, False, False]])
    rewards = torch.tensor([[-1.0, -2.0, -4.0], [-8.0, 0.0, 0.0]])
    first = policy(choice, rewards, scored)  # nothing is known yet: b = 0
    assert float(first.detach()) == pytest.approx(-(7 + 6 + 4 + 8))  # -(R) · log α, log α = -1
    assert policy.averages[:4].tolist() == pytest.approx([-6.0, -6.0, -7.0, 0.0])
    second = policy(choice, rewards, scored)
    assert float(second.detach()) == pytest.approx(-((7 - 7) + (6 - 6) + (4 - 6) + (8 - 6)))
    assert policy.averages[0] == pytest.approx(-6.0)


def test_likelihood_alone_gives_a_hard_attention_no_gradient() -> None:
    module = made("hard")
    module(**batch()).total.backward()
    parameters = list(module.model.decoder.attention.parameters())
    assert parameters
    assert not any(p.grad is not None and p.grad.any() for p in parameters)


def test_gumbel_attention_is_trained_by_gradients() -> None:
    module = made("gumbel(1.0, straight_through=true)")
    module(**batch()).total.backward()
    assert all(p.grad.any() for p in module.model.decoder.attention.parameters())


def test_the_doubly_stochastic_penalty_is_its_formula_in_training_alone() -> None:
    with_it, without, given = made(penalty=0.7), made(), batch(3)
    decoded = without.model.decoder(given["caption"][:, :-1], without.encode(given), weights=True)
    alpha = decoded.attended.weights[0]  # (T, L)
    wanted = sum((1 - sum(alpha[t, i] for t in range(3))) ** 2 for i in range(CELLS))
    more = with_it(**given).total - without(**given).total
    torch.testing.assert_close(more, 0.7 * wanted)
    assert torch.equal(with_it.eval()(**given).total, without.eval()(**given).total)


def test_padding_of_words_and_cells_is_not_in_the_penalty() -> None:
    weights = torch.rand(1, 4, 5)
    scored = torch.tensor([[True, True, False, False]])
    cells = torch.tensor([[True, True, True, False, False]])
    cut = uneven_looks(weights[:, :2, :3], scored[:, :2], cells[:, :3])
    torch.testing.assert_close(uneven_looks(weights, scored, cells), cut)


def test_losses_of_batches_add_up() -> None:
    module = made(penalty=0.3)
    torch.manual_seed(2)
    images = torch.randn(3, CELLS, 4).double()
    caption = torch.tensor([[BOS, 5, 6, EOS], [BOS, 7, EOS, 0], [BOS, EOS, 0, 0]])
    mask = caption != 0
    whole = module(image=images, caption=caption, caption_mask=mask)
    apart = [
        module(
            image=images[i : i + 1],
            caption=caption[i : i + 1, :n],
            caption_mask=mask[i : i + 1, :n],
        )
        for i, n in enumerate((4, 3, 2))
    ]
    torch.testing.assert_close(whole.total, sum(one.total for one in apart))
    assert int(whole.tokens) == sum(int(one.tokens) for one in apart) == 6
