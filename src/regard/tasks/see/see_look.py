"""Looking at a picture that was named: the path of glimpses, the windows, or what was made of it by warps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torch import Tensor

from regard.chances import with_chance
from regard.layers.pictures.gaussian_window import GaussianWindow
from regard.layers.pictures.retina import Retina
from regard.models.seeing.recogniser import WARPS
from regard.models.seeing.seer import SeenPictures
from regard.models.seeing.seers import GlimpseSeer, WakeSleepSeer, WarpSeer, WindowSeer
from regard.records.png_image import PngImage
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.sights import (
    Canvases,
    CanvasStep,
    FilterWindow,
    Glimpses,
    GlimpseStep,
    Sight,
    WarpedImage,
    Warps,
)
from regard.tasks.see.patch_look import attends, look_at_patches
from regard.tasks.see.see_module import See
from regard.tasks.text_look import asked_example, unmeasured_picture_note
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.see.see_task import SeeTask

FINEST = 33  # points of a warp's grid in each direction


def look_at_picture(
    task: SeeTask, module: See, question: Question, *, model: str = ""
) -> AttentionRecord:
    """A record without maps, whose sight is what the model has looked at; of patches, a map over them."""
    question.check_picture_alone(f"a model for task.kind={task.recipe.task.kind}")
    asked = asked_example(task, question.text)
    doubts, example = (
        (*task.input_doubts([asked]), *unmeasured_picture_note(question)),
        task.on_ground(asked),
    )
    with module.inference():
        ((_, batch),) = task.batches([example], module.device, inputs=True, batch=1)
        pictures = module.scene(batch["image"], as_it_is=True).pictures
        if attends(module.model):
            found = look_at_patches(module, pictures, task.names, question, model=model)
            return replace(found, notes=(*found.notes, *doubts))
        seen = module.sight(pictures)
        chances = seen.logits[0].softmax(-1)
        best = int(chances.argmax())
        sight = _sight(module.model, pictures, seen, tuple(task.names))
    return AttentionRecord(
        {},
        (),
        title=question.title,
        model=model,
        output=with_chance(task.names[best], float(chances[best])),
        notes=doubts,
        question=question.to_dict(),
        sight=sight,
    )


def _sight(model: object, pictures: Tensor, seen: SeenPictures, labels: tuple[str, ...]) -> Sight:
    if isinstance(model, GlimpseSeer | WakeSleepSeer) and seen.places is not None:
        return _glimpses(model.network.retina, pictures, seen, labels)
    if isinstance(model, WindowSeer) and seen.windows is not None:
        return _windows(model.network.filters, pictures, seen, labels)
    if isinstance(model, WarpSeer) and seen.thetas is not None:
        return _warps(model, pictures, seen)
    raise BadQuestion(t("there is nothing to look at: this model sees the whole picture at once"))


def _glimpses(
    retina: Retina, pictures: Tensor, seen: SeenPictures, labels: tuple[str, ...]
) -> Glimpses:
    assert seen.places is not None
    channels = pictures.shape[1]
    glimpses = retina(pictures, seen.places)[0]  # (T, scales · C, g, g)
    steps = []
    for number, (x, y) in enumerate(seen.places[0].tolist()):
        scales = glimpses[number].split(channels)
        steps.append(GlimpseStep(x, y, tuple(map(PngImage.of, scales)), _beliefs(seen, number)))
    widths = tuple(float(retina.width * 2**scale) for scale in range(retina.scales))
    return Glimpses(PngImage.of(pictures[0]), widths, tuple(steps), labels)


def _windows(
    filters: int, pictures: Tensor, seen: SeenPictures, labels: tuple[str, ...]
) -> Canvases:
    assert seen.windows is not None
    steps = []
    for number, box in enumerate(seen.windows[0]):
        through = GaussianWindow.of_box(
            box[None], filters, (pictures.shape[-2], pictures.shape[-1])
        )
        x, y, spacing, blur = box.tolist()
        steps.append(
            CanvasStep(
                read=FilterWindow(x, y, spacing, blur, filters),
                seen=PngImage.of(through.read(pictures)[0]),
                beliefs=_beliefs(seen, number),
            )
        )
    return Canvases(PngImage.of(pictures[0]), tuple(steps), labels)


def _warps(model: WarpSeer, pictures: Tensor, seen: SeenPictures) -> Warps:
    assert seen.thetas is not None
    assert seen.seen is not None
    assert model.warp is not None
    size = min(FINEST, pictures.shape[-2]), min(FINEST, pictures.shape[-1])
    name = next(name for name, kind in WARPS.items() if type(model.warp) is kind)
    warped = seen.seen[0].chunk(seen.thetas.shape[1])
    made = [
        WarpedImage(
            PngImage.of(_shown(picture)),
            model.warp.grid(theta[None], size)[0].float().cpu().numpy(),
            name,
        )
        for picture, theta in zip(warped, seen.thetas[0], strict=True)
    ]
    return Warps(PngImage.of(_shown(pictures[0])), tuple(made))


def _shown(picture: Tensor) -> Tensor:
    """Of the two channels of a sum, the brighter."""
    return picture.amax(0) if picture.shape[0] == 2 else picture


def _beliefs(seen: SeenPictures, number: int) -> tuple[float, ...]:
    if seen.beliefs is None:
        return ()
    return tuple(seen.beliefs[0, number].double().softmax(-1).tolist())
