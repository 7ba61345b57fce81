"""A trained run, ready for use.

run = load("runs/zh-en")
run.translate(["我是一个学生。"], beam=5, attention=True)[0].text
load("runs/imdb").classify(["What a film!"])[0].label
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from torch import nn

from regard.data.tokenizer import Tokenizer, Tokens
from regard.layers.contracts import Translator
from regard.search import Ensemble
from regard.tasks.classify import Classification, Classify
from regard.tasks.language import Language
from regard.tasks.masked import Filling, Masked
from regard.tasks.prediction import Prediction
from regard.tasks.text_task import TextTask
from regard.tasks.text_translator import TextTranslator
from regard.runs.devices import find_device
from regard.runs.failures import NotARun, WrongTask
from regard.runs.folder import RunFolder
from regard.recipe.mistakes import RecipeError
from regard.runs.model_file import check_vocabularies, load_model
from regard.recipe.recipe import Recipe
from regard.recipe.search_settings import search_settings
from regard.tasks.choosing import task_of
from regard.suggestions import nearest

AnyTask = TypeVar("AnyTask", bound=TextTask)

EMBEDDED = Path(__file__).parent.parent / "models" / "zoo" / "zh-en"
SHOWN = 5  # other runs named when there is none of that name


class LoadedRun:
    """A model, its tokenisers and its recipe; several models of an ensemble translate as one.

    It does what it was trained for: translate (and score), classify, generate or fill.
    """

    def __init__(self, recipe: Recipe, module: TextTask, folder: RunFolder) -> None:
        self.recipe, self.module, self.folder = recipe, module, folder

    def __repr__(self) -> str:
        data, kind, task = self.recipe.data, self.recipe.model.kind, self.recipe.task.kind
        what = f"{data.source} → {data.target}" if task == "translate" else task
        return f"<LoadedRun {self.folder.path}: {kind}, {what}>"

    @property
    def model(self) -> nn.Module:
        return cast(nn.Module, self.module.model)

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """Of the source and of the target."""
        return self.module.source_tokenizer, self.module.target_tokenizer

    @property
    def translator(self) -> TextTranslator:
        return self._able_to("translate", TextTranslator)

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
        _check_list(texts, "translate")
        translator = self.translator
        settings = search_settings(
            self.recipe, beam=beam, nbest=nbest, attention=attention, **search
        )
        return translator.predict(
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
        translator = self.translator
        settings = search_settings(self.recipe, attention=attention, **search)
        return translator.score(sources, targets, settings, batch=self.recipe.search.batch)

    def classify(
        self, texts: Sequence[str], *, attention: bool = False, batch: int | None = None
    ) -> list[Classification]:
        """The label of every text, with the probability of each label."""
        _check_list(texts, "classify")
        module = self._able_to("classify", Classify)
        return module.classify(texts, attention=attention, batch=batch or self.recipe.search.batch)

    def generate(
        self,
        prompts: Sequence[str] = ("",),
        *,
        length: int = 200,
        beam: int | None = None,
        batch: int | None = None,
        **search: Any,
    ) -> list[Prediction]:
        """Each prompt and what follows it, at most `length` tokens; without one, from the beginning.

        beam: 1, greedy, if not given. search: other settings of `regard.search.Search`, such as
        method="sample", temperature=0.8, seed=1.
        """
        _check_list(prompts, "generate")
        module = self._able_to("generate", Language)
        if search.get("method", "beam") == "beam":
            search["beam"] = beam or 1
        settings = search_settings(self.recipe, **search)
        size = batch or self.recipe.search.batch
        return module.generate(prompts, settings, length=length, batch=size)

    def fill(
        self, texts: Sequence[str], *, top: int = 5, batch: int | None = None
    ) -> list[Filling]:
        """The likeliest tokens at every `<mask>` of each text."""
        _check_list(texts, "fill")
        module = self._able_to("fill", Masked)
        return module.fill(texts, top=top, batch=batch or self.recipe.search.batch)

    def _able_to(self, wish: str, wanted: type[AnyTask]) -> AnyTask:
        if isinstance(self.module, wanted):
            return self.module
        task = task_of(self.recipe)
        raise WrongTask(
            f"{self.folder.path} cannot {wish}: it was trained for task.kind={self.recipe.task.kind}",
            f"regard {task.command} -m {self.folder.path} uses it",
        )


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
    first = runs[0].translator  # only translators can be joined
    ensemble = cast(Translator, Ensemble([one.translator.model for one in runs]))
    together = TextTranslator(ensemble, first.source_tokenizer, first.target_tokenizer)
    return LoadedRun(runs[0].recipe, together.to(place).eval(), runs[0].folder)


def _load_one(path: Path, device: torch.device) -> LoadedRun:
    folder = RunFolder(path)
    _check_is_run(folder)
    model, recipe = load_model(folder)
    tokenizers = folder.load_tokenizers(recipe)
    check_vocabularies(folder, tokenizers)
    module = task_of(recipe).used(model, tokenizers)
    return LoadedRun(recipe, module.to(device).eval(), folder)


def _check_list(texts: Sequence[str], method: str) -> None:
    if isinstance(texts, str):
        raise ValueError(f"give a list of texts, as in {method}([{texts!r}])")


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
    if near := nearest(str(path), map(str, found)):
        return f". Did you mean {near}?"
    latest = sorted(found, key=lambda one: -one.stat().st_mtime)[:SHOWN]
    return f". There are {', '.join(map(str, latest))}"


def _check_same_vocabularies(runs: Sequence[LoadedRun]) -> None:
    first = runs[0]
    for other in runs[1:]:
        for side in ("source_tokenizer", "target_tokenizer"):
            a, b = (getattr(one.module, side).to_json() for one in (first, other))
            if a != b:
                raise RecipeError(
                    f"{first.folder.path} and {other.folder.path} cut text differently "
                    f"({side.replace('_', ' ')}): the runs of an ensemble share their tokenizers",
                    "the same data.train and tokenizer.… give the same; seed may differ",
                )
