"""Records of Hugging Face models of ten families: what was read, predicted, searched and changed."""

from __future__ import annotations

import copy
import wave

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")

from guest_models import READ_TEXTS, guest, picture, sound

import regard
from regard.records.question import BadQuestion, Force, HeadOff
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord

TEXT = "the cat sat on the mat"
PAIR = ("the cat sat", "it was tired")
FORMS = {
    **dict.fromkeys(READ_TEXTS, ((TEXT,), {})),
    "vit": ((picture(),), {}),
    "clip": ((TEXT,), {"image": picture()}),
    "whisper": ((sound(),), {"sampling_rate": 16_000}),
}
MAPS = {
    **dict.fromkeys(("bert", "deberta"), ("encoder",)),
    **dict.fromkeys(("gpt2", "llama"), ("decoder",)),
    **dict.fromkeys(("t5", "bart", "marian", "whisper"), ("cross", "encoder", "decoder")),
    "vit": ("label", "encoder"),
    "clip": ("encoder", "image", "similarity", "similarity image"),
}


def look(family: str, **options) -> AttentionRecord:
    given, more = FORMS[family]
    (record,) = regard.look(*guest(family), *given, **more, **options).records
    return record


@pytest.mark.parametrize("family", FORMS)
def test_every_family_can_be_looked_at(family):
    record = look(family)
    assert tuple(each.name for each in record.maps) == MAPS[family]
    for each in record.maps:
        np.testing.assert_allclose(each.weights.sum(-1), 1, atol=1e-4)
        assert each.weights.shape[2:] == (
            len(record.sides[each.queries]),
            len(record.sides[each.keys]),
        )
    assert AttentionRecord.from_json(record.to_json()).to_json() == record.to_json()
    assert "live=True" in record.command


# pairs


def test_a_pair_is_read_at_once_and_a_list_is_several_looks():
    bert = guest("bert")
    (pair,) = regard.look(*bert, [PAIR]).records
    assert pair.sides["text"].parts == (-1, 0, 0, 0, -1, 1, 1, 1, -1)
    assert pair.sides["text"].tokens == (
        "[CLS]",
        *PAIR[0].split(),
        "[SEP]",
        *PAIR[1].split(),
        "[SEP]",
    )
    with torch.no_grad(), regard.hf.capture(bert[0]) as captured:
        bert[0](**bert[1](*PAIR, return_tensors="pt"))  # with the token types of the second text
    np.testing.assert_array_equal(pair.map().weights, captured.weights("encoder")[:, 0])
    one, other = regard.look(*bert, list(PAIR)).records
    assert (one.title, other.title) == PAIR
    assert not one.sides["text"].parts
    for wrong in (("one",), ("one", "two", "three"), ("one", 2)):
        with pytest.raises(NotARecord, match="a pair is two texts"):
            regard.look(*bert, wrong)


def test_offsets_of_a_pair_are_slices_of_its_text():
    side = regard.look(*guest("bert"), PAIR).records[0].sides["text"]
    for token, (start, end), mark in zip(side.tokens, side.offsets, side.special, strict=True):
        assert mark or side.text[start:end] == token


def test_a_pair_can_be_seen_from_one_text_to_the_other():
    view = regard.look(*guest("bert"), PAIR, between="AB")
    printed = view.to_text()
    assert "tired" in printed
    assert "[CLS]" not in printed
    from regard.view.picked_matrix import NoSuchPart, picked

    matrix = picked(view.records[0], view.pick)
    np.testing.assert_allclose(
        matrix.weights, view.records[0].map().weights.mean((0, 1))[1:4, 5:8], atol=1e-6
    )
    assert view.to_svg().startswith("<svg")
    with pytest.raises(NoSuchPart, match="only a pair has parts"):
        regard.look(*guest("bert"), TEXT, between="AB")


# queries and keys


@pytest.mark.parametrize("family", ["bert", "llama", "t5", "bart"])
def test_products_of_queries_and_keys_are_the_scores(family):
    for each in look(family).maps:
        if family == "t5" and each.name != "cross":
            continue  # which adds a bias
        sums = np.einsum("lhqe,lhke->lhqk", each.query_vectors, each.key_vectors)
        np.testing.assert_allclose(sums, each.scores, atol=1e-3, rtol=1e-4)


# predictions


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "deberta"])
def test_the_last_line_is_what_the_model_says(family):
    model, tokenizer = guest(family)
    lens = look(family).lens
    with torch.no_grad():
        chances = model(**tokenizer(TEXT, return_tensors="pt")).logits[0].softmax(-1)
    np.testing.assert_allclose(lens.probabilities[-1], chances.topk(5).values, atol=1e-6)
    assert lens.layers == ("embedding", "layer 1", "output")


