"""What was changed of a model or given to it: no record is taken for what the model does by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regard.records.question import Force, HeadOff, Question
from regard.records.side import Side
from regard.words import t

LONGEST = 40  # characters of a text that is quoted in a name
KINDS = ("cross", "encoder", "decoder")


def changes_of(question: Question, sides: Mapping[str, Side]) -> tuple[str, ...]:
    """A few words for each change, as a record is called by: “begins with “You””, “store → 图书馆”."""
    found = []
    if question.force is not None and "target" in sides:
        found.append(t("forced: {link}", link=_link(question.force, sides)))
    if question.off:
        found.append(t("without {heads}", heads=heads_off(question.off)))
    if question.prefix:
        found.append(t("begins with “{prefix}”", prefix=_short(question.prefix)))
    if question.target is not None:
        found.append(t("given output"))
    return tuple(found)


def change_notes(question: Question) -> tuple[str, ...]:
    """The same in whole sentences, but for what was forced: that is `forced_note`."""
    notes = []
    if question.target is not None:
        notes.append(t("given: this output was not searched for"))
    if question.prefix:
        notes.append(
            t("given: the output had to begin with “{prefix}”", prefix=question.prefix.strip())
        )
    if question.off:
        notes.append(t("switched off: {heads}", heads=heads_off(question.off)))
    if question.explain and (question.force is not None or question.off):
        notes.append(
            t("the measures of explanation are of the model as it is, without these changes")
        )
    return tuple(notes)


def forced_note(
    force: Force | None, queries: Side, keys: Side, everywhere: str = ""
) -> tuple[str, ...]:
    """What was forced, in one line; that nothing was, where the output ends before; none without a force.

    everywhere: what it is called where neither a layer nor a head is named.
    """
    if force is None:
        return ()
    if force.step >= len(queries):
        return (t("nothing was forced: the output ends before token {n}", n=force.step),)
    values = {
        "n": force.step,
        "word": queries.tokens[force.step],
        "where": _where(force) or everywhere or t("every layer and head"),
    }
    words = [keys.tokens[key] for key in force.keys]
    if not force.weights:
        said = t(
            "forced: token {n} ({word}) attends to {words} in {where}",
            words=t(", ").join(words),
            **values,
        )
        return (said,)
    shares = [
        t("{share} to {word}", share=f"{share:.2f}", word=word)
        for share, word in zip(force.shares, words, strict=True)
    ]
    said = t(
        "forced: token {n} ({word}) attends {shares} in {where}",
        shares=t(", ").join(shares),
        **values,
    )
    return (said,)


def _where(force: Force) -> str:
    """ "layer 2, head 1"; empty where all are meant."""
    layer = "" if force.layer is None else t("layer {n}", n=force.layer)
    if force.head is None:
        return layer
    if not layer:
        return t("head {n}", n=force.head)
    return t("{layer}, head {head}", layer=layer, head=force.head)


def heads_off(off: Sequence[HeadOff]) -> str:
    """ "cross 1.2, 1.3; encoder 2": of each map its layers and heads, counted from 1."""
    kinds = {kind: [each for each in off if each.map == kind] for kind in KINDS}
    return "; ".join(
        f"{kind} {', '.join(sorted(map(_place, heads)))}" for kind, heads in kinds.items() if heads
    )


def _place(off: HeadOff) -> str:
    return f"{off.layer}" if off.head is None else f"{off.layer}.{off.head}"


def _link(force: Force, sides: Mapping[str, Side]) -> str:
    source, target = sides["source"], sides["target"]
    word = target.tokens[force.step] if force.step < len(target) else f"{force.step}"
    return f"{word} → {_short(_words(source, force.keys))}"


def _words(side: Side, keys: Sequence[int]) -> str:
    """Tokens that stand beside each other are written as in the text."""
    runs: list[list[int]] = []
    for key in sorted(key for key in keys if key < len(side)):
        if runs and key == runs[-1][-1] + 1 and side.offsets[key][1] > side.offsets[key][0]:
            runs[-1].append(key)
        else:
            runs.append([key])
    return ", ".join(
        side.text[side.offsets[run[0]][0] : side.offsets[run[-1]][1]].strip() or side.tokens[run[0]]
        for run in runs
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
