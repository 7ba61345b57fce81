"""Records of Hugging Face models: the weights that the model used, labelled with slices of the text."""

from __future__ import annotations

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")

from small_huggingface import FAMILIES, byte_level, pieces, small

import regard
from regard.looking.token_text import _spelt_bytes, side_of_ids, token_name
from regard.records.question import BadQuestion
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord

TEXT = "the unreadable cat isn't on a mat."
TRANSLATORS = ("marian", "t5")


@pytest.fixture(scope="module")
def tokenizer():
    return pieces()


@pytest.fixture(scope="module")
def bytewise():
    return byte_level()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_a_tokenizer_and_a_text(family, tokenizer):
    model = small(family, tokenizer)
    options = {"target": "a cat sat"} if family in TRANSLATORS else {}
    (record,) = regard.look(model, tokenizer, TEXT, **options).records
    kinds = [each.name for each in record.maps]
    if family in TRANSLATORS:
        assert kinds == ["cross", "encoder", "decoder"]
        assert record.output == "a cat sat"
    else:
        assert kinds == ["encoder" if family == "bert" else "decoder"]
    for each in record.maps:
        np.testing.assert_allclose(each.weights.sum(-1), 1, atol=1e-5)
        assert each.values.shape[:3] == (2, 2, len(record.sides[each.keys]))
    assert record.model == type(model).__name__
    assert AttentionRecord.from_json(record.to_json()).to_json() == record.to_json()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_weights_are_those_that_were_captured(family, tokenizer):
    model, inputs = small(family, tokenizer), tokenizer(TEXT, return_tensors="pt")
    given = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    if family in TRANSLATORS:
        given["decoder_input_ids"] = torch.tensor([[0, 5, 9, 7]])
    with torch.no_grad(), regard.hf.capture(model) as captured:
        model(**given)
    (record,) = regard.look(captured, tokenizer=tokenizer, inputs=given, text=TEXT).records
    for each in record.maps:
        np.testing.assert_array_equal(each.weights, captured.weights(each.name)[:, 0])
    first = next(iter(record.sides.values()))
    assert first.text == TEXT


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "marian", "t5"])
def test_scores_are_kept_where_softmax_of_them_is_the_weights(family, tokenizer):
    options = {"target": "a cat"} if family in TRANSLATORS else {}
    (record,) = regard.look(small(family, tokenizer), tokenizer, TEXT, **options).records
    for each in record.maps:
        biased = family == "t5" and each.name != "cross"
        assert ("scaled-dot + bias" in each.mechanism) == biased
        masked = (
            each.scores if each.allowed is None else np.where(each.allowed, each.scores, -np.inf)
        )
        powers = np.exp(masked - masked.max(-1, keepdims=True))
        np.testing.assert_allclose(powers / powers.sum(-1, keepdims=True), each.weights, atol=1e-4)
        assert each.normalizer == "softmax"


def test_scores_are_left_out_where_they_are_capped_and_it_is_said(tokenizer):
    (record,) = regard.look(small("gemma2", tokenizer), tokenizer, TEXT).records
    assert [each.scores is None for each in record.maps] == [True]
    assert "scores are left out of decoder: this model caps them" in record.notes[0]


def test_what_a_decoder_may_not_see_is_not_allowed(tokenizer):
    (record,) = regard.look(small("gpt2", tokenizer), tokenizer, TEXT).records
    shown = record.map("decoder")
    expected = np.tril(np.ones(shown.weights.shape[2:], bool))
    assert (np.broadcast_to(shown.allowed, shown.weights.shape) == expected).all()


def test_a_model_that_translates_is_asked_for_its_translation(tokenizer):
    model = small("marian", tokenizer)
    (record,) = regard.look(model, tokenizer, TEXT, beam=2).records
    inputs = tokenizer(TEXT, return_tensors="pt")
    most = min(2 * inputs["input_ids"].shape[1] + 20, 63)
    written = model.generate(**inputs, num_beams=2, max_new_tokens=most, do_sample=False)[0]
    assert record.output == tokenizer.decode(written, skip_special_tokens=True)
    assert len(record.sides["target"]) == len(record.sides["prefix"])
    assert record.sides["prefix"].special[0]


def test_training_goes_on_as_before(tokenizer):
    model = small("bert", tokenizer).train()
    regard.look(model, tokenizer, TEXT)
    assert model.training


