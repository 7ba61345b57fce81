"""The pictures of docs/viewer/sights.md: how small models, trained here for a few minutes, look at one digit.

    python docs/scripts/sight_pictures.py [FOLDER]      # where runs are kept; else they are not

RAM and a spatial transformer for a few epochs of their recipes, DRAW for a few hundred updates, on the digits
that come with the package: enough to see what each kind of picture shows, not to say how good a model is.
What the words of the caption look at is made up. Needs playwright and Chromium for the page.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from playwright.sync_api import sync_playwright

import regard
from regard.data.examples import read_examples
from regard.data.fields import Image, Label
from regard.data.problems import Problems
from regard.models.seeing.draw import Draw
from regard.recipe.recipe_files import read_recipe
from regard.records.png_image import PngImage
from regard.records.sights import Canvases, CanvasStep, FilterWindow
from regard.training.run import train

HERE = Path(__file__).parents[1] / "viewer" / "pictures"
DIGIT = 3  # which of the test set: a 0 … 9 that is easily read
UPDATES, BATCH, STEPS = 250, 64, 16  # of DRAW
READ, WRITE = 3, 5
EPOCHS = {"ram": 8, "stn": 4}


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(sys.argv[1]) if sys.argv[1:] else Path(made)
        digit = digits("test")[DIGIT]
        views = {"canvases": regard.look(drawn(digit)), "words": caption()}
        for recipe, kind in (("ram", "glimpses"), ("stn", "warp")):
            chosen = read_recipe(recipe, [f"training.epochs={EPOCHS[recipe]}", "seed=1"])
            run = regard.load(train(chosen, folder / recipe, quiet=True), device="cpu")
            views[kind] = regard.look(run, turned(digit) if kind == "warp" else digit)
        for kind, view in views.items():
            view.save(HERE / f"{kind}.gif")
        views["glimpses"].save(HERE / "glimpses.svg")
        views["canvases"].save(HERE / "canvases.png")
        shoot(views["glimpses"], HERE / "glimpses-page.png", Path(made) / "page.html")


def digits(part: str) -> list[np.ndarray]:
    """(28, 28) bytes each."""
    found = read_examples(f"digits:{part}", [Image("image"), Label("label")], Problems())
    return [example["image"][..., 0] for example in found]


def turned(digit: np.ndarray) -> np.ndarray:
    from PIL import Image as Pillow

    return np.asarray(Pillow.fromarray(digit).rotate(50, Pillow.Resampling.BILINEAR))


def drawn(digit: np.ndarray) -> regard.AttentionRecord:
    """What DRAW reads and writes when it copies a digit."""
    torch.manual_seed(0)
    pictures = torch.from_numpy(np.stack(digits("train")) / 255).float()[:, None]
    model = Draw((1, 28, 28), steps=STEPS, features=128, latent=24, read=READ, write=WRITE)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(UPDATES):
        batch = pictures[torch.randint(len(pictures), (BATCH,))]
        optimizer.zero_grad()
        model(batch).bound.mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    with torch.no_grad():
        found = model(torch.from_numpy(digit / 255).float()[None, None])
    assert found.reads is not None
    assert found.writes is not None
    steps = tuple(
        CanvasStep(
            PngImage.of(canvas), FilterWindow(*read, count=READ), FilterWindow(*write, count=WRITE)
        )
        for canvas, read, write in zip(
            found.canvases[0], found.reads[0].tolist(), found.writes[0].tolist(), strict=True
        )
    )
    bound = f"at most {float(found.bound):.0f} nats"
    sight = Canvases(PngImage.of(digit), steps)
    return regard.AttentionRecord(
        {}, (), title="digit.png", model="draw", output=bound, sight=sight
    )


def caption() -> regard.View:
    """A scene of two shapes, and words whose weights are made up."""
    rows, columns = np.mgrid[0:112, 0:112]
    scene = np.full((112, 112, 3), (24, 34, 52), np.uint8)
    scene[(rows - 34) ** 2 + (columns - 30) ** 2 < 350] = (230, 70, 60)
    scene[66:96, 60:100] = (60, 120, 230)
    words = {"a": (7, 7, 6.0), "red": (3.7, 3.2, 1.5), "disc": (3.7, 3.2, 1.1)}
    words |= {
        "above": (7, 6, 3.0),
        "a ": (8, 8, 5.0),
        "blue": (9.6, 9.4, 1.4),
        "box": (9.6, 9.4, 1.7),
    }
    down, across = np.mgrid[0:14, 0:14]
    weights = np.stack(
        [
            np.exp(-((down - row) ** 2 + (across - column) ** 2) / (2 * wide**2)).ravel()
            for row, column, wide in words.values()
        ]
    )
    weights /= weights.sum(1, keepdims=True)
    names = [word.strip() for word in words]
    return regard.look(
        weights, names, image=scene, grid=(14, 14), title="scene.png", model="made up"
    )


def shoot(view: regard.View, path: Path, page: Path) -> None:
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        shown = browser.new_page(viewport={"width": 1180, "height": 900})
        shown.goto(f"{view.save(page).as_uri()}#sight-step=4")
        shown.wait_for_timeout(500)
        shown.screenshot(path=path, full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
