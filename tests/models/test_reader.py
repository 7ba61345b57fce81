"""Readers: their formulas, what padding and batches change (nothing), what is general and what self."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.attention.module import AttentionModule
from regard.attention.recording import recording
from regard.models.deep_lstm_reader import DeepLstm, deep_lstm_reader, joined
from regard.models.reader import AskedQuestion, LookPerWord, OneLook, ReadStory, reader

WORDS = 20
SMALL = {"embedding": 5, "hidden": 3, "dropout": 0.0}
READERS = {
    f"{question}-{focus}": lambda choice, question=question, focus=focus: reader(
        WORDS, choice=choice, question=question, focus=focus, **SMALL
    )
    for question in ("apart", "vector", "general", "self")
    for focus in ("last", "uniform", "attentive", "impatient")
}
STATIC = {
    f"static-{question}-{focus}": lambda choice, question=question, focus=focus: reader(
        WORDS,
        choice=choice,
        question=question,
        focus=focus,
        attention={"dynamic": False},
        **SMALL,
    )
    for question, focus in (("apart", "impatient"), ("general", "last"), ("general", "impatient"))
}
READERS |= STATIC
READERS["two-layers"] = lambda choice: reader(WORDS, choice=choice, layers=2, cell="gru", **SMALL)
READERS["deep-lstm"] = lambda choice: deep_lstm_reader(WORDS, choice=choice, layers=2, **SMALL)
CHOOSERS = {
    **READERS,
    "deep-lstm-story-first": lambda choice: deep_lstm_reader(WORDS, first="story", **SMALL),
}
POINTERS = {
    **READERS,
    **{
        f"dynamic-{focus}": lambda choice, focus=focus: reader(
            WORDS, choice=False, focus=focus, dynamic=True, **SMALL
        )
        for focus in ("uniform", "attentive", "impatient")
    },
}


def text(lengths: list[int], seed: int) -> tuple[Tensor, Tensor]:
    chance = torch.Generator().manual_seed(seed)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return torch.randint(4, WORDS, mask.shape, generator=chance) * mask, mask


def inputs(stories=(6, 3, 8, 1), questions=(2, 4, 1, 3), candidates=(3, 2, 4, 2)):
    named, _ = text([8] * len(candidates), 3)
    named = named.view(-1, 4, 2)
    there = torch.arange(4) < torch.tensor(candidates)[:, None]
    mask = there[..., None].repeat(1, 1, 2)
    mask[:, ::2, 1] = False  # every other candidate has one word
    return *text(list(stories), 1), *text(list(questions), 2), named * mask, mask


def alone(given, row: int):
    """One example of a batch, without the padding of the others."""
    story, story_mask, question, question_mask, named, named_mask = (
        x[row : row + 1] for x in given
    )
    s, q, k = int(story_mask.sum()), int(question_mask.sum()), int(named_mask.any(-1).sum())
    return (
        story[:, :s],
        story_mask[:, :s],
        question[:, :q],
        question_mask[:, :q],
        named[:, :k],
        named_mask[:, :k],
    )


@pytest.mark.parametrize("name", CHOOSERS)
def test_a_choice_beside_others_is_the_choice_alone(name):
    torch.manual_seed(1)
    model = CHOOSERS[name](True).double().eval()
    given = inputs()
    together = model(*given)
    for row, count in enumerate((3, 2, 4, 2)):
        torch.testing.assert_close(
            together[row, :count], model(*alone(given, row))[0], rtol=0, atol=1e-12
        )
        assert together[row, count:].isneginf().all()


@pytest.mark.parametrize("name", POINTERS)
def test_a_span_beside_others_is_the_span_alone(name):
    torch.manual_seed(1)
    model = POINTERS[name](False).double().eval()
    given = inputs()
    together = model(*given[:4])
    assert together.shape == (4, 2, 8)
    for row, length in enumerate((6, 3, 8, 1)):
        one = model(*alone(given, row)[:4])[0]
        torch.testing.assert_close(together[row, :, :length], one, rtol=0, atol=1e-12)
        assert together[row, :, length:].isneginf().all()


@pytest.mark.parametrize("choice", [True, False], ids=["choice", "span"])
@pytest.mark.parametrize("name", READERS)
def test_what_stands_in_the_padding_changes_nothing(name, choice):
    torch.manual_seed(1)
    model = READERS[name](choice).double().eval()
    story, story_mask, question, question_mask, named, named_mask = given = inputs()
    noise = (
        story.where(story_mask, 7),
        story_mask,
        question.where(question_mask, 9),
        question_mask,
        named.where(named_mask, 11),
        named_mask,
    )
    end = 6 if choice else 4
    torch.testing.assert_close(model(*given[:end]), model(*noise[:end]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("choice", [True, False], ids=["choice", "span"])
@pytest.mark.parametrize("name", READERS)
def test_gradients_reach_every_weight_also_beside_empty_texts(name, choice):
    torch.manual_seed(1)
    model = READERS[name](choice).double().train()
    given = list(inputs())
    given[1][1] = False  # a story of no words
    given[3][2] = False  # a question of no words
    logits = model(*given[: 6 if choice else 4])
    real = logits.isfinite()
    assert not logits.isnan().any()
    logits[real].square().sum().backward()
    for part, weight in model.named_parameters():
        assert weight.grad is not None, part
        assert weight.grad.isfinite().all(), part
        assert weight.grad.abs().sum() > 0, part


def emptied(given, *, stories: bool, noise: int):
    """The batch with no word in the first question, or in the first story, and `noise` as padding."""
    given = [x.clone() for x in given]
    given[1 if stories else 3][0] = False
    for ids, mask in (given[:2], given[2:4]):
        ids.masked_fill_(~mask, noise)
    return given


@pytest.mark.parametrize("stories", [True, False], ids=["story", "question"])
@pytest.mark.parametrize("name", CHOOSERS)
def test_no_words_are_answered_alike_whatever_the_padding(name, stories):
    torch.manual_seed(1)
    model = CHOOSERS[name](True).double().eval()
    with torch.no_grad():
        model.reader.embed.weight[0] = torch.nan  # no text has this word
    given = inputs()
    first, *others = (model(*emptied(given, stories=stories, noise=noise)) for noise in (9, 7, 0))
    for other in others:
        torch.testing.assert_close(other, first, rtol=0, atol=0)
    one = alone(emptied(given, stories=stories, noise=0), 0)  # of no columns where there is no word
    torch.testing.assert_close(model(*one)[0], first[0, :3], rtol=0, atol=1e-12)


@pytest.mark.parametrize("choice", [True, False], ids=["choice", "span"])
@pytest.mark.parametrize("cell", ["lstm", "gru-reset-before", "deep"])
def test_what_stands_in_the_padding_reaches_no_gradient(cell, choice):
    def gradients(noise: float) -> list[Tensor]:
        torch.manual_seed(1)
        made = (
            deep_lstm_reader(WORDS, choice=choice, **SMALL)
            if cell == "deep"
            else reader(WORDS, choice=choice, cell=cell, question="general", **SMALL)
        )
        model = made.double()
        with torch.no_grad():
            model.reader.embed.weight[0] = noise
        given = inputs()
        given[1][1] = given[3][1:3] = False
        given[0][1] = given[2][1:3] = 0
        logits = model(*given[: 6 if choice else 4])
        logits[logits.isfinite()].square().sum().backward()
        return [weight.grad for weight in model.parameters()]

    torch.testing.assert_close(gradients(torch.nan), gradients(0.0), rtol=0, atol=1e-12)


def read_story(rows: int = 2, size: int = 4) -> ReadStory:
    chance = torch.Generator().manual_seed(5)

    def draw(*shape: int) -> Tensor:
        x = torch.randn(*shape, generator=chance, dtype=torch.float64)
        return x.requires_grad_()

    mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
    asked = torch.tensor([[True, True, True], [True, True, False]])
    question = AskedQuestion(draw(rows, 3, size), asked, draw(rows, size))
    return ReadStory(draw(rows, 5, size), mask, draw(rows, size), question)


def softmax(scores: list[Tensor]) -> list[Tensor]:
    total = sum(score.exp() for score in scores)
    return [score.exp() / total for score in scores]


def test_the_attentive_reader_is_its_formula_with_its_gradients():
    look, story = OneLook(4, score="additive").double(), read_story()
    score = look.attention.score
    found, rows = look(story), []
    for b, length in enumerate((5, 2)):
        u = story.question.vector[b]
        scores = [
            torch.tanh(story.states[b, t] @ score.key_weight + u @ score.query_weight)
            @ score.vector[:, 0]
            for t in range(length)
        ]
        weights = softmax(scores)
        rows.append(sum(s * story.states[b, t] for t, s in enumerate(weights)))
    same_with_gradients(found, torch.stack(rows), look, story)


def test_the_impatient_reader_is_its_formula_with_its_gradients():
    look, story = LookPerWord(4, score="additive").double(), read_story()
    torch.nn.init.normal_(look.first)
    score, found, rows = look.attention.score, look(story), []
    from_read, from_word = score.query_weight[:4], score.query_weight[4:]
    for b, (length, asked) in enumerate(((5, 3), (2, 2))):
        r = look.first
        for i in range(asked):
            word = story.question.states[b, i]
            scores = [
                torch.tanh(story.states[b, t] @ score.key_weight + r @ from_read + word @ from_word)
                @ score.vector[:, 0]
                for t in range(length)
            ]
            weights = softmax(scores)
            context = sum(s * story.states[b, t] for t, s in enumerate(weights))
            r = context + torch.tanh(look.again.weight @ r)
        rows.append(r)
    same_with_gradients(found, torch.stack(rows), look, story)


def test_a_static_impatient_reader_is_its_formula_with_its_gradients():
    look, story = LookPerWord(4, score="additive", dynamic=False).double(), read_story()
    torch.nn.init.normal_(look.first)
    score, found, rows = look.attention.score, look(story), []
    for b, (length, asked) in enumerate(((5, 3), (2, 2))):
        by = torch.cat([look.first, story.question.vector[b]]) @ score.query_weight
        scores = [
            torch.tanh(story.states[b, t] @ score.key_weight + by) @ score.vector[:, 0]
            for t in range(length)
        ]
        context = sum(s * story.states[b, t] for t, s in enumerate(softmax(scores)))
        r = look.first
        for _ in range(asked):
            r = context + torch.tanh(look.again.weight @ r)
        rows.append(r)
    same_with_gradients(found, torch.stack(rows), look, story)


@pytest.mark.parametrize("choice", [True, False], ids=["choice", "span"])
@pytest.mark.parametrize("name", STATIC)
def test_static_attention_has_one_distribution_for_all_steps_and_dynamic_one_for_each(name, choice):
    """The steps are the words of the question, or those of the story: 6 of the first, 2 of the other."""
    end, kinds = (6 if choice else 4), {}
    given = alone(inputs(), 0)[:end]
    for static in (True, False):
        torch.manual_seed(1)
        made = STATIC[name] if static else READERS[name.removeprefix("static-")]
        model = made(choice).double().eval()
        with recording(model) as seen:
            model(*given)
        for each in seen:
            kinds.setdefault(each.name, {}).setdefault(static, []).append(each.weights[0])
    kinds = {place: both for place, both in kinds.items() if place.startswith("reader.")}
    assert kinds
    for place, both in kinds.items():
        once, steps = torch.cat(both[True]), torch.cat(both[False])
        assert len(once) == 1, place
        assert len(steps) == (2 if "focus" in place else 6), place
        assert not torch.allclose(steps, steps[:1]), place


@pytest.mark.parametrize("step", range(6))
def test_beside_every_word_stands_the_same_whichever_word_is_changed(step):
    """A word of the story moves what is found in the question for all words alike, or for itself alone."""
    story, mask, question, asked = alone(inputs(), 0)[:4]
    other = story.clone()
    other[0, step] = (story[0, step] - 4 + 1) % (WORDS - 4) + 4
    for dynamic in (False, True):
        torch.manual_seed(1)
        how = {"dynamic": dynamic}
        model = reader(WORDS, question="general", attention=how, **SMALL).double().eval().reader
        question_read = model._ask(question, asked)
        here, there = (model.beside(model.embed(x), mask, question_read)[0] for x in (story, other))
        moved = (here - there).abs().sum(-1) > 1e-9
        assert torch.allclose(here, here[:1]) == (not dynamic)
        assert torch.allclose(there, there[:1]) == (not dynamic)
        assert moved.tolist() == [not dynamic or t == step for t in range(6)]


def same_with_gradients(found: Tensor, wanted: Tensor, look, story: ReadStory) -> None:
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
    towards = [*look.parameters(), story.states, story.question.states, story.question.vector]
    grads = [
        torch.autograd.grad(x.square().sum(), towards, allow_unused=True) for x in (found, wanted)
    ]
    for a, b in zip(*grads, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def test_the_uniform_reader_takes_the_mean():
    story = read_story()
    found = OneLook(4, score="dot", normalize="uniform").double()(story)
    torch.testing.assert_close(found[0], story.states[0].mean(0))
    torch.testing.assert_close(found[1], story.states[1, :2].mean(0))


def test_the_deep_lstm_reads_one_text_and_every_layer_sees_the_words():
    torch.manual_seed(1)
    model = deep_lstm_reader(WORDS, layers=2, **SMALL).double().eval().reader
    assert isinstance(model, DeepLstm)
    story, story_mask, question, question_mask = inputs()[:4]
    read = model(story, story_mask, question, question_mask)
    for row, (s, q) in enumerate(((6, 2), (3, 4), (8, 1), (1, 3))):
        x = model.embed(torch.cat([question[row, :q], story[row, :s]]))[None]
        one = model.layers[0](x).outputs
        two = model.layers[1](torch.cat([x, one], -1)).outputs
        both = torch.cat([one, two], -1)[0]
        torch.testing.assert_close(read.last[row], both[-1])
        torch.testing.assert_close(read.states[row, :s], both[q:])
        assert not read.states[row, s:].any()


def test_texts_are_joined_without_the_padding_between_them():
    a, b = torch.tensor([[5, 6, 0], [7, 0, 0]]), torch.tensor([[8, 0], [9, 4]])
    words, mask = joined(a, a > 0, b, b > 0)
    assert words.tolist() == [[5, 6, 8, 0, 0], [7, 9, 4, 0, 0]]
    assert mask.sum(-1).tolist() == [3, 3]


KINDS = {  # where, and what it is
    "apart-attentive": {"reader.focus.attention": "general"},
    "apart-impatient": {"reader.focus.attention": "general"},
    "apart-uniform": {"reader.focus.attention": "self"},
    "general-last": {"reader.beside.attention": "general"},
}


@pytest.mark.parametrize("name", KINDS)
def test_general_weights_move_with_the_other_text_and_self_weights_do_not(name):
    torch.manual_seed(1)
    model = READERS[name](True).double().eval()
    said = {n: m.kind for n, m in model.named_modules() if isinstance(m, AttentionModule)}
    assert said == KINDS[name]
    given = list(inputs())
    ((place, kind),) = said.items()
    other = 2 if "focus" in place else 0  # the text that is not attended to
    changed = [*given]
    changed[other] = (given[other] + 1) % WORDS * given[other + 1]
    weights = []
    for each in (given, changed):
        with recording(model) as seen:
            model(*each)
        weights.append(seen[0].weights)
    assert (kind == "general") == (not torch.equal(*weights))


def test_a_self_attended_question_knows_nothing_of_the_story():
    model = READERS["self-last"](True).double().eval()
    assert model.reader.pool.kind == "self"
    seen = []
    model.reader.pool.register_forward_hook(lambda _, __, pooled: seen.append(pooled.weights))
    given = list(inputs())
    model(*given)
    given[0] = (given[0] + 1) % WORDS * given[1]
    model(*given)
    assert torch.equal(*seen)


def test_a_static_span_has_one_look_and_a_dynamic_one_two():
    given = inputs()[:4]
    for dynamic, looks in ((False, 1), (True, 2)):
        model = reader(WORDS, choice=False, dynamic=dynamic, **SMALL).double().eval()
        with recording(model) as seen:
            model(*given)
        focus = [each.weights for each in seen if each.name == "reader.focus.attention"]
        assert len(focus) == looks
        assert not dynamic or not torch.equal(*focus)


def test_what_cannot_be_is_told():
    with pytest.raises(ValueError, match="dynamic is of spans"):
        reader(WORDS, dynamic=True)
    for focus in ("attentive", "uniform", "last"):
        with pytest.raises(ValueError, match=f"focus={focus} .* is static as it is"):
            reader(WORDS, focus=focus, attention={"dynamic": False})
    with pytest.raises(ValueError, match="first=story"):
        deep_lstm_reader(WORDS, choice=False, first="story")
