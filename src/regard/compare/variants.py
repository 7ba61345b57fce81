"""The variants of a recipe: what is varied, and what runs along when attention is.

    plan("rnnsearch", vary=["model.attention.score=additive,bilinear", "training.clip=1.0,5.0"])

Nothing here needs torch. A key or a value that there is not is refused as `regard train` refuses it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.words import t

VARY = "as in --vary model.attention.score=additive,bilinear"
OPENING, CLOSING = "([{", ")]}"
PARTS = ("score", "region", "normalize", "pool")  # of an attention
PLAIN = re.compile(r"[^\W\d_][\w ().,-]*")  # a value that says what it is, unlike true or 0.5
LONGEST = 100  # bytes of a folder's name; a file system takes 255, and paths go on
JUDGED = "judged"  # the folder of judgements, beside those of variants
MOST_VARIANTS = 100  # where no more are asked for: every two of them are a pair
UNIFORM, WITHOUT = "uniform", "no attention"  # roles of the variants that run along


@dataclass(frozen=True)
class Variant:
    name: str
    recipe: Recipe
    changes: Mapping[str, str] = field(
        default_factory=dict
    )  # the keys that vary, as they were given; of one that runs along, in what it is not the recipe
    role: str = ""  # of one that runs along

    @property
    def folder(self) -> str:
        """Its name as a path; of a very long one the beginning, and a digest of all of it."""
        name = re.sub(r"[^\w.=+-]+", "-", self.name).strip("-.") or "variant"
        if len(name.encode()) <= LONGEST:
            return name
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:12]
        kept = name.encode()[: LONGEST - len(digest) - 1].decode(errors="ignore")
        return f"{kept.rstrip('-.')}-{digest}"


@dataclass(frozen=True)
class VariantPlan:
    """What is to be trained, without the seeds."""

    recipe: Recipe  # that nothing was varied in yet
    variants: Sequence[Variant]
    notes: Sequence[str] = ()  # what could not run along, and why


def plan(
    recipe: str, words: Sequence[str] = (), *, vary: Sequence[str], most: int = MOST_VARIANTS
) -> VariantPlan:
    """Every combination of the values, with the attentions to measure them by if attention is varied.

    More combinations than `most` are refused.
    """
    usual = () if _given("training.paired", words) else ("training.paired=true",)
    words = [*words, *usual]
    choices = dict(map(_choices, vary))
    if len(choices) < len(vary):
        raise RecipeError(t("a key is varied twice: name all its values at once"), VARY)
    if (count := math.prod(map(len, choices.values()))) > most:
        raise RecipeError(
            t(
                "--vary makes {count} variants, more than {most}: that is {comb} pairs to tell "
                "apart, and several trainings of each",
                count=f"{count:,}",
                most=f"{most:,}",
                comb=f"{math.comb(count, 2):,}",
            ),
            t("name fewer values, or allow it with --most-variants {count}", count=count),
        )
    base = read_recipe(recipe, words)
    variants = []
    for values in product(*choices.values()):
        changes = dict(zip(choices, values, strict=True))
        made = read_recipe(recipe, [*words, *(f"{key}={value}" for key, value in changes.items())])
        variants.append(Variant(variant_name(changes), made, changes))
    _check_differ(variants)
    if len(variants) < 2:
        raise RecipeError(t("there is one variant: vary a key by two values or more"), VARY)
    variants, notes = _with_baselines(base, choices, variants)
    return VariantPlan(base, _distinct(variants), notes)


def variant_name(changes: Mapping[str, str]) -> str:
    """The values, with their keys where a value alone says nothing."""
    lost = ("true", "false", "null", "none")
    said = (
        value
        if PLAIN.fullmatch(value) and value.lower() not in lost
        else f"{key.rpartition('.')[2]}={value}"
        for key, value in changes.items()
    )
    return ", ".join(said)


def split_values(text: str) -> list[str]:
    """`a,b(1, 2),[c,d]` at the commas outside of brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        depth += (letter in OPENING) - (letter in CLOSING) if not quote else 0
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _choices(given: str) -> tuple[str, list[str]]:
    key, equals, text = given.partition("=")
    values = split_values(text)
    if not equals or not key.strip() or not all(values):
        raise RecipeError(t("--vary {given} is not key=value,value", given=repr(given)), VARY)
    if key.strip() == "seed":
        raise RecipeError(t("seed is not varied: every variant has the same seeds"), "--seeds N")
    if len(set(values)) < len(values):
        raise RecipeError(t("--vary {given} names a value twice", given=repr(given)), VARY)
    return key.strip(), values