def test_earlier_lines_are_those_of_a_model_that_ended_there():
    model, tokenizer = guest("gpt2")
    with torch.no_grad():
        states = model(**tokenizer(TEXT, return_tensors="pt"), output_hidden_states=True)
        for line, state in zip(look("gpt2").lens.probabilities, states.hidden_states, strict=False):
            if state is states.hidden_states[-1]:
                break  # which has its norm already
            chances = model.lm_head(model.transformer.ln_f(state))[0].softmax(-1)
            np.testing.assert_allclose(line, chances.topk(5).values, atol=1e-5)


def test_a_model_that_writes_is_read_at_what_it_wrote():
    record = look("marian")
    lens = record.lens
    assert lens.side == "target"
    best = [place[0] for place in lens.tokens[-1]]
    assert best == list(record.sides["target"].tokens)  # greedy: always the likeliest


# the search


@pytest.mark.parametrize("family", ["marian", "bart", "t5"])
def test_the_tree_is_that_of_the_search(family):
    model, tokenizer = guest(family)
    record = look(family, beam=3)
    inputs = tokenizer(TEXT, return_tensors="pt")
    asked = {"num_beams": 3, "num_return_sequences": 3, "do_sample": False, "max_new_tokens": 34}
    found = model.generate(**inputs, **asked, return_dict_in_generate=True, output_scores=True)
    nodes = record.beam.nodes
    ranked = sorted((n for n in nodes if n.rank is not None), key=lambda n: n.rank)
    np.testing.assert_allclose(
        [n.score for n in ranked], found.sequences_scores.tolist(), atol=1e-4
    )
    assert record.output == tokenizer.decode(found.sequences[0], skip_special_tokens=True)
    for number, node in enumerate(nodes):
        before = 0.0 if node.parent < 0 else nodes[node.parent].total
        assert node.parent < number
        assert node.total == pytest.approx(before + node.log_prob, abs=1e-4)
        assert node.fate in ("open", "ended", "dropped")
    with torch.no_grad():
        start = torch.tensor([[model.config.decoder_start_token_id]])
        chances = model(**inputs, decoder_input_ids=start).logits[0, -1].log_softmax(-1)
    first = [n.log_prob for n in nodes if n.parent < 0]
    np.testing.assert_allclose(first, chances.topk(6).values, atol=1e-4)
    assert record.beam.weights.shape == (len(nodes), inputs["input_ids"].shape[1])
    np.testing.assert_allclose(record.beam.weights.sum(-1), 1, atol=1e-4)


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("family", ["marian", "bart", "t5", "gpt2", "llama"])
def test_what_a_search_tells_is_what_scoring_its_output_tells(family, beam):
    model, tokenizer = guest(family)
    record = look(family, beam=beam)
    nodes = record.beam.nodes
    assert all(node.log_prob <= 0 for node in nodes)
    totals = [0.0 if node.parent < 0 else nodes[node.parent].total for node in nodes]
    np.testing.assert_allclose(
        [node.total for node in nodes],
        [before + node.log_prob for before, node in zip(totals, nodes, strict=True)],
        atol=1e-6,
    )
    inputs = tokenizer(TEXT, return_tensors="pt")
    most = 20 if not model.config.is_encoder_decoder else 2 * inputs["input_ids"].shape[1] + 20
    found = model.generate(**inputs, num_beams=beam, do_sample=False, max_new_tokens=most)
    begun = 1 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
    given = {**inputs, "decoder_input_ids": found} if begun == 1 else {"input_ids": found}
    with torch.no_grad():
        chances = model(**given).logits[0, begun - 1 : -1].log_softmax(-1)
    scored = chances.gather(-1, found[0, begun:, None])[:, 0].tolist()
    place = next(n for n, node in enumerate(nodes) if node.rank == 0)
    told = []
    while place >= 0:
        told.insert(0, nodes[place].log_prob)
        place = nodes[place].parent
    np.testing.assert_allclose(told, scored, atol=1e-4)


def test_a_decoder_writes_on_where_a_beam_is_asked_for():
    model, tokenizer = guest("gpt2")
    (record,) = regard.look(model, tokenizer, TEXT, beam=2).records
    inputs = tokenizer(TEXT, return_tensors="pt")
    whole = model.generate(**inputs, num_beams=2, do_sample=False, max_new_tokens=20)[0]
    added = whole[inputs["input_ids"].shape[1] :]
    assert record.output == (tokenizer.decode(added, skip_special_tokens=True) or record.output)
    assert len(record.sides["text"]) == len(whole)
    assert {node.rank for node in record.beam.nodes} == {None, 0, 1}


