"""What came of a training run, as one HTML file: nothing fetched, light and dark. It is read without a
script; with one, its samples open in the viewer, which lies in the same file.

    Path("report.html").write_text(render(Report(title="zh-en", scores=(bleu(...),), ...)), "utf-8")

Parts that are empty are left out. Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources

from regard.data.problems import Found, Problems
from regard.measures.translation import MeasuredScore
from regard.records.record import AttentionRecord
from regard.report.learning_curves import (
    Curves,
    Metrics,
    learning_charts,
    learning_table,
    upkeep_charts,
)
from regard.tasks.report_part import Drawing, NextStep, ReportScore, plain_names
from regard.view import charts
from regard.view.heat_table import heat_stylesheet
from regard.view.inset_viewer import inset_viewer
from regard.view.markup import Markup, element, join, text
from regard.view.page_palette import palette
from regard.view.samples import Sample, SampleNames, sample_list, scrolled
from regard.view.static_page import masthead, static_page
from regard.words import t

__all__ = ["NextStep", "Report", "Sample", "render", "stylesheet"]


@dataclass(frozen=True)
class Report:
    """Everything the page shows, as plain data."""

    title: str
    verdict: str = ""  # one line, in words
    scores: Sequence[MeasuredScore] = ()  # the most important first
    scored: Markup | str = ""  # the tables of all scores
    facts: Mapping[str, str] = field(default_factory=dict)  # seed, parameters, time, machine, …
    command: str = ""
    recipe: str = ""  # YAML
    metrics: Metrics = ()  # rows of step, train_loss, dev_loss, dev_perplexity, dev_bleu, …
    curve_names: Mapping[str, str] = field(default_factory=dict)  # {"bleu": "BLEU, beam 1"}
    name: str = ""  # of the run, where others are beside it
    curves: Sequence[Curves] = ()  # of those
    beside: Markup | str = ""  # what there is to say of them
    kept: str = ""  # which checkpoint is the model, and why
    drawings: Sequence[Drawing] = ()  # charts and tables of the task
    samples: Sequence[Sample] = ()
    sample_names: SampleNames = field(default_factory=plain_names)  # of them and of their parts
    worst: Sequence[Sample] = ()
    worst_names: SampleNames = field(default_factory=plain_names)
    records: Sequence[AttentionRecord] = ()  # what the links of samples open the viewer on
    data: Markup | str = ""  # sizes, lengths and overlap of the sets
    problems: Problems = field(default_factory=Problems)  # of the data, counted and skipped
    next_steps: Sequence[NextStep] = ()
    source_language: str = ""  # zh, ja, …: which shapes of the characters are meant
    target_language: str = ""


def render(report: Report) -> str:
    """The whole page."""
    parts: list[tuple[str, Callable[[Report], Markup], object]] = [
        (t("Side by side"), _drawn(report.beside), report.beside),
        (_of(report, t("Scores")), _drawn(report.scored), report.scored),
        (t("Learning"), _learning, report.metrics),
        *((title, _drawn(body), body) for title, body in report.drawings),
        (report.sample_names.title, _samples, report.samples),
        (report.worst_names.title, _worst, report.worst),
        (t("What was trained"), _trained, report.facts or report.command or report.recipe),
        (t("The data"), _data, report.data or report.problems),
        (t("What to try next"), _next_steps, report.next_steps),
    ]
    sections = ((title, write(report)) for title, write, given in parts if given)
    viewer = inset_viewer(report.records)
    return static_page(f"{report.title} · regard", stylesheet(), _header(report), sections, viewer)


def _of(report: Report, title: str) -> str:
    """Where others are beside it, with the name of the run."""
    return f"{title}: {report.name}" if report.name else title


def _drawn(body: Markup | str) -> Callable[[Report], Markup]:
    return lambda _: text(body)


def stylesheet() -> str:
    own = resources.files("regard.report").joinpath("report.css").read_text("utf-8")
    return f"{palette()}{charts.stylesheet()}{heat_stylesheet()}{own}"


def _header(report: Report) -> Markup:
    scores = [
        element(
            "div",
            element("dt", score.name),
            element("dd", f"{score.value:.2f}", class_="value"),
            _interval(score),
            element("dd", score.signature.replace("|", "|\u200b"), class_="signature"),
        )
        for score in report.scores
    ]
    whose = element("p", t("What follows is of {name}.", name=report.name)) if report.name else ""
    return element(
        "header",
        masthead(t("training report")),
        element("h1", report.title),
        whose,
        element("p", report.verdict, class_="verdict") if report.verdict else "",
        element("dl", *scores, class_="scores") if scores else "",
    )


def _interval(score: MeasuredScore) -> Markup | str:
    if not isinstance(score, ReportScore) or score.interval is None:
        return ""
    low, high = (f"{end:.2f}".replace("-", "−") for end in score.interval)
    return element("dd", f"[{low}, {high}]", class_="interval", title=t("95 %, by a bootstrap"))


def _learning(report: Report) -> Markup:
    curves = Curves(report.metrics, report.curve_names, report.name, report.curves)
    figures = [element("figure", chart.inline()) for chart in learning_charts(curves)]
    if not figures:
        return Markup()
    upkeep = [element("figure", chart.inline()) for chart in upkeep_charts(curves)]
    numbers = element(
        "details",
        element("summary", t("The numbers")),
        scrolled(learning_table(curves), t("Measures by step")),
    )
    return join(
        [
            element("p", report.kept, class_="lead") if report.kept else "",
            element("div", *figures, *upkeep, class_="charts"),
            numbers,
        ]
    )


def _samples(report: Report) -> Markup:
    languages = report.source_language, report.target_language
    return sample_list(report.samples, report.sample_names, languages)


def _worst(report: Report) -> Markup:
    languages = report.source_language, report.target_language
    return sample_list(report.worst, report.worst_names, languages)


def _trained(report: Report) -> Markup:
    facts = [
        element("div", element("dt", name), element("dd", value))
        for name, value in report.facts.items()
    ]
    return join(
        [
            _command(report.command) if report.command else "",
            element("dl", *facts, class_="facts") if facts else "",
            element(
                "details",
                element("summary", t("The recipe, complete")),
                element("pre", element("code", report.recipe), tabindex="0"),
            )
            if report.recipe
            else "",
        ]
    )


def _data(report: Report) -> Markup:
    return join([report.data, _problems(report) if report.problems else ""])


def _problems(report: Report) -> Markup:
    rows = [
        element(
            "tr",
            element("th", kind, scope="row"),
            element("td", f"{found.count:,}"),
            element("td", _where(corpus, found), class_="where"),
        )
        for corpus, kinds in report.problems.found.items()
        for kind, found in kinds.items()
    ]
    heads = [element("th", name, scope="col") for name in (t("what"), t("how many"), t("where"))]
    table = element(
        "table",
        element("caption", t("Lines that were counted and skipped in training")),
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_="numbers problems",
    )
    title = element("h3", t("Lines that were left out"))
    return join([title, scrolled(table, t("Problems in the data"))])


def _where(corpus: str, found: Found) -> str:
    numbers = ", ".join(f"{line:,}" for line in found.first)
    more = " …" if found.count > len(found.first) else ""
    return t.plural(
        found.count,
        "{corpus}: line {numbers}",
        "{corpus}: lines {numbers}",
        corpus=corpus,
        numbers=f"{numbers}{more}",
    )


def _next_steps(report: Report) -> Markup:
    steps = [
        element("li", element("p", step.why), _command(step.command)) for step in report.next_steps
    ]
    return element("ol", *steps, class_="steps")


def _command(command: str) -> Markup:
    return element("pre", element("code", command), class_="command", tabindex="0")
