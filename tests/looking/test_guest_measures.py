"""Measures of explanation of Hugging Face models, each by its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")

from guest_models import guest, picture

import regard
from regard.hf.attention_capture import capture
from regard.looking.guests.guest_explanations import explain_guest
from regard.looking.guests.guest_readings import GuestReading
from regard.looking.guests.guest_work import guest_work
from regard.looking.guests.judged_place import judged_place
from regard.measures.explanation_measures import rollout

TEXT = "the cat sat on"
ALL = ["gradient", "leave-one-out", "norm", "value-zeroing", "contrast", "erasure"]
ALL += ["uniform", "permuted", "adversarial", "rollout", "flow"]
KINDS = {"bert": "encoder", "deberta": "encoder", "gpt2": "decoder", "llama": "decoder"}
KINDS |= {"marian": "cross", "t5": "cross", "bart": "cross"}


def asked(family: str, **changes):
    model, tokenizer = guest(family, **changes)
    inputs = dict(tokenizer(TEXT, return_tensors="pt"))
    takes = model.forward.__code__.co_varnames
    inputs = {name: x for name, x in inputs.items() if name in takes or name == "input_ids"}
    if KINDS[family] == "cross":
        inputs["decoder_input_ids"] = torch.tensor([[0, 8, 12]])
    return model.double(), inputs


def reading(family: str) -> GuestReading:
    model, inputs = asked(family)
    with torch.no_grad(), capture(model) as captured:
        model(**inputs)
    return GuestReading(model, inputs, captured, KINDS[family], guest_work(model))


def has(measure: str, family: str) -> bool:
    """DeBERTa shows nobody its values."""
    return measure != "norm" or family != "deberta"


@pytest.fixture(params=KINDS)
def family(request) -> str:
    return request.param


def test_gradients_are_what_a_little_more_of_a_token_does(family):
    model, inputs = asked(family)
    found, share = reading(family).gradients(), 1e-3
    ids = inputs.pop("input_ids")
    vectors = model.get_input_embeddings()(ids).detach()
    with torch.no_grad():
        said = model(inputs_embeds=vectors, **inputs).logits[0].argmax(-1, keepdim=True)
        changes = []
        for j in range(ids.shape[1]):
            ends = []
            for step in (share, -share):
                longer = vectors.clone()
                longer[:, j] *= 1 + step
                ends.append(model(inputs_embeds=longer, **inputs).logits[0].log_softmax(-1))
            changes.append((ends[0] - ends[1]).gather(-1, said) / (2 * share))
    wanted = torch.cat(changes, -1).float()
    torch.testing.assert_close(found, wanted, atol=2e-3, rtol=2e-2)


def test_its_own_weights_make_its_own_answers(family):
    one = reading(family)
    assert one.steerable
    again = one.steered(one.weighed.weights[None], slice(0, len(one.said)))[0]
    torch.testing.assert_close(again, one.answers, atol=1e-5, rtol=1e-4)


def test_other_weights_change_the_answer_that_they_are_given_to(family):
    one = reading(family)
    last = len(one.said) - 1
    even = torch.full_like(one.weighed.weights[None, last:], 0.0)
    even[..., 0] = 1.0
    changed = one.steered(even, slice(last, last + 1))[0, 0]
    assert not torch.allclose(changed, one.answers[last], atol=1e-4)


def test_what_a_translation_loses_without_a_token():
    model, inputs = asked("marian")
    found, one = reading("marian").without_each(), reading("marian")
    for j in range(found.shape[1]):
        kept = [n for n in range(found.shape[1]) if n != j]
        shorter = {n: x[:, kept] for n, x in inputs.items() if n != "decoder_input_ids"}
        with torch.no_grad():
            logits = model(**shorter, decoder_input_ids=inputs["decoder_input_ids"]).logits[0]
        chances = logits.float().softmax(-1).gather(-1, one.said[:, None])[:, 0]
        torch.testing.assert_close(found[:, j], chances, atol=1e-6, rtol=1e-5)


def test_what_a_decoder_loses_without_a_token():
    model, inputs = asked("gpt2")
    one = reading("gpt2")
    found = one.without_each()
    later = torch.ones_like(found).triu(1).bool()
    own = one.answers.gather(-1, one.said[:, None]).expand_as(found)
    torch.testing.assert_close(found[later], own[later], atol=1e-6, rtol=1e-5)
    ids = inputs["input_ids"][:, [0, 2, 3]]  # without token 1
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0].float().softmax(-1)
    places = [0, 0, 1, 2]  # row 1 itself: what the row before it says
    for row, place in enumerate(places):
        assert float(found[row, 1]) == pytest.approx(float(logits[place, one.said[row]]), abs=1e-6)


def test_the_rollout_is_that_of_the_stack(family):
    model, inputs = asked(family)
    explained, _ = explain_guest(model.float(), inputs, guest_work(model))
    assert [each.name for each in explained] == [n for n in ALL if has(n, family)]
    (rolled,) = (each for each in explained if each.name == "rollout")
    with torch.no_grad(), capture(model) as captured:
        model(**inputs)
    kind = "decoder" if KINDS[family] == "decoder" else "encoder"
    wanted = rollout(captured.weights(kind)[:, 0])
    torch.testing.assert_close(torch.from_numpy(rolled.matrix), wanted)
    assert all(np.isfinite(x.matrix).all() for x in explained if x.matrix is not None)


def test_the_place_that_a_classifier_reads():
    bert, tokenizer = guest("bert", kind="BertForSequenceClassification")
    inputs = dict(tokenizer(TEXT, return_tensors="pt"))
    assert judged_place(bert, inputs, "encoder") == 0
    model, _ = guest("gpt2")
    judge = __import__("transformers").GPT2ForSequenceClassification(model.config).eval()
    assert judged_place(judge, {"input_ids": inputs["input_ids"]}, "decoder") == 5


def test_a_classifier_is_measured_at_its_label():
    model, tokenizer = guest("bert", kind="BertForSequenceClassification")
    (record,) = regard.look(model.train(), tokenizer, TEXT, explain=True).records
    assert [each.name for each in record.explanations] == ALL
    assert {each.map for each in record.explanations} == {"label", "encoder"}
    assert record.map("label").weights.shape[2] == 1
    assert model.training


def test_a_picture_is_measured_patch_by_patch():
    model, processor = guest("vit")
    (record,) = regard.look(model, processor, picture(), explain=True).records
    by_name = {each.name: each for each in record.explanations}
    assert set(by_name) == set(ALL)
    pixels = processor(images=picture(), return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        chances = model(pixel_values=pixels).logits[0].softmax(-1)
        grey = pixels.clone()
        grey[..., 8:16, 16:24] = 0  # row 2, column 3
        without = model(pixel_values=grey).logits[0].softmax(-1)
    best = int(chances.argmax())
    lost = by_name["leave-one-out"].matrix[0]
    assert lost[0] == 0  # [CLS] is no patch
    assert lost[1 + 5] == pytest.approx(float(chances[best] - without[best]), abs=1e-5)


def test_some_tokens_alone_are_what_the_model_reads_of_them():
    one = reading("bert")
    kept = torch.tensor([[True, True, False, True, False, True]])
    found = one.log_probs(kept, torch.tensor([3]), one.said[3:4])
    model, inputs = asked("bert")
    with torch.no_grad():
        parts = {name: x[:, kept[0]] for name, x in inputs.items()}
        wanted = model(**parts).logits[0, 2].float().log_softmax(-1)[one.said[3]]
    torch.testing.assert_close(found[0], wanted, atol=1e-6, rtol=1e-5)


def test_a_batch_of_choices_is_what_each_is_alone(family):
    """Padding and batching change nothing."""
    one = reading(family)
    generator = torch.Generator().manual_seed(1)
    kept = torch.rand(7, one.keys, generator=generator) < 0.6
    rows = torch.arange(7) % len(one.said)
    if KINDS[family] != "cross":
        kept &= torch.arange(one.keys) <= rows[:, None] if KINDS[family] == "decoder" else True
        kept[torch.arange(7), rows] = True
    kept[:, 0] = True
    tokens = one.said[rows]
    together = one.log_probs(kept, rows, tokens)
    alone = [one.log_probs(kept[n : n + 1], rows[n : n + 1], tokens[n : n + 1]) for n in range(7)]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=1e-5)


def test_why_this_and_not_that():
    from regard.records.question import Foil, Question

    tokenizer = guest("bert")[1]
    asked_about = Question(TEXT, explain=True, foil=Foil("dog", 2))
    (record,) = regard.look(guest("bert")[0], tokenizer, asked_about).records
    (contrast,) = (each for each in record.explanations if each.name == "contrast")
    assert contrast.title.endswith("and not “dog”")
    with pytest.raises(ValueError, match="the model has no answer"):
        regard.look(guest("bert")[0], tokenizer, Question(TEXT, explain=True, foil=Foil("xyz")))
