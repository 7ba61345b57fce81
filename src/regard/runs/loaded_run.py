"""A trained run, ready for use.

run = load("runs/zh-en")
run.predict(["我是一个学生。"])[0].answer
run.translate(["我是一个学生。"], beam=5, attention=True)[0].text
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn

from regard.layers.packed_linear import pack
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.records.reading_notes import reading_notes
from regard.runs.checkpoint_model import load_checkpoint
from regard.runs.devices import find_device
from regard.runs.failures import CannotQuantize, NotARun, WrongTask
from regard.runs.model_file import load_model
from regard.runs.run_folder import RunFolder
from regard.runs.run_names import (
    EMBEDDED,
    ZOO,
    checkpoint_of,
    embedded_names,
    path_of,
    run_path,
    shown_name,
)
from regard.search import Ensemble
from regard.suggestions import nearest
from regard.tasks.answer import Answer
from regard.tasks.search_settings import search_settings
from regard.tasks.task import Task
from regard.tasks.task_module import TaskModule, Unanswerable
from regard.words import t

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from regard.data.tokenizer import Tokenizer, Tokens
    from regard.tasks.classify.classify_module import Classification
    from regard.tasks.masked.masked_module import Filling
    from regard.tasks.prediction import Prediction
    from regard.tasks.translate.text_translator import TextTranslator

LENGTH = 200  # tokens that follow a prompt, if nobody says how many
SHOWN = 5  # other runs named when there is none of that name


class LoadedRun:
    """A model, its task and its recipe; several models of an ensemble translate as one.

    `predict` answers whatever it was trained for; some tasks have a method of their own beside it:
    translate (and score), classify, generate, imagine or fill.
    """

    def __init__(
        self, task: Task, module: TaskModule, folder: RunFolder, *, step: int | None = None
    ) -> None:
        """step: of the checkpoint that it is; None: it is the model of the run."""
        self.task, self.module, self.folder, self.step = task, module, folder, step

    def __repr__(self) -> str:
        kind, task = self.recipe.model.kind, self.recipe.task.kind
        return f"<LoadedRun {self.path}: {kind}, {task}>"

    @property
    def path(self) -> Path:
        """What `load` loads it by: its folder, of a checkpoint FOLDER@STEP."""
        return path_of(self)

    @property
    def name(self) -> str:
        """What it is called on a page."""
        return shown_name(self.path)

    @property
    def recipe(self) -> Recipe:
        return self.task.recipe

    @recipe.setter
    def recipe(self, recipe: Recipe) -> None:
        self.task.recipe = recipe

    @property
    def model(self) -> nn.Module:
        return cast(nn.Module, self.module.model)

    def predict(
        self, examples: Iterable[Any], *, attention: bool = False, batch: int | None = None
    ) -> list[Answer]:
        """The answer to every example, in their order.

        An example is a mapping from the names of the input fields, or of the columns that the run was
        trained with, to their values; the bare value where there is one input field, and a tuple of the
        values in their order, or a line with a TAB between them, where there are several. A blank text has a
        blank answer: None. attention: with what was looked at, where the model has it.
        """
        if isinstance(examples, str | bytes | Mapping) or not isinstance(examples, Iterable):
            raise ValueError(
                t("give a list of examples, as in predict([{short}])", short=_short(examples))
            )
        size = self._batch(batch)
        given = self.task.given(examples)
        return self.task.respond(self.module, given, attention=attention, batch=size)

    @property
    def translator(self) -> TextTranslator:
        return cast("TextTranslator", self._able_to("translate", "score"))

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """Of the source and of the target of a translator; other runs have those of their fields."""
        if not hasattr(self.module, "score"):
            fields = self.task.fields
            cut = [name for name, field in fields.items() if hasattr(field, "tokenizer")]
            there = ", ".join(f"run.task.fields[{name!r}].tokenizer" for name in cut)
            raise WrongTask(
                t(
                    "tokenizers are those of a translator: {path} was trained for task.kind={kind}",
                    path=self.folder.path,
                    kind=self.recipe.task.kind,
                ),
                t(
                    "it has {value}",
                    value=there or "the fields " + ", ".join(fields) + ", and no tokenizer",
                ),
            )
        return self.translator.source_tokenizer, self.translator.target_tokenizer

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
            batch=self._batch(batch),
        )

    def reading_notes(self, found: Prediction) -> tuple[str, ...]:
        """What of the source of a translation the model was not made for, a line each: its script, what has
        no token, its length; nothing if it is like what it has learnt.
        """
        data, tokenizer = self.recipe.data, self.translator.source_tokenizer
        return reading_notes(
            found.source,
            found.source_tokens,
            tokenizer,
            language=data.source,
            longest=data.max_length,
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
        return translator.score(sources, targets, settings, batch=self._batch(None))

    def classify(
        self, texts: Sequence[str], *, attention: bool = False, batch: int | None = None
    ) -> list[Classification]:
        """The label of every text, with the probability of each label."""
        _check_list(texts, "classify")
        module = self._able_to("classify")
        return module.classify(texts, attention=attention, batch=self._batch(batch))

    def generate(
        self,
        prompts: Sequence[Any] = ("",),
        *,
        length: int | None = None,
        beam: int | None = None,
        batch: int | None = None,
        **search: Any,
    ) -> list[Prediction]:
        """Each prompt and what follows it, at most `length` tokens, 200 if not given; without a prompt, from
        the beginning. Of a run that tells of something, a prompt is what `predict` takes: a label, a vector,
        a picture, a text; a text is written of each, as long as the recipe's search lets it be.

        beam: of a language model 1, greedy, if not given. search: other settings of `regard.search.Search`,
        such as method="sample", temperature=0.8, seed=1.
        """
        _check_list(prompts, "generate")
        if (write := getattr(self.task, "write", None)) is not None:
            limits = {} if length is None else {"max_length": length}
            settings = search_settings(self.recipe, beam=beam, **search, **limits)
            given = self.task.given(prompts)
            if None in given:
                raise Unanswerable(
                    t(
                        "prompt {index} is blank: there is nothing to tell of",
                        index=given.index(None) + 1,
                    ),
                    t(
                        "regard {command} -m {path} says what it takes",
                        command=self.task.command,
                        path=self.folder.path,
                    ),
                )
            found: list[Prediction] = write(self.module, given, settings, batch=self._batch(batch))
            return found
        module = self._able_to("generate")
        if search.get("method", "beam") == "beam":
            search["beam"] = beam or 1
        settings = search_settings(self.recipe, **search)
        most = LENGTH if length is None else length
        return module.generate(prompts, settings, length=most, batch=self._batch(batch))

    def imagine(self, count: int = 1, *, seed: int = 0) -> NDArray[np.uint8]:
        """New pictures (count, H, W, C), from 0 to 255, of a run that draws; a seed has always the same."""
        module = self._able_to("imagine")
        with module.inference():
            canvases, _ = module.imagine(count, seed)
        pixels: NDArray[np.uint8] = (255 * canvases[:, -1]).round().byte().cpu().numpy()
        return pixels.transpose(0, 2, 3, 1)

    def fill(
        self, texts: Sequence[str], *, top: int = 5, batch: int | None = None
    ) -> list[Filling]:
        """The likeliest tokens at every `<mask>` of each text."""
        _check_list(texts, "fill")
        module = self._able_to("fill")
        return module.fill(texts, top=top, batch=self._batch(batch))

    def _batch(self, batch: int | None) -> int:
        """How many are answered side by side; those of the recipe if not given."""
        if batch is None:
            return self.task.batch_for(self.module)
        if not isinstance(batch, int) or batch < 1:
            raise ValueError(
                t(
                    "batch is how many are answered side by side: 1 or more, not {batch}",
                    batch=repr(batch),
                )
            )
        return batch

    def _able_to(self, wish: str, method: str = "") -> Any:
        """The module, if it has the method of this wish."""
        if hasattr(self.module, method or wish):
            return self.module
        raise WrongTask(
            t(
                "{path} cannot {wish}: it was trained for task.kind={kind}",
                path=self.folder.path,
                wish=wish,
                kind=self.recipe.task.kind,
            ),
            t(
                "regard {command} -m {path} uses it",
                command=self.task.command,
                path=self.folder.path,
            ),
        )


def load(
    run: Path | str | Sequence[Path | str] | None = None,
    *,
    device: str | None = None,
    quantize: str | None = None,
) -> LoadedRun:
    """A run folder, several as an ensemble, or (None, or "embedded") the model that comes with the package.

    "runs/zh-en@500" is the checkpoint of step 500; the name of its file is another name of it.

    device: cpu, cuda, cuda:1, mps; the best there is if not given or "auto". quantize: "int8", on the CPU,
    for matrices rounded to 8 bits: faster, and nearly the same answers. Nothing is unpickled.
    """
    place = _place(device, quantize)
    if run is None or isinstance(run, str | Path):
        return _load_one(run_path(run) if run is not None else EMBEDDED, place, quantize)
    if len(run) == 1:
        return _load_one(run_path(run[0]), place, quantize)
    runs = [_load_one(run_path(one), place, quantize) for one in run]
    if not runs:
        raise ValueError(t("an ensemble needs at least one run"))
    _check_same_vocabularies(runs)
    first = runs[0]
    ensemble = Ensemble([one.translator.model for one in runs])  # only translators can be joined
    together = first.task.for_inference(cast(nn.Module, ensemble))
    return LoadedRun(first.task, together.to(place).eval(), first.folder)


def _place(device: str | None, quantize: str | None) -> torch.device:
    if quantize is None:
        return find_device(device)
    if quantize != "int8":
        raise CannotQuantize(
            t("quantize is 'int8', or nothing, not {quantize}", quantize=repr(quantize)),
            t("leave it out"),
        )
    place = find_device("cpu" if device in (None, "auto") else device)
    if place.type != "cpu":
        raise CannotQuantize(
            t("matrices in 8 bits are for the CPU, not for {place}", place=place), "--device cpu"
        )
    return place


def _load_one(path: Path, device: torch.device, quantize: str | None = None) -> LoadedRun:
    step = None
    if checkpoint := checkpoint_of(path):
        folder, step = RunFolder(checkpoint[0]), checkpoint[1]
        model, task = load_checkpoint(folder, step, path)
    else:
        folder = RunFolder(path)
        check_is_run(folder)
        model, task = load_model(folder)
    if device.type == "cpu":
        pack(model, "float32" if quantize is None else "int8")
    return LoadedRun(task, task.for_inference(model).to(device).eval(), folder, step=step)


def _short(value: object) -> str:
    return text if len(text := repr(value)) <= 60 else "…"


def _check_list(texts: Sequence[str], method: str) -> None:
    if isinstance(texts, str):
        raise ValueError(
            t("give a list of texts, as in {method}([{texts}])", method=method, texts=repr(texts))
        )


def check_is_run(folder: RunFolder) -> None:
    """NotARun, with the runs around it, if there is no model in the folder."""
    path = folder.path
    if folder.model.is_file():
        if not folder.config.is_file():
            raise NotARun(
                t(
                    "{path} has a model.safetensors but no {name} beside it",
                    path=path,
                    name=folder.config.name,
                )
            )
        return
    if path.parent == ZOO:
        if path != EMBEDDED and (there := embedded_names()):
            raise NotARun(
                t(
                    "no model embedded:{name} comes with regard. There is {there}",
                    name=path.name,
                    there=", ".join(there),
                )
            )
        raise NotARun(t("no model comes with this installation: name a run with -m"))
    if folder.recipe.is_file():
        raise NotARun(
            t("the run in {path} has no model yet: its training has not come to an end", path=path)
        )
    what = t("no model.safetensors in") if path.is_dir() else t("no folder")
    raise NotARun(
        t("{what} {path}, so it is no run{nearest}", what=what, path=path, nearest=_nearest(path))
    )


def _nearest(path: Path) -> str:
    """The runs around: those spelt alike if any, else the latest."""
    beside = [path.parent] if path.parent != Path() else [Path(), Path("runs")]
    found = [m.parent for place in (*beside, path) for m in place.glob("*/model.safetensors")]
    if not found:
        return ""
    if near := nearest(str(path), map(str, found)):
        return t(". Did you mean {near}?", near=near)
    latest = sorted(found, key=lambda one: -one.stat().st_mtime)[:SHOWN]
    return t(". There are {map}", map=", ".join(map(str, latest)))


def _check_same_vocabularies(runs: Sequence[LoadedRun]) -> None:
    first = runs[0]
    for other in runs[1:]:
        for side, ours in first.task.fields.items():
            theirs = other.task.fields.get(side)
            if theirs is None or ours.to_json() != theirs.to_json():
                raise RecipeError(
                    t(
                        "{path} and {folder_path} cut text differently ({side} tokenizer): the runs of "
                        "an ensemble share their tokenizers",
                        path=first.folder.path,
                        folder_path=other.folder.path,
                        side=side,
                    ),
                    t("the same data.train and tokenizer.… give the same; seed may differ"),
                )
