"""Marks among cells, terminals, half-written files, names for a shell, huge numbers: found by users."""

import copy
import json
import re
import wave

import numpy as np
import pytest
from guest_models import guest, picture
from tokenizers.processors import Sequence

import regard
from regard.looking.guests.guest_input import guest_input
from regard.looking.guests.guest_model import GuestModel
from regard.looking.guests.model_folder import load_guest
from regard.records.question import BadQuestion, Question
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


def test_a_beginning_or_a_target_beyond_the_positions_of_a_model_is_refused():
    model, tokenizer = guest("bart")
    longest = model.config.max_position_embeddings
    for options in ({"prefix": "the " * longest}, {"target": "the " * longest}):
        with pytest.raises(BadQuestion, match=f"writes at most {longest - 1}"):
            regard.look(model, tokenizer, "the cat", **options)
    (record,) = regard.look(model, tokenizer, "the cat", prefix="the " * (longest - 12)).records
    assert len(record.sides["target"]) <= longest


def test_no_file_is_looked_for_that_a_question_names(tmp_path):
    (there := tmp_path / "cat.png").write_bytes(b"")
    looker = GuestModel(*guest("vit"))
    told = set()
    for name in (there, tmp_path / "nowhere.png"):
        with pytest.raises(BadQuestion) as refused:
            looker.look(Question(str(name)))
        told.add(str(refused.value))
    assert len(told) == 1


@pytest.mark.parametrize(
    ("data", "said"), [(b"", "is no WAV"), (b"a text", "is no WAV"), (b"RIFF", "is no WAV")]
)
def test_what_is_no_sound_is_told(data, said, tmp_path):
    (path := tmp_path / "a.wav").write_bytes(data)
    model, processor = guest("whisper")
    with pytest.raises(NotARecord, match=said):
        regard.look(model, processor, str(path))
    for odd in (np.full(800, np.nan), np.zeros(800, complex)):
        with pytest.raises(NotARecord, match="a sound is samples"):
            regard.look(model, processor, odd, sampling_rate=16_000)


def test_a_sound_that_was_cut_off_is_heard_as_far_as_it_goes(tmp_path):
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, 16_000, 0, "NONE", ""))
        file.writeframes(np.arange(4000, dtype="<i2").tobytes())
    path.write_bytes(path.read_bytes()[:-7])
    heard = guest_input(str(path)).sound
    assert heard is not None
    assert len(heard) == 1998


def test_a_map_without_heads_is_none():
    for shape in ((0, 2, 2), (0, 1, 2, 2)):
        with pytest.raises(NotARecord, match="no layer or no head"):
            regard.look(np.zeros(shape), ["a", "b"], ["x", "y"])


@pytest.mark.parametrize("prefix", ["   ", "\x00", "\ud800", "\u200b\n"])
def test_a_beginning_that_nobody_sees_is_refused(prefix):
    with pytest.raises(BadQuestion, match="nothing in it is seen"):
        Question("a", prefix=prefix)


def test_a_file_that_cannot_be_written_is_called_as_it_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as failed:
        regard.look(np.eye(2)).save(tmp_path / "nowhere" / "a.svg")
    assert failed.value.filename == str(tmp_path / "nowhere" / "a.svg")
