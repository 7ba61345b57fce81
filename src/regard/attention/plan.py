"""Which path computes an attention, what it costs, and why: decided from shapes and choices alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch

from regard.attention.kernels import additive
from regard.attention.normalizers import Normalizer, Softmax
from regard.attention.region import Pattern
from regard.attention.scores import Additive, DotLike, Score

SMALLEST_TEMPERATURE = 1e-6  # below this, scale / temperature could overflow a fused kernel
LARGEST_TEMPERATURE = 1e6  # above it the scale would be 0, and 0 · -inf is NaN
KEPT = 64 * 2**20  # bytes of additive scores up to which keeping them beats computing them twice


@dataclass(frozen=True)
class Case:
    """Everything that decides how an attention is computed."""

    score: Score
    normalize: Normalizer
    lead: tuple[int, ...]
    queries: int
    keys: int
    size: int  # of the projected queries and keys
    value_size: int
    dtype: torch.dtype
    device: torch.device
    patterns: tuple[Pattern, ...] | None = (
        Pattern(),
    )  # None: a region that is no union of patterns
    masked: str = "no"  # "no", "keys" (the same for every query) or "pairs"
    masks: int = 1  # how many masks (queries, keys) there are
    soft_region: bool = False  # a predicted window
    weights: bool = False
    dropout: float = 0.0
    generator: bool = False

    @property
    def scores(self) -> int:
        """Bytes of all the scores."""
        each = max(torch.finfo(self.dtype).bits // 8, 4)
        return math.prod(self.lead) * self.queries * self.keys * each

    @property
    def pattern(self) -> Pattern | None:
        """The one pattern that the region is, if it is one."""
        return self.patterns[0] if self.patterns is not None and len(self.patterns) == 1 else None

    def strided(self, pattern: Pattern) -> Case:
        """What is left to do once queries and keys are dealt out `rate` ways."""
        rate = pattern.rate
        return replace(
            self,
            lead=(*self.lead, rate),
            queries=-(-self.queries // rate),
            keys=-(-self.keys // rate),
            patterns=(pattern.strided(),),
            masked="keys" if self.masked == "keys" or self.keys % rate else "no",
        )

    def blocked(self, pattern: Pattern) -> Case:
        """What is left to do once the band is cut into blocks of queries and the keys they see."""
        size = block_size(pattern)
        return replace(
            self,
            lead=(*self.lead, -(-self.queries // size)),
            queries=size,
            keys=size + int(pattern.before + pattern.after),
            patterns=(Pattern(),),
            masked="pairs",
            masks=-(-self.queries // size),
        )


@dataclass(frozen=True)
class Plan:
    """The path that runs, why, and what it costs: `print(regard.explain(...))`."""

    path: str
    why: str
    case: Case
    inner: Plan | None = None

    @property
    def pairs(self) -> int:
        """How many scores are computed."""
        if self.inner is not None:
            return self.inner.pairs
        rows = 1 if self.path == "one-row" else self.case.queries
        if self.path == "sparse":
            near, far = sparse_parts(self.case)
            return math.prod(self.case.lead) * self.case.queries * (near.keys + far.keys)
        return math.prod(self.case.lead) * rows * self._seen()

    def _seen(self) -> int:
        """Keys that a query is paired with: a kernel that knows the band skips the rest."""
        pattern, keys = self.case.pattern, self.case.keys
        if self.path != "additive-fused" or pattern is None:
            return keys
        before, after = (min(side, keys / 2) for side in (pattern.before, pattern.after))
        return min(keys, math.ceil(before + after + 1))

    @property
    def flops(self) -> int:
        """Floating-point operations of the forward pass, without the projections."""
        # of one feature of a pair: a product and a sum; or a sum, a tanh, a product and a sum
        each = 2 if isinstance(self.case.score, DotLike) else 4
        return self.pairs * (each * self.case.size + 2 * self.case.value_size)

    @property
    def stored(self) -> int:
        """Bytes of scores or of their mask at one time: 0 where a kernel keeps them in its tiles."""
        if self.inner is not None:
            return self.inner.stored
        if self.path == "additive-fused":
            return 0
        if self.path == "sdpa":
            built_in = self.case.masked != "pairs" and self.case.patterns in (
                (Pattern(),),
                (Pattern(after=0),),
            )
            return 0 if built_in else self.case.masks * self.case.queries * self.case.keys
        return self.pairs * max(torch.finfo(self.case.dtype).bits // 8, 4)

    @property
    def holds(self) -> str:
        """What `stored` is made of."""
        return "mask" if self.path == "sdpa" and self.stored else "scores"

    def __str__(self) -> str:
        case = self.case
        dense = math.prod(case.lead) * case.queries * case.keys
        share = f" of {dense:,} (1/{dense / self.pairs:.3g})" if 0 < self.pairs < dense else ""
        lines = [f"{self.path}: {self.why}"]
        last = self
        while last.inner is not None:
            last = last.inner
            lines.append(f"  then {last.path}: {last.why}")
        lines.append(f"  pairs    {self.pairs:,}{share}")
        lines.append(f"  forward  {_amount(self.flops, 'FLOP', 1000)}")
        lines.append(f"  memory   {_amount(self.stored, 'B', 1024)} of {last.holds} at one time")
        return "\n".join(lines)


def choose(case: Case) -> Plan:
    """The path for this case. The first reason that holds decides; nothing falls back silently."""

    def plan(path: str, why: str, inner: Case | None = None) -> Plan:
        return Plan(path, why, case, None if inner is None else choose(inner))

    if 0 in (case.queries, case.keys, case.size, case.value_size, *case.lead):
        return plan("dense", "there is nothing to attend to, or nobody to do it")
    if case.weights:
        return plan(
            "dense", f"the weights were asked for, and only this path keeps them{_how(case)}"
        )
    if case.soft_region:
        return plan("dense", f"a predicted window weighs the keys after the softmax{_how(case)}")
    if case.normalize.random:
        return plan(
            "dense", f"{type(case.normalize).__name__} needs the weights to choose{_how(case)}"
        )
    if cancels(case):
        return plan(
            "one-row", "the query cancels in this score, so all queries share one row of weights"
        )
    if (pattern := case.pattern) is not None and case.masked != "pairs":
        if pattern.rate > 1 and pattern.offset % pattern.rate == 0:
            rate = pattern.rate
            why = f"one key in {rate} is allowed: queries and keys are dealt out {rate} ways"
            return plan("strided", why, case.strided(pattern))
        if pays_in_blocks(case, pattern):
            why = f"a query sees at most {int(pattern.before + pattern.after) + 1} of {case.keys} keys"
            return plan("blocks", why, case.blocked(pattern))
    if sparse_pays(case):
        near, far = sparse_parts(case)
        return plan(
            "sparse", f"a query sees at most {near.keys} near keys and {far.keys} spread ones"
        )
    if fits_sdpa(case):
        return plan(
            "sdpa", f"{type(case.score).__name__} is a dot product and nobody asked for the weights"
        )
    if fits_fused_additive(case):
        kernel = additive.backend(case.device)
        return plan("additive-fused", f"online softmax in the {kernel} kernel; O(L) memory")
    if (
        isinstance(case.score, Additive)
        and case.dtype != torch.float64
        and case.normalize.needs_scores
    ):
        return plan("additive", f"{_source(case)}; {_why_dense(case)}")
    return plan("dense", _why_dense(case) + _how(case))


def cancels(case: Case) -> bool:
    """Whether every query has the same weights, whatever it is."""
    return (
        case.score.query_cancels
        and case.normalize.shift_invariant
        and case.normalize.needs_scores
        and case.patterns == (Pattern(),)
        and case.masked != "pairs"
        and case.queries > 1
        and not case.dropout  # which each query draws for itself
    )


def fits_sdpa(case: Case) -> bool:
    return (
        isinstance(case.score, DotLike)
        and _usual_softmax(case)
        and case.dtype != torch.float64
        and not (case.dropout and case.generator)
    )


def fits_fused_additive(case: Case) -> bool:
    return (
        isinstance(case.score, Additive)
        and _usual_softmax(case)
        and case.dtype != torch.float64
        and not case.dropout
        and case.pattern is not None
        and case.pattern.rate == 1
        and case.scores > KEPT
    )


def _usual_softmax(case: Case) -> bool:
    """A softmax whose temperature a fused kernel can take into its scale."""
    return (
        isinstance(case.normalize, Softmax)
        and SMALLEST_TEMPERATURE <= case.normalize.temperature <= LARGEST_TEMPERATURE
    )


def block_size(pattern: Pattern) -> int:
    """Blocks half as long as the band is wide: two thirds of the work inside one is then of use."""
    return max(32, -(-int(pattern.before + pattern.after) // 64) * 32)


def pays_in_blocks(case: Case, pattern: Pattern) -> bool:
    if pattern.rate != 1 or math.inf in (pattern.before, pattern.after):
        return False
    if fits_fused_additive(case):  # its kernel skips what lies outside the band by itself
        return False
    size = block_size(pattern)
    few = 2 * (size + pattern.before + pattern.after) <= case.keys
    return case.queries > size and few and _meets_keys(case, pattern)


def _meets_keys(case: Case, pattern: Pattern) -> bool:
    """Whether the queries stand near enough for the spans of their blocks to hold a key."""
    first, last = pattern.offset - pattern.before, pattern.offset + case.queries + pattern.after
    return first <= case.keys and last >= 0


def sparse_parts(case: Case) -> tuple[Case, Case]:
    """The near band in blocks, and the spread keys dealt out by the rate."""
    assert case.patterns is not None
    near, far = case.patterns
    return case.blocked(near), case.strided(far)


def sparse_pays(case: Case) -> bool:
    if case.patterns is None or len(case.patterns) != 2 or case.masked == "pairs":
        return False
    near, far = case.patterns
    if near.rate != 1 or math.inf in (near.before, near.after) or far.offset % far.rate:
        return False
    if not _meets_keys(case, near):
        return False
    blocks, strides = sparse_parts(case)
    return far.rate > 1 and 2 * (blocks.keys + strides.keys) <= case.keys


def _how(case: Case) -> str:
    needed = isinstance(case.score, Additive) and case.normalize.needs_scores
    return f"; {_source(case)}" if needed else ""


def _source(case: Case) -> str:
    """Where additive scores come from."""
    rows = math.prod(case.lead)
    kernel = additive.backend(case.device, (rows, case.queries, case.keys, case.size))
    return f"{'torch' if kernel == 'torch' else f'the {kernel} kernel'} gives the scores"


def _why_dense(case: Case) -> str:
    if not isinstance(case.normalize, Softmax):
        return f"{type(case.normalize).__name__} has no fused kernel"
    if case.dtype == torch.float64:
        return "float64 runs on the definition, which can be differentiated twice"
    if not _usual_softmax(case):
        return f"a temperature of {case.normalize.temperature:g} needs the scores shifted first"
    if case.dropout and isinstance(case.score, DotLike):
        return "dropout drawn from a generator of your own"
    if case.dropout:
        return "dropout acts on the weights"
    if isinstance(case.score, Additive):
        few = f"{_amount(case.scores, 'B', 1024)} are kept for the gradient"
        return few if case.scores <= KEPT else "this region is no band of keys"
    return f"{type(case.score).__name__} has no fused kernel"


def _amount(number: float, unit: str, step: int) -> str:
    if isinstance(number, torch.SymInt):  # of a graph for every size
        return f"{number} {unit}"
    for prefix in ("", "k", "M", "G", "T"):
        if number < step or prefix == "T":
            return f"{number:.3g} {prefix}{unit}"
        number /= step
    raise AssertionError