@pytest.mark.parametrize("beams", [1, 3])
def test_a_generation_is_followed_through_its_beams(beams, tokenizer):
    model, inputs = small("marian", tokenizer), tokenizer(TEXT, return_tensors="pt")
    asked = {"max_new_tokens": 6, "do_sample": False, "return_dict_in_generate": True}
    with torch.no_grad(), regard.hf.capture(model) as captured:
        out = model.generate(**inputs, num_beams=beams, **asked)
    (record,) = regard.look(captured, tokenizer=tokenizer, inputs=inputs, outputs=out).records
    steps = record.map("cross").weights.shape[2]
    if beams > 1:
        followed = captured.follow(out.beam_indices)[:, 0, :, :steps]
        np.testing.assert_allclose(record.map("cross").weights, followed, atol=1e-6)
    # the same tokens, read at once, attend alike
    with torch.no_grad(), regard.hf.capture(model) as again:
        model(**inputs, decoder_input_ids=out.sequences[:1, :steps])
    for kind in ("cross", "decoder", "encoder"):
        expected = again.weights(kind)[:, 0]
        np.testing.assert_allclose(record.map(kind).weights, expected, atol=1e-4)
    with pytest.raises(NotARecord, match=r"called \d+ times.*return_dict_in_generate=True"):
        regard.look(captured, tokenizer=tokenizer, inputs=inputs)


def test_a_decoder_that_writes_on(bytewise):
    model, inputs = small("gpt2", bytewise), bytewise("the cat", return_tensors="pt")
    with torch.no_grad(), regard.hf.capture(model) as captured:
        out = model.generate(
            **inputs, max_new_tokens=4, do_sample=False, return_dict_in_generate=True
        )
    (record,) = regard.look(captured, tokenizer=bytewise, inputs=inputs, outputs=out).records
    with torch.no_grad(), regard.hf.capture(model) as again:
        model(out.sequences[:, :-1])
    expected = again.weights("decoder")[:, 0]
    np.testing.assert_allclose(record.map("decoder").weights, expected, atol=1e-5)


def test_what_a_model_returned(tokenizer):
    model, inputs = small("bert", tokenizer), tokenizer(TEXT, return_tensors="pt")
    given = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = model(**given, output_attentions=True)
    (record,) = regard.look(out, tokenizer=tokenizer, inputs=given, text=TEXT).records
    np.testing.assert_array_equal(record.map("encoder").weights, torch.stack(out.attentions)[:, 0])


@pytest.mark.parametrize("family", ["bert", "gpt2", "marian"])
def test_empty_attentions_are_explained_with_the_fix(family, tokenizer):
    model, inputs = small(family, tokenizer), tokenizer(TEXT, return_tensors="pt")
    given = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    if family == "marian":
        given["decoder_input_ids"] = given["input_ids"]
    with torch.no_grad():
        out = model(**given, output_attentions=True)
        without = model(**given)
    with pytest.raises(
        NotARecord, match=r"(?s)are empty.*sdpa.*eager.*regard\.hf\.capture\(model\)"
    ):
        regard.look(out, tokenizer=tokenizer, inputs=given)
    with pytest.raises(NotARecord, match=r"(?s)holds no attentions.*regard\.hf\.capture|are empty"):
        regard.look(without, tokenizer=tokenizer, inputs=given)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_padding_is_left_out(family, tokenizer):
    """A row of a batch is what it would be alone."""
    model = small(family, tokenizer)
    tokenizer.padding_side = "left" if family == "gpt2" else "right"
    batch = tokenizer([TEXT, "a cat"], return_tensors="pt", padding=True)
    given = {name: batch[name] for name in ("input_ids", "attention_mask")}
    places = given["attention_mask"].cumsum(-1).sub(1).clamp(min=0)
    with torch.no_grad(), regard.hf.capture(model) as captured:
        model(**given, position_ids=places)
    (record,) = regard.look(captured, tokenizer=tokenizer, inputs=given, row=1).records
    (alone,) = regard.look(model, tokenizer, "a cat").records
    np.testing.assert_allclose(record.map().weights, alone.map().weights, atol=1e-5)
    assert record.sides["text"].tokens == alone.sides["text"].tokens
    with pytest.raises(NotARecord, match="no row 2: the batch has 2"):
        regard.look(captured, tokenizer=tokenizer, inputs=given, row=2)


