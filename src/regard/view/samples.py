"""Single sentences in a report: what went in, what came out, and what was looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from regard.view.heat_table import heat_table
from regard.view.markup import Markup, element, join
from regard.words import t

BESIDE = 14  # source tokens; the attention of a longer sentence goes below its text
LONGEST = 600  # characters of a text that is told in a report
FAINT = 0.05  # of the heaviest mark: lighter ones are not drawn


@dataclass(frozen=True)
class Sample:
    """One sentence, what it should be, and what the model made of it."""

    source: str
    hypothesis: str
    reference: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)  # chrF: 61.2, log p: -0.31
    source_tokens: Sequence[str] = ()
    tokens: Sequence[str] = ()
    attention: Sequence[Sequence[float]] = ()  # (tokens, source_tokens)
    marks: Sequence[tuple[int, int, float]] = ()  # places in the source, and their weights
    asked: str = ""  # the line that asks a model about it
    picture: str = ""  # data:image/png;base64,…: shown instead of what the source says of it
    others: Mapping[str, str] = field(default_factory=dict)  # what other models made of it, by name
    link: str = ""  # the fragment that opens the viewer on it: #record=3


@dataclass(frozen=True)
class SampleNames:
    """What samples of a task are called, and their parts."""

    title: str
    source: str
    reference: str
    hypothesis: str


def sample_list(
    samples: Sequence[Sample], names: SampleNames, languages: tuple[str, str]
) -> Markup:
    """All samples, and how to read them; languages of the source and of the target."""
    notes = []
    if any(sample.attention for sample in samples):
        notes.append(
            t(
                "Each row is a word that was written, each column a word that was read; brighter means "
                "more weight. It shows where the model looked, not why it answered."
            )
        )
    if any(sample.marks for sample in samples):
        notes.append(
            t("The stronger a word is marked, the more it weighs in the vector that was judged.")
        )
    written = [element("p", note, class_="note") for note in notes]
    return join([*written, *(_sample(sample, names, *languages) for sample in samples)])


def shortened_text(text: str) -> str:
    """Of a long text the beginning."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def scrolled(content: Markup, label: str) -> Markup:
    """Wide content that scrolls by itself, by the keyboard too."""
    return element("div", content, class_="scroll", role="region", aria_label=label, tabindex="0")


def _sample(sample: Sample, names: SampleNames, source: str, target: str) -> Markup:
    texts = [
        ("source", names.source, sample.source, source, sample.marks),
        ("reference", names.reference, sample.reference, target, ()),
        ("translation", names.hypothesis, sample.hypothesis, target, ()),
        *(("translation", name, said, target, ()) for name, said in sample.others.items()),
    ]
    written = [
        element("div", element("dt", name), _sentence(text, language, marks), class_=role)
        for role, name, text, language, marks in texts
        if name and (text or role != "reference") and not (role == "source" and sample.picture)
    ]
    if sample.picture:
        shown = element("img", src=sample.picture, alt=sample.source, class_="picture")
        term = element("dt", names.source)
        written.insert(0, element("div", term, element("dd", shown), class_="source"))
    scores = [
        element("span", f"{name} ", element("b", f"{value:.2f}".replace("-", "−")))
        for name, value in sample.scores.items()
    ]
    picture: Markup | str = ""
    if sample.attention:
        picture = scrolled(
            heat_table(
                sample.attention,
                sample.tokens,
                sample.source_tokens,
                caption=t("Attention of “{text}”", text=sample.hypothesis),
                query_language=target,
                key_language=source,
            ),
            t("Attention of {text}", text=sample.hypothesis),
        )
    words = element(
        "div",
        element("dl", *written),
        element("p", *scores, class_="sample-scores") if scores else "",
        element("a", t("Open in the viewer"), href=sample.link, class_="open", hidden="")
        if sample.link
        else "",
    )
    fits = len(sample.source_tokens) <= BESIDE
    return element("article", words, picture, class_="sample" if fits else "sample wide")


def _sentence(text: str, language: str, marks: Sequence[tuple[int, int, float]]) -> Markup:
    if not text.strip():
        return element("dd", t("(empty)"), class_="empty")
    return element("dd", *marked_text(text, marks), dir="auto", lang=language or None)


def marked_text(text: str, marks: Sequence[tuple[int, int, float]]) -> list[str]:
    """The text in parts, those with weight marked as strongly as they weigh."""
    heaviest = max((weight for *_, weight in marks), default=0.0)
    parts: list[str] = []
    end = 0
    for start, stop, weight in sorted(marks):
        if start >= end and stop > start and weight > FAINT * heaviest:
            parts.append(text[end:start])
            share = f"--share:{100 * weight / heaviest:.0f}%"
            parts.append(
                element("mark", text[start:stop], style=share, title=f"{100 * weight:.1f} %")
            )
            end = stop
    return [*parts, text[end:]]