def test_what_is_written_can_be_begun():
    record = look("marian", prefix="a cat", beam=2)
    assert record.output.startswith("a cat")
    assert record.changes == ("begins with “a cat”",)


# what if


@pytest.mark.parametrize("family", ["bert", "llama", "deberta"])
def test_a_row_of_a_text_can_be_given(family):
    record = look(family, force=Force(3, (1, 2), layer=2, weights=(1.0, 3.0)))
    weights = record.map().weights
    given = np.zeros(weights.shape[-1])
    given[1:3] = 0.25, 0.75
    np.testing.assert_allclose(weights[1, :, 3], [given, given], atol=1e-6)
    np.testing.assert_array_equal(weights[0], look(family).map().weights[0])
    (change,) = record.changes
    assert change.startswith(f"forced: {record.sides['text'].tokens[3]} → ")
    assert record.notes[0].startswith("forced: token 3")


def test_a_step_of_an_output_can_be_given_and_the_rest_follows():
    plain, forced = look("marian"), look("marian", force=Force(2, (0,)))
    np.testing.assert_allclose(forced.map("cross").weights[:, :, 2, 0], 1, atol=1e-6)
    np.testing.assert_allclose(
        forced.map("cross").weights[:, :, :2], plain.map("cross").weights[:, :, :2], atol=1e-5
    )
    assert forced.sides["target"].tokens[:2] == plain.sides["target"].tokens[:2]
    # greedy: at every step the likeliest, by the forced weights too
    assert [place[0] for place in forced.lens.tokens[-1]] == list(forced.sides["target"].tokens)
    chances = [each.lens.probabilities[-1, 2] for each in (plain, forced)]
    assert not np.allclose(*chances, atol=1e-4)


def test_heads_can_be_switched_off():
    record = look("t5", off=[HeadOff(1, 2, "encoder"), HeadOff(2, None, "cross")])
    assert not record.map("encoder").weights[0, 1].any()
    assert record.map("encoder").weights[0, 0].any()
    assert not record.map("cross").weights[1].any()
    assert record.changes == ("without cross 2; encoder 1.2",)


@pytest.mark.parametrize(
    ("family", "options", "said"),
    [
        ("gpt2", {"force": Force(1, (2,))}, "token 1 cannot look at token 2, which comes later"),
        ("gpt2", {"force": Force(1, (0,), layer=9)}, "force.layer is 9, but there are 2"),
        ("bert", {"force": Force(1, (99,))}, "force.keys has 99, but there are"),
        ("bert", {"off": [HeadOff(1, 1, "cross")]}, "no cross attention to switch off"),
        ("bert", {"target": "a"}, "does not translate: leave target out"),
        ("bert", {"beam": 2}, "writes nothing: leave beam and nbest out"),
    ],
)
def test_what_cannot_be_asked_is_told(family, options, said):
    with pytest.raises(BadQuestion, match=said):
        look(family, **options)


# pictures and sounds


def test_patches_lie_on_their_picture_and_the_label_has_the_row_that_it_was_taken_from(tmp_path):
    from PIL import Image

    model, processor = guest("vit")
    file = tmp_path / "cat.png"
    Image.fromarray(picture()).save(file)
    for given in (picture(), str(file), file, Image.open(file), file.read_bytes()):
        (record,) = regard.look(model, processor, given).records
        side = record.sides["image"]
        assert (side.picture.rows, side.picture.columns) == (3, 3)
        assert side.tokens[:2] == ("[CLS]", "row 1, column 1")
        np.testing.assert_array_equal(
            record.map("label").weights, record.map("encoder").weights[:, :, :1]
        )
        with torch.no_grad():
            logits = model(**processor(images=picture(), return_tensors="pt")).logits[0]
        best = int(logits.argmax())
        assert record.output == f"{('cat', 'dog')[best]} ({float(logits.softmax(-1)[best]):.2f})"
    with pytest.raises(BadQuestion, match="reads no text, but a picture"):
        regard.look(model, processor, "a cat")


def test_a_model_of_texts_and_pictures_needs_both():
    with pytest.raises(BadQuestion, match=r"reads a picture: .*image='cat.png'"):
        regard.look(*guest("clip"), TEXT)
    with pytest.raises(BadQuestion, match="reads a text too"):
        regard.look(*guest("clip"), image=picture())


