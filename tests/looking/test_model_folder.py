"""Folders of Hugging Face models: read without a network, without a pickle, without their code."""

from __future__ import annotations

import json
import socket

import pytest
import torch

pytest.importorskip("transformers")

import transformers as hf
from guest_models import guest, picture
from safetensors.torch import load_file, save_file

import regard
from regard.looking.guests.model_folder import BadModelFolder, load_guest
from regard.records.question import Question

TEXT = "the cat sat on"


@pytest.fixture
def folder(tmp_path):
    model, tokenizer = guest("bert")
    place = tmp_path / "small-bert"
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("somebody asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("family", ["bert", "gpt2", "bart", "vit"])
def test_what_save_pretrained_wrote_is_looked_at(tmp_path, no_network, family):
    model, processor = guest(family)
    model.save_pretrained(tmp_path / family)
    processor.save_pretrained(tmp_path / family)
    loaded = load_guest(tmp_path / family)
    assert loaded.name == family
    assert loaded.command == f"regard serve --hf {tmp_path / family}"
    example = picture() if family == "vit" else TEXT
    (wanted,) = regard.look(model, processor, example).records
    (found,) = regard.look(loaded, example).records
    assert found.map().weights.tobytes() == wanted.map().weights.tobytes()
    if family != "vit":
        assert loaded.look(Question(TEXT)).command == loaded.command


def test_a_pickle_is_not_opened(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(
        BadModelFolder, match=r"no weights in safetensors; pytorch_model\.bin may be"
    ):
        load_guest(folder)


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_of_a_folder_is_not_run(folder, file):
    written = json.loads((folder / file).read_text())
    (folder / "evil.py").write_text("raise SystemExit('ran')")
    (folder / file).write_text(json.dumps(written | {"auto_map": {"AutoModel": "evil.Model"}}))
    with pytest.raises(BadModelFolder, match=rf"{file} asks for code of its own"):
        load_guest(folder)


def test_what_is_no_model_is_told(tmp_path, folder, no_network):
    with pytest.raises(BadModelFolder, match="is no folder: nothing is downloaded"):
        load_guest("bert-base-uncased")
    with pytest.raises(BadModelFolder, match=r"has no config\.json"):
        load_guest(tmp_path)
    (folder / "config.json").write_text("{")
    with pytest.raises(BadModelFolder, match="is no JSON"):
        load_guest(folder)
    (folder / "config.json").write_text('{"architectures": ["NoSuchModel"]}')
    with pytest.raises(BadModelFolder, match="knows no NoSuchModel"):
        load_guest(folder)


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json", "generation_config.json"])
def test_code_named_with_an_escape_or_deep_inside_is_seen(folder, file):
    (folder / file).write_text('{"a": [{"auto\\u005fmap": {"AutoModel": "evil.Model"}}]}')
    with pytest.raises(BadModelFolder, match=rf"{file} asks for code of its own"):
        load_guest(folder)


def parts(folder, name):
    """The folder with an index of its weights, which lie in a file called so."""
    weights = load_file(folder / "model.safetensors")
    index = {"metadata": {}, "weight_map": dict.fromkeys(weights, name)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return weights


def test_parts_of_weights_are_read(folder):
    parts(folder, "one.safetensors")
    (folder / "model.safetensors").rename(folder / "one.safetensors")
    assert regard.look(load_guest(folder), TEXT).records


def test_an_index_cannot_name_a_pickle(folder):
    torch.save(parts(folder, "pytorch_model.bin"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").rename(folder / "decoy.safetensors")
    with pytest.raises(BadModelFolder, match=r"names 'pytorch_model\.bin' as weights"):
        load_guest(folder)


@pytest.mark.parametrize("absolute", [False, True])
def test_an_index_cannot_leave_the_folder(folder, absolute):
    other = folder.parent / "other.safetensors"
    parts(folder, str(other) if absolute else "../other.safetensors")
    (folder / "model.safetensors").rename(other)
    with pytest.raises(BadModelFolder, match=r"other\.safetensors' as weights: only files"):
        load_guest(folder)


def test_a_config_cannot_name_weights_elsewhere(folder):
    written = json.loads((folder / "config.json").read_text())
    written["transformers_weights"] = "../small-bert/model.safetensors"
    (folder / "config.json").write_text(json.dumps(written))
    with pytest.raises(BadModelFolder, match="as weights: only files"):
        load_guest(folder)


@pytest.mark.parametrize("in_parts", [False, True])
def test_a_link_cannot_leave_the_folder(folder, in_parts):
    name = "one.safetensors" if in_parts else "model.safetensors"
    if in_parts:
        parts(folder, name)
    (folder / "model.safetensors").rename(folder.parent / "other.safetensors")
    (folder / name).symlink_to(folder.parent / "other.safetensors")
    with pytest.raises(BadModelFolder, match="a link that leads out of the folder"):
        load_guest(folder)


def test_a_snapshot_of_the_hub_is_read(folder, tmp_path):
    snapshot = tmp_path / "hub" / "snapshots" / "abc"
    (tmp_path / "hub" / "blobs").mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for file in folder.iterdir():
        blob = file.rename(tmp_path / "hub" / "blobs" / f"of-{file.stem}-{file.suffix[1:]}")
        (snapshot / file.name).symlink_to(blob)
    assert regard.look(load_guest(snapshot), TEXT).records


def test_an_adapter_is_told(folder):
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "/etc"}')
    with pytest.raises(BadModelFolder, match="is an adapter of another model"):
        load_guest(folder)


def test_files_that_are_broken_are_told(folder):
    weights = (folder / "model.safetensors").read_bytes()
    for cut in (0, 500, len(weights) - 1):
        (folder / "model.safetensors").write_bytes(weights[:cut])
        with pytest.raises(
            BadModelFolder, match=r"model\.safetensors is cut off or no safetensors"
        ):
            load_guest(folder)
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    with pytest.raises(BadModelFolder, match=r"has no model\.safetensors, and no .* what other"):
        load_guest(folder)
    (folder / "tokenizer_config.json").write_bytes(b"\xff\xfe")
    with pytest.raises(BadModelFolder, match=r"tokenizer_config\.json is no JSON"):
        load_guest(folder)
    (folder / "config.json").write_text("[" * 100_000)
    with pytest.raises(BadModelFolder, match=r"config\.json is nested too deeply"):
        load_guest(folder)


def configured(folder, **changes):
    written = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(written | changes))


def test_weights_that_would_be_random_are_refused(folder):
    weights = load_file(folder / "model.safetensors")
    layers = json.loads((folder / "config.json").read_text())["num_hidden_layers"]
    configured(folder, num_hidden_layers=layers + 1)
    with pytest.raises(
        BadModelFolder, match=rf"weights of BertForMaskedLM .* random: bert\S*layer\.{layers}\."
    ):
        load_guest(folder)
    configured(folder, num_hidden_layers=layers, architectures=["BertForSequenceClassification"])
    with pytest.raises(BadModelFolder, match=r"would be random: .*classifier\."):
        load_guest(folder)
    configured(folder, architectures=["BertForMaskedLM"])
    (one,) = [name for name in weights if name.endswith("layer.0.attention.self.query.bias")]
    del weights[one]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(BadModelFolder, match=rf"1 weight of .* is not in .*: {one}$"):
        load_guest(folder)


@pytest.mark.parametrize("change", [{"intermediate_size": 57}, {"vocab_size": 10**11}])
def test_weights_of_another_size_are_told(folder, change):
    configured(folder, **change)
    (value,) = change.values()
    with pytest.raises(
        BadModelFolder, match=rf"are of two models: \S+ is \[\d+.*\], not \[.*{value}"
    ):
        load_guest(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"num_attention_heads": 0},
        {"hidden_size": -1},
        {"hidden_act": "no such"},
        {"num_hidden_layers": "two"},
        {"architectures": None, "model_type": "nope"},
    ],
)
def test_configs_that_make_no_model_are_told_in_a_line(folder, change, capfd):
    configured(folder, **change)
    with pytest.raises(BadModelFolder) as caught:
        load_guest(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("family", ["bert", "gpt2", "t5", "bart"])
@pytest.mark.parametrize("kept", [False, True])
def test_a_folder_without_a_vocabulary_is_refused(tmp_path, family, kept):
    model, tokenizer = guest(family)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    if not kept:
        (tmp_path / "tokenizer_config.json").unlink()
    with pytest.raises(BadModelFolder, match=r"has (no vocabulary|nothing to prepare)") as caught:
        load_guest(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_vocabulary_of_special_tokens_alone_is_refused(folder):
    written = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = written["model"]["vocab"]
    special = {word: n for word, n in vocabulary.items() if word.startswith("[")}
    written["model"]["vocab"] = special
    (folder / "tokenizer.json").write_text(json.dumps(written))
    with pytest.raises(BadModelFolder, match="has no vocabulary, so that every word"):
        load_guest(folder)


def test_bytes_need_no_vocabulary(tmp_path):
    sizes = {"d_model": 16, "d_ff": 16, "d_kv": 8, "num_layers": 1, "num_heads": 2}
    model = hf.T5ForConditionalGeneration(hf.T5Config(vocab_size=384, **sizes))
    model.save_pretrained(tmp_path)
    hf.ByT5Tokenizer().save_pretrained(tmp_path)
    assert load_guest(tmp_path).processors.tokenizer("ab")["input_ids"][:2] == [100, 101]
