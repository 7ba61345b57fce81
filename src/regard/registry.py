"""Where every kind of task, model and field is declared: one line each. Only what is named is imported.

A kind is one of ours, an entry point of another package (groups regard.tasks, regard.models, regard.fields),
or `package.module:Name`, the place of a class: of options, or of a field.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Literal, overload

from regard import plugins
from regard.suggestions import meant
from regard.words import t

if TYPE_CHECKING:
    from regard.data.fields import Field
    from regard.options import ModelOptions, TaskOptions

Group = Literal["tasks", "models"]

# The first model of a task is its usual one.
BUILT_IN: dict[Group, dict[str, str]] = {
    "tasks": {
        "translate": "regard.tasks.translate.translate_options:TranslateOptions",
        "summarise": "regard.tasks.summarise.summarise_options:SummariseOptions",
        "joint": "regard.tasks.joint.joint_options:JointOptions",
        "classify": "regard.tasks.classify.classify_options:ClassifyOptions",
        "language": "regard.tasks.language.language_options:LanguageOptions",
        "masked": "regard.tasks.masked.masked_options:MaskedOptions",
        "tag": "regard.tasks.tag.tag_options:TagOptions",
        "match": "regard.tasks.match.match_options:MatchOptions",
        "read": "regard.tasks.read.read_options:ReadOptions",
        "cloze": "regard.tasks.cloze.cloze_options:ClozeOptions",
        "embed": "regard.tasks.embed.embed_options:EmbedOptions",
        "see": "regard.tasks.see.see_options:SeeOptions",
        "paint": "regard.tasks.paint.paint_options:PaintOptions",
        "caption": "regard.tasks.caption.caption_options:CaptionOptions",
        "visit": "regard.tasks.visit.visit_task_options:VisitTaskOptions",
    },
    "models": {
        "rnnsearch": "regard.models.recurrent_options:RnnSearch",
        "rnnenc": "regard.models.recurrent_options:RnnEnc",
        "luong": "regard.models.recurrent_options:Luong",
        "tutorial": "regard.models.recurrent_options:Tutorial",
        "recurrent": "regard.models.recurrent_options:RecurrentTranslator",
        "hierarchical": "regard.models.documents.hierarchical_options:HierarchicalTranslator",
        "abs": "regard.models.summarisers.abs_options:Abs",
        "pointer-generator": "regard.models.summarisers.pointer_options:PointerGenerator",
        "meng": "regard.models.joint.meng_options:Meng",
        "transformer": "regard.models.transformer_options:Transformer",
        "transformer-classifier": "regard.models.transformer_options:TransformerClassifier",
        "transformer-language": "regard.models.transformer_options:TransformerLanguage",
        "transformer-masked": "regard.models.transformer_options:TransformerMasked",
        "bare-classifier": "regard.models.bare_options:BareClassifier",
        "recurrent-classifier": "regard.models.recurrent_options:RecurrentClassifier",
        "classifier": "regard.models.classifiers.classifier_options:Classifier",
        "lin": "regard.models.classifiers.classifier_options:Lin",
        "han": "regard.models.classifiers.classifier_options:Han",
        "apcnn": "regard.models.classifiers.classifier_options:Apcnn",
        "self-attentive": "regard.models.classifiers.classifier_options:SelfAttentive",
        "recurrent-language": "regard.models.recurrent_options:RecurrentLanguage",
        "recurrent-tagger": "regard.models.tagger_options:RecurrentTagger",
        "transformer-tagger": "regard.models.tagger_options:TransformerTagger",
        "abcnn": "regard.models.pairs.pair_options:Abcnn",
        "bcnn": "regard.models.pairs.pair_options:Bcnn",
        "self-attentive-pair": "regard.models.pairs.pair_options:SelfAttentivePair",
        "bag-of-words-pair": "regard.models.pairs.pair_options:BagOfWordsPair",
        "reader": "regard.models.reader_options:Reader",
        "deep-lstm-reader": "regard.models.reader_options:DeepLstmReader",
        "cbow": "regard.models.embedding.embedding_options:Cbow",
        "skip-gram": "regard.models.embedding.embedding_options:SkipGram",
        "ram": "regard.models.seeing.ram_options:RamOptions",
        "ws-ram": "regard.models.seeing.ws_ram_options:WsRamOptions",
        "stn": "regard.models.seeing.stn_options:StnOptions",
        "window-reader": "regard.models.seeing.window_reader_options:WindowReaderOptions",
        "cnn": "regard.models.seeing.cnn_options:CnnOptions",
        "patches": "regard.models.seeing.patch_options:PatchOptions",
        "draw": "regard.models.seeing.draw_options:DrawOptions",
        "show-attend-tell": "regard.models.captions.captioner_options:ShowAttendTell",
        "one-to-many": "regard.models.tellers.one_to_many_options:OneToMany",
        "st-rnn": "regard.models.visits.visit_options:StRnn",
        "visit-attention": "regard.models.visits.visit_options:VisitAttention",
        "visit-rnn": "regard.models.visits.visit_options:VisitRnn",
        "visit-factors": "regard.models.visits.visit_options:VisitFactors",
        "visit-counts": "regard.models.visits.visit_options:VisitCounts",
    },
}
FIELDS = ("Text", "Words", "Label", "Labels", "Document", "Image", "Numbers", "Choice", "Span")
PLACES = "package.module:Name is the place of a class"
# What the class of a kind is derived from, in regard.options, and the method that it must have.
BASES: dict[Group, tuple[str, str]] = {
    "tasks": ("TaskOptions", "task"),
    "models": ("ModelOptions", "build"),
}


class KindError(plugins.UnusableName):
    """A kind that cannot be used, in one line."""


class UnknownKind(KindError):
    """No kind has that name."""


def kinds(group: Group) -> tuple[str, ...]:
    """The names of a group, ours first. Nothing is imported."""
    return tuple(dict.fromkeys([*BUILT_IN[group], *plugins.names(f"regard.{group}")]))


@overload
def find(group: Literal["tasks"], kind: str) -> type[TaskOptions]: ...
@overload
def find(group: Literal["models"], kind: str) -> type[ModelOptions]: ...
def find(group: Group, kind: str) -> type[Any]:
    """The options of a kind, imported now; KindError says in one line why there are none."""
    return _checked(_named(f"regard.{group}", kind, BUILT_IN[group]), group, kind)


def field_names() -> tuple[str, ...]:
    """The names of fields, ours first. Nothing is imported."""
    return tuple(dict.fromkeys([*FIELDS, *plugins.names("regard.fields")]))


def find_field(name: str) -> type[Field]:
    """The class of a field, for a task whose options name it; KindError says in one line what is wrong."""
    ours = {each: f"regard.data.fields:{each}" for each in FIELDS}
    found = _named("regard.fields", name, ours)
    base = class_at("regard.data.fields:Field")
    if not (isinstance(found, type) and issubclass(found, base)):
        said = _named_so("regard.fields", name, FIELDS)
        raise KindError(t("{said} is no class derived from regard.data.fields.Field", said=said))
    return found


def _named(entry_points: str, name: str, ours: dict[str, str]) -> Any:
    """What a name stands for: one of ours, an entry point, or a place. Ours cannot be replaced."""
    brought = plugins.names(entry_points)
    if name in ours:
        if name in brought:
            warnings.warn(
                f"{name!r} is regard's own: that of another package ({entry_points}) is not used",
                stacklevel=3,
            )
        return class_at(ours[name])
    if name in brought:
        try:
            return plugins.load(entry_points, name)
        except plugins.BrokenPlugin as error:
            raise KindError(str(error), error.hint) from error
    if ":" in name:
        return class_at(name)
    known = tuple(dict.fromkeys([*ours, *brought]))
    group = entry_points.removeprefix("regard.")
    raise UnknownKind(
        t(
            "no kind {name} among {group}.{meant} There are {known}",
            name=repr(name),
            group=group,
            meant=meant(name, known),
            known=known,
        ),
        needs=(group.removesuffix("s"), name),
    )


def models_for(task: str) -> list[str]:
    """The kinds of model for a kind of task, the usual one first.

    Ours; other packages' are imported, to ask them, where there is none of ours.
    """
    theirs = _lender(task)
    ours = [kind for kind in BUILT_IN["models"] if find("models", kind).task in (task, theirs)]
    return ours or [kind for kind in plugins.names("regard.models") if _suits(kind, task)]


def is_for(model: type[ModelOptions], task: str) -> bool:
    """Whether a model is for a task, which may have two names: an entry point and its place.

    Of a task at a place, a name that is no entry point is that of its class: word-tags of WordTags.
    """
    if model.task in (task, _lender(task)):
        return True
    if {model.task, task} <= set(BUILT_IN["tasks"]):
        return False
    try:
        return find("tasks", model.task) is find("tasks", task)
    except UnknownKind:
        return ":" in task and model.task == _hyphened(task.rpartition(":")[2])
    except KindError:
        return False


def _hyphened(name: str) -> str:
    """word-tags of WordTags"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def _lender(task: str) -> str:
    """The task whose models this one takes; empty if it has its own."""
    try:
        return find("tasks", task).models
    except KindError:  # whoever names it is told
        return ""


