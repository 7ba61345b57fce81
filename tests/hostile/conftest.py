"""The trial: hostile inputs, files, clients and moments. `make hostile` runs it, all from one seed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
for folder in ("system", "cli"):  # toy.py, processes.py
    sys.path.insert(0, str(HERE.parent / folder))

from forked_commands import Forked  # noqa: E402
from trials import SEED, Trial, seed, table  # noqa: E402

TRIALS = pytest.StashKey[list[Trial]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "hostile: the trial, which takes minutes: make hostile")
    config.stash[TRIALS] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("hostile")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if done := config.stash.get(TRIALS, []):
        terminalreporter.section(f"the trial, {SEED}={seed()}")
        for line in table(done):
            terminalreporter.write_line(line)


@pytest.fixture
def trials(request: pytest.FixtureRequest) -> Callable[..., Trial]:
    """trials(part, name): a trial whose cases are counted in the table at the end."""

    def begin(part: str, name: str = "") -> Trial:
        trial = Trial(part, name)
        request.config.stash[TRIALS].append(trial)
        return trial

    return begin


@pytest.fixture(scope="session")
def forked() -> Iterator[Forked]:
    """`regard` in forks of a process that has everything imported."""
    with Forked() as commands:
        yield commands
