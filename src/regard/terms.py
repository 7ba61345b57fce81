"""What the field calls its mechanisms, in English and Chinese, and what each is called here.

A term of `TERMS` means one thing and is understood; a term of `SEVERAL` means more than one, and whoever
writes it is told what to write for each. regard's own names, and those that other packages bring, come
first: no term takes a name away from them. docs/names.md is made of the two tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple

from regard.words import say, t

Kind = Literal["score", "region", "normalizer", "pooling"]
# The options of a recipe that hold such a name, and of which kind it is.
OPTIONS: dict[str, Kind] = {
    "score": "score",
    "compare": "score",
    "region": "region",
    "attention": "region",
    "normalize": "normalizer",
    "pool": "pooling",
    "encoder": "pooling",  # of summaries: what makes one vector of the source
}
# "global attention" and 全局注意力 are "global" and 全局: what stands behind a name and says nothing more.
ENDINGS = (
    *("attention", "attention-mechanism", "self-attention", "self-attention-mechanism"),
    *("pooling", "score", "score-function"),
    *("注意力", "注意力机制", "自注意力", "自注意力机制", "池化", "打分", "得分", "打分函数"),
)
GAP = r"[-_\s]*"
BEHIND = [re.compile(GAP + end.replace("-", GAP) + "$", re.IGNORECASE) for end in ENDINGS]
# ２ is 2 and （ is (: what a Chinese keyboard writes for !, ", … ~ and for a blank and a comma.
FULL_WIDTH = {0xFF01 + n: 0x21 + n for n in range(94)} | {ord("　"): " ", ord("、"): ","}
WORD = re.compile(r"[^\W\d][\w.:]*(?:(?:-|\s+)[^\W\d][\w.:]*)*")  # "dot product" is one, too
JOINING = {"and", "or", "not", "in", "is", "if", "else", "for", "lambda"}  # no part of a name
PART = re.compile(rf"{WORD.pattern}|.", re.DOTALL)


class Term(NamedTuple):
    """A mechanism by our name, and the names of the literature for it."""

    kind: Kind
    ours: str
    english: tuple[str, ...]
    chinese: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.ours, *self.english, *self.chinese)


class Several(NamedTuple):
    """Names that mean more than one thing: each meaning, and what is written for it."""

    kinds: tuple[Kind, ...]
    names: tuple[str, ...]
    meanings: tuple[tuple[str, str], ...]  # what is meant, what to write


TERMS = (
    Term("score", "dot", ("dot-product", "inner-product"), ("点积", "内积", "点乘")),
    Term("score", "scaled-dot", ("scaled-dot-product",), ("缩放点积", "缩放的点积", "放缩点积")),
    Term(
        "score",
        "bilinear",
        ("general", "multiplicative", "luong-general"),
        ("乘性", "乘法", "双线性"),
    ),
    Term(
        "score",
        "additive",
        ("bahdanau", "mlp", "perceptron", "feed-forward", "luong-concat"),
        ("加性", "加法", "感知机", "多层感知机"),
    ),
    Term("score", "concat", (), ()),
    Term("score", "cosine", ("cosine-similarity",), ("余弦", "余弦相似度")),
    Term("score", "location", ("location-based", "location-base"), ("基于位置",)),
    Term("score", "distance", ("euclidean", "euclidean-distance"), ("欧氏距离", "距离")),
    Term("region", "everywhere", ("global", "full", "dense"), ("全局", "全部", "稠密", "完全")),
    Term(
        "region",
        "causal",
        ("autoregressive", "unidirectional", "look-ahead", "look-ahead-mask", "left-to-right"),
        ("因果", "自回归", "单向"),
    ),
    Term("region", "first", (), ()),
    Term(
        "region",
        "window",
        ("local-m", "monotonic-local", "sliding-window", "band", "banded"),
        ("窗口", "滑动窗口", "带状"),
    ),
    Term(
        "region", "predicted-window", ("local-p", "predictive-local"), ("预测窗口", "预测位置窗口")
    ),
    Term("region", "atrous", ("dilated",), ("空洞", "膨胀", "扩张")),
    Term("region", "sparse", ("sparse-transformer",), ("稀疏",)),
    Term("normalizer", "softmax", (), ("归一化指数",)),
    Term("normalizer", "sparsemax", (), ("稀疏最大",)),
    Term("normalizer", "raw", ("none", "identity", "unnormalized"), ("不归一化", "未归一化", "无")),
    Term("normalizer", "uniform", ("mean", "average"), ("均匀", "平均")),
    Term("normalizer", "hard", ("reinforce", "stochastic"), ("硬", "硬性", "随机")),
    Term("normalizer", "gumbel", ("gumbel-softmax", "concrete"), ("甘贝尔",)),
    Term("pooling", "mean", ("average", "avg"), ("平均", "均值")),
    Term("pooling", "max", ("maximum", "max-over-time"), ("最大", "最大值")),
    Term("pooling", "last", ("final", "last-state"), ("最后", "末状态", "最后状态")),
    Term("pooling", "attention", ("attentive", "weighted"), ("注意力", "加权")),
    Term("pooling", "first", ("cls",), ("首位", "第一个")),
)

LOCAL = (
    ("a window about the position of the query", "window(5)"),
    ("one about a position that is predicted (Luong's local-p)", "predicted-window(5)"),
)
SOFT = (
    ("weights above 0 for every key, which sum to 1", "normalize=softmax"),
    ("the same with exact zeros", "normalize=sparsemax"),
    ("every key looked at, as in 'global'", "region=everywhere"),
)
MECHANISMS: tuple[Kind, ...] = ("score", "region", "normalizer")
GENERAL = (
    ("the score qᵀ W k (Luong's general)", "score=bilinear"),
    ("queries of one sequence, keys of another", "Attention(query_size, key_size)"),
)
SEVERAL = (
    Several(
        ("score",),
        ("concatenation", "linear-concat", "拼接", "连接", "串联"),
        (
            ("v · tanh(W [q; k]), as Luong and Bahdanau have it", "additive"),
            ("w · [q; k], without a tanh: its query cancels in a softmax", "concat"),
        ),
    ),
    Several(
        ("score",),
        ("luong",),
        (
            ("q · k", "dot"),
            ("qᵀ W k, his general", "bilinear"),
            ("v · tanh(W [q; k]), his concat", "additive"),
            ("W q, his location", "location(50)"),
        ),
    ),
    Several(
        ("score",),
        ("content", "content-based", "基于内容", "内容"),
        (
            ("cosine with a sharpness (Neural Turing Machine)", "cosine(0.1)"),
            ("any score that sees the key, as against location", "dot, bilinear or additive"),
        ),
    ),
    Several(
        ("score",),
        ("similarity", "相似度"),
        (("q · k", "dot"), ("its cosine", "cosine"), ("1 / (1 + ‖q - k‖)", "distance")),
    ),
    Several(
        ("score",),
        ("位置", "position"),
        (
            ("a score for each position, without keys", "location(50)"),
            ("only keys that are near", "region=window(5)"),
        ),
    ),
    Several(("region",), ("local", "局部", "局域", "本地"), LOCAL),
    Several(
        ("region",),
        ("strided", "步长", "跨步"),
        (
            ("every rate-th key (one of the heads of Child et al. 2019)", "atrous(8)"),
            ("these and the near ones (both heads)", "sparse(8)"),
        ),
    ),
    Several(
        ("region",),
        ("masked", "mask", "掩码", "遮掩", "遮蔽", "掩蔽"),
        (
            ("the keys up to the query, none to its right", "causal"),
            ("every key but padding", "mask= or lengths= of the call"),
        ),
    ),
    Several(
        ("region",),
        ("bidirectional", "双向"),
        (
            ("every key, left and right", "everywhere"),
            ("a recurrent network in both directions", "bidirectional=true"),
        ),
    ),
    Several(MECHANISMS, ("soft", "软", "软性", "柔性"), SOFT),
    Several(
        ("pooling",),
        ("soft", "软", "软性", "柔性"),
        (
            ("weights that are learnt, which sum to 1", "attention"),
            ("every position alike", "mean"),
        ),
    ),
    Several(
        ("score", "region"),
        ("hard", "硬", "硬性"),
        (
            ("a single key that is looked up", "normalize=hard"),
            ("the same with a gradient", "normalize=gumbel"),
        ),
    ),
    Several(
        ("normalizer",),
        ("arg-max", "最大"),
        (
            ("a draw in training, the best key afterwards", "hard"),
            ("the best key forwards, a softmax backwards", "gumbel(0.5, straight_through=true)"),
            ("a softmax that comes close to it", "softmax(0.01)"),
        ),
    ),
    Several(
        ("normalizer",),
        ("sparse", "稀疏"),
        (("weights of exactly 0", "sparsemax"), ("fewer keys from the start", "region=sparse(8)")),
    ),
    Several(("region", "normalizer", "pooling"), ("general", "一般", "通用"), GENERAL),
    Several(("score",), ("一般", "通用"), GENERAL),
    Several(
        MECHANISMS,
        ("self", "intra", "自", "内部"),
        (("an attention whose queries and keys are one sequence", "Attention(size)"),),
    ),
    Several(
        MECHANISMS,
        ("cross", "encoder-decoder", "交叉", "互"),
        (("an attention over another sequence", "Attention(query_size, key_size)"),),
    ),
    Several(
        MECHANISMS,
        ("multi-head", "多头"),
        (("several attentions side by side", "MultiHead(size, heads=8)"),),
    ),
    Several(
        MECHANISMS,
        ("hierarchical", "分层", "层次"),
        (("attention at two levels", "Hierarchical(size)"),),
    ),
)
# What is written in Python alone, and what is said of it in a recipe, whose model has it or not.
IN_RECIPES = (
    ("Attention(size)", "the layers of a Transformer attend so, with any score (model.kind)"),
    ("Attention(query_size, key_size)", "a decoder attends so to its source, with any score"),
    ("MultiHead(size, heads=8)", "a Transformer has model.heads (model.kind)"),
    ("Hierarchical(size)", "model.kind=han judges texts so, hierarchical translates documents so"),
    ("mask= or lengths= of the call", "padding is left out of every attention"),
)


def plain(name: str) -> str:
    """A name without what spelling leaves open: local-m, Local_M and "local m" are one."""
    return re.sub(r"[-_\s]", "", name).lower()


def shorter(name: str) -> list[str]:
    """The name without an "attention" behind it: of "causal self-attention", causal-self and causal."""
    found = (end.sub("", name) for end in BEHIND)
    return [each for each in found if each not in ("", name)]


def _bare(name: str) -> list[str]:
    """The name as it is compared, and the name without an "attention" behind it."""
    return list(map(plain, [name, *shorter(name)]))


_OURS: dict[tuple[Kind, str], Term] = {
    (term.kind, plain(name)): term for term in TERMS for name in term.names
}
_SEVERAL: dict[tuple[Kind, str], Several] = {
    (kind, plain(name)): each for each in SEVERAL for kind in each.kinds for name in each.names
}


def term_of(name: str, kind: Kind) -> Term | None:
    """The mechanism that a name of the field stands for, if it stands for one."""
    return next((_OURS[kind, each] for each in _bare(name) if (kind, each) in _OURS), None)


def names_of(kind: Kind) -> dict[str, str]:
    """Every name that the field has for mechanisms of a kind, and ours for it."""
    return {each: term.ours for term in TERMS if term.kind == kind for each in term.names}


class Section(NamedTuple):
    """Where in a recipe a mechanism is named, model.attention, and what options its model has."""

    name: str
    options: Collection[str] = ()


def meanings_of(name: str, kind: Kind, section: Section | None = None) -> str:
    """` It means several things: …`, with what to write for each; empty where there is nothing to say.

    A name of another kind of mechanism is told where to write it. section: in a recipe; None: in Python.
    """
    if several := _several(name, kind):
        return _told(several.meanings, kind, section)
    for other in MECHANISMS:
        if other == kind:
            continue
        if several := _several(name, other):
            placed = [(what, _placed(ours, other)) for what, ours in several.meanings]
            return _told(placed, kind, section)
        if term := term_of(name, other):
            ours = _written(_placed(term.ours, other), section)
            return t(" That is a {kind}: write {ours}.", kind=other, ours=ours)
    return ""


def choices_meant(value: str, option: str, choices: Collection[str], *, recipe: bool) -> str:
    """The same of an option that has these choices: what each meaning is called among them.

    recipe: it is told in a recipe, not in Python.
    """
    kind = OPTIONS.get(option)
    several = _several(value, kind) if kind else None
    if kind is None or several is None:
        return ""
    found = []
    for what, ours in several.meanings:
        where, _, name = ours.rpartition("=")
        term = term_of(name.split("(")[0], OPTIONS.get(where, kind)) if name[0].islower() else None
        if term and (choice := _choice(term, choices)):
            found.append((what, choice))
    if len(found) == 1:
        ((what, choice),) = found
        return t(" Write {ours} for {what}.", ours=choice, what=say(what))
    return _told(found or several.meanings, kind, Section("") if recipe else None)


def _several(name: str, kind: Kind) -> Several | None:
    return next((_SEVERAL[kind, each] for each in _bare(name) if (kind, each) in _SEVERAL), None)


def _placed(ours: str, kind: Kind) -> str:
    """region=window(5): a name with its place, unless it says where it belongs."""
    where = {"normalizer": "normalize"}.get(kind, kind)
    return ours if "=" in ours or " " in ours else f"{where}={ours}"


def _written(ours: str, section: Section | None) -> str:
    """model.attention.region=window(5), in a section of that name."""
    return f"{section.name}.{ours}" if section and section.name and "=" in ours else ours


def _told(meanings: Sequence[tuple[str, str]], kind: Kind, section: Section | None = None) -> str:
    if len(meanings) == 1:
        ((what, ours),) = meanings
        if section and ours.startswith("MultiHead") and "heads" in section.options:
            ours = "model.heads=8"
        elif section and (told := dict(IN_RECIPES).get(ours)):
            return t(
                " It is no {kind} but {what}: {told}.", kind=kind, what=say(what), told=say(told)
            )
        else:
            ours = _written(ours, section)
        return t(
            " It is no {kind} but {what}: write {ours}.", kind=kind, what=say(what), ours=say(ours)
        )
    each = t("; ").join(_meaning(what, ours, section) for what, ours in meanings)
    return t(" It means several things: {each}.", each=each)


def _meaning(what: str, ours: str, section: Section | None) -> str:
    if section and (told := dict(IN_RECIPES).get(ours)):
        return say(told)
    return t("write {ours} for {what}", ours=say(_written(ours, section)), what=say(what))


def in_our_words(text: str, kind: Kind, known: Callable[[], Collection[str]] = tuple) -> str:
    """The text of a mechanism with our names for those of the field: `全局 & ~local-m(3)`.

    known: names that stay as they are, asked for where one would change. Arguments stay too.
    """
    parts: list[str] = []
    calls: list[bool] = []  # for each parenthesis that is open, whether arguments are in it
    for part in PART.findall(text.translate(FULL_WIDTH)):
        if part == "(":
            calls.append(bool(parts) and WORD.fullmatch(parts[-1]) is not None)
        elif part == ")" and calls:
            calls.pop()
        elif WORD.fullmatch(part) and not any(calls):
            part = _our_word(part, kind, known)
        parts.append(part)
    return "".join(parts)


def _our_word(written: str, kind: Kind, known: Callable[[], Collection[str]]) -> str:
    """One name in our words. One that nobody knows is joined to a word, so that it is looked for."""
    words, spelt = written.split(), _bare(written)
    term = term_of(written, kind)
    if len(words) == 1 and term and spelt[0] == plain(term.ours):
        return written
    if len(words) > 1 or len(spelt) > 1 or term:
        own = {plain(name): name for name in known()}
        if len(words) == 1 and spelt[0] in own:
            return written
        if found := next((own[each] for each in spelt if each in own), term and term.ours):
            return found
    return written if JOINING & set(words) else "_".join(words)


def choice_of(value: str, option: str, choices: Collection[str], owner: str = "") -> str | None:
    """The one of an option's choices that a name of the field stands for, if it stands for one.

    owner: whose option it is; the `concat` of luong is what the field calls luong-concat.
    """
    own = OPTIONS.get(option)
    kinds = () if own is None else (own, *(kind for kind in MECHANISMS if kind != own))
    found = (_choice(term, choices, owner) for kind in kinds if (term := term_of(value, kind)))
    return next(filter(None, found), None)


def _choice(term: Term, choices: Collection[str], owner: str = "") -> str | None:
    same = {plain(name) for name in term.names}
    found = [each for each in choices if {plain(each), plain(f"{owner}-{each}")} & same]
    return found[0] if len(found) == 1 else None
