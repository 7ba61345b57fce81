"""Marks among cells, terminals, half-written files, names for a shell, huge numbers: found by users."""

import copy
import json
import re

import numpy as np
import pytest
from guest_models import guest, picture
from tokenizers.processors import Sequence

import regard
from regard.looking.guests.model_folder import load_guest
from regard.records.question import BadQuestion
from regard.records.side import NotARecord
from regard.view.attention_view import View
from regard.view.terminal_cells import harmless


@pytest.fixture
def seen():
    """A look of a model whose keys are [CLS] and the cells of a picture, all weight on the first cell."""
    model, processor = guest("vit")
    (record,) = regard.look(model, processor, picture()).records
    (name,) = {each.keys for each in record.maps}
    side = record.sides[name]
    assert side.special[0]
    assert not any(side.special[1:])
    return record, side


def test_a_mark_among_the_keys_is_no_cell_of_a_picture(seen):
    record, side = seen
    given = record.to_dict()
    for each, made in zip(given["maps"], record.maps, strict=True):
        weights = np.zeros_like(made.weights)
        weights[..., 0], weights[..., 2] = 0.8, 0.2  # [CLS], and the second cell
        each["weights"] = type(record).from_dict(given).maps[0].to_dict()["weights"]
        changed = type(made)(**{**made.__dict__, "weights": weights})
        each.update(changed.to_dict())
    view = View([type(record).from_dict(given)])
    svg = view.to_svg()
    wide, high = side.picture.columns, side.picture.rows
    veil = re.search(r'<g shape-rendering="crispEdges">(.*?)</g>', svg, re.S)[1]
    shades = [float(x) for x in re.findall(r'fill-opacity="([0-9.]+)"', veil)]
    assert len(shades) == wide * high
    assert shades.index(min(shades)) == 1  # the veil is thin where it looked


def test_a_terminal_obeys_no_text():
    bad = "\x1b]0;title\x07\x1b[2J\x9b1A"
    view = regard.look(np.ones((1, 1)), [f"q{bad}"], [f"k{bad}"], title=f"t{bad}")
    text = view.to_text(colour=True)
    assert "\x1b]" not in text
    assert "\x1b[2J" not in text
    assert "\x07" not in text
    assert "\x9b" not in text
    assert harmless("a\n\tb \x1b[38;5;1mred\x1b[0m") == "a\n\tb \x1b[38;5;1mred\x1b[0m"


def test_a_file_is_replaced_when_the_new_one_is_whole(tmp_path, monkeypatch):
    view = regard.look(np.ones((1, 1)), ["q"], ["k"])
    place = tmp_path / "kept.json"
    view.save(place)
    before = place.read_bytes()

    def full(*_):
        raise OSError(27, "file too large")

    monkeypatch.setattr("regard.data.atomic_files.os.fsync", full)
    with pytest.raises(OSError, match="too large"):
        view.save(place)
    assert place.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["kept.json"]


def test_a_folder_in_a_command_is_one_word(tmp_path):
    model, tokenizer = guest("bert")
    folder = tmp_path / "my model; touch PWN"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    assert load_guest(folder).command == f"regard serve --hf '{folder}'"


def test_a_number_beyond_all_others_is_no_number():
    view = regard.look(np.ones((1, 1)), ["q"], ["k"])
    given = view.records[0].to_dict()
    given["explanations"] = [
        {"name": "x", "title": "x", "reading": "", "map": "attention", "signed": False, "matrix": None,
         "rows": {"JSD": [10**400]}}
    ]  # fmt: skip
    with pytest.raises(NotARecord):
        type(view.records[0]).from_dict(json.loads(json.dumps(given)))


def test_an_empty_target_and_a_missing_picture_are_refused():
    model, processor = guest("bart")
    processor = copy.deepcopy(processor)
    processor.backend_tokenizer.post_processor = Sequence([])  # no marks either
    with pytest.raises(BadQuestion, match="no token"):
        regard.look(model, processor, "a b", target="")
    model, processor = guest("vit")
    with pytest.raises(BadQuestion, match=r"there is no picture nowhere\.png"):
        regard.look(model, processor, "nowhere.png")
