"""Looking at a caption: what each of its words looks at in the picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.attention.recording import Recorded, recording
from regard.data.batch import Batch
from regard.data.tokenizer import BOS, EOS, Tokens
from regard.records.maps import attention_map, attentions_in, check_attends, record_of
from regard.records.png_image import PngImage
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.records.token_sides import token_side
from regard.tasks.caption.captioner import PictureCaptioner
from regard.tasks.decoded_tokens import spell
from regard.tasks.search_settings import search_settings
from regard.tasks.text_look import asked_example, unmeasured_note

if TYPE_CHECKING:
    from regard.tasks.caption.caption_task import CaptionTask

WHO = "a model that describes pictures"


def look_at_caption(
    task: CaptionTask, module: PictureCaptioner, question: Question, *, model: str = ""
) -> AttentionRecord:
    """Map "cross": rows are the words of the caption that was found, or of question.target; columns are the
    cells of the picture. Map "decoder", where the words attend to those before them: each word, once it is
    read. The caption is read once more, all of it at once: the map is of that.
    """
    asked = replace(question, target=None, beam=None, nbest=None)
    if task.options.input in ("text", "label"):
        asked.check_text_alone("a model that tells of a text or a label")
    else:
        asked.check_picture_alone(WHO)
    attentions = attentions_in(module.model)
    check_attends(attentions)
    example = asked_example(task, question.text)
    with module.inference():
        ((_, batch),) = task.batches([example], module.device, inputs=True, batch=1)
        text, ids, finished = _chosen(task, module, batch, question)
        recorded = _read(module, batch, [*ids, *[EOS] * finished], question.details)
    _, tokens = spell(module.tokenizer, ids)
    language = task.recipe.data.target
    if attentions["cross"]:
        sides = {
            "caption": token_side(text, tokens, end=finished, title="caption", language=language),
            "image": _picture(task, module, example),
        }
        cross = attention_map("cross", "caption", "image", attentions["cross"], recorded)
        maps = [replace(cross, reported="layer 1")]
    else:
        if not finished:  # the last token was not read
            tokens = Tokens(tokens.ids[:-1], tokens.pieces[:-1], tokens.offsets[:-1])
        side = token_side(text, tokens, start=True, title="caption", language=language)
        sides = {"caption": side}
        maps = [attention_map("decoder", "caption", "caption", attentions["decoder"], recorded)]
    return record_of(
        question,
        sides,
        maps,
        model=model,
        output=text,
        notes=task.input_doubts([example]),
        after=unmeasured_note(question),
    )


def _chosen(
    task: CaptionTask, module: PictureCaptioner, batch: Batch, question: Question
) -> tuple[str, list[int], bool]:
    """The caption, its tokens, and whether it ended."""
    if question.target is not None:
        ids = module.tokenizer.encode(question.target).ids
        return spell(module.tokenizer, ids)[0], ids, True
    settings = search_settings(task.recipe, beam=question.beam)
    (found,) = module.captions(batch, settings, [0])
    return found.text, found.tokens.ids, found.finished


def _read(
    module: PictureCaptioner, batch: Batch, ids: Sequence[int], details: bool
) -> list[Recorded]:
    """What the model attends to when it is told what to say."""
    inputs = torch.tensor([[BOS, *ids[:-1]]], device=module.device)
    with recording(module.model, details=details) as recorded:
        module.model.decoder(inputs, module.encode(batch))
    return recorded


def _picture(task: CaptionTask, module: PictureCaptioner, example: Mapping[str, Any]) -> Side:
    """Its cells; a picture that its last cells go beyond is shown with what is beyond it."""
    if task.options.input != "image":
        return Side.of_labels(task.cell_names(module, example), title="image")
    pixels, (rows, columns) = example["image"], task.grid(module, example)
    cell = module.model.encoder.cell
    beyond = rows * cell - pixels.shape[0], columns * cell - pixels.shape[1]
    whole = np.pad(pixels, ((0, beyond[0]), (0, beyond[1]), (0, 0)), mode="edge")
    return Side.of_grid(PngImage.of(whole).source, rows, columns)
