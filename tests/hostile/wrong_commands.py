"""Wrong commands by the hundred: a command that would work, with one thing wrong in it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from typer.models import OptionInfo

from regard.cli.app import COMMANDS
from regard.cli.commands.data import check_corpus

HUGE = "9" * 25
NO_NUMBERS = ["x", "", "1.5.2", "0x10", "1e", "--", "½"]
NO_DEVICES = ["gpux", "", "cuda:99", "cpu:x", ":", "cuda:-1"]
DRAWN = ("--temperature", "--top-k", "--top-p", "--seed")  # for what is drawn: they need --sample


@dataclass(frozen=True)
class Wrong:
    arguments: tuple[str, ...]
    stdin: bytes = b""
    streams: dict[int, str | None] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = " ".join(a if len(a) < 60 else f"{a[:50]}…" for a in self.arguments)
        return f"regard {shown}" + (f" with streams {self.streams}" if self.streams else "")


@dataclass(frozen=True)
class Places:
    """A folder of good and bad files, and commands that work in it."""

    folder: Path
    bases: dict[str, list[str]]

    def bad_runs(self) -> list[str]:
        return ["", "no-such-run", *self.bad_texts(), str(self.folder), "/dev/null"]

    def bad_texts(self) -> list[str]:
        """Files that hold no text."""
        kinds = ("missing", "binary", "utf-16", "utf-32", "folder", "loop")
        return [str(self.folder / f"{kind}.txt") for kind in kinds] + ["x" * 5_000]

    def bad_outputs(self) -> list[str]:
        return ["", str(self.folder), str(self.folder / "no" / "such" / "place"), "x" * 5_000]


def make_bad_files(folder: Path, draw: random.Random) -> None:
    text = "aa bb\tbb aa\ncc\tcc\n" * 20
    (folder / "binary.txt").write_bytes(draw.randbytes(4_000))
    (folder / "utf-16.txt").write_bytes(text.encode("utf-16"))
    (folder / "utf-32.txt").write_bytes(text.encode("utf-32"))
    (folder / "folder.txt").mkdir()
    (folder / "loop.txt").symlink_to("loop.txt")
    (folder / "empty.txt").write_text("")


@dataclass(frozen=True)
class Option:
    """--beam, int, 1, None: as it is written, of what kind, and between which numbers."""

    written: str
    kind: type
    least: float | None
    most: float | None


def parameters(command: Callable[..., None]) -> tuple[list[Option], bool]:
    """The options of a command, and whether it takes arguments beside them."""
    options, arguments = [], False
    for name, hint in get_type_hints(command, include_extras=True).items():
        if get_origin(hint) is not Annotated:
            continue
        declared, info = get_args(hint)[:2]
        if not isinstance(info, OptionInfo):
            arguments = True
            continue
        written = max(info.param_decls or (), key=len, default=f"--{name.replace('_', '-')}")
        kinds = (declared, *get_args(declared))
        kind = next((k for k in (bool, int, float) if k in kinds), str)
        options.append(Option(written, kind, info.min, info.max))
    return options, arguments


def wrong_options(places: Places) -> Iterator[Wrong]:
    """Every option of every command: misspelt, without its value, with a wrong one."""
    named = {command.__name__: command for command in COMMANDS} | {"data check": check_corpus}
    for name, command in named.items():
        base = places.bases[name]
        options, arguments = parameters(command)
        yield Wrong((*base, "--no-such-option"))
        if not arguments:
            yield Wrong((*base, "surplus"))
        for option in options:
            written = option.written
            yield Wrong((*base, written[:-1] + "_" + written[-1:]))
            if option.kind is bool:
                yield Wrong((*base, f"{written}=perhaps"))
                continue
            yield Wrong((*base, written))
            more = ["--sample"] if written in DRAWN and name != "train" else []
            for value in wrong_values(option, places):
                yield Wrong((*base, *more, f"{written}={value}"))


def wrong_values(option: Option, places: Places) -> list[str]:
    name = option.written
    if name == "--model":
        return places.bad_runs()
    if name == "--device":
        return NO_DEVICES
    if name in ("--output", "--attention", "--html", "--svg", "--png", "--json"):
        return places.bad_outputs()
    if name == "--run":
        return ["", str(places.folder / "empty.txt"), "x" * 5_000]
    if name in ("--data", "--gold"):
        return ["", *places.bad_texts()]
    if option.kind is int:
        below = [] if option.least is None else [str(option.least - 1)]
        above = [] if option.most is None else [str(option.most + 1)]
        most = [HUGE] if name in ("--beam", "--nbest", "--port", "--batch", "--seed") else []
        return [*NO_NUMBERS, "1.5", "nan", *below, *above, *most]
    if option.kind is float:
        return [*NO_NUMBERS, "nan", "-1"]
    return {"--engine": ["", "x"], "--to": ["", "x"], "--host": ["", "no.such.host.invalid"]}.get(
        name, []
    )


def wrong_files(places: Places) -> Iterator[Wrong]:
    """Files that hold no text, wherever a command reads one."""
    run = places.bases["translate"][2]
    bad = [*places.bad_texts(), "", str(places.folder / "empty.txt"), "/dev/null"]
    good = str(places.folder / "source.txt")
    for path in bad:
        if Path(path).name not in (
            "binary.txt",
            "empty.txt",
            "null",
        ):  # of which it tells what is in them
            yield Wrong(("data", "check", path))
        yield Wrong(("train", path, "--run", str(places.folder / "new"), "-q"))
        yield Wrong((*places.bases["train"], f"data.train={path}"))
        if path:  # nothing means no dev set
            yield Wrong((*places.bases["train"], f"data.dev={path}"))
        for command in ("score", "align"):
            for pair in ((path, good), (good, path)):
                yield Wrong((command, "-m", run, *pair))
    yield Wrong(("score", "-m", run, good))
    for command in ("score", "align"):
        yield Wrong((command, "-m", run), stdin=b"one column\n")
        yield Wrong((command, "-m", run), stdin="aa\tbb\n".encode("utf-16"))
    yield Wrong(("translate", "-m", run), stdin="aa bb\n".encode("utf-16"))


def wrong_recipes(places: Places) -> Iterator[Wrong]:
    """YAML that is none, or none of a recipe."""
    nested = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for one, next_one in zip("abcdefgh", "bcdefghi", strict=True):
        nested += f"{next_one}: &{next_one} [{', '.join([f'*{one}'] * 9)}]\n"
    texts = {
        "list": "- 1\n- 2\n",
        "number": "3\n",
        "broken": "model: {hidden: 3\n",
        "tabs": "model:\n\thidden: 3\n",
        "twice": "seed: 1\nseed: 2\n",
        "deep": "a: " + "[" * 20_000 + "]" * 20_000,
        "laughs": nested,
        "tag": "model: !!python/object/apply:os.system ['true']\n",
        "unknown": "modle: {hidden: 3}\n",
        "none": "model: null\n",
        "kind": "model: {kind: recurent}\n",
        "documents": "seed: 1\n---\nseed: 2\n",
    }
    for name, text in texts.items():
        path = places.folder / f"{name}.yaml"
        path.write_text(text)
        yield Wrong(("train", str(path), "--run", str(places.folder / "new"), "-q"))


def wrong_streams(places: Places) -> Iterator[Wrong]:
    """Closed, or full."""
    run = places.bases["translate"][2]
    full: dict[int, str | None] = {1: "/dev/full"}
    for command in (("translate", "-m", run), ("score", "-m", run), ("data", "check", "-")):
        yield Wrong(command, streams={0: None})
    for name in ("recipes", "schema", "evaluate", "translate", "tour", "data check"):
        for streams in ({1: None}, full):
            yield Wrong(tuple(places.bases[name]), streams=streams)
    yield Wrong((*places.bases["translate"], "-o", "/dev/full"))


SHAPES = (
    "=1",
    "model",
    "model.hidden",
    "model.hidden=",
    "model..hidden=3",
    ".=1",
    "model.hidden.x=3",
)
SHAPES += (
    "MODEL.HIDDEN=3",
    "модель=3",
    "model.hidden=3=4",
    "[]=1",
    " = ",
    "model=3",
    "training=[]",
)
TOO_MUCH = ("model.hidden", "model.embedding", "model.encoder_layers", "tokenizer.source.size")
TOO_MUCH += ("trainer.threads", "trainer.devices", "trainer.num_nodes", "search.beam")


def wrong_words(places: Places, keys: dict[str, Any]) -> Iterator[Wrong]:
    """key=value: every key misspelt, every number replaced by what is none."""
    base = tuple(places.bases["train"])
    for shape in SHAPES:
        yield Wrong((*base, shape))
    for key, value in keys.items():
        for word in misspelt(key):
            yield Wrong((*base, f"{word}={'' if value is None else value}"))
        if isinstance(value, bool):
            yield from (Wrong((*base, f"{key}={wrong}")) for wrong in ("perhaps", "2", "[]"))
        elif isinstance(value, int | float):
            no_numbers = ["x", "true", "[1]", "{}", ".nan"]
            no_numbers += ["1.5", "-2"] if isinstance(value, int) else ["-.inf"]
            yield from (Wrong((*base, f"{key}={wrong}")) for wrong in no_numbers)
    for key in TOO_MUCH:
        yield from (Wrong((*base, f"{key}={wrong}")) for wrong in (10**9, HUGE))
    yield Wrong((*base, f"seed={HUGE}"))


def misspelt(key: str) -> list[str]:
    section, dot, name = key.rpartition(".")
    return [f"{section}{dot}{name[:-1]}", f"{section}x{dot}{name}"]
