"""Measures of models that compare a text and a picture, and of those that hear, each by its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")

import transformers as hf
from guest_models import guest, livelier, picture, sound
from small_huggingface import WIDTH

import regard
from regard.hf.attention_capture import capture
from regard.looking.guests.compared_towers import (
    SimilarityReading,
    similarity,
    tower_parts,
    towers,
)
from regard.looking.guests.guest_readings import GuestReading
from regard.looking.guests.guest_work import guest_work
from regard.looking.guests.input_parts import SoundParts
from regard.records.question import BadQuestion

TOWER = ["gradient", "leave-one-out", "norm", "value-zeroing", "erasure"]
TOWER += ["uniform", "permuted", "adversarial", "rollout", "flow"]
HEARD = [*TOWER[:4], "contrast", *TOWER[4:]]
TEXT = "the cat sat"


def clip_inputs() -> tuple:
    model, processor = guest("clip")
    inputs = dict(processor(text=[TEXT], images=[picture()], return_tensors="pt"))
    inputs["pixel_values"] = inputs["pixel_values"].double()
    return model.double(), inputs


def tower_reading(which: str) -> SimilarityReading:
    model, inputs = clip_inputs()
    with torch.no_grad(), capture(model) as captured:
        model(**inputs)
    own = towers(captured)[which]
    seen = which == "image"
    keys = own.weights("encoder").shape[-1]
    place = 0 if seen else inputs["input_ids"].shape[1] - 1  # [CLS], and the end of the text
    parts = tower_parts(model, inputs, keys, picture=seen)
    work = guest_work(model)
    return SimilarityReading(
        model, inputs, own, "encoder", work, place=place, picture=seen, parts=parts
    )


def alike(model, **inputs) -> torch.Tensor:
    with torch.no_grad():
        return (1 + similarity(model(**inputs)).float()) / 2


@pytest.mark.parametrize("which", ["", "image"])
def test_a_similarity_is_made_by_its_own_weights_and_changed_by_others(which):
    one = tower_reading(which)
    model, inputs = clip_inputs()
    torch.testing.assert_close(one.answers[0, :1], alike(model, **inputs), atol=1e-6, rtol=1e-5)
    assert one.steerable
    even = torch.zeros_like(one.weighed.weights[None])
    even[..., 0] = 1.0
    changed = one.steered(even, slice(0, 1))[0, 0]
    assert not torch.allclose(changed, one.answers[0], atol=1e-4)


def test_what_a_similarity_loses_without_a_token_and_without_a_patch():
    model, inputs = clip_inputs()
    lost = tower_reading("").without_each()[0]
    for j in range(len(lost)):
        kept = [n for n in range(len(lost)) if n != j]
        shorter = {name: inputs[name][:, kept] for name in ("input_ids", "attention_mask")}
        wanted = alike(model, **shorter, pixel_values=inputs["pixel_values"])
        torch.testing.assert_close(lost[j : j + 1], wanted, atol=1e-6, rtol=1e-5)
    lost = tower_reading("image").without_each()[0]
    grey = inputs["pixel_values"].clone()
    grey[..., 8:16, 16:24] = 0  # row 2, column 3
    wanted = alike(model, **{**inputs, "pixel_values": grey})
    torch.testing.assert_close(lost[1 + 5 : 2 + 5], wanted, atol=1e-6, rtol=1e-5)


def test_a_text_of_some_tokens_is_what_it_is_alone():
    one = tower_reading("")
    generator = torch.Generator().manual_seed(0)
    kept = torch.rand(9, one.keys, generator=generator) < 0.6
    kept[:, [0, -1]] = True
    rows = torch.zeros(9, dtype=torch.long)
    together = one.log_probs(kept, rows, rows)
    alone = [one.log_probs(kept[n : n + 1], rows[:1], rows[:1]) for n in range(9)]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("which", ["", "image"])
def test_gradients_of_a_similarity_are_what_a_little_more_does(which):
    model, inputs = clip_inputs()
    found, share = tower_reading(which).gradients()[0], 1e-4
    embedding = model.text_model.embeddings.token_embedding
    for place in (1, 2):
        ends = []
        for step in (share, -share):
            if which == "image":
                pixels = inputs["pixel_values"].clone()
                column = 8 * (place - 1)  # of the first row of patches
                pixels[..., :8, column : column + 8] *= 1 + step
                ends.append(alike(model, **{**inputs, "pixel_values": pixels}).log())
                continue

            def more(_, __, output, factor=1 + step, at=place):
                output = output.clone()
                output[:, at] *= factor
                return output

            hook = embedding.register_forward_hook(more)
            ends.append(alike(model, **inputs).log())
            hook.remove()
        wanted = (ends[0] - ends[1]) / (2 * share)
        torch.testing.assert_close(found[place], wanted[0], atol=1e-2, rtol=5e-2)


def test_both_towers_are_measured_where_the_similarity_is_taken_from():
    model, processor = guest("clip")
    view = regard.look(model, processor, TEXT, image=picture(), explain=True)
    (record,) = view.records
    names = [(each.map, each.name) for each in record.explanations]
    maps = {"": ("similarity", "encoder"), "image": ("similarity image", "image")}
    for of_place, of_stack in maps.values():
        expected = [(of_place, name) for name in TOWER[:-2]]
        expected += [(of_stack, name) for name in TOWER[-2:]]
        assert [each for each in names if each[0] in (of_place, of_stack)] == expected
    assert record.map("similarity").weights.shape[2] == 1
    np.testing.assert_array_equal(
        record.map("similarity image").weights[:, :, 0], record.map("image").weights[:, :, 0]
    )
    assert any("(1 + cos) / 2" in note for note in record.notes)
    with pytest.raises(BadQuestion, match="no other answer"):
        regard.look(model, processor, TEXT, image=picture(), explain=True, foil="dog")


def whisper_inputs() -> tuple:
    model, processor = guest("whisper")
    features = processor(sound(0.5), sampling_rate=16_000, return_tensors="pt")["input_features"]
    inputs = {"input_features": features.double(), "decoder_input_ids": torch.tensor([[0, 8, 12]])}
    return model.double(), inputs


def heard(size: int = 1) -> GuestReading:
    model, inputs = whisper_inputs()
    with torch.no_grad(), capture(model, vectors=True) as captured:
        model(**inputs)
    parts = SoundParts(model, inputs, 100, size)
    return GuestReading(model, inputs, captured, "cross", guest_work(model), parts=parts)


@pytest.fixture(params=[1, 7])
def size(request) -> int:
    """How many of the 100 frames share a key: the last of them may be fewer."""
    return request.param


def test_what_is_heard_is_made_by_its_own_weights(size):
    one = heard(size)
    assert one.keys == -(-100 // size)
    torch.testing.assert_close(one.weighed.weights.sum(-1), torch.ones(3, 4), atol=1e-5, rtol=0)
    assert one.steerable
    moved = one.weighed.weights.flip(-1)[None]
    changed = one.steered(moved, slice(0, 3))[0]
    assert not torch.allclose(changed, one.answers, atol=1e-4)


def test_what_is_lost_without_a_moment_is_what_silence_does(size):
    one = heard(size)
    model, inputs = whisper_inputs()
    found = one.without_each()
    silence = inputs["input_features"].min()
    for part in (0, 3):
        quiet = inputs["input_features"].clone()
        quiet[..., 2 * size * part : 2 * size * (part + 1)] = silence  # two moments a frame
        with torch.no_grad():
            chances = model(input_features=quiet, decoder_input_ids=inputs["decoder_input_ids"])
        wanted = chances.logits[0].float().softmax(-1).gather(-1, one.said[:, None])[:, 0]
        torch.testing.assert_close(found[:, part], wanted, atol=1e-6, rtol=1e-5)


def test_what_is_silent_already_gives_nothing(size):
    one = heard(size)
    blank = one.parts.blank
    assert 0 < int(blank.sum()) < one.keys  # half a second of two
    own = one.answers.gather(-1, one.said[:, None]).expand(-1, one.keys)
    torch.testing.assert_close(one.without_each()[:, blank], own[:, blank])
    assert not one.erasable[:, blank].any()


def test_gradients_of_a_sound_are_what_a_little_more_of_it_does(size):
    one = heard(size)
    model, inputs = whisper_inputs()
    found, share = one.gradients(), 1e-4
    ends = []
    for step in (share, -share):
        louder = inputs["input_features"].clone()
        louder[..., 2 * size : 4 * size] *= 1 + step
        with torch.no_grad():
            logits = model(
                input_features=louder, decoder_input_ids=inputs["decoder_input_ids"]
            ).logits
        ends.append(logits[0].log_softmax(-1))
    wanted = ((ends[0] - ends[1]) / (2 * share)).gather(-1, one.said[:, None])[:, 0].float()
    torch.testing.assert_close(found[:, 1], wanted, atol=2e-3, rtol=2e-2)


def test_the_norm_of_frames_together_is_that_of_their_sum():
    one, all_of_them = heard(7), heard(1)
    value = all_of_them.last.value[0].float()
    weights = all_of_them.weighed.weights.view(3, 2, 2, 100)[:, -1]
    part = slice(7, 14)
    wanted = (
        torch.einsum("qhk,hkd->qhd", weights[..., part], value[:, part]).flatten(1).norm(dim=-1)
    )
    torch.testing.assert_close(one.norms()[:, 1], wanted, atol=1e-5, rtol=1e-4)


@pytest.mark.slow
def test_a_sound_has_every_measure_over_the_frames_of_its_map(monkeypatch):
    monkeypatch.setattr("regard.looking.guests.guest_sides.MOST_FRAMES", 20)
    model, processor = guest("whisper")
    asked = {"target": "the cat", "sampling_rate": 16_000, "explain": True}
    (record,) = regard.look(model, processor, sound(0.5), **asked).records
    assert [each.name for each in record.explanations] == HEARD
    assert len(record.sides["source"]) == 20
    for each in record.explanations:  # and the record refuses what has not the axes of its map
        assert each.matrix is None or np.isfinite(each.matrix).all()


def test_a_model_that_only_listens_is_measured_frame_by_frame():
    sizes = {"conv_dim": (16, 16), "conv_stride": (20, 16), "conv_kernel": (20, 16)}
    config = hf.Wav2Vec2Config(
        **WIDTH, **sizes, vocab_size=9, num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2
    )
    model = livelier(hf.Wav2Vec2ForCTC(config))
    processor = hf.Wav2Vec2FeatureExtractor()
    (record,) = regard.look(
        model, processor, sound(0.3), sampling_rate=16_000, explain=True
    ).records
    assert [each.name for each in record.explanations] == HEARD
    frames = len(record.sides["sound"])
    assert record.explanations[1].matrix.shape == (frames, frames)
    (long,) = regard.look(model, processor, sound(6), sampling_rate=16_000, explain=True).records
    assert any("too many frames" in note for note in long.notes)
