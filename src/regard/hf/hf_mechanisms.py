"""Every score × region of the heart as an `attn_implementation` of Hugging Face models."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.attend import attend
from regard.attention.call import Attended
from regard.attention.normalizers import Normalizer, as_normalizer
from regard.attention.region import Region
from regard.attention.regions import Causal, Everywhere, as_region
from regard.attention.scores import SCORES, Score, as_score
from regard.hf.modules import kind_of, may_read_another, transformers
from regard.hf.terms import Capped, ModelScaledDot, WithSink, split_mask, total_bias
from regard.words import t

# The names that `register()` makes; sizes that must be written are these.
STANDARD_SCORES = tuple("location(512)" if name == "location" else name for name in SCORES)
STANDARD_REGIONS = (
    "everywhere",
    "causal",
    "window(64)",
    "predicted-window(10)",
    "atrous(8)",
    "sparse(8)",
    "first(4)",
)
# Asked for by models that choose their keys themselves; eager never sees these.
UNKNOWN_TERMS = ("indices", "block_indices", "cache")
# A name with one of these is a kernel to download, or one of transformers' own.
MEANT_OTHERWISE = ("/", "eager", "sdpa", "flash", "flex_attention", "paged|")
_scaled = functools.lru_cache(ModelScaledDot)


def register(
    *,
    score: Score | str | None = None,
    region: Region | str | None = None,
    normalize: Normalizer | str | None = None,
    name: str | None = None,
) -> list[str]:
    """Make attentions known to transformers; returns the names to set as `attn_implementation`.

    Without arguments: every score × region of the heart. With some: this one attention, under
    `name` or a name made of its parts, "regard:SCORE@REGION>NORMALIZER", where what is scaled dot,
    everywhere or softmax is left out.

    >>> regard.hf.register(score="cosine(0.1)", region="window(128)")
    ['regard:cosine(0.1)@window(128)']
    """
    if score is region is normalize is name is None:
        pairs = [(s, r) for s in STANDARD_SCORES for r in STANDARD_REGIONS]
        return [_register(s, r, "softmax", None) for s, r in pairs]
    return [_register(score, region, normalize, name)]


def _register(
    score: Score | str | None,
    region: Region | str | None,
    normalize: Normalizer | str | None,
    name: str | None,
) -> str:
    mechanism = Mechanism(
        name or name_of(score, region, normalize),
        score,
        region,
        as_score(score, query_size=1, key_size=1, heads=1),
        as_region(region, query_size=1),
        as_normalizer(normalize),
    )
    for given, made in ((score, mechanism.scores_by), (region, mechanism.within)):
        if given is made and has_parameters(made):
            raise ValueError(
                t(
                    "this {kind} has parameters, and every layer needs its own: pass its name "
                    "instead, and equip the model with it: regard.hf.equip(model, ...)",
                    kind=type(made).__name__,
                )
            )
    _check_name(mechanism.name)
    # together: without a mask function transformers gives no mask, and causality is gone
    transformers().AttentionInterface.register(mechanism.name, mechanism)
    transformers().AttentionMaskInterface.register(mechanism.name, whole_mask)
    return mechanism.name


def name_of(
    score: Score | str | None, region: Region | str | None, normalize: Normalizer | str | None
) -> str:
    """ "regard", with what is not the default."""
    parts = ((":", score, "scaled-dot"), ("@", region, "everywhere"), (">", normalize, "softmax"))
    written = (f"{mark}{part}" for mark, part, usual in parts if part not in (None, usual))
    return f"regard{''.join(written)}"


def _check_name(name: str) -> None:
    if found := [mark for mark in MEANT_OTHERWISE if mark in name]:
        raise ValueError(
            t(
                "transformers means something else by a name with {found}: {name}",
                found=repr(found[0]),
                name=repr(name),
            )
        )


def has_parameters(mechanism: object) -> bool:
    return isinstance(mechanism, nn.Module) and any(True for _ in mechanism.parameters())


def whole_mask(*args: Any, **kwargs: Any) -> Tensor | None:
    """The bool mask of a model, (B, 1, Lq, Lk), written out also where it is only causal."""
    kwargs["allow_is_causal_skip"] = False  # None then always means: every key
    mask: Tensor | None = transformers("masking_utils").sdpa_mask(*args, **kwargs)
    return mask


class Equipment(nn.Module):
    """The score and the region with parameters of one attention module, kept as its `regard`."""

    def __init__(self, name: str, score: Score, region: Region) -> None:
        super().__init__()
        self.name, self.score, self.region = name, score, region


@dataclass(frozen=True)
class Mechanism:
    """An attention that transformers calls: attention(module, query, key, value, mask, ...)."""

    name: str
    score: Score | str | None  # as given
    region: Region | str | None
    scores_by: Score  # as made; where it has parameters, only an example
    within: Region
    normalize: Normalizer

    def __call__(
        self,
        module: nn.Module,
        query: Tensor,  # (B, H, Lq, D)
        key: Tensor,  # (B, H / group, Lk, D)
        value: Tensor,
        attention_mask: Tensor | None,
        scaling: float | None = None,
        dropout: float = 0.0,
        is_causal: bool | None = None,
        softcap: float | None = None,
        position_bias: Tensor | None = None,
        s_aux: Tensor | None = None,
        output_attentions: bool | None = None,
        **kwargs: Any,
    ) -> tuple[Tensor, Tensor | None]:
        """-> context (B, Lq, H, D), weights (B, H, Lq, Lk) if they are asked for"""
        self._refuse(module, kwargs)
        score, region = self._parts(module)
        if score.takes_scale and scaling is not None:
            score = _scaled(float(scaling))
        allowed, bias = split_mask(attention_mask)
        bias = total_bias(bias, position_bias)
        normalize = self.normalize
        if softcap is not None:
            score = Capped(score, softcap)
        if s_aux is not None:
            normalize = WithSink(normalize, s_aux)
        if allowed is None and is_causal and query.shape[2] > 1:
            allowed = Causal("start").mask(query.shape[2], key.shape[2], device=query.device)[
                None, None
            ]
        group = query.shape[1] // key.shape[1]
        if group > 1:
            key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
        attended = attend(
            query,
            key,
            value,
            score=score,
            region=place(region, module, allowed, query.shape[2], key.shape[2]),
            normalize=normalize,
            mask=allowed,
            bias=bias,
            dropout=dropout,
            training=module.training,
            weights=bool(output_attentions),
        )
        self._refuse_choice(module, attended)
        weights = attended.weights if output_attentions else None
        return attended.context.transpose(1, 2).contiguous(), weights

    def _parts(self, module: nn.Module) -> tuple[Score, Region]:
        if not (has_parameters(self.scores_by) or has_parameters(self.within)):
            return self.scores_by, self.within
        equipment = getattr(module, "regard", None)
        if not isinstance(equipment, Equipment) or equipment.name != self.name:
            asked = (("score", self.score), ("region", self.region))
            parts = ", ".join(f"{what}={part!r}" for what, part in asked if part is not None)
            seen = (
                t(" it is equipped for {name};", name=repr(equipment.name))
                if equipment is not None
                else ""
            )
            raise ValueError(
                t(
                    "{name} has parameters, which {kind} does not have:{seen} call "
                    "regard.hf.equip(model, {parts}) first, before an optimiser is made",
                    name=repr(self.name),
                    kind=type(module).__name__,
                    seen=seen,
                    parts=parts,
                )
            )
        return equipment.score, equipment.region

    def _refuse(self, module: nn.Module, kwargs: dict[str, Any]) -> None:
        for term in UNKNOWN_TERMS:
            if kwargs.get(term) is not None:
                raise ValueError(
                    t(
                        "{kind} chooses its keys by {term}, which {name} cannot honour: use "
                        "attn_implementation='eager' or 'sdpa' for this model",
                        kind=type(module).__name__,
                        term=repr(term),
                        name=repr(self.name),
                    )
                )

    def _refuse_choice(self, module: nn.Module, attended: Attended) -> None:
        if attended.choice is not None and module.training:
            raise ValueError(
                t(
                    "{name} makes hard choices, which learn by their log-probabilities, and a "
                    "Hugging Face model has no place for these: use normalize='gumbel' to train",
                    name=repr(self.name),
                )
            )


def place(
    region: Region, module: nn.Module, allowed: Tensor | None, queries: int, keys: int
) -> Region:
    """The region where the queries stand among the keys; a source is seen whole.

    Positions in a source and in a target are not the same, so a window over them says nothing. A
    predicted window finds its own place.
    """
    if region.forgets_positions:
        return region
    if kind_of(module) == "cross":
        return Everywhere()
    if may_read_another(module):
        raise ValueError(
            t(
                "cannot tell whether {kind} reads its own sequence or another, and {region} "
                "has a meaning only in its own: use a score without a region here",
                kind=type(module).__name__,
                region=repr(region),
            )
        )
    last = keys - 1
    if keys > queries and allowed is not None:
        # a static cache has room behind the last query, which may not look there
        seen = allowed[..., -1, :].reshape(-1, keys).any(0)
        last = int(torch.nonzero(seen).max()) if seen.any() else last
    return region.at(last - (queries - 1))
