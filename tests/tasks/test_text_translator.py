"""Translations and scores of text: the order, the batch and the padding change nothing."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from regard.data.tokenizer import EOS, UNK, Tokenizer, Tokens
from regard.layers.positions import TooLong
from regard.looking.predictions import prediction_record
from regard.measures.likelihood import Likelihood
from regard.models.transformer_models import transformer
from regard.search import Search
from regard.tasks.decoded_tokens import spell
from regard.tasks.longest_first import batches_by_length, usual_batch
from regard.tasks.prediction import Prediction
from regard.tasks.translate import text_translator

TEXTS = ["a b c d e f", "", "h", "b b b", "  \t", "c a", "g f e d c b a", "a", "d d", "e h a b"]
SETTINGS = Search(beam=3, nbest=3, max_length=12, attention=True)


@pytest.fixture
def task(make_task):
    task = make_task().eval()
    with torch.no_grad():
        task.model.decoder.output.bias[EOS] += 2.0  # or it would hardly ever end
    return task


def test_every_line_has_its_translation_in_its_place_whatever_the_batch(task):
    alone = [task.predict([text], SETTINGS)[0] for text in TEXTS]
    for size in (1, 3, 64):
        together = task.predict(TEXTS, SETTINGS, batch=size)
        assert [p.source for p in together] == TEXTS
        assert [p.text for p in together] == [p.text for p in alone]
        for one, other in zip(alone, together, strict=True):
            assert one.log_prob == pytest.approx(other.log_prob, abs=1e-4)
            assert len(one.alternatives) == len(other.alternatives)


def test_a_blank_line_has_an_empty_translation(task):
    for text in ("", "   ", "\t\n"):
        found = task.predict([text])[0]
        assert (found.text, found.log_prob, found.log_probs) == ("", 0.0, ())


def test_a_line_longer_than_any_limit_is_translated(task):
    found = task.predict(["a b c d e f g h " * 200], Search(beam=1, max_length=20))[0]
    assert found.text


@pytest.mark.parametrize("coverage", [0.0, 0.3])
def test_scoring_what_was_predicted_gives_what_was_reported(task, coverage):
    settings = replace(SETTINGS, coverage_penalty=coverage)
    found = [
        p
        for best in task.predict([t for t in TEXTS if t.strip()], settings)
        for p in (best, *best.alternatives)
        if p.finished
    ]
    assert len(found) > 10
    scored = task.score([p.source for p in found], [p.tokens for p in found], settings)
    for one, other in zip(found, scored, strict=True):
        assert other.score == pytest.approx(one.score, abs=1e-4)
        assert other.log_prob == pytest.approx(one.log_prob, abs=1e-4)
        assert other.log_probs == pytest.approx(one.log_probs, abs=1e-4)
        assert (other.text, other.tokens) == (one.text, one.tokens)
        torch.testing.assert_close(other.attention, one.attention, rtol=1e-4, atol=1e-5)


def test_attention_has_a_row_for_each_token_and_eos_and_a_column_for_each_source_token_and_eos(
    task,
):
    for found in task.predict(["a b c", "h"], SETTINGS):
        assert found.finished
        assert found.attention.shape == (len(found.tokens) + 1, len(found.source_tokens) + 1)
        torch.testing.assert_close(found.attention.sum(1), torch.ones(len(found.tokens) + 1))


def test_a_given_text_keeps_its_own_spelling(task):
    found = task.score(["a b"], ["  c   zzz d "])[0]
    assert found.text == "  c   zzz d "
    assert [found.text[slice(*span)] for span in found.tokens.offsets] == ["c", "zzz", "d"]


def test_likelihood_is_the_sum_of_the_scores(task):
    sources, targets = ["a b c", "h", "d e"], ["c b a", "a", "e d f g"]
    total = task.likelihood(sources, targets, batch=2)
    scores = task.score(sources, targets)
    assert total.tokens == 4 + 2 + 5
    assert total.nll == pytest.approx(-sum(p.log_prob for p in scores), abs=1e-4)
    ones = [task.likelihood([s], [t]) for s, t in zip(sources, targets, strict=True)]
    assert total.correct == sum(ones, Likelihood()).correct


def test_scores_do_not_depend_on_the_pieces_and_no_piece_is_larger_than_it_may_be(
    task, monkeypatch
):
    sources, targets = ["a b c", "h", "d e", "a"], ["c b a", "a b c d e f g h", "e d", "a " * 30]
    whole = task.score(sources, targets)
    sizes, project, vocabulary = [], task.model.decoder.project, len(task.target_tokenizer)
    monkeypatch.setattr(
        task.model.decoder, "project", lambda out: sizes.append(len(out)) or project(out)
    )
    monkeypatch.setattr(text_translator, "LOGITS", 5 * vocabulary + 1)
    monkeypatch.setattr(text_translator, "SCORED", 10)
    for one, same in zip(task.score(sources, targets), whole, strict=True):
        assert one.log_probs == pytest.approx(same.log_probs, abs=1e-5)
        assert one.score == pytest.approx(same.score, abs=1e-5)
    assert max(sizes) == 5
    assert sum(sizes) == sum(len(one.log_probs) for one in whole)


def test_prefixes_begin_the_translations(task):
    found = task.predict(["a b c", "h"], Search(beam=2), prefixes=["h g", ""])
    assert found[0].text.startswith("h g")
    assert found[1].text == task.predict(["h"], Search(beam=2))[0].text


def test_an_unknown_word_is_copied_from_where_the_model_looks(task):
    with torch.no_grad():
        task.model.decoder.output.bias[UNK] = 100.0
    settings = Search(beam=1, max_length=3, attention=True)
    found = task.predict(["a 学生 c"], settings, replace_unknown=True)[0]
    words = ["a", "学生", "c"]
    expected = [words[int(row[:3].argmax())] for row in found.attention]
    assert found.text.split() == expected
    plain = task.predict(["a 学生 c"], settings)[0]
    assert plain.text == ""
    quiet = task.predict(["a 学生 c"], Search(beam=1, max_length=3), replace_unknown=True)[0]
    assert (quiet.text, quiet.attention) == (found.text, None)


def test_the_mode_of_the_module_is_as_before(make_task):
    task = make_task(dropout=0.5).train()
    first, second = (task.predict(["a b c"])[0] for _ in range(2))
    assert task.training
    assert first.log_prob == second.log_prob


def test_a_prediction_is_plain_json(task):
    found = task.predict(["a b c"], SETTINGS)[0]
    record = json.loads(json.dumps(found.to_dict(), ensure_ascii=False))
    assert record["text"] == found.text
    assert len(record["alternatives"]) == 2
    assert len(record["attention"]) == len(found.log_probs)
    assert all(math.isclose(sum(row), 1, abs_tol=1e-4) for row in record["attention"])


def test_as_many_targets_as_sources(task):
    with pytest.raises(ValueError, match="2 sources but 1 targets"):
        task.score(["a", "b"], ["c"])


@pytest.mark.parametrize("kind", ["word", "bpe", "unigram", "character"])
def test_spelling_gives_each_token_its_place_in_the_text(kind):
    texts = ["the cat sat on the mat, wasn't it?", "猫在垫子上。 the 猫", "a  b"]
    tokenizer = Tokenizer.train(texts, kind=kind, size=60)
    for text in texts:
        ids = tokenizer.encode(text).ids
        spelt, tokens = spell(tokenizer, ids)
        assert spelt == tokenizer.decode(ids)
        assert tokens.ids == ids
        assert tokens.pieces == [spelt[slice(*span)] for span in tokens.offsets]
        assert "".join(tokens.pieces).replace(" ", "") == spelt.replace(" ", "")
        assert not any(piece != piece.strip() for piece in tokens.pieces)


@pytest.mark.parametrize(("gigabytes", "batch"), [(1, 64), (8, 256), (16, 512), (139, 512)])
def test_a_gpu_is_filled_as_its_memory_allows(monkeypatch, gigabytes, batch):
    memory = SimpleNamespace(total_memory=gigabytes << 30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: memory)
    assert usual_batch(torch.device("cuda", 0)) == batch
    assert usual_batch(torch.device("cpu")) == 64


def test_batches_hold_every_sentence_once_longest_first_and_long_ones_in_small_batches():
    lengths = [3, 500, 1, 90, 90, 7, 2000, 0]
    batches = list(batches_by_length(lengths, 4))
    assert sorted(i for batch in batches for i in batch) == list(range(8))
    flat = [lengths[i] for batch in batches for i in batch]
    assert flat == sorted(flat, reverse=True)
    assert batches[0] == [6]
    assert max(map(len, batches)) == 4


def test_a_text_beyond_the_learnt_positions_is_named_before_anything_is_searched(task):
    shape = {"size": 8, "heads": 2, "inner": 8, "positions": "learned", "max_positions": 5}
    sizes = len(task.source_tokenizer), len(task.target_tokenizer)
    task.model = transformer(*sizes, **shape, encoder_layers=1, decoder_layers=1, share="target")
    assert len(task.predict(["a b c d"], Search(max_length=50))[0].tokens) <= 5
    for ask in (task.predict, lambda texts: task.score(texts, texts)):
        with pytest.raises(TooLong, match="text 2 has 5 tokens"):
            ask(["a", "a b c d e"])


def test_a_report_calls_tokens_as_the_viewer_does():
    source = Tokens([7, 8, UNK], ["▁", "我", "們"], [(0, 0), (0, 1), (1, 2)])
    target = Tokens([9, 5], ["", "I"], [(0, 0), (0, 1)])
    said = Prediction("我們", "I", 0.0, 0.0, (0.0,) * 3, source, target, True, torch.eye(3, 4))
    sample, record = said.sample(""), prediction_record(said)
    assert sample.tokens[:-1] == list(record.sides["target"].tokens[:-1]) == ["␣", "I"]
    assert sample.source_tokens[:-1] == list(record.sides["source"].tokens[:-1])
    assert sample.source_tokens[:-1] == ["␣", "我", "們"]
