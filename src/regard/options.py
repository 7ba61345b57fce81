"""Options, each declared once: its type, its default and a line of help. Nothing here needs torch.

A section of a recipe, its JSON schema, its table in the docs and the constructor of a network all read
the same declaration. Numbers are numbers, not true or '3', and have bounds far beyond what anybody
trains: what is past them is a slip, which would otherwise end in an abort of the process, or never.

    class Mine(ModelOptions):  # model.kind=my_package.models:Mine
        task: ClassVar[str] = "classify"
        size: Width = Field(128, description="features of a token")

        def build(self, sizes: Mapping[str, Any]) -> nn.Module:
            from my_package.networks import Network  # torch is imported here, not above

            return Network(sizes["text"], sizes["label"], self.size)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticKnownError

from regard.encoder_names import encoder_of
from regard.option_errors import refused_options
from regard.terms import OPTIONS, choice_of
from regard.words import t

if TYPE_CHECKING:
    from torch import nn


def _is_number(value: Any) -> Any:
    """1e3 is a whole number too, so `Strict` would be too strict."""
    if isinstance(value, bool | str):
        raise PydanticKnownError("int_type")
    return value


Whole = Annotated[int, BeforeValidator(_is_number)]
Count = Annotated[Whole, Field(gt=0, le=10**12)]  # of what happens one after the other
CountOrZero = Annotated[Whole, Field(ge=0, le=10**12)]
Width = Annotated[Whole, Field(gt=0, le=1 << 16)]  # features
Few = Annotated[Whole, Field(gt=0, le=1_000)]  # of what stands side by side: layers, heads, beams
Length = Annotated[Whole, Field(gt=0, le=1_000_000)]  # tokens or sentences

Real = Annotated[float, Strict()]
Positive = Annotated[Real, Field(gt=0.0)]
NotNegative = Annotated[Real, Field(ge=0.0)]
Share = Annotated[Real, Field(ge=0.0, le=1.0)]
Rate = Annotated[Real, Field(ge=0.0, lt=1.0)]
InnerShare = Annotated[Real, Field(gt=0.0, lt=1.0)]


class Options(BaseModel):
    """Options that belong together: unknown names are refused, and nothing changes later."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False
    )

    @model_validator(mode="before")
    @classmethod
    def _in_our_words(cls, values: Any) -> Any:
        """The names that the field has for the choices of an option: pool=average."""
        if not isinstance(values, dict):
            return values
        owner = values.get("kind") or getattr(cls.model_fields.get("kind"), "default", "")
        changed: dict[str, str] = {}
        for name in OPTIONS.keys() & values.keys() & cls.model_fields.keys():
            choices, value = cls.model_fields[name].annotation, values[name]
            if get_origin(choices) is Literal and isinstance(value, str):
                allowed = get_args(choices)
                if value in allowed:
                    continue
                ours = choice_of(value, name, allowed, str(owner))
                if ours is None and name == "encoder":
                    ours = encoder_of(value, allowed)
                changed |= {name: ours} if ours else {}
        return {**values, **changed} if changed else values

    @classmethod
    def of(cls, options: Self | None, changes: Mapping[str, Any]) -> Self:
        """`options`, or the defaults, with changes; a mistake in them is a ValueError of one line.

        Options that are derived from these stay what they are.
        """
        made = type(options) if isinstance(options, cls) else cls
        try:
            return made.model_validate({**dict(options or cls()), **changes})
        except ValidationError as error:
            raise ValueError(refused_options(error, made.model_fields)) from None


class OptionsOfKind(Options):
    """Options that differ from kind to kind; what declares no kind is known by its place in Python."""

    kind: str = Field("", description="which: a name, or package.module:Name")

    @model_validator(mode="before")
    @classmethod
    def _named_by_its_place(cls, values: Any) -> Any:
        if isinstance(values, dict) and "kind" not in values and not cls.usual_kind():
            return {"kind": f"{cls.__module__}:{cls.__qualname__}", **values}
        return values

    @classmethod
    def usual_kind(cls) -> str:
        """The kind that the class declares, if it does."""
        return str(cls.model_fields["kind"].default)


class ModelOptions(OptionsOfKind):
    """A kind of model: what can be chosen about it, and how it is built."""

    task: ClassVar[str] = "translate"  # the kind of task it is for
    attends_by: ClassVar[
        Mapping[str, str]
    ] = {}  # options that say how it attends, and which attention

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        """The network. sizes: by field of the task, its vocabulary or its number of labels.

        translate: source, target; classify: text, label; language and masked: text;
        match: first, second, and label or number.
        """
        raise NotImplementedError(
            t("{kind} does not say how it is built", kind=type(self).__name__)
        )

    def uniform_attention(self, section: str) -> ModelOptions | None:
        """The same model that looks everywhere alike, if it can.

        `regard compare` trains it beside the others, to tell whether it matters where a model looks. Where
        that option has a normaliser, it is `uniform`; where it is a word, it may be "uniform" or "mean".
        """
        given = getattr(self, section, None)
        if "normalize" in getattr(type(given), "model_fields", {}):
            return self.model_copy(
                update={section: given.model_copy(update={"normalize": "uniform"})}  # type: ignore[union-attr]
            )
        return self._first_valid(section, ("uniform", "mean") if isinstance(given, str) else ())

    def without_attention(self, section: str) -> ModelOptions | None:
        """The same model without the attention that these options have under a name, if it can do without.

        `regard compare` trains it beside the others, to tell whether attention helps at all. Where that
        option may be None, "none" or "last", this is it.
        """
        return self._first_valid(section, (None, "none", "last"))

    def _first_valid(self, name: str, values: Sequence[Any]) -> ModelOptions | None:
        for value in values:
            try:
                return type(self).model_validate({**dict(self), name: value})
            except ValidationError:
                continue
        return None


class TaskOptions(OptionsOfKind):
    """A kind of task: what can be chosen about it, and what does it."""

    metrics: ClassVar[tuple[str, ...]] = ("loss",)  # for training.metric, the usual one first
    errors: ClassVar[
        tuple[str, ...]
    ] = ()  # those of them, beside the loss, that are better when smaller
    models: ClassVar[str] = ""  # the kind of task whose models it takes, if it has none of its own

    @property
    def own_metrics(self) -> tuple[str, ...]:
        """Those of `metrics` that these options have, the usual one first."""
        return self.metrics

    def check_model(self, model: ModelOptions) -> None:
        """A ValueError says why a model of this kind cannot be used with these options."""

    def task(self, recipe: Any) -> Any:
        """What a run needs of the task, for this recipe."""
        raise NotImplementedError(t("{kind} does not say what does it", kind=type(self).__name__))
