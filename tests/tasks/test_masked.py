"""Masked language modelling: what is hidden, by which chance, and what is filled in."""

from __future__ import annotations

import pytest
import torch

from regard.data.padding import pad
from regard.data.tokenizer import EOS, MASK, SPECIALS, Tokenizer
from regard.models.transformer_models import masked_language_model
from regard.tasks.masked.masked_module import Masked

LETTERS = "a b c d e f g h"


@pytest.fixture
def task() -> Masked:
    torch.manual_seed(0)
    tokenizer = Tokenizer.train([LETTERS], kind="word", mask=True)
    model = masked_language_model(len(tokenizer), size=16, heads=2, inner=32, dropout=0.0, layers=1)
    return Masked(model, tokenizer)


def source_of(task: Masked, texts: list[str]):
    return pad(task.tokenizer.encode_ids(texts))


def test_only_words_are_hidden_and_of_every_text_at_least_one(task):
    source, real = source_of(task, ["a", "b c d e f", LETTERS])
    for _ in range(50):
        hidden = task.hide(source, real, torch.rand(3, *source.shape))
        assert hidden.chosen.any(-1).all()
        assert not hidden.chosen[~real].any()
        assert not hidden.chosen[source == EOS].any()
        assert torch.equal(hidden.source[~hidden.chosen], source[~hidden.chosen])


def test_the_shares_are_those_of_the_paper(task):
    source, real = source_of(task, [" ".join([LETTERS] * 50)] * 20)
    torch.manual_seed(1)
    hidden = task.hide(source, real, torch.rand(3, *source.shape))
    words = int((real & (source != EOS)).sum())
    chosen = int(hidden.chosen.sum())
    assert chosen / words == pytest.approx(0.15, abs=0.015)
    shown, was = hidden.source[hidden.chosen], source[hidden.chosen]
    masks = int((shown == task.mask_token).sum())
    kept = int((shown == was).sum())
    assert masks / chosen == pytest.approx(0.8, abs=0.04)
    assert kept / chosen == pytest.approx(0.1 + 0.1 / 8, abs=0.04)  # another token may be the same
    others = shown[(shown != task.mask_token)]
    assert int(others.min()) >= len(SPECIALS)


def test_training_draws_by_the_seed_and_validation_by_the_number_of_the_text(task):
    source, real = source_of(task, [LETTERS, "c d"])

    def loss(seed: int) -> float:
        torch.manual_seed(seed)
        return task(source, real).total.item()

    assert loss(1) == loss(1) != loss(2)
    texts, numbers = [LETTERS, "c d e", "a a b"], [4, 9, 2]
    torch.manual_seed(7)
    found = task.likelihood(texts, numbers)
    again = task.likelihood(texts[::-1], numbers[::-1], batch=1)
    assert found.tokens == again.tokens
    assert found.nll == pytest.approx(again.nll, rel=1e-5)
    assert task.likelihood(texts, [5, 6, 7]).nll != pytest.approx(found.nll)


def test_every_mask_is_filled_with_words_the_likeliest_first(task):
    one, other = task.fill([f"a {MASK} c {MASK}", f"{MASK} b"], top=3)
    assert [len(guesses) for guesses in one.guesses] == [3, 3]
    assert len(other.guesses) == 1
    for guesses in (*one.guesses, *other.guesses):
        chances = [guess.probability for guess in guesses]
        assert chances == sorted(chances, reverse=True)
        assert all(guess.token in LETTERS.split() for guess in guesses)
    assert one.filled == f"a {one.guesses[0][0].token} c {one.guesses[1][0].token}"
    with pytest.raises(ValueError, match="there is no <mask> to fill in 'a b'"):
        task.fill(["a b"])


def test_it_learns_what_always_stands_there(task):
    """d follows c in every text: after some steps it is the first guess."""
    source, real = source_of(task, ["a b c d e", "f g c d h", "h c d a"] * 8)
    optimizer = torch.optim.Adam(task.parameters(), lr=0.02)
    for step in range(60):
        torch.manual_seed(step)
        loss = task(source, real)
        optimizer.zero_grad()
        (loss.total / loss.tokens).backward()
        optimizer.step()
    assert task.fill([f"b c {MASK} a"])[0].guesses[0][0].token == "d"
