"""Explaining Hugging Face models: gradients by their definition, rollout by that of the layers."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("transformers")

import transformers as hf
from small_huggingface import small

from regard.hf.attention_capture import capture
from regard.looking.explained_inputs import explain_inputs
from regard.measures.explanation_measures import rollout
from regard.records.side import NotARecord

IDS = torch.tensor([[5, 9, 6, 11, 3]])
WRITTEN = torch.tensor([[0, 8, 12]])
MAPS = {"bert": "encoder", "gpt2": "decoder", "llama": "decoder", "marian": "cross", "t5": "cross"}


def asked(family: str) -> dict[str, torch.Tensor]:
    inputs = {"input_ids": IDS, "attention_mask": torch.ones_like(IDS)}
    return inputs | ({"decoder_input_ids": WRITTEN} if MAPS[family] == "cross" else {})


@pytest.fixture(params=MAPS)
def family(request) -> str:
    return request.param


def test_gradients_are_what_a_little_more_of_a_token_does(family):
    model, inputs, share = small(family, range(30)).double(), asked(family), 3e-4
    found = explain_inputs(model, inputs)
    (gradient,) = (each for each in found if each.name == "gradient")
    assert gradient.map == MAPS[family]
    vectors = model.get_input_embeddings()(IDS).detach()
    others = {name: x for name, x in inputs.items() if name != "input_ids"}
    with torch.no_grad():
        said = model(inputs_embeds=vectors, **others).logits[0].argmax(-1, keepdim=True)
        changes = []
        for j in range(IDS.shape[1]):
            ends = []
            for step in (share, -share):
                longer = vectors.clone()
                longer[:, j] *= 1 + step
                ends.append(model(inputs_embeds=longer, **others).logits[0].log_softmax(-1))
            changes.append((ends[0] - ends[1]).gather(-1, said))
    sizes = torch.cat(changes, -1).abs()
    wanted = (sizes / sizes.sum(-1, keepdim=True)).float()
    torch.testing.assert_close(torch.from_numpy(gradient.matrix), wanted, atol=3e-3, rtol=3e-2)
    assert len(gradient.rows["τ"]) == len(gradient.matrix)
    if MAPS[family] == "decoder":  # nothing is owed to what comes later
        assert torch.from_numpy(gradient.matrix).triu(1).abs().max() < 1e-6


def test_the_rollout_is_that_of_the_stack(family):
    model, inputs = small(family, range(30)), asked(family)
    (found,) = (each for each in explain_inputs(model, inputs) if each.name == "rollout")
    with torch.no_grad(), capture(model) as captured:
        model(**inputs)
    kind = "decoder" if MAPS[family] == "decoder" else "encoder"
    assert found.map == kind
    wanted = rollout(captured.weights(kind)[:, 0])
    torch.testing.assert_close(torch.from_numpy(found.matrix), wanted)


def test_a_classifier_has_the_rollout_alone():
    config = hf.BertConfig(
        vocab_size=30,
        hidden_size=16,
        num_attention_heads=2,
        num_hidden_layers=2,
        intermediate_size=24,
    )
    model = hf.BertForSequenceClassification(config).train()
    assert [each.name for each in explain_inputs(model, {"input_ids": IDS})] == ["rollout"]
    assert model.training


def test_two_texts_are_refused():
    model = small("bert", range(30))
    with pytest.raises(NotARecord, match="one text is explained at a time, given 2"):
        explain_inputs(model, {"input_ids": IDS.repeat(2, 1)})
