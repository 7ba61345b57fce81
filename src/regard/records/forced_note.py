"""What is told of a row of weights that was given: at which token, to what, and in which heads."""

from __future__ import annotations

from regard.records.question import Force
from regard.records.side import Side
from regard.words import t


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
