"""What the empty page says of a model of somebody else."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers")

from guest_models import guest

from regard.looking.guests.guest_model import GuestModel


def test_who_reads_sounds_alone_is_asked_in_python():
    about = GuestModel(*guest("whisper")).about()
    assert about["reads"] == "a sound"
    assert about["hint"] == 'regard.look(model, processor, "said.wav")'


@pytest.mark.parametrize(("family", "hint"), [("bert", "first"), ("clip", "image"), ("gpt2", "")])
def test_others_say_how_several_inputs_are_typed(family, hint):
    said = GuestModel(*guest(family)).about()["hint"]
    assert (hint in said) if hint else (said == "")