def _check_differ(variants: Sequence[Variant]) -> None:
    """Refuse one value in two spellings, 0.1 and 1e-1."""
    seen: dict[str, Variant] = {}
    for each in variants:
        before = seen.setdefault(repr(each.recipe.model_dump(mode="json")), each)
        if before is not each:
            one, other = (
                ", ".join(f"{key}={value}" for key, value in variant.changes.items())
                for variant in (before, each)
            )
            raise RecipeError(
                t("--vary: {one} and {other} are the same variant", one=one, other=other),
                t("name it once"),
            )


def _given(key: str, words: Sequence[str]) -> bool:
    return any(word.partition("=")[0].strip() == key for word in words)


def _with_baselines(
    base: Recipe, choices: Mapping[str, Sequence[str]], variants: Sequence[Variant]
) -> tuple[list[Variant], list[str]]:
    """With uniform weights and no attention, for every attention that is varied; and why not."""
    found, notes = [_pooled_without(each, choices) for each in variants], list[str]()
    attending = any(not each.role for each in found)
    sections = list(dict.fromkeys(filter(None, (_section(key, base) for key in choices))))
    sections = sections if attending else []
    for section in sections:
        beside = f" of {section}" if len(sections) > 1 else ""
        along = {
            UNIFORM: base.model.uniform_attention(section),
            WITHOUT: base.model.without_attention(section),
        }
        for role, model in along.items():
            if model is None:
                if not any(each.role == role for each in found):
                    notes.append(_missing(role, base, section))
                continue
            recipe = replaced(base, model=model)
            same = [n for n, each in enumerate(found) if each.recipe.model == recipe.model]
            for number in same:  # it was asked for
                found[number] = replace(found[number], role=role)
            if not same:
                found.append(Variant(f"{role}{beside}", recipe, _changed(base, recipe), role))
    return found, notes


def _changed(base: Recipe, recipe: Recipe) -> dict[str, str]:
    """What the model of a variant has that the recipe has not, as it would be written on a command line."""
    before, now = (dict(_flat(each.model.model_dump(mode="json"))) for each in (base, recipe))
    return {
        f"model.{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in now.items()
        if key not in before or before[key] != value
    }


def _flat(value: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    for name, part in value.items():
        if isinstance(part, Mapping) and part:
            yield from _flat(part, f"{within}{name}.")
        else:
            yield f"{within}{name}", part


def _section(key: str, base: Recipe) -> str:
    """The option of a model that says how it attends, if the key is in one."""
    path = key.split(".")
    if path[0] != "model" or len(path) < 2:
        return ""
    if path[1] in base.model.attends_by:
        return base.model.attends_by[path[1]]
    if path[1] in PARTS:  # it stands beside the attention that it is of
        return "attention" if path[1] != "pool" and hasattr(base.model, "attention") else path[1]
    return path[1] if "attention" in path[1] and "dropout" not in path[1] else ""


def _pooled_without(variant: Variant, choices: Mapping[str, Sequence[str]]) -> Variant:
    """With its role, where pooling is varied and this one pools without attention."""
    pool = getattr(variant.recipe.model, "pool", "attention")
    if "model.pool" not in choices or pool == "attention":
        return variant
    return replace(variant, role=UNIFORM if pool == "mean" else WITHOUT)


def _missing(role: str, base: Recipe, section: str) -> str:
    known = {"kind": base.model.kind, "section": section}
    if role == UNIFORM:
        return t("{kind} has no uniform weights to choose for {section}", **known)
    return t("{kind} cannot do without {section}", **known)


def replaced(recipe: Recipe, **sections: Any) -> Recipe:
    """The recipe with other sections or values, checked again."""
    return Recipe.model_validate(recipe.model_copy(update=sections).model_dump(mode="json"))


def _distinct(variants: Sequence[Variant]) -> list[Variant]:
    """Names that are folders of their own, in any spelling, beside what else stands there."""
    taken, found = {JUDGED}, list[Variant]()
    for each in variants:
        own, number = each, 1
        while (key := _spelt(own.folder)) in taken:
            number += 1
            own = replace(each, name=f"{each.name} ({number})")
        taken.add(key)
        found.append(own)
    return found


def _spelt(folder: str) -> str:
    """The same for all that a disk may take for one name."""
    return unicodedata.normalize("NFC", folder).casefold()
