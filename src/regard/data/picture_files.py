"""Pictures in PNG and JPEG: decoded into grey or colour, whatever the file does to make that hard."""

from __future__ import annotations

import base64
import binascii
import io
import re
import warnings

import numpy as np
from PIL import Image, ImageOps

from regard.data.problems import Unusable

MOST_PIXELS = 1 << 26  # of a picture
MOST_SENT = 1 << 22  # of one that somebody sent, who may mean harm
URI = "data:image/"  # what begins a picture as a text: data:image/png;base64,iVBORw0…
CODED = ("iVBORw0KGgo", "/9j/")  # what begins PNG and JPEG in base64
SHORTEST = 60  # characters of such a text; less is the name of a file
FORMATS = ("PNG", "JPEG", "MPO")  # MPO: what cameras make of a JPEG with a second picture in it

OTHERS = {
    b"GIF8": "GIF",
    b"BM": "BMP",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"%PDF": "PDF",
}  # by how their files begin


def decoded(data: bytes, most: int | None = None) -> Image.Image:
    """The picture in mode L or RGB, upright, transparent parts white; Unusable says what is wrong with it.

    most: pixels that it may have. They are counted before any is decoded.
    """
    most = MOST_PIXELS if most is None else most
    try:
        picture = _opened(data)
        if picture.width * picture.height > most:
            raise Image.DecompressionBombError
        if picture.format == "PNG" and getattr(picture, "is_animated", False):
            raise Unusable("{}lines with an animated picture")
        picture.load()
        return _plain(ImageOps.exif_transpose(picture))
    except Unusable:
        raise
    except Image.DecompressionBombError:
        raise Unusable(f"{{}}lines with a picture over {most:,} pixels") from None
    except Exception:  # in a damaged file pillow trips over anything
        if kind := _other_format(data):
            raise Unusable(f"{{}}lines with a file in {kind}, neither PNG nor JPEG") from None
        raise Unusable("{}lines with a damaged picture, or what is neither PNG nor JPEG") from None


def count_pixels(data: bytes) -> int:
    """As the header of a file says, before anything is decoded; 0 where it says nothing."""
    try:
        picture = _opened(data)
        return picture.width * picture.height
    except Image.DecompressionBombError as error:  # "Image size (400000000 pixels) exceeds …"
        said = re.search(r"\d+", str(error))
        return max(int(said[0]) if said else 0, MOST_PIXELS + 1)
    except Exception:
        return 0


def is_bare_base64(text: str) -> bool:
    """Whether a text is a PNG or JPEG in base64 without what says so."""
    return len(text) > SHORTEST and text.lstrip().startswith(CODED)


def bytes_in(text: str) -> bytes:
    """Of a picture that is given as a text, data:image/png;base64,…"""
    head, comma, coded = text.strip().partition(",")
    try:
        if not comma or not head.startswith(URI) or not head.endswith(";base64"):
            raise binascii.Error
        return base64.b64decode(coded, validate=True)
    except (binascii.Error, ValueError):
        raise Unusable("{}lines with a damaged picture: a data: URI without base64") from None


def _opened(data: bytes) -> Image.Image:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        return Image.open(io.BytesIO(data), formats=FORMATS)


def _other_format(data: bytes) -> str:
    """What a file is called that is a picture of another format; "": it is none that is known here."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    if data[4:8] == b"ftyp":
        return "HEIC or AVIF"
    if b"<svg" in data[:1024].lower():
        return "SVG"
    return next((kind for magic, kind in OTHERS.items() if data.startswith(magic)), "")


def _plain(picture: Image.Image) -> Image.Image:
    if picture.mode.startswith("I"):  # 16 bits of grey
        grey = np.asarray(picture).astype(np.int64)
        if grey.min(initial=0) < 0 or grey.max(initial=0) > 0xFFFF:
            raise Unusable("{}lines with a picture of over 16 bits a pixel")
        return Image.fromarray(((grey + 128) // 257).astype(np.uint8))
    mode = "L" if picture.mode in ("1", "L", "LA", "La") else "RGB"
    if picture.has_transparency_data:
        full = picture.convert("RGBA")
        white = Image.new("RGBA", full.size, "white")
        return Image.alpha_composite(white, full).convert(mode)
    return picture.convert(mode)  # of a palette, CMYK, YCbCr too