def test_other_inputs_than_the_model_had_are_refused(tokenizer):
    model, inputs = small("bert", tokenizer), tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad(), regard.hf.capture(model) as captured:
        model(input_ids=inputs["input_ids"])
    with pytest.raises(NotARecord, match="give the inputs that the model was called with"):
        regard.look(captured, tokenizer=tokenizer, inputs=tokenizer("a", return_tensors="pt"))
    with pytest.raises(NotARecord, match="tokenizer is missing"):
        regard.look(captured, inputs=inputs)
    with pytest.raises(NotARecord, match="inputs need input_ids"):
        regard.look(captured, tokenizer=tokenizer, inputs={})
    with pytest.raises(BadQuestion, match="does not translate"):
        regard.look(model, tokenizer, TEXT, target="a cat")


def test_labels_are_slices_of_the_text(tokenizer):
    side = side_of_ids(tokenizer, tokenizer(TEXT)["input_ids"], text=TEXT)
    assert side.text == TEXT
    for token, (start, end), special in zip(side.tokens, side.offsets, side.special, strict=True):
        assert token == ("</s>" if special else TEXT[start:end])
    assert "".join(side.tokens[:-1]) == TEXT.replace(" ", "")
    assert side.special[-1]
    assert not any("▁" in token for token in side.tokens)


def test_tokens_of_one_word_are_known(bytewise):
    side = side_of_ids(bytewise, bytewise(TEXT)["input_ids"], text=TEXT)
    assert side.words[-1] + 1 == len(TEXT.replace(".", " .").split())


@pytest.mark.parametrize("known", [True, False])
def test_byte_level_tokens_of_one_character_are_readable(bytewise, known):
    text = "cat 我é\n🎉"
    ids = bytewise(text)["input_ids"]
    side = side_of_ids(bytewise, ids, text=text if known else None)
    assert side.text == text
    shown = [token for token in side.tokens if "我" in token]
    assert shown == ["我 1/3", "我 2/3", "我 3/3"]
    assert [token for token in side.tokens if "🎉" in token] == [f"🎉 {n}/4" for n in range(1, 5)]
    assert (
        len({word for word, token in zip(side.words, side.tokens, strict=True) if "我" in token})
        == 1
    )
    assert "⏎" in side.tokens
    assert not any("Ġ" in token or "\ufffd" in token for token in side.tokens)


def test_a_part_of_a_character_is_called_by_its_bytes(bytewise):
    def names(text: str) -> list[str]:
        return [token_name(bytewise, token) for token in bytewise(text)["input_ids"]]

    assert names("🎉") == ["<0xF0>", "<0x9F>", "<0x8E>", "<0x89>"]
    assert names(" the") == ["the"]
    assert _spelt_bytes("Ġð") == "␣<0xF0>"
    assert _spelt_bytes("ĠæĪĳæ") == "␣我<0xE6>"
    assert _spelt_bytes("<0xF0>") == "<0xF0>"  # as SentencePiece falls back
    assert _spelt_bytes("\x9f") == "<0x9F>"  # as ByT5 has it


def test_a_blank_text_is_refused(bytewise):
    with pytest.raises(BadQuestion, match="the text is blank"):
        regard.look(small("gpt2", bytewise), bytewise, "")


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_alone_are_labelled_by_numbers(family, tokenizer):
    model, inputs = small(family, tokenizer), tokenizer(TEXT, return_tensors="pt")
    given = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    if family in TRANSLATORS:
        given["decoder_input_ids"] = torch.tensor([[0, 5, 9, 7]])
    model.set_attn_implementation("eager")
    with torch.no_grad(), regard.hf.capture(model) as captured:
        outputs = model(**given, output_attentions=True)
    count = given["input_ids"].shape[1]
    for alone in (captured, outputs):
        (record,) = regard.look(alone).records
        first = record.maps[0]
        np.testing.assert_array_equal(first.weights, captured.weights(first.name)[:, 0])
        assert record.sides[first.keys].tokens == tuple(str(n + 1) for n in range(count))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_is_explained_by_its_gradients_and_its_layers(family, tokenizer):
    model = small(family, tokenizer)
    options = {"target": "a cat sat"} if family in TRANSLATORS else {}
    (record,) = regard.look(model, tokenizer, TEXT, explain=True, **options).records
    names = {each.name: each for each in record.explanations}
    assert names["rollout"].map == (
        "decoder" if family in ("gpt2", "llama", "gemma2") else "encoder"
    )
    np.testing.assert_allclose(names["rollout"].matrix.sum(-1), 1, atol=1e-5)
    for each in record.explanations:
        if each.matrix is not None:
            assert np.isfinite(each.matrix).all()
            assert each.matrix.shape == record.map(each.map).weights.shape[2:]
