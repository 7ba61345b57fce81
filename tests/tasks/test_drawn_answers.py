"""Answers in a terminal: what was answered, how probable it is, and the words that it came from."""

from __future__ import annotations

import json
import math
import re

import pytest
import torch
from small_runs import document_run, hops_run, small_run

from regard.data.tokenizer import MASK, Tokenizer
from regard.recipe.recipe_files import read_recipe
from regard.records.question import Question
from regard.tasks.answer import Answer
from regard.tasks.recipe_task import task_of
from regard.view.picked_matrix import Pick, picked

DOCUMENT = "A b c . D e ! F"


@pytest.mark.parametrize("output", ["label", "number"])
def test_a_document_is_drawn_sentence_by_sentence(output, tmp_path):
    run = document_run(output, tmp_path)
    task, module = run.task, run.module
    (answer,) = task.predict(module, task.given([DOCUMENT]), attention=True, batch=1)
    record = task.look(module, Question(DOCUMENT))
    drawn = task.drawn(answer).splitlines()
    assert drawn[0] == task.line(answer)
    assert record.output.split()[0] == (answer.answer if output == "label" else answer.line)
    assert answer.score is None if output == "number" else 0 < answer.score < 1
    shown = [float(line.split()[1]) for line in drawn if re.match(r"[░▒▓█]{2} ", line)]
    assert shown == pytest.approx(record.levels.sentence_weights.tolist(), abs=0.0051)
    assert [b - a for a, b, _ in answer.sentences] == list(record.levels.lengths)
    heaviest = drawn[2].split()[:2]  # of the first sentence, under it
    own = record.levels.word_weights[record.levels.places[0]]
    assert heaviest[0] == ["A", "b", "c", "."][int(own.argmax())]
    assert float(heaviest[1]) == pytest.approx(own.max(), abs=0.0051)
    plain = json.loads(json.dumps(answer.to_dict()))
    assert plain["input"] == DOCUMENT
    assert [each[:2] for each in plain["sentences"]] == [[0, 4], [4, 7], [7, 8]]


@pytest.mark.parametrize("output", ["label", "number"])
def test_answers_do_not_depend_on_what_is_asked_beside(output, tmp_path):
    run = document_run(output, tmp_path)
    task, module = run.task, run.module
    module = module.double()
    examples = task.given([DOCUMENT, "h", {"document": ""}, "G ? " * 30])
    together = task.predict(module, examples, attention=True, batch=4)
    for example, one in zip(examples, together, strict=True):
        (alone,) = task.predict(module, [example], attention=True, batch=1)
        (bare,) = task.predict(module, [example], batch=1)
        assert bare.attention is None
        assert not bare.sentences
        if output == "number":
            assert alone.answer == pytest.approx(one.answer, abs=1e-10)
            assert bare.answer == pytest.approx(one.answer, abs=1e-10)
        torch.testing.assert_close(alone.attention, one.attention)


def test_it_is_told_that_words_are_coloured_by_the_mean_of_hops(tmp_path):
    run = hops_run(tmp_path)
    (answer,) = run.task.predict(run.module, run.task.given(["a b c"]), attention=True, batch=1)
    hops = torch.from_numpy(run.task.look(run.module, Question("a b c")).map("pooling").weights)
    assert hops.shape == (1, 3, 1, 4)
    torch.testing.assert_close(answer.attention, hops.mean((0, 1)))
    assert (answer.hops, answer.to_dict()["hops"]) == (3, 3)
    told = run.task.drawn(answer).splitlines()[-1]
    assert told == "(the mean of 3 hops; regard look --terminal shows each)"
    plain = small_run("classify", tmp_path)
    (answer,) = plain.task.predict(plain.module, plain.task.given(["a b"]), attention=True, batch=1)
    assert answer.attention is not None
    assert "hops" not in answer.to_dict()
    assert "hops" not in plain.task.drawn(answer)


def test_pieces_are_joined_to_words_as_they_stand_in_the_text(tmp_path):
    run = small_run("classify", tmp_path)
    run.task.source.tokenizer = Tokenizer.train(["ab ab cd"], kind="bpe", size=12)
    (answer,) = run.task.predict(run.module, run.task.given(["abab, ab"]), attention=True, batch=1)
    pieces, weights = answer.columns, answer.attention[0].tolist()
    assert pieces == ["ab", "ab", ",", "ab", "EOS"]
    assert [word for word, _ in answer.weighed_words()] == ["abab", ",", "ab"]
    wanted = [sum(weights[:2]), weights[2], weights[3]]
    assert [weight for _, weight in answer.weighed_words()] == pytest.approx(wanted)
    shown = run.task.drawn(answer).splitlines()[1].split("  ")
    assert {one.split()[0] for one in shown} == {"abab", ",", "ab"}
    record = run.task.look(run.module, Question("abab, ab"))
    keys = picked(record, Pick("pooling")).keys
    assert keys[:-1] == ("abab", ",", "ab")  # as it is looked at


def test_pieces_of_a_document_are_joined_inside_its_sentences(tmp_path):
    run = document_run("label", tmp_path)
    run.task.source.load(Tokenizer.train(["ab ab ab . ."], kind="bpe", size=12).to_json())
    (answer,) = run.task.predict(
        run.module, run.task.given(["abab ab . abab ."]), attention=True, batch=1
    )
    assert [word for word, _, _ in answer.words] == ["abab", "ab", ".", "abab", "."]
    drawn = run.task.drawn(answer)
    assert "abab ab ." in drawn
    assert "abab ." in drawn


def test_gaps_have_their_probability_and_what_each_looked_at(tmp_path):
    run = small_run("masked", tmp_path)
    texts = run.task.given([f"a {MASK} c", f"{MASK} b {MASK} d"])
    plain = run.task.predict(run.module, texts, batch=2)
    one, two = run.task.predict(run.module, texts, attention=True, batch=2)
    assert [each.answer for each in plain] == [one.answer, two.answer]
    assert one.score == pytest.approx(plain[0].score, abs=1e-5)
    assert run.task.line(one) == f"{one.answer}\t{one.score:.4f}"
    assert (one.attention.shape, two.attention.shape) == ((1, 4), (2, 5))
    torch.testing.assert_close(two.attention.sum(-1), torch.ones(2), atol=1e-5, rtol=0)
    record = run.task.look(run.module, Question(f"a {MASK} c"))
    last = torch.from_numpy(record.map("encoder").weights[-1]).mean(0)[1]
    torch.testing.assert_close(one.attention[0], last, atol=1e-5, rtol=0)
    named = run.task.drawn(one).splitlines()[1].split("  ")
    words = [*one.columns[:-1]]  # without the end
    assert [each.split()[0] for each in named] == sorted(
        words, key=lambda word: -float(one.attention[0, words.index(word)])
    )


def test_labels_stand_under_their_words():
    task = task_of(read_recipe("tag"))
    task.words.learn([["the", "cat", "sat"]])
    answer = Answer("the cat sat", ["DET", "NOUN", "VERB"], math.log(0.25))
    words, labels, chance = task.drawn(answer).splitlines()
    assert (words, labels) == ("the cat  sat", "DET NOUN VERB")
    assert chance == "all of them: 0.2500"
