"""What a model of somebody else is asked about: a text, two of them, a picture, a sound."""

from __future__ import annotations

import json
import wave
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.picture_files import MOST_SENT, URI, bytes_in, decoded
from regard.data.problems import Unusable, said_of_value
from regard.looking.pictures import image_uri
from regard.records.question import PICTURE, BadQuestion, Question
from regard.records.side import NotARecord
from regard.words import t

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
RATE = 16_000  # samples in a second, of a sound that does not say
PAIR = ("first", "second")
WIDTHS = {
    1: (np.uint8, 128),
    2: (np.int16, 0),
    4: (np.int32, 0),
}  # of samples in bytes; the silence


@dataclass(frozen=True)
class GuestInput:
    """texts: one, or two that are read together. picture: as a data: URI. sound: samples from -1 to 1."""

    texts: tuple[str, ...] = ()
    picture: str = ""
    sound: NDArray[np.float32] | None = None
    rate: int = RATE
    name: str = ""  # of a picture or a sound: cat.png
    missing: bool = False  # the text is called like a picture, and there is no such file

    @property
    def title(self) -> str:
        return " ⇄ ".join(self.texts) or self.name

    @property
    def text(self) -> str:
        """As a page asks it: a text, a picture, or JSON of several inputs. A sound cannot be written so."""
        if self.sound is not None:
            return ""
        if not self.picture and len(self.texts) == 1:
            return self.texts[0]
        if self.picture and not self.texts:
            return self.picture
        values = dict(zip(PAIR if len(self.texts) > 1 else ("text",), self.texts, strict=True))
        if self.picture:
            values["image"] = self.picture
        return json.dumps(values, ensure_ascii=False)

    def image(self) -> Any:
        """Of pillow: where the colours of an array of 1 × 1 or 3 × 5 pixels are can only be guessed."""
        try:
            return decoded(bytes_in(self.picture), MOST_SENT).convert("RGB")
        except Unusable as error:
            raise BadQuestion(said_of_value(error, "image")) from None

    @classmethod
    def of_question(cls, question: Question) -> GuestInput:
        """A text, a picture, JSON with first and second, or with text and image; or a TAB between two."""
        text, name = question.text, question.name
        if PICTURE.fullmatch(text):
            return cls(picture=text, name=name)
        if text.lstrip().startswith("{"):
            try:
                values = json.loads(text)
            except json.JSONDecodeError:
                return cls((text,))  # a text that begins with a brace
            if "image" in values and not _is_sent(values["image"]):
                raise BadQuestion(  # who asks a server may not have it read its files
                    t("an image is sent as data:image/png;base64,…, never by the name of a file")
                )
            return replace(cls.of_names(values), name=name)
        return cls(tuple(text.split("\t"))) if text.count("\t") == 1 else cls((text,))

    @classmethod
    def of_names(cls, values: Mapping[str, Any]) -> GuestInput:
        known = {*PAIR, "text", "image"}
        if unknown := sorted(set(values) - known):
            raise BadQuestion(
                t(
                    "an input has no {name}: it has text, or first and second, and image",
                    name=repr(unknown[0]),
                )
            )
        named = [values[name] for name in ("text", *PAIR) if name in values]
        if ("second" in values) != ("first" in values) or ("text" in values and "first" in values):
            raise BadQuestion(t("a pair has first and second, and no other text"))
        if not all(isinstance(each, str) for each in named):
            raise BadQuestion(t("first, second and text are texts"))
        seen = _pictured(values["image"]) if "image" in values else cls()
        return replace(seen, texts=tuple(named))


def _is_sent(image: Any) -> bool:
    return isinstance(image, str) and PICTURE.fullmatch(image) is not None


def guest_input(given: Any, *, image: Any = None, rate: int | None = None) -> GuestInput:
    """Of what is given to `regard.look`; image: beside a text. rate: samples in a second of a sound."""
    found = _input(given, rate)
    if image is None:
        return found
    if found.picture:
        raise NotARecord(t("a picture is given twice: leave image= out"))
    return replace(_pictured(image), texts=found.texts)


def _input(given: Any, rate: int | None) -> GuestInput:
    if isinstance(given, GuestInput):
        return given
    if isinstance(given, tuple):
        if len(given) != 2 or not all(isinstance(each, str) for each in given):
            raise NotARecord(
                t(
                    "a pair is two texts, (first, second); given {count} of {types}",
                    count=len(given),
                    types=", ".join(sorted({type(each).__name__ for each in given})),
                )
            )
        return GuestInput(given)
    if isinstance(given, Mapping):
        return GuestInput.of_names(given)
    if isinstance(given, str | Path) and str(given).lower().endswith(".wav"):
        return _wav(Path(given))
    if isinstance(given, str) and not _is_picture(given):
        return GuestInput((given,), missing=given.lower().endswith(PICTURES))
    if _is_sound(given):
        if rate is None:
            raise NotARecord(
                t("how many samples does a second of this sound have? Say sampling_rate=16000")
            )
        return GuestInput(sound=_samples(given), rate=rate, name=t("sound"))
    if not isinstance(given, str | Path | bytes) and not _has_pixels(given):
        raise NotARecord(
            t(
                "a model is asked about a text, a picture or a sound, not about {given} ({type})",
                given=repr(given)[:40],
                type=type(given).__name__,
            )
        )
    return _pictured(given)


def _is_picture(text: str) -> bool:
    return text.startswith(URI) or (text.lower().endswith(PICTURES) and Path(text).is_file())


def _is_sound(given: Any) -> bool:
    return hasattr(given, "shape") and len(given.shape) == 1


def _samples(given: Any) -> NDArray[np.float32]:
    sound = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    if sound.dtype.kind not in "fiub" or not np.isfinite(sound).all():
        raise NotARecord(t("a sound is samples from -1 to 1: some of these are no such numbers"))
    return sound.astype(np.float32)


def _has_pixels(given: Any) -> bool:
    return hasattr(given, "shape") or hasattr(given, "convert")


def _pictured(image: Any) -> GuestInput:
    """A file, its bytes, an array or a picture of pillow."""
    name = (
        Path(image).name if isinstance(image, str | Path) and not str(image).startswith(URI) else ""
    )
    if hasattr(image, "convert"):  # of pillow
        name = Path(getattr(image, "filename", "") or "").name
        image = np.asarray(image.convert("RGB"))
    if hasattr(image, "detach"):
        image = image.detach().cpu().numpy()
    return GuestInput(picture=image_uri(image), name=name or t("a picture"))


def _wav(path: Path) -> GuestInput:
    """Samples of all channels averaged."""
    try:
        with wave.open(str(path), "rb") as file:
            width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
            data = file.readframes(file.getnframes())
    except (wave.Error, EOFError) as error:
        told = str(error) or t("it ends too early")
        raise NotARecord(t("{name} is no WAV: {error}", name=path.name, error=told)) from None
    data = data[: len(data) - len(data) % (width * channels)]  # of a file that was cut off
    if width not in WIDTHS:
        raise NotARecord(
            t(
                "{name} has samples of {bits} bits: 8, 16 and 32 can be read",
                name=path.name,
                bits=8 * width,
            )
        )
    kind, silence = WIDTHS[width]
    numbers = np.frombuffer(data, kind).astype(np.float32) - silence
    samples = numbers.reshape(-1, channels).mean(1) / 2.0 ** (8 * width - 1)
    return GuestInput(sound=samples.astype(np.float32), rate=rate, name=path.name)
