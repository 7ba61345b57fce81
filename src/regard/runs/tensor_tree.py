"""A tree of Python values and tensors in one safetensors file: no code in it, and damage is noticed.

    write_tree(path, {"step": 7, "optimizer": optimizer.state_dict()})
    tree = read_tree(path)

Tensors stand in the body of the file. The rest is JSON in its header, with a SHA-256 of everything.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from regard.data.atomic_files import write_whole
from regard.data.checksums import Damaged
from regard.words import t


def write_tree(path: Path, tree: Any) -> str:
    """Its SHA-256."""
    tensors: dict[str, Tensor] = {}
    skeleton = json.dumps(_take_apart(tree, tensors, {}))
    digest = _digest(skeleton, tensors)
    write_whole(path, save(tensors, metadata={"tree": skeleton, "sha256": digest}))
    return digest


def read_tree(path: Path, sha256: str | None = None) -> Any:
    """What `write_tree` was given, tensors on the CPU; Damaged if a single bit of it has changed.

    sha256: what `write_tree` returned, if another tree in its place is damage too.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            # clones: the file may be removed, or its disk go away, while they are in use
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise Damaged(t("{path} is gone", path=path)) from None
    except (SafetensorError, UnicodeDecodeError, OSError) as error:
        raise Damaged(t("{path} is damaged: {error}", path=path, error=error)) from error
    if not {"tree", "sha256"} <= header.keys():
        raise Damaged(t("{path} is damaged or no checkpoint: its header lacks the tree", path=path))
    if _digest(header["tree"], tensors) != header["sha256"]:
        raise Damaged(
            t("{path} is damaged: its SHA-256 is not the one it was written with", path=path)
        )
    if sha256 not in (None, header["sha256"]):
        raise Damaged(t("{path} is not the file that this run wrote", path=path))
    return _put_together(json.loads(header["tree"]), tensors)


def _take_apart(value: Any, tensors: dict[str, Tensor], names: dict[Any, str]) -> Any:
    """The JSON form of a value; a container is [kind, items], everything else stands for itself."""
    if isinstance(value, Tensor):
        place = (value.data_ptr(), value.shape, value.stride(), value.dtype)
        if value.numel() == 0 or place not in names:  # tied weights are written once
            names[place] = str(len(tensors))
            tensors[names[place]] = value.detach().cpu().contiguous()
        return ["tensor", names[place]]
    if isinstance(value, dict):
        items = [
            [_take_apart(k, tensors, names), _take_apart(v, tensors, names)]
            for k, v in value.items()
        ]
        return ["dict", items]
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return [kind, [_take_apart(item, tensors, names) for item in value]]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(
        t("a checkpoint holds tensors and plain values, not {kind}", kind=type(value).__name__)
    )


def _put_together(form: Any, tensors: dict[str, Tensor]) -> Any:
    if not isinstance(form, list):
        return form
    kind, items = form
    if kind == "tensor":
        return tensors[items]
    if kind == "dict":
        return {_put_together(k, tensors): _put_together(v, tensors) for k, v in items}
    values = [_put_together(item, tensors) for item in items]
    return values if kind == "list" else tuple(values)


def _digest(skeleton: str, tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(skeleton.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
