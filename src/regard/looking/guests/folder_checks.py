"""What a folder of a model has to be before it is read: JSON, and weights of its own in safetensors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from regard.words import t

PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".msgpack")
PROCESSORS = ("processor_config.json", "preprocessor_config.json")
SETTINGS = (
    "config.json",
    "tokenizer_config.json",
    *PROCESSORS,
    "video_preprocessor_config.json",
    "generation_config.json",
)
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
CODE = "auto_map"  # the key that names code of a folder
MOST_BYTES = 64 * 2**20  # of a file of JSON


class BadModelFolder(ValueError):
    """A folder that is not, or not safely, a model."""

    status = 2
    hint = "model.save_pretrained(FOLDER) and tokenizer.save_pretrained(FOLDER) write one"


def check_folder(place: Path) -> dict[str, Any]:
    """What config.json says; refused is what would need a pickle, code of the folder, or a network."""
    if not place.is_dir():
        raise BadModelFolder(
            t(
                "{folder} is no folder: nothing is downloaded, give one on this machine",
                folder=place,
            )
        )
    if not (place / "config.json").is_file():
        raise BadModelFolder(t("{folder} has no config.json: it is no model", folder=place))
    if (place / "adapter_config.json").exists():
        raise BadModelFolder(
            t(
                "{folder} is an adapter of another model: merge the two, and save the whole",
                folder=place,
            )
        )
    for name in SETTINGS:
        if (place / name).is_file():
            _object(place / name)
    config = _object(place / "config.json")
    for file in weight_files(place, config):
        _check_weights(file)
    return config


def weight_files(place: Path, config: dict[str, Any]) -> list[Path]:
    """The files that transformers would read weights from, each of them in the folder."""
    named = config.get("transformers_weights")
    if named is not None:
        start = _inside(place, named, place / "config.json", (".safetensors", INDEX[5:]))
    else:
        found = [place / name for name in (WEIGHTS, INDEX) if (place / name).is_file()]
        if not found:
            raise BadModelFolder(_no_weights(place))
        start = found[0]
        if start.name == WEIGHTS:
            _inside(place, WEIGHTS, start, (".safetensors",))
    if start.suffix == ".safetensors":
        return [start]
    parts = _object(start).get("weight_map")
    if not isinstance(parts, dict) or not parts:
        raise BadModelFolder(t("{file} has no weight_map: it names no weights", file=start))
    names = dict.fromkeys(each if isinstance(each, str) else repr(each) for each in parts.values())
    return [_inside(place, name, start, (".safetensors",)) for name in names]


def _no_weights(place: Path) -> str:
    there = sorted(each.name for each in place.iterdir())
    if others := [each for each in there if each.endswith(".safetensors")]:
        return t(
            "{folder} has no {name}, and no {index} that says what {files} are parts of",
            folder=place,
            name=WEIGHTS,
            index=INDEX,
            files=", ".join(others[:3]),
        )
    pickles = [each for each in there if each.endswith(PICKLES)]
    seen = t(
        "; {files} may be a pickle, which can run anything", files=", ".join(pickles)
    ) if pickles else ""  # fmt: skip
    return t("{folder} has no weights in safetensors{seen}", folder=place, seen=seen)


def _inside(place: Path, name: Any, by: Path, endings: tuple[str, ...]) -> Path:
    """A file of the folder itself. A snapshot of a cache of the hub may have it among its blobs."""
    plain = isinstance(name, str) and name == Path(name).name and "\\" not in name
    if not plain or not name.endswith(endings):
        raise BadModelFolder(
            t(
                "{file} names {name} as weights: only files of safetensors in the folder itself are read",
                file=by,
                name=repr(name),
            )
        )
    file = place / name
    try:
        real = file.resolve(strict=True)
    except (OSError, RuntimeError):  # nothing there, or a link to itself
        real = None
    if real is None or not real.is_file():
        raise BadModelFolder(t("{file} is missing, or no file", file=file))
    whole = place.resolve()
    homes = [whole]
    if whole.parent.name == "snapshots":
        homes.append(whole.parent.parent / "blobs")
    if real.parent not in homes:
        raise BadModelFolder(t("{file} is a link that leads out of the folder", file=file))
    return file


def _check_weights(file: Path) -> None:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "pt"):
            pass
    except (SafetensorError, OSError) as error:
        raise BadModelFolder(
            t(
                "{file} is cut off or no safetensors: {error}",
                file=file,
                error=" ".join(str(error).split())[:200],
            )
        ) from None


def _object(file: Path) -> dict[str, Any]:
    """A JSON object that asks for no code, at any depth."""
    keys: set[str] = set()

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys.update(name for name, _ in pairs)
        return dict(pairs)

    try:
        if file.stat().st_size > MOST_BYTES:
            raise BadModelFolder(
                t("{file} has more than {n} MiB of JSON", file=file, n=MOST_BYTES // 2**20)
            )
        value = json.loads(file.read_text("utf-8"), object_pairs_hook=made)
    except RecursionError:
        raise BadModelFolder(t("{file} is nested too deeply", file=file)) from None
    except BadModelFolder:
        raise
    except (ValueError, OSError) as error:  # of JSON, of UTF-8
        raise BadModelFolder(t("{file} is no JSON: {error}", file=file, error=error)) from None
    if not isinstance(value, dict):
        raise BadModelFolder(t("{file} is no JSON object", file=file))
    if CODE in keys:
        raise BadModelFolder(
            t(
                "{file} asks for code of its own (auto_map), and none is run from a folder",
                file=file,
            )
        )
    return value
