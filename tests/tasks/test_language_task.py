"""Language modelling: which ends are scored, and writing on from a prompt."""

from __future__ import annotations

import pytest
import torch
from small_runs import small_run
from typer.testing import CliRunner

from regard.cli.app import app
from regard.data.padding import pad
from regard.data.text_blocks import TextBlock
from regard.data.tokenizer import EOS, Tokenizer
from regard.models.modes import language_model
from regard.search import Search
from regard.tasks.language.language_module import Language


@pytest.fixture
def make_language():
    def make(**options) -> Language:
        torch.manual_seed(0)
        tokenizer = Tokenizer.train(["abcd ef\n"], kind="character", verbatim=True)
        model = language_model(len(tokenizer), embedding=8, hidden=12)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.6)
        return Language(model, tokenizer, **options)

    return make


def loss_of(task: Language, rows: list[list[int]]):
    return task(*pad(rows, bos=True))


def test_the_end_is_scored_of_a_text_but_not_of_a_block(make_language):
    ids = make_language().tokenizer.encode("abc d").ids
    whole = loss_of(make_language(), [ids])
    block = loss_of(make_language(running=True), [ids])
    ended = loss_of(make_language(running=True), [[*ids, EOS]])
    assert (int(whole.tokens), int(block.tokens), int(ended.tokens)) == (6, 5, 6)
    assert ended.total.item() == pytest.approx(whole.total.item(), rel=1e-6)
    assert block.total.item() < whole.total.item()


@pytest.mark.parametrize("running", [True, False])
def test_the_loss_of_a_batch_is_that_of_its_rows(make_language, running):
    task = make_language(running=running).double()
    rows = [task.tokenizer.encode(text).ids for text in ("abcd", "e", "f a\n")]
    together = loss_of(task, rows)
    alone = [loss_of(task, [row]) for row in rows]
    assert together.total.item() == pytest.approx(sum(one.total.item() for one in alone))
    assert int(together.tokens) == sum(int(one.tokens) for one in alone)
    found = task.likelihood([TextBlock(1, row) for row in rows])
    assert found.nll == pytest.approx(together.total.item())
    assert found.tokens == int(together.tokens)


def test_a_text_begins_with_its_prompt_and_is_as_long_as_asked(make_language):
    task = make_language()
    with torch.no_grad():
        task.model.decoder.output.bias[EOS] = -100.0
    prompts = ["ab", "", "a b c\n", "ab"]
    draw = Search(method="sample", seed=3)
    for one, prompt in zip(task.generate(prompts, draw, length=50), prompts, strict=True):
        assert one.text.startswith(prompt)
        assert len(one.tokens) == len(prompt) + 50
        assert not one.finished


@pytest.mark.parametrize("kind", ["character", "word", "bpe", "unigram"])
def test_a_text_begins_with_its_prompt_even_if_parts_of_it_are_unknown(kind):
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["the cat sat. The dog\n"] * 5, kind=kind, verbatim=True)
    task = Language(language_model(len(tokenizer), embedding=8, hidden=12), tokenizer)
    prompts = ["The 中文 ", "the zebra, sat", "中 文"]
    for one, prompt in zip(task.generate(prompts, length=3), prompts, strict=True):
        assert one.text.startswith(prompt)
        assert one.tokens.offsets[-1][1] <= len(one.text)


def test_generate_tells_what_is_unknown_in_a_prompt(tmp_path, monkeypatch):
    run = small_run("language", tmp_path)
    monkeypatch.setattr("regard.runs.loaded_run.load", lambda model, **_: run)

    def said(prompt: str) -> str:
        done = CliRunner().invoke(app, ["generate", "-m", "x", "--length", "3", prompt])
        assert done.exit_code == 0, done.output
        return done.stderr

    assert "note: 50 % of the text tokens (1 of 2) are unknown" in said("a zebra")
    assert said("a b") == ""


def test_what_is_written_does_not_depend_on_the_other_prompts(make_language):
    task = make_language()
    prompts = ["ab", "f", "a b"]
    greedy = [one.text for one in task.generate(prompts, length=20)]
    assert greedy == [task.generate([prompt], length=20)[0].text for prompt in prompts]


def test_the_same_seed_writes_the_same(make_language):
    task, draw = make_language(), Search(method="sample", seed=5, min_length=30)
    first, again = (task.generate(["a", "b"], draw, length=30) for _ in range(2))
    assert [one.text for one in first] == [one.text for one in again]
    other = task.generate(["a", "b"], Search(method="sample", seed=6, min_length=30), length=30)
    assert [one.text for one in first] != [one.text for one in other]


def test_a_model_with_few_positions_says_so(make_language):
    task = make_language()
    task.model.decoder.longest = 8
    assert len(task.generate(["abc"], Search(beam=1, min_length=0), length=50)[0].log_probs) <= 8
    with pytest.raises(ValueError, match="10 tokens: the model has positions for 8"):
        task.generate(["abcdabcdab"], length=5)
