"""Write the table of claims into docs/results.md, from the pages that have the results.

python docs/scripts/results_index.py

A page has a table of its claims: what is claimed, whether it shows, what was found, and with how many seeds.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1]
PAGE = DOCS / "results.md"
PLACE = re.compile(r"(?<=<!-- claims -->\n).*?(?=<!-- end of claims -->)", re.DOTALL)
HEAD = "| claim | shows? | what was found | seeds |"
VERDICTS = ("shows", "does not show", "undecided")
MARKS = {"shows": "✓ shows", "does not show": "✗ does not show", "undecided": "? undecided"}
ENOUGH = 3  # seeds


class Claim(NamedTuple):
    claim: str
    verdict: str
    found: str
    seeds: str  # a number; –: nothing was trained


class ResultPage(NamedTuple):
    file: str  # as docs/results.md links to it
    title: str
    claims: list[Claim]


def result_pages() -> list[ResultPage]:
    """Those of docs/results and docs/systems that have a table of claims, by title."""
    found = []
    for path in sorted([*DOCS.glob("results/*.md"), *DOCS.glob("systems/*.md")]):
        lines = path.read_text(encoding="utf-8").splitlines()
        if HEAD not in lines:
            continue
        rows = lines[lines.index(HEAD) + 2 :]
        claims = []
        for line in rows:
            if not line.startswith("|"):
                break
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            if len(cells) != 4 or cells[1] not in VERDICTS:
                raise ValueError(
                    f"{path.name}: a claim, {', '.join(VERDICTS)}, what, seeds: {line}"
                )
            claims.append(Claim(*cells))
        title = lines[0].lstrip("# ")
        found.append(ResultPage(path.relative_to(DOCS).as_posix(), title, claims))
    return sorted(found, key=lambda page: page.title)


def with_claims(page: str) -> str:
    return PLACE.sub(lambda _: table(result_pages()), page)


def table(pages: list[ResultPage]) -> str:
    counts = Counter(claim.verdict for page in pages for claim in page.claims)
    told = ", ".join(f"{counts[verdict]} {MARKS[verdict]}" for verdict in VERDICTS)
    rows = [f"Of {counts.total()} claims: {told}.", ""]
    rows += ["| claim | shows? | what was found | page |", "| --- | --- | --- | --- |"]
    for page in pages:
        for claim in page.claims:
            few = claim.seeds.isdigit() and int(claim.seeds) < ENOUGH
            seeds = {"1": " (one seed)", "2": " (two seeds)"}[claim.seeds] if few else ""
            link = f"[{page.title}]({page.file})"
            rows.append(
                f"| {claim.claim} | {MARKS[claim.verdict]} | {claim.found}{seeds} | {link} |"
            )
    return "\n".join(["", *rows, "", ""])


if __name__ == "__main__":
    PAGE.write_text(with_claims(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
