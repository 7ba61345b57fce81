"""The scores as a table: for a terminal, for Markdown, for LaTeX, and as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from regard.clock import clock
from regard.compare.comparison import Comparison
from regard.compare.findings import Findings
from regard.compare.judged_run import Cost
from regard.compare.verdicts import simplest_score
from regard.report.score_words import display_name, interval, score, signed
from regard.view.terminal_cells import pad, width
from regard.words import t

LATEX = re.compile(r"[\\{}$&#_%^~]")
SPELT = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}


@dataclass(frozen=True)
class ScoreTable:
    """Cells of text; the first column is of names, the others of numbers."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: frozenset[
        int
    ]  # rows that no other is shown to be better than; none where that is all of them
    about: str = ""  # what was judged by, and what else has to be known to read it

    @classmethod
    def of(cls, found: Findings) -> ScoreTable:
        comparison, measure = found.comparison, found.measure
        ranks, per_cent = comparison.ranks(), ", %" if measure.share else ""
        heads = [
            t("variant"),
            t("place"),
            f"{display_name(measure)}{per_cent}",
            t("each seed"),
            t("against the best"),
            t("P(better)"),
            t("parameters"),
            t("training"),
            t("memory"),
            t("items/s"),
        ]
        rows = [
            _row(comparison, name, ranks[name], found.costs.get(name)) for name in comparison.order
        ]
        first = {n for n, name in enumerate(comparison.order) if ranks[name][0] == 1}
        best = frozenset(first) if len(first) < len(rows) else frozenset[int]()
        return cls(heads, rows, best, "; ".join([judged_by(found), *_by_holm(comparison)]))

    @property
    def text(self) -> str:
        """Aligned, for a terminal."""
        lines = [list(self.heads), *map(list, self.rows)]
        wide = [max(width(line[n]) for line in lines) for n in range(len(self.heads))]
        written = [
            "  ".join(pad(cell, wide[n], ">" if n else "<") for n, cell in enumerate(line)).rstrip()
            for line in lines
        ]
        return "\n".join([*written, self.about])

    @property
    def markdown(self) -> str:
        rule = ["---", *["---:"] * (len(self.heads) - 1)]
        lines = [list(map(_markdown, self.heads)), rule, *self._marked("**", "**", _markdown)]
        table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        return f"{table}\n{_markdown(self._about_marks)}\n"

    @property
    def latex(self) -> str:
        """For the package booktabs."""
        columns = "l" + "r" * (len(self.heads) - 1)
        bold = self._marked(r"\textbf{", "}", _latex)
        lines = [" & ".join(row) + r" \\" for row in (list(map(_latex, self.heads)), *bold)]
        return "\n".join(
            [
                rf"\begin{{tabular}}{{{columns}}}",
                r"\toprule",
                lines[0],
                r"\midrule",
                *lines[1:],
                r"\bottomrule",
                rf"\multicolumn{{{len(self.heads)}}}{{l}}{{\footnotesize {_latex(self._about_marks)}}} \\",
                r"\end{tabular}",
                "",
            ]
        )

    @property
    def _about_marks(self) -> str:
        """With what bold means, where it does not mean the one best."""
        if len(self.best) < 2:
            return self.about
        return f"{self.about}; {t('bold: not told apart from the best')}"

    def _marked(self, before: str, after: str, spell: Callable[[str], str]) -> list[list[str]]:
        """The rows, with the scores of the best set off."""
        rows = [list(map(spell, row)) for row in self.rows]
        for number in self.best:
            rows[number][2] = f"{before}{rows[number][2]}{after}"
        return rows


def _by_holm(found: Comparison) -> list[str]:
    """Why a P(better) near 0 or 1 is not enough, where there is one in the table."""
    against_best = [found.pair(name, found.best) for name in found.order[1:]]
    if not any(not one.shown and one.difference.p <= 1 - found.level for one in against_best):
        return []
    return [by_holm(found)]


def by_holm(found: Comparison) -> str:
    if found.looks is not None:
        return t(
            "P(better) is of one pair at one look; what is shown holds for all of them together"
        )
    count = len(found.pairs)
    return t(
        "P(better) is of one pair alone; what is shown holds for all {count} pairs together (Holm)",
        count=count,
    )


def judged_by(found: Findings) -> str:
    """1,072 texts of test.tsv, 3 seeds, 95 % intervals"""
    counts = sorted({len(runs) for runs in found.judged.values()})
    seeds = t.plural(counts[-1], "one seed", "{n} seeds")
    if len(counts) > 1:
        seeds = t("{least} to {most} seeds", least=counts[0], most=counts[-1])
    said = t(
        "{items} of {data}; {seeds}; intervals of {level} %",
        items=found.counted_items,
        data=found.data,
        seeds=seeds,
        level=f"{100 * found.comparison.level:g}",
    )
    if (floor := simplest_score(found)) is None or found.simplest is None:
        return said
    return f"{said}; {found.simplest.name}: {score(floor, found.measure)}"


def csv_of(found: Findings) -> str:
    """A line for every run: its variant, its seed, all measures, and what it cost."""
    names = [measure.name for measure in found.measures]
    scores = {measure.name: found.scores(measure) for measure in found.measures}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    costs = ["seconds", "memory", "parameters"]
    writer.writerow(["variant", "role", "seed", *names, "items", *costs, "run"])
    for name in found.comparison.order:
        for seed, run in found.judged[name].items():
            values = [scores[each][name][seed] for each in names]
            cost = [run.cost.seconds, run.cost.memory, run.cost.parameters]
            role, items = found.roles.get(name, ""), len(found.items)
            writer.writerow([name, role, seed, *values, items, *cost, run.path])
    return text.getvalue()


def _row(found: Comparison, name: str, rank: tuple[int, int], cost: Cost | None) -> list[str]:
    measure = found.measure
    each = " ".join(score(value, measure) for value in found.values[name].values())
    against, better = "", ""
    if name != found.best:
        pair = found.pair(name, found.best)
        against = (
            f"{signed(pair.difference.difference, measure)} {interval(pair.difference, measure)}"
        )
        better = f"{pair.difference.better:.3f}"
    return [
        name,
        place(rank),
        score(found.means[name], measure),
        each,
        against,
        better,
        *costs_in_words(cost),
    ]


def place(rank: tuple[int, int]) -> str:
    """1, or 1–3 where nothing more is shown."""
    return f"{rank[0]}" if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"


def costs_in_words(cost: Cost | None) -> list[str]:
    if cost is None:
        return ["", "", "", ""]
    return [
        f"{cost.parameters:,}",
        "" if cost.seconds is None else clock(cost.seconds),
        "" if cost.memory is None else megabytes(cost.memory),
        ""
        if cost.speed is None
        else f"{cost.speed:,.4g}"
        if cost.speed < 10
        else f"{cost.speed:,.0f}",
    ]


def megabytes(count: float) -> str:
    return f"{count / 2**20:,.0f} MB" if count < 2**30 else f"{count / 2**30:,.1f} GB"


def _markdown(cell: str) -> str:
    return re.sub(r"([|<])", r"\\\1", cell)


def _latex(cell: str) -> str:
    spelt = LATEX.sub(lambda found: SPELT.get(found[0], f"\\{found[0]}"), cell)
    return spelt.replace("–", "--").replace("−", "$-$")
