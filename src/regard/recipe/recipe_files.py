"""Recipes read from YAML and the command line, and written back.

    read_recipe("zh-en", ["model.hidden=512", "training.optimizer.lr=1e-3"])

Later wins: the defaults, what the recipe extends, the recipe, the words of the command.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any, NamedTuple

from pydantic import ValidationError

from regard.data.parts import PARTS
from regard.recipe import yaml_1_2
from regard.recipe.keys import CHOSEN_BY_KIND
from regard.recipe.mechanism_names import check_mechanisms
from regard.recipe.mistakes import RecipeError, shortened
from regard.recipe.named_recipes import find_recipe, named_recipes
from regard.recipe.recipe import LIMITS, Data, Recipe
from regard.recipe.validation_errors import refusal, second_reading
from regard.recipe.yaml_1_2 import Path, Written
from regard.registry import kinds, models_for
from regard.suggestions import meant
from regard.words import t

EXTENDS = "extends"
LISTING = "regard recipes lists all there are"
# in `training`: what is given of one group takes the place of what was given of it below
IN_PLACE = (("batch_tokens", "batch_sentences"), LIMITS)
# what was given below says nothing any more where a value like this is put on top
WITHOUT = {("task", "view", "plain"): ("grows",)}
NOT_LANGUAGES = ("txt", "tok", "src", "tgt", "bpe", "raw", "tsv", "csv")
UNDETERMINED = "und"  # a language that nobody told


def read_recipe(name_or_path: str, words: Sequence[str] = ()) -> Recipe:
    """The recipe of that name or in that file, with `key=value` words on top, checked."""
    draft = _file(name_or_path, (name_or_path,))
    values, written = _words(words)
    draft.lay(values, _sections_given(words, draft.written) | written)
    recipe = draft.recipe()
    check_mechanisms(recipe, draft.written)
    return recipe


def recipe_for(task: str) -> Recipe:
    """Of a kind of task, its defaults; else the recipe of that name or in that file."""
    if task in kinds("tasks") or ":" in task:
        return Draft({"task": {"kind": task}}).recipe()
    if not _is_path(task) and find_recipe(task) is None:
        near = meant(task, (*kinds("tasks"), *named_recipes()))
        raise RecipeError(
            t("no task and no recipe {task}.{near}", task=repr(task), near=near), LISTING
        )
    return read_recipe(task)


def dump_recipe(recipe: Recipe) -> str:
    """The whole recipe as YAML, which reads back equal."""
    return yaml_1_2.dump(recipe.model_dump(mode="json"))


class AboutRecipe(NamedTuple):
    """What a recipe says of itself."""

    task: str
    description: str
    corpus: str  # the first that it trains on


def about_recipe(name: str) -> AboutRecipe:
    """Read without importing its task and its model."""
    values = _file(name, (name,)).values
    task = values.get("task")
    kind = task.get("kind") if isinstance(task, dict) else task
    data = values.get("data")
    train = data.get("train") if isinstance(data, dict) else None
    first = train[0] if isinstance(train, list) and train else train or Data().train
    return AboutRecipe(str(kind or "translate"), str(values.get("description", "")), str(first))


@dataclass
class Draft:
    """Values on top of each other, not yet checked, and how each was written."""

    values: dict[str, Any] = field(default_factory=dict)
    written: dict[Path, Written] = field(default_factory=dict)

    def lay(self, values: dict[str, Any], written: dict[Path, Written]) -> None:
        """Put more values on top."""
        self.values = _merged(self.values, values)
        self.written |= written

    def recipe(self) -> Recipe:
        for name in CHOSEN_BY_KIND:  # a section without a kind is of the default one
            section = self.values.get(name, {})
            if isinstance(section, dict):
                self.values[name] = {"kind": self._usual_kind(name)} | section
        if isinstance(data := self.values.get("data"), dict):
            self.values["data"] = _hold_out(_with_languages(data))
        while True:
            try:
                return Recipe.model_validate(self.values)
            except ValidationError as error:
                if not second_reading(error, self.values, self.written):
                    raise refusal(error, self.values, self.written) from None

    def _usual_kind(self, section: str) -> str:
        """Of a model it depends on the task."""
        task = self.values.get("task")
        given = task.get("kind") if isinstance(task, dict) else None
        if section == "model" and isinstance(given, str) and (fitting := models_for(given)):
            return fitting[0]
        return str(Recipe.model_fields[section].get_default(call_default_factory=True).kind)


def _merged(below: dict[str, Any], above: dict[str, Any], name: str = "") -> dict[str, Any]:
    if name in CHOSEN_BY_KIND and above.get("kind", below.get("kind")) != below.get("kind"):
        below = {}  # another kind of model starts from its own defaults
    if name == "data" and above.get("train", below.get("train")) != below.get("train"):
        # another corpus is not judged by the development and test pairs of this one
        below = {k: v for k, v in below.items() if k not in ("dev", "test", "source", "target")}
        above = languages_of(above["train"]) | above
    for group in IN_PLACE if name == "training" else ():
        if any(above.get(key) is not None for key in group):
            below = {k: v for k, v in below.items() if k not in group}
    for (section, choice, chosen), idle in WITHOUT.items():
        if name == section and above.get(choice) == chosen:
            below = {k: v for k, v in below.items() if k not in idle}
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            value = _merged(old, value, f"{name}.{key}".lstrip("."))
        merged[key] = value
    return merged


def _with_languages(data: dict[str, Any]) -> dict[str, Any]:
    """With what the names of its training files tell of languages, where it does not say them."""
    return languages_of(data["train"]) | data if "train" in data else data


def _hold_out(data: dict[str, Any]) -> dict[str, Any]:
    """Dev and test pairs out of the training corpus, where none were named and none refused."""
    train = data.get("train")
    if (
        isinstance(train, list)
        and len(train) == 2
        and not set("".join(map(str, train))) & set(",+#@:")
    ):
        train = ",".join(map(str, train))
    if not isinstance(train, str) or "dev" in data or "test" in data:
        return data
    corpora = train.split("+")
    if any(c.startswith("-") or c.rpartition("@")[2] in PARTS for c in corpora):
        return data
    parts = {part: "+".join(f"{corpus}@{part}" for corpus in corpora) for part in PARTS}
    return data | parts


def languages_of(corpus: object) -> dict[str, str]:
    """What the names of the files tell: zh and en of `a.zh,a.en`; `und`, undetermined, if nothing."""
    parts = corpus.split("+")[0].split("@")[0].split(",") if isinstance(corpus, str) else corpus
    names = list(map(str, parts)) if isinstance(parts, list) else []
    if names and (embedded := re.match(r".*-([a-z]{2,3})-([a-z]{2,3}):[a-z0-9]+(#1)?", names[0])):
        found = [embedded[1], embedded[2]]
        found = found[::-1] if embedded[3] else found
    else:
        found = [_language(name) for name in names]
    source, target = found if len(found) == 2 else (UNDETERMINED, UNDETERMINED)
    return {"source": source, "target": target}


def _language(name: str) -> str:
    match = re.search(r"\.([a-z]{2,3})(\.(gz|xz))?$", name.strip())
    return match[1] if match and match[1] not in NOT_LANGUAGES else UNDETERMINED


def _words(words: Sequence[str]) -> tuple[dict[str, Any], dict[Path, Written]]:
    """`model.hidden=512 model.feed=[initial,step]` as one layer."""
    values: dict[str, Any] = {}
    written: dict[Path, Written] = {}
    for word in words:
        key, equals, text = word.partition("=")
        path = tuple(part.strip() for part in key.split("."))
        if not equals or not all(path):
            raise RecipeError(t("{word} is not key=value, as in model.hidden=512", word=repr(word)))
        value, notes = _scalar_or_list(text)
        section = values
        for part in path[:-1]:
            inner = section.setdefault(part, {})
            if not isinstance(inner, dict):  # model.attention=null model.attention.score=dot
                inner = section[part] = {}
            section = inner
        section[path[-1]] = value
        written |= {(*path, *below): note for below, note in notes.items()}
    return values, written


def _sections_given(words: Sequence[str], known: Mapping[Path, Written]) -> dict[Path, Written]:
    """The sections that the words name and no recipe does: what is wrong with them stands in a word."""
    found: dict[Path, Written] = {}
    for word in words:
        key = word.partition("=")[0]
        path = tuple(part.strip() for part in key.split("."))
        for end in range(1, len(path)):
            if path[:end] not in known:
                place = f"given on the command line: {shortened(word)}"
                found.setdefault(path[:end], Written(key, place))
    return found


def _scalar_or_list(text: str) -> tuple[Any, dict[Path, Written]]:
    """The value of a word; what YAML would cut, refuse or take as a comment is text as it stands."""
    try:
        value, notes = yaml_1_2.load(text)
    except RecipeError:
        value, notes = text, {}
    plain = text == "-" or (isinstance(value, str) and not text.startswith(("'", '"')))
    if plain or (value is None and text not in ("", "~", "null", "Null", "NULL")):
        value = text
    return value, notes | {(): Written(text)}


def _file(name_or_path: str, extending: tuple[str, ...]) -> Draft:
    """The recipe of that name or at that path, laid on what it extends."""
    text, place, folder = _text(name_or_path, extending)
    values, written = yaml_1_2.load(text, place)
    values = {} if values is None else values
    if not isinstance(values, dict):
        raise RecipeError(
            t(
                "{place} is not a recipe: it holds {values}, not 'key: value' lines",
                place=place,
                values=repr(values),
            ),
            LISTING,
        )
    above = values.pop(EXTENDS, None)
    if above is None:
        return Draft(values, written)
    line = written[(EXTENDS,)].place
    if not isinstance(above, str):
        raise RecipeError(
            t(
                "extends is {above} ({line}): the name or the path of one recipe",
                above=repr(above),
                line=line,
            ),
            LISTING,
        )
    above = str(folder / above) if folder and _is_path(above) else above
    if above in extending:
        raise RecipeError(
            t(
                "{place} extends itself: {value}",
                place=place,
                value=" → ".join((*extending, above)),
            ),
            LISTING,
        )
    draft = _file(above, (*extending, above))
    draft.lay(values, written)
    return draft


def _text(name_or_path: str, extending: tuple[str, ...]) -> tuple[str, str, File | None]:
    """The text of a recipe, what to call it, and the folder it is in if it is a file."""
    path = File(name_or_path)
    if _is_path(name_or_path) or path.is_file():
        if path.is_dir():
            inside = path / "recipe.yaml"
            more = t(": write {inside}", inside=inside) if inside.exists() else ""
            raise RecipeError(
                t("{path} is a folder, not a recipe{more}", path=path, more=more), LISTING
            )
        if not path.exists():
            near = meant(path.name, (f.name for f in path.parent.glob("*.y*ml")))
            raise RecipeError(
                t("no recipe file {path}.{near}", path=repr(str(path)), near=near), LISTING
            )
        if not path.is_file():  # a device has no end
            raise RecipeError(t("{path} is not a file, so no recipe", path=path), LISTING)
        try:
            return path.read_text(encoding="utf-8-sig"), str(path), path.parent
        except UnicodeDecodeError as error:
            raise RecipeError(
                t(
                    "{path} is not a recipe: byte {start} is not UTF-8",
                    path=path,
                    start=error.start,
                ),
                LISTING,
            ) from None
    file = find_recipe(name_or_path)
    if file is None:
        names = named_recipes()
        near = meant(name_or_path, names)
        by = t(" (extended by {extending})", extending=extending[-2]) if len(extending) > 1 else ""
        raise RecipeError(
            t(
                "no recipe {name_or_path}{by}.{near}",
                name_or_path=repr(name_or_path),
                by=by,
                near=near,
            ),
            t("regard recipes lists all {count}", count=len(names)),
        )
    try:
        return file.read_text(encoding="utf-8-sig"), f"recipe {name_or_path}", None
    except UnicodeDecodeError as error:
        raise RecipeError(
            t(
                "recipe {name_or_path} cannot be read: byte {start} is not UTF-8",
                name_or_path=name_or_path,
                start=error.start,
            ),
            LISTING,
        ) from None


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name or name.endswith((".yaml", ".yml"))
