"""Pictures in PNG and JPEG: decoded into grey or colour, whatever the file does to make that hard."""

from __future__ import annotations

import io
import warnings

import numpy as np
from PIL import Image, ImageOps

from regard.data.problems import Unusable

MOST_PIXELS = 1 << 26  # of a picture
FORMATS = ("PNG", "JPEG", "MPO")  # MPO: what cameras make of a JPEG with a second picture in it


def decoded(data: bytes) -> Image.Image:
    """The picture in mode L or RGB, upright, transparent parts white; Unusable says what is wrong with it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data), formats=FORMATS)
            if picture.width * picture.height > MOST_PIXELS:
                raise Image.DecompressionBombError
        if picture.format == "PNG" and getattr(picture, "is_animated", False):
            raise Unusable("{}lines of animated pictures")
        picture.load()
        return _plain(ImageOps.exif_transpose(picture))
    except Unusable:
        raise
    except Image.DecompressionBombError:
        raise Unusable(f"{{}}lines of pictures over {MOST_PIXELS:,} pixels") from None
    except Exception:  # in a damaged file pillow trips over anything
        raise Unusable("{}lines of damaged pictures, or neither PNG nor JPEG") from None


def _plain(picture: Image.Image) -> Image.Image:
    if picture.mode.startswith("I"):  # 16 bits of grey
        grey = np.asarray(picture).astype(np.int64)
        if grey.min(initial=0) < 0 or grey.max(initial=0) > 0xFFFF:
            raise Unusable("{}lines of pictures with over 16 bits a pixel")
        return Image.fromarray(((grey + 128) // 257).astype(np.uint8))
    mode = "L" if picture.mode in ("1", "L", "LA", "La") else "RGB"
    if picture.has_transparency_data:
        full = picture.convert("RGBA")
        white = Image.new("RGBA", full.size, "white")
        return Image.alpha_composite(white, full).convert(mode)
    return picture.convert(mode)  # of a palette, CMYK, YCbCr too
