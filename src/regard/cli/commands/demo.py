"""`regard demo`: train a small translator, watch what it looks at, read its report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from regard.words import t

# From the test part of the embedded corpus: no training ever sees them.
UNSEEN = [
    "他们都是大学生。",  # They're all college students.
    "猫抓住了老鼠。",  # The cat caught a mouse.
    "我父亲去钓鱼了。",  # My father went fishing.
    "我们七点吃晚饭。",  # We have dinner at seven.
]


def demo(
    run: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the run is written to.")
    ] = Path("runs/demo"),
) -> None:
    """Train a small translator and see what it looks at.

    Example: regard demo
    """
    print(_introduction(), flush=True)

    from regard.cli.terminal_alignment import alignment, strong_links
    from regard.recipe.recipe_files import read_recipe
    from regard.runs.loaded_run import load
    from regard.training.run import train

    train(read_recipe("demo"), run)
    unseen = t("Sentences it has never seen, and where each word looked:")
    print(f"\n{_held_out(run)}\n\n{unseen}\n")
    for prediction in load(run).translate(UNSEEN, attention=True):
        pictures = filter(None, (alignment(prediction), strong_links(prediction)))
        text = f"{prediction.source} → {prediction.text}"
        print(text, *pictures, sep="\n\n", end="\n\n\n", flush=True)
    print(_what_next(run))


def _introduction() -> str:
    return t(
        "regard: a small RNNsearch learns to translate Chinese into English, on this\n"
        "machine, in a few minutes. While it writes a word, attention chooses which words\n"
        "of the source to look at.\n"
    )


def _what_next(run: Path) -> str:
    commands = {
        str(run / "report.html"): t("the report: scores, curves and alignments, in a browser"),
        f"regard look -m {run} 我是一个学生。": t(
            "a sentence of your own, and what each of its words looks at, in a browser"
        ),
        "regard train zh-en": t("the same with more patience: better translations"),
        "regard train rnnsearch data.train=a.zh,a.en": t(
            "your own text, line by line in two files"
        ),
        "regard tour": t("what attention is, in small steps"),
    }
    lines = (f"  {command}\n      {what}" for command, what in commands.items())
    return "\n".join([t("What to try next:"), "", *lines])


def _held_out(run: Path) -> str:
    """The score of sentences that were kept from training."""
    test = json.loads((run / "scores.json").read_text(encoding="utf-8"))["test"]
    bleu = test["bleu"]
    said = t(
        "BLEU {bleu} on {count} held-out sentences",
        bleu=f"{bleu['value']:.1f}",
        count=f"{test['sentences']:,}",
    )
    return f"{said}\n{bleu['signature']}"
