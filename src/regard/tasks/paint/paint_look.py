"""Looking at a picture that is drawn: the canvas after every step, where was read and where written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regard.models.seeing.draw import DrawnPictures
from regard.records.png_image import PngImage
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.records.sights import FARTHEST, Canvases, CanvasStep, FilterWindow
from regard.tasks.paint.paint_module import Paint
from regard.tasks.text_look import asked_example, unmeasured_picture_note
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.paint.paint_task import PaintTask


def look_at_drawing(
    task: PaintTask, module: Paint, question: Question, *, model: str = ""
) -> AttentionRecord:
    """A record whose sight is the canvases of the first draw; what is told is the mean of all draws."""
    question.check_picture_alone("a model that draws pictures")
    example = asked_example(task, question.text)
    image = task.image.collate(task.image.encode([example]))["image"].to(module.device)
    with module.inference():
        drawn, shown = module.drawn(image, trace=True), module.shown(image)
        (cost,) = module.bounds(image, task.options.samples)  # as `predict` has it
    output = t(
        "{bound} nats: reconstruction {reconstruction}, divergence {divergence}",
        bound=f"{cost.bound:.2f}",
        reconstruction=f"{cost.reconstruction:.2f}",
        divergence=f"{cost.divergence:.2f}",
    )
    return AttentionRecord(
        {},
        (),
        title=question.title,
        model=model,
        output=output,
        notes=(
            *_draws(task.options.samples),
            _pace(drawn),
            *task.input_doubts([example]),
            *unmeasured_picture_note(question),
        ),
        question=question.to_dict(),
        sight=Canvases(PngImage.of(shown[0]), _steps(module, drawn.canvases, drawn)),
    )


def look_at_imagined(
    module: Paint, seed: int = 0, *, number: int = 0, model: str = ""
) -> AttentionRecord:
    """How the n-th new picture of a seed is drawn, of nothing."""
    with module.inference():
        canvases, writes = module.imagine(number + 1, seed)
    steps = tuple(
        CanvasStep(
            PngImage.of(canvas), None, None if box is None else _window(module.model.write, box)
        )
        for canvas, box in zip(canvases[number], _boxes(writes, canvases, number), strict=True)
    )
    title = t("new picture {number} of seed {seed}", number=number, seed=seed)
    return AttentionRecord({}, (), title=title, model=model, sight=Canvases(None, steps))


def _steps(module: Paint, canvases: Tensor | None, drawn: DrawnPictures) -> tuple[CanvasStep, ...]:
    assert canvases is not None
    reads, writes = (_boxes(boxes, canvases, 0) for boxes in (drawn.reads, drawn.writes))
    return tuple(
        CanvasStep(
            PngImage.of(canvas),
            None if read is None else _window(module.model.read, read),
            None if write is None else _window(module.model.write, write),
        )
        for canvas, read, write in zip(canvases[0], reads, writes, strict=True)
    )


def _boxes(boxes: Tensor | None, canvases: Tensor, row: int) -> Sequence[Tensor | None]:
    return [None] * canvases.shape[1] if boxes is None else list(boxes[row])


def _window(count: int | None, box: Tensor) -> FilterWindow:
    x, y, spacing, blur = torch.nan_to_num(box.float()).clamp(-FARTHEST, FARTHEST).tolist()
    return FilterWindow(x, y, spacing, blur, count or 1)


def _draws(count: int) -> list[str]:
    if count == 1:
        return []
    return [t("the nats are the mean of {count} draws; the first is shown", count=count)]


def _pace(drawn: DrawnPictures) -> str:
    """Of how many steps most of the code is."""
    each = drawn.divergence[0]
    ordered = each.sort(descending=True).values.cumsum(0)
    most = int((ordered < 0.9 * each.sum()).sum()) + 1
    return t(
        "{most} of {steps} steps tell nine tenths of what is told of the picture",
        most=most,
        steps=len(each),
    )
