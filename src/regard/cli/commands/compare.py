"""`regard compare`: which variant is better on one's own data, and how sure that is."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Device
from regard.runs.run_names import run_path
from regard.words import t

if TYPE_CHECKING:
    from regard.compare.findings import Findings

FEWEST = 3  # seeds of a first look: fewer tell too little of how much they differ
SEEDS, MOST_SEEDS = 3, 10  # where nothing else is said
MOST_HOURS = 100_000.0  # eleven years: more is a slip


def compare(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="RECIPE [KEY=VALUE …] | RUN RUN …",
            help="A recipe and keys to change, as for train; or runs that exist.",
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=A,B", help="Values to compare; several keys: all combinations."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, max=1_000, metavar="N", help="Trainings of every variant; 3 if not given."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="The corpus to judge by; the test set if not given."),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="bleu, accuracy, …; the task's own if not given."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to write; runs/compare-NAME if not given."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="decided: add seeds where the decision is open."),
    ] = None,
    most_seeds: Annotated[
        int | None,
        typer.Option(
            min=3, max=1_000, metavar="N", help="With --until: seeds at most; 10 if not given."
        ),
    ] = None,
    hours: Annotated[
        float | None,
        typer.Option(metavar="H", help="With --until: no training begins later than this."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, max=1_000, metavar="N", help="Trainings at a time; one a core, one on a GPU."
        ),
    ] = None,
    most_variants: Annotated[
        int | None,
        typer.Option(min=2, max=100_000, metavar="N", help="Variants at most; 100 if not given."),
    ] = None,
    device: Device = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Tell which variant of a recipe, or which run, is better.

    Variants are trained with several seeds; runs that exist are judged as they are. Run it again to go on
    where it stopped.

    Example: regard compare mr --vary model.attention.score=scaled-dot,additive --seeds 3

    Example: regard compare runs/a runs/b
    """
    first, most = seeds or SEEDS, most_seeds or max(MOST_SEEDS, seeds or SEEDS)
    _check_until(until, first, most, hours, {"--most-seeds": most_seeds, "--hours": hours})
    if out is not None:
        _check_out(out)
    runs = [run_path(word) for word in what if _is_run(word)]
    command = f"regard {shlex.join(sys.argv[1:])}"
    if runs:
        if len(runs) < len(what) or vary:
            wrong = "--vary" if vary else next(word for word in what if not _is_run(word))
            raise typer.BadParameter(
                t("{word} is no run: give runs alone, or a recipe with --vary", word=wrong)
            )
        for_training = {"--seeds": seeds, "--until": until, "--jobs": jobs}
        for_training |= {"--most-variants": most_variants}
        if named := [name for name, value in for_training.items() if value is not None]:
            raise typer.BadParameter(
                t(
                    "{option} is for variants that are trained: runs are as they are",
                    option=named[0],
                )
            )
        _of_runs(runs, out or Path("runs/compare"), data, measure, device, command)
        return
    if not vary:
        raise typer.BadParameter(
            t("say what to compare: --vary KEY=A,B, or name two runs that exist")
        )

    from regard.cli.commands.train import device_words
    from regard.compare.variants import MOST_VARIANTS, plan

    recipe, *words = what
    words += device_words(device)
    given = plan(recipe, words, vary=vary, most=most_variants or MOST_VARIANTS)

    from regard.compare.experiment import UntilDecided
    from regard.compare.experiment import compare as run_plan
    from regard.compare.progress_table import ProgressTable

    signal.signal(signal.SIGTERM, _end)  # so that trainings are told, and save
    folder = out or Path("runs") / f"compare-{given.recipe.name}"
    progress = ProgressTable(quiet=quiet)
    for note in given.notes:
        progress.say(t("note: {note}", note=note))
    try:
        found = run_plan(
            given,
            folder,
            progress,
            seeds=first,
            data=data,
            measure=measure,
            jobs=jobs,
            until=UntilDecided(most, hours) if until else None,
            command=command,
        )
    except (KeyboardInterrupt, SystemExit):
        progress.close()
        print(t("stopped; to go on: {command}", command=command), file=sys.stderr)
        raise
    finally:
        progress.close()
    _tell(found, folder)


def _check_out(folder: Path) -> None:
    if file := next((each for each in (folder, *folder.parents) if each.is_file()), None):
        raise typer.BadParameter(t("--out names a folder, and {file} is a file", file=file))
    if (folder / "recipe.yaml").is_file():
        raise typer.BadParameter(t("--out {folder} is a run: name another folder", folder=folder))


def _check_until(
    until: str | None, first: int, most: int, hours: float | None, given: dict[str, Any]
) -> None:
    """Refuse what makes no sense together. given: the options that are for --until alone."""
    if until not in (None, "decided"):
        raise typer.BadParameter(t("--until takes decided, not {given}", given=until))
    if hours is not None and not 0 < hours <= MOST_HOURS:
        raise typer.BadParameter(t("--hours takes a number above 0, not {given}", given=hours))
    if until is None:
        if named := [name for name, value in given.items() if value is not None]:
            told = t(
                "{option} is for --until decided, which adds seeds: without it all of --seeds are trained",
                option=named[0],
            )
            raise typer.BadParameter(told)
        return
    if first < FEWEST:
        told = t("--until decided begins with {fewest} seeds or more: --seeds N", fewest=FEWEST)
        raise typer.BadParameter(told)
    if most < first:
        told = t("--most-seeds {most} is less than --seeds {first}", most=most, first=first)
        raise typer.BadParameter(told)


def _of_runs(
    runs: list[Path],
    out: Path,
    data: str | None,
    measure: str | None,
    device: str | None,
    command: str,
) -> None:
    from regard.compare.existing_runs import compare_runs

    found = compare_runs(runs, out, data=data, measure=measure, device=device, command=command)
    _tell(found, out)


def _tell(found: Findings, out: Path) -> None:
    """The table and what it says on standard output, the files on standard error."""
    from regard.compare.compare_files import output_files
    from regard.compare.score_table import ScoreTable
    from regard.compare.verdicts import sentences

    print(ScoreTable.of(found).text)
    print()
    for sentence in sentences(found):
        print(sentence)
    for file in output_files(found, out):
        print(t("wrote {file}", file=file), file=sys.stderr)


def _is_run(word: str) -> bool:
    """A folder, or the embedded model; one that has = in its name, as those of variants have, holds a run."""
    path = run_path(word)
    return path.is_dir() and ("=" not in word or (path / "recipe.yaml").is_file())


def _end(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)
