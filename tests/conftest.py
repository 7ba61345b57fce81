"""What every test shares: its surroundings, a fixed seed, and the modules beside the tests by name."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections import Counter
from pathlib import Path

import hypothesis
import pytest
import torch

# Settings that change what is read, written or asked, in tests and in the programs that they start
FOREIGN = re.compile(
    r"REGARD_(?!SCREENSHOTS|HOSTILE)|\w+_PROXY$|LC_|LANG|LINES$|NO_COLOR|FORCE_COLOR|COLORTERM|SSH_|"
    r"PYTHON(IOENCODING|UTF8|WARNINGS)|HF_|(LOCAL_|NODE_|GROUP_)?RANK$|WORLD_SIZE|MASTER_|SLURM_",
    re.IGNORECASE,
)
for name in filter(FOREIGN.match, list(os.environ)):
    del os.environ[name]
os.environ |= {"COLUMNS": "80", "HF_HUB_OFFLINE": "1"}
# nohup and the background jobs of a script ignore Ctrl-C, and so would all that is started from there
signal.signal(signal.SIGINT, signal.default_int_handler)

if "PYTEST_XDIST_WORKER_COUNT" in os.environ:  # several processes of tests share the cores
    share = max(1, (os.cpu_count() or 1) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))
    torch.set_num_threads(share)
    os.environ["OMP_NUM_THREADS"] = str(share)  # of the programs that they start

HERE = Path(__file__).parent
sys.path[:0] = [
    str(HERE / name) for name in ("attention", "records", "statistics", "system", "tasks", "words")
]

# What `make quick` leaves out: folders and files of tests that compile, train, start programs or a browser
SLOW = (
    "browser",
    "export",
    "hf",
    "looking",
    "serve",
    "system",
    "attention/kernels",
    "test_docs.py",
    "test_docs_commands.py",
)
SLOW += ("explanations", "tasks/test_classify_explain.py", "tasks/test_translate_explain.py")
SLOW += ("tasks/test_attributions.py", "tasks/test_language_explain.py")
SLOW += ("tasks/test_classify_look.py", "tasks/test_translate_look.py")
SLOW += ("attention/test_torch_features.py", "cli/test_serve_command.py")
SLOW += ("cli/test_tour_command.py", "cli/test_two_files_to_a_model.py")
SLOW += ("compare/test_compare_command.py", "compare/test_existing_runs.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = [HERE / name for name in SLOW]
    for item in items:
        if any(item.path.is_relative_to(place) for place in slow):
            item.add_marker("slow")


# a busy machine is no mistake of a test
hypothesis.settings.register_profile("regard", deadline=None)
hypothesis.settings.load_profile("regard")


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True, scope="session")
def _searches_stay_the_same() -> None:
    """No search goes over to faster kernels in the midst of a test, where its numbers differ by rounding."""
    from regard.attention import beam_steps

    beam_steps._asked = -(10**9)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy run, trained once for all tests that only look at it."""
    from toy import toy_recipe, write_corpus

    from regard.training.run import train

    folder = tmp_path_factory.mktemp("toy")
    write_corpus(folder)
    return train(toy_recipe(folder, training={"epochs": 4}), folder / "run", quiet=True)


@pytest.fixture(scope="session")
def attending(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with labelled texts and classifiers dot-1, dot-2, uniform-1 and uniform-2, by their seeds."""
    from toy_tasks import attending_recipe, write_labelled

    from regard.training.run import train

    folder = tmp_path_factory.mktemp("attending")
    write_labelled(folder, (200, 20, 60))
    for normalize, name in (("softmax", "dot"), ("uniform", "uniform")):
        for seed in (1, 2):
            recipe = attending_recipe(folder, normalize, seed)
            train(recipe, folder / f"{name}-{seed}", quiet=True)
    return folder


@pytest.fixture(scope="session")
def runs(attending: Path) -> list[Path]:
    """Of two variants, two seeds each."""
    return [attending / f"{name}-{seed}" for name in ("dot", "uniform") for seed in (1, 2)]


def pytest_terminal_summary(terminalreporter) -> None:
    """What was skipped for want of something that can be installed, and how."""
    skipped = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", []))
    for reason, count in sorted(skipped.items()):
        if "needs" in reason:
            terminalreporter.write_line(f"{count} {reason[0].lower()}{reason[1:]}")


@pytest.fixture
def made_up_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """REGARD_LANGUAGE is a language with a translation of everything: English in other letters."""
    from made_up_language import made_up

    from regard import words

    said = made_up()
    monkeypatch.setenv("REGARD_LANGUAGE", "qps")
    monkeypatch.setattr(words, "translations", lambda language: said if language == "qps" else {})