def _suits(kind: str, task: str) -> bool:
    try:
        return is_for(find("models", kind), task)
    except KindError:  # whoever names it is told
        return False


def class_at(place: str) -> Any:
    """What stands at `package.module:Name`."""
    module_name, _, name = place.partition(":")
    try:
        module = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a stranger's module does when it is imported
        if isinstance(error, ModuleNotFoundError) and _is_within(error.name, module_name):
            missing = t("no module {name}, so no {place}", name=repr(error.name), place=repr(place))
            if "." in str(error.name):  # the package around it is here
                raise KindError(missing, PLACES) from error
            raise KindError(
                t("{missing}: its package is not installed", missing=missing),
                plugins.INSTALL,
                needs=("module", str(error.name)),
            ) from error
        why = " ".join(f"{type(error).__name__}: {error}".split())
        hint = t("python -c 'import {module_name}' shows where it fails", module_name=module_name)
        raise KindError(
            t("{module_name} cannot be imported: {why}", module_name=module_name, why=why), hint
        ) from error
    if not hasattr(module, name):
        near = meant(name, [n for n, value in vars(module).items() if isinstance(value, type)])
        raise KindError(
            t(
                "{module_name} has no {name}.{near}",
                module_name=module_name,
                name=repr(name),
                near=near,
            ),
            PLACES,
        )
    return getattr(module, name)


def _is_within(missing: str | None, module: str) -> bool:
    """Whether it is the module itself, or a package it is in, that is missing."""
    return f"{module}.".startswith(f"{missing}.")


def _checked(found: object, group: Group, kind: str) -> Any:
    from regard import options  # pydantic, which a list of kinds does not wait for

    name, method = BASES[group]
    base = getattr(options, name)
    said = _named_so(f"regard.{group}", kind, BUILT_IN[group])
    if not (isinstance(found, type) and issubclass(found, base)):
        raise KindError(
            t("{said} is no class derived from regard.options.{name}", said=said, name=name)
        )
    if getattr(found, method) is getattr(base, method):
        raise KindError(
            t("{said} has no method {method} of its own", said=said, method=repr(method))
        )
    return found


def _named_so(entry_points: str, name: str, ours: Collection[str]) -> str:
    """Who is to blame, as the beginning of a sentence: a package, or the name itself."""
    if name in ours or name not in plugins.names(entry_points):
        return repr(name)
    return t("{origin} cannot be used: it", origin=plugins.origin(entry_points, name))
