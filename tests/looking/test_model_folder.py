"""Folders of Hugging Face models: read without a network, without a pickle, without their code."""

from __future__ import annotations

import json
import socket

import pytest

pytest.importorskip("transformers")

from guest_models import guest, picture

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
