"""The report of every task in a made-up language: nothing but names and values stays English."""

from __future__ import annotations

import re
from html import unescape

import pytest
from made_up_language import english_in, in_other_letters
from small_runs import LETTERS, RECIPES, small_run

from regard.recipe.recipe import Data
from regard.report.report_page import render
from regard.report.run_evaluation import evaluate
from regard.report.run_report import make_report

# Names, units and formulas, which are the same in every language
SAME = {"dev", "test", "regard", "torch", "cpu", "log", "hyp", "ref", "yes", "mask"}
SIGNATURE = re.compile(r"nrefs:\S+")  # of BLEU and chrF


def texts_of(page: str) -> str:
    """What is read on a page, without commands and the recipe."""
    page = re.sub(r"<(style|pre|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
    said = re.findall(r' (?:aria-label|title)="([^"]*)"', page)
    return SIGNATURE.sub("", unescape(" | ".join([re.sub(r"<[^>]*>", " ", page), *said])))


@pytest.mark.parametrize("kind", RECIPES)
def test_a_report_is_spoken(kind, tmp_path, made_up_language):
    run = small_run(kind, tmp_path)
    words = LETTERS.split()
    lines = [" ".join(words[i : i + 4]) for i in range(4)]
    ends = {"translate": lines, "classify": ["yes", "no", "yes", "no"]}.get(kind)
    rows = lines if ends is None else [f"{a}\t{b}" for a, b in zip(lines, ends, strict=True)]
    file = tmp_path / ("corpus.tsv" if ends else "corpus.txt")
    file.write_text("".join(f"{row}\n" for row in rows))
    data = run.recipe.data.model_dump() | {"dev": str(file), "test": str(file)}
    run.task.recipe = run.recipe = run.recipe.model_copy(update={"data": Data(**data)})
    run.folder.path.mkdir()
    found = {name: evaluate(run, str(file)) for name in ("dev", "test")}
    page = texts_of(render(make_report(run, found)))
    assert in_other_letters("What to try next") in page
    named = {
        run.folder.path.name,
        *run.recipe.name.split("-"),
        *run.recipe.model.kind.split("-"),
        *run.task.fields,
    }
    assert english_in(page) - SAME - named == set()
    told = "\n".join([found["dev"].text, found["dev"].table])
    assert english_in(SIGNATURE.sub("", told)) - SAME - named == set()
