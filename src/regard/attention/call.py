"""One attention with all that decides it: `attend`, `explain` and the modules build it, and run it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from torch import Generator, Tensor, is_autocast_enabled, is_grad_enabled
from torch.compiler import is_compiling

from regard.attention.argument_checks import check_bias, check_cap, check_sinks
from regard.attention.kernels.region.region_call import KernelCall
from regard.attention.limits import Limits
from regard.attention.normalizers import HardChoice, Normalizer, clear, usual_softmax
from regard.attention.paths import Computed, dense, run, taints
from regard.attention.plans.layout import BiasLayout, Layout
from regard.attention.plans.plan import Plan, choose
from regard.attention.region import Pattern
from regard.attention.regions import Fixed
from regard.attention.scores import Score
from regard.attention.shapes import broadcast, of_rank
from regard.attention.weights.asked_weights import Weights, check_asked
from regard.attention.weights.weight_tiles import summarised
from regard.suggestions import meant
from regard.words import t

if TYPE_CHECKING:
    from regard.attention.memory import Memory

P = ParamSpec("P")
R = TypeVar("R")


class Attended(NamedTuple):
    """What an attention gives. The weights are those used: after region and normaliser, before dropout."""

    context: Tensor  # (..., Lq, Dv)
    # a Tensor (..., Lq, Lk) if weights=True, a WeightSummary if weights=Weights(…): who calls, knows
    weights: Any | None = None
    choice: HardChoice | None = None  # what a hard attention picked


@dataclass(frozen=True)
class AttentionCall:
    """weights = normalize(score(query, key) + bias, where allowed);  context = (weights @ value) · gate

    Queries and keys are projected, and all tensors have as many axes: `AttentionCall.of` sees to it.
    """

    score: Score
    normalize: Normalizer
    query: Tensor  # (..., Lq, D)
    key: Tensor  # (..., Lk, D)
    value: Tensor  # (..., Lk, Dv)
    limits: Limits  # the region and the mask: which pairs are allowed
    bias: Tensor | None = None  # (..., Lq or 1, Lk)
    cap: float = 0.0  # of the scores, before the bias; 0: none
    sinks: Tensor | None = None  # (..., 1, 1)
    gate: Tensor | None = None  # broadcast to (..., Lq, Dv)
    state: Any = None  # what is carried from query to query: no mechanism has any yet
    dropout: float = 0.0  # 0 when not training
    training: bool = False
    weights: bool | Weights = False
    generator: Generator | None = None
    taint: Tensor | None = (
        None  # (..., Lq or 1): NaN for queries that may attend to what is not finite
    )
    asking: Tensor | None = (
        None  # (..., Lq or 1): which queries are no padding, where that is known
    )
    no_row_is_empty: bool = False  # the caller guarantees it
    memory: Memory | None = None  # of a module: where keys and values come from

    @classmethod
    def of(
        cls,
        score: Score,
        normalize: Normalizer,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        limits: Limits,
        *,
        bias: Tensor | None = None,
        cap: float | None = None,
        sinks: Tensor | None = None,
        dropout: float = 0.0,
        training: bool = False,
        weights: bool | Weights = False,
        **more: Any,
    ) -> AttentionCall:
        """A call with projected queries and keys of any ranks. `more`: the other fields, as they are."""
        if isinstance(dropout, str) or not 0.0 <= dropout < 1.0:
            raise ValueError(
                t("dropout must be at least 0 and below 1, not {dropout}", dropout=dropout)
            )
        if bias is not None:
            bias = check_bias(bias, query, key, value)
        if sinks is not None:
            sinks = check_sinks(sinks, query, key, value)
            if not usual_softmax(normalize):
                raise ValueError(
                    t(
                        "sinks stand in the sum of a softmax: {normalize} has no such sum",
                        normalize=repr(normalize),
                    )
                )
        given = (query, key, value, bias, limits.mask, limits.inside, limits.factor)
        rank = max(x.dim() for x in given if x is not None)
        limits.widen(rank)
        made = cls(
            score,
            normalize,
            of_rank(query, rank),
            of_rank(key, rank),
            of_rank(value, rank),
            limits,
            None if bias is None else of_rank(bias, rank),
            check_cap(cap),
            None if sinks is None else of_rank(sinks, rank),
            dropout=dropout if training else 0.0,
            training=training,
            weights=weights,
            **more,
        )
        if weights is not True and weights is not False:
            check_asked(weights, made)
        return made

    @property
    def lead(self) -> tuple[int, ...]:
        shapes = [x.shape[:-2] for x in (self.query, self.key, self.value)]
        if self.limits.mask is not None:
            shapes.append(self.limits.mask.shape[:-2])
        return broadcast(*shapes)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Of a path that is only taken when the region is a union of patterns."""
        assert self.limits.patterns is not None
        return tuple(self.limits.patterns)

    def layout(self) -> Layout:
        patterns, bias = self.limits.patterns, self.bias
        mask = "no" if self.limits.mask is None else "keys" if self.limits.by_key else "pairs"
        return Layout(
            lead=self.lead,
            queries=self.query.shape[-2],
            keys=self.key.shape[-2],
            size=self.key.shape[-1],
            value_size=self.value.shape[-1],
            dtype=self.query.dtype,
            device=self.query.device,
            patterns=None if patterns is None else tuple(patterns),
            masked=mask,
            masks=self._masks(),
            bias=None if bias is None else self._bias_layout(bias),
        )

    def _masks(self) -> int:
        """How many masks (Lq, Lk) region and mask are together: those of a region may differ by sequence."""
        shapes = [*self.limits.region.leads]
        if self.limits.mask is not None:
            shapes.append(self.limits.mask.shape[:-2])
        return math.prod(broadcast(*shapes)) if shapes else 1

    def _bias_layout(self, bias: Tensor) -> BiasLayout:
        autocast = is_autocast_enabled(bias.device.type)  # which gives the kernel all in one dtype
        dtype = self.query.dtype if autocast else bias.dtype
        return BiasLayout(bias.shape, dtype, bias.requires_grad and is_grad_enabled())

    @property
    def for_kernel(self) -> KernelCall | None:
        """As the kernels of a region take it; None: another path computes it. Found once."""
        if is_compiling():
            return KernelCall.of(self)
        kept = vars(self)
        if "_for_kernel" not in kept:
            kept["_for_kernel"] = KernelCall.of(self)
        return kept["_for_kernel"]

    def plan(self) -> Plan:
        """Which path computes it, why, and what that costs: from shapes and choices alone."""
        return choose(self, self.layout())

    def compute(self) -> Computed:
        """Context, weights and choice by the path of the plan."""
        return self._by(self.plan())

    def _by(self, plan: Plan) -> Computed:
        asked = isinstance(self.weights, Weights)
        return summarised(self, plan) if asked else run(plan, self)

    def run(self, plan: Plan | None = None, *, by_definition: bool = False) -> Attended:
        """The attention: a query that may attend to what is not finite becomes NaN, and no other.

        plan: its own, if it is there already. by_definition: without one, as where sizes are not known yet.
        """
        if plan is None and not by_definition:
            plan = self.plan()
        context, weights, choice = dense(self) if plan is None else self._by(plan)
        if self.taint is not None and not (plan is not None and taints(plan, self)):
            taint = self.taint[..., None].to(context.dtype)
            context = context + taint
            if isinstance(weights, Tensor):
                weights = clear(weights + taint, self.limits.allowed)
        if self.gate is not None:
            context = context * self.gate
        return Attended(context, weights, choice)

    def rearranged(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        pattern: Pattern,
        bias: Tensor | None,
    ) -> AttentionCall:
        """The same attention over rearranged tensors."""
        limits = Limits(Fixed(pattern), mask, query.shape[-2], key.shape[-2], query.device)
        sinks = self.sinks
        if sinks is not None and sinks.dim() > 2:
            sinks = sinks.unsqueeze(-4)  # where the parts have their axis
        return replace(
            self,
            query=query,
            key=key,
            value=value,
            limits=limits,
            bias=bias,
            sinks=sinks,
            taint=None,
        )


def takes_arguments_of(model: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """For a function that hands all its arguments on: they are written down where they are read."""

    def same(function: Callable[..., R]) -> Callable[P, R]:
        given = inspect.signature(function).return_annotation
        signature = inspect.signature(model).replace(return_annotation=given)
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    return same


def refusal(
    error: TypeError, name: str, model: Callable[..., Any], given: Any, choices: Any
) -> TypeError:
    """What is wrong with the arguments of `name`, which hands them to `model`; if nothing is, the error."""
    try:
        inspect.signature(model).bind(*given, **choices)
    except TypeError as wrong:
        taken = [option for option in inspect.signature(model).parameters if option != "self"]
        near = next((meant(option, taken) for option in choices if option not in taken), "")
        return TypeError(
            t(
                "{name}() {wrong}.{near} It takes {taken}",
                name=name,
                wrong=wrong,
                near=near,
                taken=", ".join(taken),
            )
        )
    return error
