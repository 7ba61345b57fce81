"""The keys of a recipe: which sections there are, what each holds, and where a lost key belongs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel

from regard import registry
from regard.options import ModelOptions, Options
from regard.recipe.recipe import Recipe
from regard.recipe.yaml_1_2 import Path
from regard.suggestions import asked, nearest, spelt_alike
from regard.words import t

# What other programs call some keys, for the error message only: there is one name for each.
OTHER_NAMES = {
    "batch_size": "training.batch_sentences",
    "batch": "training.batch_sentences",
    "learning_rate": "training.optimizer.lr",
    "max_epochs": "training.epochs",
    "max_steps": "training.steps",
    "train_steps": "training.steps",
    "clip_grad": "training.clip",
    "gradient_clip_val": "training.clip",
    "accumulate_grad_batches": "training.accumulate",
    "scheduler": "training.schedule.kind",
    "hidden_size": "model.hidden",
    "embedding_size": "model.embedding",
    "emb_size": "model.embedding",
    "beam_size": "search.beam",
    "vocab_size": "tokenizer.target.size",
    "src": "data.source",
    "tgt": "data.target",
    "train": "data.train",
    "valid": "data.dev",
    "validation": "data.dev",
    "device": "trainer.accelerator",
    "gpus": "trainer.devices",
}

# Sections of which there are several kinds, each with keys of its own, and their groups in the registry.
CHOSEN_BY_KIND: dict[str, Literal["tasks", "models"]] = {"task": "tasks", "model": "models"}


def kinds(section: str) -> dict[str, type[Options]]:
    """Our own kinds of a section that is chosen by its kind."""
    group = CHOSEN_BY_KIND[section]
    return {kind: registry.find(group, kind) for kind in registry.BUILT_IN[group]}


def section_at(path: Path, values: Mapping[str, Any]) -> type[Options] | None:
    """The section that these values have at a path; None: a value, or nothing."""
    cls: type[Options] = Recipe
    for depth, key in enumerate(path):
        field = cls.model_fields.get(str(key))
        if field is None:
            return None
        choices = _sections_in(field.annotation)
        if depth == 0 and key in CHOSEN_BY_KIND:
            given = values.get(str(key))
            kind = given.get("kind") if isinstance(given, dict) else None
            choices = _of_kind(str(key), kind)
        if not choices:
            return None
        cls = choices[0]
    return cls


def advice(path: Path, value: Any, values: Mapping[str, Any]) -> str:
    """What to say of an unknown key: the key that was meant, or the section it belongs to."""
    *above, key = map(str, path)
    section = ".".join(above)
    if elsewhere := _homes(key, section, values):
        return _moved(key, elsewhere, value)
    if above and above[0] in CHOSEN_BY_KIND:
        owners = [
            kind
            for kind, cls in kinds(above[0]).items()
            if key in cls.model_fields and _of_same_task(cls, values)
        ]
        if owners and len(above) == 1:
            return _of_others(key, section, owners, values)
    if key in OTHER_NAMES:
        return t(
            ": it is called {other_names} here: {other_names}={word}",
            other_names=OTHER_NAMES[key],
            word=_word(value),
        )
    cls = section_at(tuple(above), values)
    siblings = list(cls.model_fields) if cls else []
    if near := nearest(key, siblings):
        return t(". Did you mean '{value}'?", value=".".join((*above, near)))
    inside = [cls for path, cls in _sections(Recipe, "", values) if path.startswith(section)]
    if lost := nearest(key, {key for cls in inside for key in cls.model_fields}):
        return t(
            ". Did you mean '{homes}.{lost}'?", homes=_homes(lost, section, values)[0], lost=lost
        )
    return t(
        ". The keys of {value}: {siblings}.",
        value=section or t("a recipe"),
        siblings=", ".join(siblings),
    )


def _of_others(key: str, section: str, owners: list[str], values: Mapping[str, Any]) -> str:
    """Which kinds have this key, and what those of the chosen one are called that do the same."""
    known = {"section": section, "owners": t(" or ").join(owners)}
    if section == "model":
        said = t(
            ": of the models for {task} only {section}.kind={owners} has it.",
            task=values["task"]["kind"],
            **known,
        )
    else:
        said = t(": only {section}.kind={owners} has it.", **known)
    chosen = section_at((section,), values)
    names = list(chosen.model_fields) if chosen else []
    parts = [name for name in names if key in name.split("_")]  # encoder_layers, of layers
    return said + asked(f"{section}.{name}" for name in parts or spelt_alike(key, names))


def _of_kind(section: str, kind: Any) -> list[type[Options]]:
    """The options of a kind; none, if there is no such kind or it is broken."""
    try:
        return [registry.find(CHOSEN_BY_KIND[section], kind)] if isinstance(kind, str) else []
    except registry.KindError:
        return []


def _of_same_task(options: type[Options], values: Mapping[str, Any]) -> bool:
    """A kind of model for another task is no help; of a kind of task it is always true."""
    given = values.get("task")
    kind = given.get("kind") if isinstance(given, dict) else None
    return not issubclass(options, ModelOptions) or (
        isinstance(kind, str) and registry.is_for(options, kind)
    )


def _moved(key: str, elsewhere: list[str], value: Any) -> str:
    if len(elsewhere) == 1:
        return t(
            ": it belongs to {elsewhere}: {elsewhere}.{key}={word}",
            elsewhere=elsewhere[0],
            key=key,
            word=_word(value),
        )
    *most, last = (f"{section}.{key}" for section in elsewhere)
    return t(": it belongs to a section: {most} or {last}", most=", ".join(most), last=last)


def _homes(key: str, section: str, values: Mapping[str, Any]) -> list[str]:
    """The sections that have this key, those inside `section` if there are any."""
    found = [path for path, cls in _sections(Recipe, "", values) if key in cls.model_fields]
    found = list(dict.fromkeys(filter(None, found)))
    return [path for path in found if section and path.startswith(f"{section}.")] or found


def _sections(
    cls: type[Options], path: str, values: Mapping[str, Any]
) -> Iterator[tuple[str, type[Options]]]:
    """Every section of a recipe of these kinds, with its dotted path."""
    yield path, cls
    for name, field in cls.model_fields.items():
        chosen = [] if path or name not in CHOSEN_BY_KIND else [section_at((name,), values)]
        for inner in filter(None, chosen or _sections_in(field.annotation)):
            yield from _sections(inner, f"{path}.{name}".removeprefix("."), values)


def _sections_in(annotation: Any) -> list[type[Options]]:
    """The sections that an annotation allows: those of `AttentionOptions | None`, none of `str`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation] if issubclass(annotation, Options) else []
    return [found for part in get_args(annotation) for found in _sections_in(part)]


def _word(value: Any) -> str:
    return "…" if isinstance(value, dict | list) else str(value)