def test_heads_of_the_text_are_switched_off_and_those_of_the_picture_stay():
    changed = look("clip", off=[HeadOff(1, 1, "encoder")])
    assert (changed.map("encoder").weights[0, 0] == 0).all()
    np.testing.assert_allclose(changed.map("image").weights, look("clip").map("image").weights)


def test_a_sound_is_read_from_a_file_and_long_ones_are_put_together(tmp_path):
    file = tmp_path / "said.wav"
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16_000)
        out.writeframes((sound() * 32767).astype(np.int16).tobytes())
    (record,) = regard.look(*guest("whisper"), str(file), target="the cat").records
    assert record.sides["source"].tokens[:3] == ("0.00 s", "0.02 s", "0.04 s")
    assert record.output == "the cat"
    with pytest.raises(NotARecord, match="sampling_rate=16000"):
        regard.look(*guest("whisper"), sound())


def test_frames_put_together_still_sum_to_1():
    from regard.records.attention_map import AttentionMap
    from regard.records.pooled_frames import pooled

    weights = np.random.default_rng(0).dirichlet(np.ones(7), (1, 2, 7)).astype(np.float32)
    made = pooled(AttentionMap("encoder", "s", "s", weights), 3, queries=True, keys=True)
    assert made.weights.shape == (1, 2, 3, 3)
    np.testing.assert_allclose(made.weights.sum(-1), 1, atol=1e-6)
    np.testing.assert_allclose(
        made.weights[0, 0, 0, 1], weights[0, 0, :3, 3:6].sum(-1).mean(), atol=1e-6
    )


def test_a_text_longer_than_the_model_reads_is_told():
    with pytest.raises(BadQuestion, match="reads at most 64"):
        regard.look(*guest("bert"), "cat " * 70)


@pytest.mark.parametrize("given", [None, 5, 0.5, True, {1, 2}, object()])
@pytest.mark.parametrize("family", ["bert", "vit"])
def test_what_is_no_text_picture_or_sound_is_told(family, given):
    with pytest.raises(NotARecord, match="a text, a picture or a sound, not about"):
        regard.look(*guest(family), given)


@pytest.mark.parametrize("given", ["\ud800", "the \udfff cat", ("the", "\ud800")])
def test_half_of_a_character_is_told(given):
    with pytest.raises(BadQuestion, match="lone surrogate"):
        regard.look(*guest("bert"), given)


@pytest.mark.parametrize("shape", [(0, 0, 3), (0, 5, 3), (5, 0), (0, 5, 4)])
def test_a_picture_without_pixels_is_told(shape):
    with pytest.raises(NotARecord, match="has no pixels"):
        regard.look(*guest("vit"), np.zeros(shape, np.uint8))


@pytest.mark.parametrize("shape", [(1, 1, 3), (3, 3, 3), (1, 7, 3), (3, 5, 3)])
def test_the_colours_of_a_small_picture_are_not_taken_for_its_rows(shape):
    """Each pixel as a square of 24: the same picture, whose colours nobody could take for rows."""
    model, processor = guest("vit")
    processor = type(processor)(size=processor.size, resample=0)  # the nearest pixel
    small = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    large = small.repeat(24, 0).repeat(24, 1)
    one, other = (regard.look(model, processor, each).records[0] for each in (small, large))
    assert one.map().weights.tobytes() == other.map().weights.tobytes()


@pytest.mark.parametrize("family", ["bert", "gpt2", "bart", "t5", "vit", "clip"])
@pytest.mark.parametrize("where", ["first", "last"])
def test_numbers_that_are_none_are_told_and_not_explained(family, where):
    model, processor = guest(family)
    model = copy.deepcopy(model)
    matrices = [each for each in model.parameters() if each.dim() > 1]
    with torch.no_grad():
        (matrices[0] if where == "first" else matrices[-1]).fill_(float("nan"))
    given, more = FORMS[family]
    (record,) = regard.look(model, processor, *given, **more, explain=True).records
    assert sum("computes NaN" in note for note in record.notes) == 1
    assert record.explanations == ()
    assert not any("NaN" in note for note in look(family).notes)


def test_a_search_of_a_model_without_numbers_does_not_fail():
    model, tokenizer = guest("bart")
    model = copy.deepcopy(model)
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    (record,) = regard.look(model, tokenizer, TEXT, beam=3).records
    assert any("computes NaN" in note for note in record.notes)


def test_a_model_of_sounds_without_numbers_writes_nothing():
    model, processor = guest("whisper")
    model = copy.deepcopy(model)
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    given, more = FORMS["whisper"]
    with pytest.raises(NotARecord, match="writes nothing for this input"):
        regard.look(model, processor, *given, **more)
