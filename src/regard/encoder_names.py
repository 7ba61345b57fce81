"""What the field calls the encoders of a recipe, and what each is called here: model.encoder=NNJM.

Capitals, hyphens and blanks mean nothing: tagCNN, tag-CNN and tag_cnn are `tag-cnn`. A name counts where the
option has that choice. What mechanisms are called is in terms.py.
"""

from __future__ import annotations

from collections.abc import Collection

from regard.terms import plain

ENCODERS: dict[str, tuple[str, ...]] = {
    "in-cnn": ("inCNN",),  # Meng et al. 2015
    "tag-cnn": ("tagCNN",),
    "window": ("NNJM",),  # Devlin et al. 2014
    "attention": ("ABS", "attention-based"),  # Rush et al. 2015
    "bow": ("BoW", "bag-of-words", "词袋"),
    "bag": ("BoW", "bag-of-words", "词袋"),
    "tdnn": ("TDNN", "time-delay", "convolutional"),
    "none": ("NNLM",),  # a language model of what was written, which sees no source
}


def encoder_of(value: str, choices: Collection[str]) -> str | None:
    """Which of the choices a name of the field means, if one."""
    wanted = plain(value)
    for choice in choices:
        if wanted in map(plain, (choice, *ENCODERS.get(choice, ()))):
            return choice
    return None
