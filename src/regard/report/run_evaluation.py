"""How good a run is: on any corpus, and in the scores and the report of its folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.attention.kernels.kernel_modules import wait_always
from regard.data.atomic_files import write_whole
from regard.data.check.header_check import with_header
from regard.data.checksums import check_seal, sealed, sha256_of
from regard.data.problems import Problems
from regard.data.spec import Spec, named_columns
from regard.recipe.mistakes import RecipeError
from regard.report.beside_runs import check_alike, run_names
from regard.report.report_page import render
from regard.report.run_report import make_report
from regard.runs.loaded_run import LoadedRun, load
from regard.runs.model_file import fingerprint
from regard.runs.run_folder import RunFolder
from regard.tasks.evaluation import Evaluation, set_name
from regard.tasks.task import Task
from regard.words import t

NAME_ONE = "--data SPEC names others to score by"


def evaluate(
    run: LoadedRun,
    data: Spec | None = None,
    problems: Problems | None = None,
    *,
    join: int | None = None,
    beam: int | None = None,
) -> Evaluation:
    """Judge a run by a corpus: its test set, or its dev set, if none is given.

    problems: where the lines are counted that cannot be used and are left out.
    join: up to so many neighbouring pairs become one; the recipe says it for its own dev and test sets.
    beam: 1 is greedy; the recipe's if not given. Both mean something to some tasks only.
    """
    recipe, task = run.recipe, run.task
    for name, given in (("join", join), ("beam", beam)):
        if given is not None and name not in task.evaluated_with:
            raise RecipeError(
                t(
                    "{name} means nothing to {path}, whose task.kind is {kind}",
                    name=name,
                    path=run.folder.path,
                    kind=recipe.task.kind,
                ),
                NAME_ONE,
            )
    problems = Problems() if problems is None else problems
    spec, examples = corpus_examples(run, data, problems, join=join)
    task.of_whole_corpora(problems, spec)
    wait_always()  # scores are the same, to the last digit, whenever they are computed
    return task.evaluate(run.module, str(spec), examples, beam=beam)


def corpus_examples(
    run: LoadedRun,
    data: Spec | None = None,
    problems: Problems | None = None,
    *,
    join: int | None = None,
) -> tuple[Spec, Sequence[Any]]:
    """The corpus that a run is judged by, its test or else its dev set if none is given, and its examples."""
    recipe, task = run.recipe, run.task
    spec = data or recipe.data.test or recipe.data.dev
    if spec is None:
        raise RecipeError(t("the recipe has neither data.test nor data.dev"), NAME_ONE)
    problems = Problems() if problems is None else problems
    if isinstance(data, str):
        learnt = named_columns(recipe.data.train, list(task.fields))
        spec = with_header(data, list(learnt.values()), list(task.fields))
    examples = task.examples(spec, problems, join=join)
    if not examples:
        why = problems.report() or t("it is empty")
        hint = _by_trained_columns(spec, task) or NAME_ONE
        raise RecipeError(
            t(
                "there is no usable {noun} in {spec}: {why}",
                noun=task.noun[:-1],
                spec=spec,
                why=why,
            ),
            hint,
        )
    return spec, examples


def _by_trained_columns(spec: Spec, task: Task) -> str | None:
    """What to write of a file whose columns may be called as those that the run learnt from."""
    learnt = named_columns(task.recipe.data.train, list(task.fields))
    if len(learnt) < len(task.fields) or not isinstance(spec, str) or {*spec} & {*"#@+,"}:
        return None
    return t(
        "the run was trained with other names of the columns: {spec}#{values}",
        spec=spec,
        values=",".join(learnt.values()),
    )


def write_report(folder: RunFolder, say: Callable[[str], None], *, anew: bool = False) -> None:
    """Evaluate the run on its dev and test sets, and write scores.json and report.html.

    Nothing is done if they are there and of the same model, data and search, unless `anew`.
    """
    recipe = folder.read_recipe()
    made_of = {
        "model": fingerprint(folder),
        "data": recipe.data.model_dump(mode="json"),
        "search": recipe.search.model_dump(mode="json"),
    }
    if not anew and _holds(folder, made_of):
        say(t("evaluated already: {file}", file=folder.report))
        return
    run = load(folder.path)
    run.recipe = recipe  # the search may have changed since the model was written
    found = evaluations(run, say)
    scores = {name: one.to_dict() for name, one in found.items()}
    write_whole(folder.report, render(make_report(run, found)))
    files = {folder.report.name: sha256_of(folder.report)}
    whole = sealed(folder.scores, {"made_of": made_of, **scores}, files)
    write_whole(folder.scores, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    say(t("wrote {file}", file=folder.report))


def evaluations(
    run: LoadedRun, say: Callable[[str], None], sets: Mapping[str, Spec | None] | None = None
) -> dict[str, Evaluation]:
    """What was found on each of these sets, of which there may be none; on the run's own if not given."""
    data, found = run.recipe.data, dict[str, Evaluation]()
    for name, spec in ({"dev": data.dev, "test": data.test} if sets is None else sets).items():
        if spec is None:
            continue
        if next(run.task.read(spec), None) is None:
            say(
                t(
                    "{set}: no {noun} in {spec} to score by; name others with data.{set}=…",
                    set=name,
                    noun=run.task.called(1),
                    spec=spec,
                )
            )
            continue
        found[name] = evaluate(run, spec)
        one = found[name]
        for line in filter(None, (one.text, one.beside, *one.reservations)):
            say(t("{name}: {said}", name=set_name(name), said=line))
    return found


def write_page(
    runs: Sequence[LoadedRun],
    out: Path,
    say: Callable[[str], None],
    *,
    data: Spec | None = None,
) -> None:
    """The report of the first of these runs, with the others beside it, all of them scored by its sets.

    data: a corpus to score them by instead.
    """
    check_alike(runs)
    first, *others = runs
    own = {"dev": first.recipe.data.dev, "test": first.recipe.data.test}
    sets = own if data is None else {"test": data}
    name, *names = run_names(runs)
    found = evaluations(first, _as_said_of(name, say) if others else say, sets)
    beside = {}
    for called, other in zip(names, others, strict=True):
        scored = {each: sets[each] for each in found}
        beside[called] = (other, evaluations(other, _as_said_of(called, say), scored))
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, render(make_report(first, found, beside, name if others else "")))
    say(t("wrote {file}", file=out))


def _holds(folder: RunFolder, made_of: dict[str, Any]) -> bool:
    """Whether scores.json and report.html are there, whole, and of the same."""
    try:
        scores = json.loads(folder.scores.read_text(encoding="utf-8"))
        check_seal(folder.scores, scores)
        return bool(scores["made_of"] == made_of) and folder.report.is_file()
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def _as_said_of(name: str, say: Callable[[str], None]) -> Callable[[str], None]:
    """Lines that begin with the name of a run."""
    return lambda line: say(t("{name}: {said}", name=name, said=line))
