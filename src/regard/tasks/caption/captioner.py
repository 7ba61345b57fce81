"""Pictures in, text out: captions, their likelihoods, and what was attended to, by a model and its tokenizer.

Legend: B pictures, T words of a caption, L cells of a picture, M real words, V the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from torch import Tensor, nn

from regard.data.tokenizer import Tokenizer, Tokens
from regard.layers.contracts import Decoded, Encoded
from regard.measures.likelihood import Likelihood
from regard.search import Search, search
from regard.tasks.prediction import Prediction
from regard.tasks.task_module import LikelihoodModule

NOTHING = Tokens([], [], [])
PROMPTS = ("prompt", "prompt_mask")


class ReadCaption(NamedTuple):
    """What a model makes of a caption that is known."""

    likelihood: Likelihood
    weights: Tensor | None  # (T, L) over the real cells, EOS last


class PictureCaptioner(LikelihoodModule):
    """A model that encodes pictures, or what else there is to tell of, and whose decoder decodes them into
    words. source: the name of what is told of.
    """

    def __init__(self, model: nn.Module, tokenizer: Tokenizer, *, source: str = "image") -> None:
        super().__init__(model)
        self.tokenizer, self.source = tokenizer, source

    def encode(self, batch: Mapping[str, Tensor]) -> Encoded:
        """Of the tensors image, image_mask, prompt and prompt_mask, those that there are."""
        given = {name: batch[name] for name in PROMPTS if name in batch}
        encoded: Encoded = self.model.encode(
            batch[self.source], batch.get(f"{self.source}_mask"), **given
        )
        return encoded

    def captions(
        self, batch: Mapping[str, Tensor], settings: Search, numbers: Sequence[int]
    ) -> Iterator[Prediction]:
        """The best caption of each picture; numbers: that stay the same however pictures are batched.

        How much there is to tell of says nothing of how long a caption may be: max_length alone does.
        """
        limited = replace(settings, max_ratio=float(settings.max_length))
        for ranked in search(self.model.decoder, self.encode(batch), limited, numbers=numbers):
            yield Prediction.best(
                Prediction.of(one, "", NOTHING, self.tokenizer, attention=one.attention)
                for one in ranked
            )

    def read(self, batch: Mapping[str, Tensor], *, weights: bool = False) -> list[ReadCaption]:
        """How probable each caption of the batch is, and what each of its words looks at."""
        encoded, caption = self.encode(batch), batch["caption"]
        real = batch["caption_mask"][:, 1:]
        decoded: Decoded = self.model.decoder(caption[:, :-1], encoded, weights=weights)
        logits = self.model.decoder.project(decoded.outputs[real])
        lengths = real.sum(1).tolist()
        found = Likelihood.of_each(logits, caption[:, 1:][real], lengths)
        seen: list[Any] = [None] * len(found)
        if weights and decoded.attended is not None and decoded.attended.weights is not None:
            rows = zip(decoded.attended.weights, lengths, encoded.mask, strict=True)
            seen = [one[:length, cells].float().cpu() for one, length, cells in rows]
        return [ReadCaption(*pair) for pair in zip(found, seen, strict=True)]
