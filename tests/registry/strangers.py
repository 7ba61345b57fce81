"""A package that is not regard's, laid into a folder as an installer would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MODELS = '''
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from regard.options import ModelOptions, TaskOptions, Width


class Mean(ModelOptions):
    """The mean of the embeddings, and a label."""

    task: ClassVar[str] = "classify"
    size: Width = Field(8, description="features of a token")

    def build(self, sizes: Mapping[str, Any]):
        from torch import nn

        return nn.Sequential(nn.EmbeddingBag(sizes["text"], self.size), nn.Linear(self.size, sizes["label"]))


class Tagging(TaskOptions):
    """A tag for every word."""

    metrics: ClassVar[tuple[str, ...]] = ("tag_accuracy", "loss")
    tags: Width = Field(4, description="how many tags")

    def task(self, recipe):
        return ("tagging", recipe)


class Tagger(ModelOptions):
    """A tag for every word, whatever the others are."""

    task: ClassVar[str] = "tagging"

    def build(self, sizes):
        raise NotImplementedError


class Unbuilt(ModelOptions):
    pass


class NotOptions:
    pass
'''
ENTRY_POINTS = """[regard.models]
mean = strange_package.models:Mean
tagger = strange_package.models:Tagger
luong = strange_package.models:Mean
broken = strange_package.broken:Mean
lost = strange_package.nowhere:Mean
odd = strange_package.models:NotOptions

[regard.tasks]
tagging = strange_package.models:Tagging

[regard.recipes]
strange = strange_package.recipes
broken = strange_package.broken
"""
METADATA = "Metadata-Version: 2.1\nName: strange-package\nVersion: 1.0\n"
RECIPE = """name: strange-mean
description: The mean of the embeddings
extends: mr
model: {kind: mean, size: 16}
"""


def lay_package(folder: Path) -> Path:
    """The folder to put on the path."""
    files = {
        "strange_package/__init__.py": "",
        "strange_package/models.py": MODELS,
        "strange_package/broken.py": "raise RuntimeError('this package\\nis broken')\n",
        "strange_package/recipes/__init__.py": "",
        "strange_package/recipes/strange-mean.yaml": RECIPE,
        "strange_package/recipes/unreadable.yaml": "name: [\n",
        "strange_package/recipes/zh-en.yaml": "description: not regard's\n",
        "strange_package-1.0.dist-info/METADATA": METADATA,
        "strange_package-1.0.dist-info/entry_points.txt": ENTRY_POINTS,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def in_a_process(
    folder: Path, *arguments: str, timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Python with that folder on its path; what is installed is found when a process begins."""
    paths = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        cwd=folder,
        timeout=timeout,
    )
