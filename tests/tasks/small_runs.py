"""Small models over the letters a … h, their weights drawn large so that their answers differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

from regard.data.fields import Label, Numbers, Text
from regard.data.tokenizer import EOS, UNK, Tokenizer
from regard.models.presets import luong, recurrent
from regard.models.transformer_models import (
    classifier,
    language_model,
    masked_language_model,
    transformer,
)
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.runs.loaded_run import LoadedRun
from regard.runs.run_folder import RunFolder
from regard.tasks.recipe_task import task_of
from regard.tasks.translate.text_translator import TextTranslator

LETTERS = "a b c d e f g h"
SHAPE = {"size": 16, "heads": 2, "inner": 16, "norm": "post", "dropout": 0.0}
SMALL = {"embedding": 8, "hidden": 12}
WINDOW = {"region": "window(1, clamp=true)"}
SPARSE = {"score": "bilinear", "normalize": "sparsemax"}

MODELS = {
    "rnnsearch": lambda n: recurrent(n, n, **SMALL),
    "all queries at once": lambda n: recurrent(n, n, **SMALL, place="after"),
    "window": lambda n: recurrent(n, n, **SMALL, attention=WINDOW, place="after"),
    "window in turn": lambda n: recurrent(n, n, **SMALL, attention=WINDOW),
    "predicted window": lambda n: luong(n, n, attention="local-p", width=2, layers=1, **SMALL),
    "hard": lambda n: recurrent(n, n, **SMALL, attention={"normalize": "hard"}),
    "sparsemax": lambda n: recurrent(n, n, **SMALL, attention=SPARSE),
    "static": lambda n: recurrent(n, n, **SMALL, attention={"dynamic": False}),
    "static at once": lambda n: recurrent(
        n, n, **SMALL, attention={"dynamic": False, "normalize": "sparsemax"}, place="after"
    ),
    "transformer": lambda n: transformer(
        n, n, **SHAPE, encoder_layers=2, decoder_layers=3, share="all"
    ),
    "local transformer": lambda n: transformer(
        n,
        n,
        **SHAPE,
        share="all",
        encoder_layers=2,
        decoder_layers=1,
        encoder_attention={"region": ("window(1)", "everywhere")},
        decoder_attention={"score": "additive", "region": "window(2)"},
        cross_attention={"score": "cosine(0.1)", "normalize": "sparsemax"},
    ),
}
RECURRENT = [name for name in MODELS if "transformer" not in name]
DYNAMIC = [name for name in MODELS if "static" not in name]
RECIPES = {
    "translate": "rnnsearch",
    "classify": "mr",
    "language": "char-language",
    "masked": "masked-language",
}


def text_field(tokenizer: Tokenizer, max_length: int | None = None) -> Text:
    """What a classifier reads, with a tokenizer that was learnt elsewhere."""
    field = Text("text", max_length=max_length, cut=True)
    field.tokenizer = tokenizer
    return field


def enlarge(model: nn.Module, std: float = 0.6) -> nn.Module:
    torch.manual_seed(0)
    for weight in model.parameters():
        nn.init.normal_(weight, std=std)
    return model


def translator_of(kind: str) -> TextTranslator:
    tokenizer = Tokenizer.train([LETTERS], kind="word")
    model = enlarge(MODELS[kind](len(tokenizer)))
    with torch.no_grad():
        model.decoder.output.bias[EOS] += 1.0  # or it would hardly ever end
        model.decoder.output.bias[UNK] -= 50.0  # or a translation could not be read again
    return TextTranslator(model, tokenizer, tokenizer).eval()


def small_run(kind: str, folder: Path, *, layers: int = 2) -> LoadedRun:
    """A run of a task of this kind, by one of the recipes that come with the package."""
    task = task_of(read_recipe(RECIPES[kind]))
    tokenizer = Tokenizer.train([LETTERS], kind="word", mask=kind == "masked")
    size = len(tokenizer)
    for field in task.fields.values():
        if isinstance(field, Text):
            field.tokenizer = tokenizer
        elif isinstance(field, Label):
            field.learn(["no", "yes"])
    made = {
        "translate": lambda: translator_of("transformer").model,
        "classify": lambda: classifier(size, 2, SHAPE, layers=layers, pool="attention"),
        "language": lambda: language_model(size, SHAPE, layers=layers),
        "masked": lambda: masked_language_model(size, SHAPE, layers=layers),
    }[kind]()
    model = made if kind == "translate" else enlarge(made)
    return LoadedRun(task, task.for_inference(model).eval(), RunFolder(folder / kind))


def document_run(output: str, folder: Path) -> LoadedRun:
    """One that reads documents, by hierarchical attention. output: label or number."""
    words = [f"task.output={output}", "model.embedding=8", "model.hidden=6"]
    task = task_of(read_recipe("han-composed", words))
    tokenizer = Tokenizer.train([f"{LETTERS} . ! ?"], kind="word", lowercase=True)
    task.source.load(tokenizer.to_json())
    numbers = np.array([[10.0], [14.0]], np.float32)
    task.target.learn(["no", "yes"] if output == "label" else numbers)
    model = enlarge(task.recipe.model.build(task.sizes))
    return LoadedRun(task, task.for_inference(model).eval(), RunFolder(folder / "document"))


def _drawn_run(
    kind: str, folder: Path, columns: str, texts: str | None = None, **sections
) -> LoadedRun:
    """One that was never trained. texts: the name of the field that has the tokenizer."""
    data = {part: f"{part}.jsonl#{columns}" for part in ("train", "dev", "test")}
    task = task_of(Recipe.model_validate({"data": data, **sections}))
    if texts:
        task.fields[texts].load(Tokenizer.train([LETTERS], kind="word").to_json())
    for field in task.fields.values():
        if isinstance(field, Label):
            field.learn(["no", "yes"])
        elif isinstance(field, Numbers):
            field.learn([np.array([[0.0, 1.0], [2.0, 3.0]], np.float32)[:, : 1 + field.sequence]])
    model = enlarge(task.recipe.model.build(task.sizes))
    return LoadedRun(task, task.for_inference(model).eval(), RunFolder(folder / kind))


def hops_run(folder: Path) -> LoadedRun:
    """A classifier that looks at a text three times."""
    model = {"kind": "lin", "embedding": 8, "hidden": 6, "attention": 6, "hops": 3, "inner": 6}
    return _drawn_run("hops", folder, "said,judged", "text", task={"kind": "classify"}, model=model)


def pair_run(answer: str, folder: Path) -> LoadedRun:
    """One that judges two texts, of the columns left and right. answer: label, number or rank."""
    model = {"kind": "abcnn", "embedding": 8, "filters": 6, "width": 2, "compare": "vectors"}
    task = {"kind": "match", "answer": answer, **({"right": "yes"} if answer == "rank" else {})}
    return _drawn_run("pair", folder, "left,right,judged", "first", task=task, model=model)


def reader_run(folder: Path) -> LoadedRun:
    """One that chooses the answer to a question about a story."""
    model = {"kind": "reader", "embedding": 8, "hidden": 6, "cell": "gru"}
    task = {"kind": "read", "answers": "choice"}
    columns = "story,question,candidates"
    return _drawn_run("reader", folder, columns, "story", task=task, model=model)


def series_run(folder: Path, output: str = "label") -> LoadedRun:
    """One that classifies sequences of two numbers, of the column days."""
    model = {"kind": "classifier", "encoder": "gru", "embedding": 8, "hidden": 6}
    task = {"kind": "classify", "input": "numbers", "output": output}
    return _drawn_run("series", folder, "days,tomorrow", task=task, model=model)
