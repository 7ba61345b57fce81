"""A trained run, ready to translate.

run = load("runs/zh-en")
run.translate(["我是一个学生。"], beam=5, attention=True)[0].text
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn

from regard.data.tokenizer import Tokens
from regard.layers.contracts import Translator
from regard.search import Ensemble
from regard.tasks.prediction import Prediction
from regard.tasks.text_translator import TextTranslator
from regard.training.devices import find_device
from regard.training.failures import NotARun
from regard.training.folder import RunFolder
from regard.training.mistakes import RecipeError
from regard.training.model_file import check_vocabularies, load_model
from regard.training.recipe import Recipe
from regard.training.searching import search_settings

EMBEDDED = Path(__file__).parent.parent / "models" / "zoo" / "zh-en"
SHOWN = 5  # other runs named when there is none of that name


class LoadedRun:
    """A model, its tokenisers and its recipe; several models of an ensemble translate as one."""

    def __init__(self, recipe: Recipe, translator: TextTranslator, folder: RunFolder) -> None:
        self.recipe, self.translator, self.folder = recipe, translator, folder

    def __repr__(self) -> str:
        data, kind = self.recipe.data, self.recipe.model.kind
        return f"<LoadedRun {self.folder.path}: {kind}, {data.source} → {data.target}>"

    @property
    def model(self) -> nn.Module:
        return cast(nn.Module, self.translator.model)

    def translate(
        self,
        texts: Sequence[str],
        *,
        beam: int | None = None,
        nbest: int = 1,
        attention: bool = False,
        replace_unknown: bool = False,
        prefixes: Sequence[str] | None = None,
        batch: int | None = None,
        **search: Any,
    ) -> list[Prediction]:
        """The translation of every text, in their order. A blank text has an empty one.

        beam: 1 is greedy; the recipe's if not given. nbest: further ones in `alternatives`.
        search: other settings of `regard.search.Search`, such as length_penalty=0.6.
        """
        if isinstance(texts, str):
            raise ValueError(f"give a list of texts, as in translate([{texts!r}])")
        settings = search_settings(
            self.recipe, beam=beam, nbest=nbest, attention=attention, **search
        )
        return self.translator.predict(
            texts,
            settings,
            prefixes=prefixes,
            replace_unknown=replace_unknown,
            batch=batch or self.recipe.search.batch,
        )

    def score(
        self,
        sources: Sequence[str],
        targets: Sequence[str | Tokens],
        *,
        attention: bool = False,
        **search: Any,
    ) -> list[Prediction]:
        """Each target as if it had been predicted: what `translate` reports for it."""
        settings = search_settings(self.recipe, attention=attention, **search)
        return self.translator.score(sources, targets, settings, batch=self.recipe.search.batch)


def load(
    run: Path | str | Sequence[Path | str] | None = None, *, device: str | None = None
) -> LoadedRun:
    """A run folder, several as an ensemble, or (None) the model that comes with the package.

    device: cpu, cuda, cuda:1, mps; the best there is if not given or "auto". Nothing is unpickled.
    """
    place = find_device(device)
    if run is None or isinstance(run, str | Path):
        return _load_one(Path(run) if run is not None else EMBEDDED, place)
    runs = [_load_one(Path(one), torch.device("cpu")) for one in run]
    if not runs:
        raise ValueError("an ensemble needs at least one run")
    if len(runs) == 1:
        return _load_one(Path(run[0]), place)
    _check_same_vocabularies(runs)
    first = runs[0].translator
    ensemble = cast(Translator, Ensemble([one.translator.model for one in runs]))
    together = TextTranslator(ensemble, first.source_tokenizer, first.target_tokenizer)
    return LoadedRun(runs[0].recipe, together.to(place).eval(), runs[0].folder)


def _load_one(path: Path, device: torch.device) -> LoadedRun:
    folder = RunFolder(path)
    _check_is_run(folder)
    model, recipe = load_model(folder)
    tokenizers = folder.load_tokenizers(recipe)
    check_vocabularies(folder, tokenizers)
    translator = TextTranslator(cast(Translator, model), *tokenizers)
    return LoadedRun(recipe, translator.to(device).eval(), folder)


def _check_is_run(folder: RunFolder) -> None:
    path = folder.path
    if folder.model.is_file():
        if not folder.config.is_file():
            raise NotARun(f"{path} has a model.safetensors but no {folder.config.name} beside it")
        return
    if path == EMBEDDED:
        raise NotARun("no model comes with this installation: name a run with -m")
    if folder.recipe.is_file():
        raise NotARun(f"the run in {path} has no model yet: its training has not come to an end")
    what = "no model.safetensors in" if path.is_dir() else "no folder"
    raise NotARun(f"{what} {path}, so it is no run{_nearest(path)}")


def _nearest(path: Path) -> str:
    """The runs around: those spelt alike if any, else the latest."""
    beside = [path.parent] if path.parent != Path() else [Path(), Path("runs")]
    found = [m.parent for place in (*beside, path) for m in place.glob("*/model.safetensors")]
    if not found:
        return ""
    near = difflib.get_close_matches(str(path), [str(one) for one in found], 1, cutoff=0.6)
    if near:
        return f". Did you mean {near[0]}?"
    latest = sorted(found, key=lambda one: -one.stat().st_mtime)[:SHOWN]
    return f". There are {', '.join(map(str, latest))}"


def _check_same_vocabularies(runs: Sequence[LoadedRun]) -> None:
    first = runs[0]
    for other in runs[1:]:
        for side in ("source_tokenizer", "target_tokenizer"):
            a, b = (getattr(one.translator, side).to_json() for one in (first, other))
            if a != b:
                raise RecipeError(
                    f"{first.folder.path} and {other.folder.path} cut text differently "
                    f"({side.replace('_', ' ')}): the runs of an ensemble share their tokenizers",
                    "the same data.train and tokenizer.… give the same; seed may differ",
                )
