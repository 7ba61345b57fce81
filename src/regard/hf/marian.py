"""Marian and OPUS-MT checkpoints, as published on the Hugging Face hub, as runs of regard.

    run = regard.hf.load_marian("opus-mt-en-de", save="runs/opus-en-de")
    run.translate(["I am a student."], attention=True)[0].text

The logits are those of MarianMTModel of transformers, which is not needed here. So are translations
where the searches are the same: greedy, and beams with length_penalty=0 (there, with early_stopping
too). Other length penalties differ: transformers divides by length^α, regard by ((5 + length) / 6)^α.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import nn

from regard.data.atomic_files import write_whole
from regard.data.tokenizer import Tokenizer
from regard.hf.marian_config import (
    Checkpoint,
    find_file,
    make_recipe,
    read_checkpoint,
    read_object,
)
from regard.hf.marian_tokenizer import (
    MarianVocabulary,
    SpecialRows,
    number_tokens,
    source_tokenizer,
    target_tokenizer,
)
from regard.hf.marian_weights import convert_weights, read_weights
from regard.hf.sentencepiece_file import read_sentencepiece
from regard.models.transformer_options import Transformer
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import dump_recipe
from regard.runs.devices import find_device
from regard.runs.loaded_run import LoadedRun
from regard.runs.model_file import save_model
from regard.runs.run_folder import RunFolder
from regard.tasks.translate.translate_task import TranslateTask
from regard.words import t


def load_marian(
    folder: Path | str, *, save: Path | str | None = None, device: str | None = None
) -> LoadedRun:
    """A checkpoint folder (config.json, weights, vocab.json, source.spm, target.spm) as a run.

    save: also write it there as a run folder, for `regard.load`, `regard translate -m` and all
    others. device: as in `regard.load`.
    """
    place = None if save is None else RunFolder(Path(save))
    if place is not None and place.begun:
        raise FileExistsError(
            t("{path} holds a run already: save this one in another folder", path=place.path)
        )
    checkpoint = read_checkpoint(Path(folder))
    vocabularies, tokenizers = _vocabularies(checkpoint)
    recipe = make_recipe(checkpoint, (len(tokenizers[0]), len(tokenizers[1])))
    model = _model(checkpoint, recipe, vocabularies)
    task = TranslateTask(recipe)
    task.source.tokenizer, task.target.tokenizer = tokenizers
    if place is not None:
        _save(place, task, model)
    module = task.for_inference(model).to(find_device(device)).eval()
    return LoadedRun(task, module, place or RunFolder(checkpoint.path))


def _save(folder: RunFolder, task: TranslateTask, model: nn.Module) -> None:
    folder.path.mkdir(parents=True, exist_ok=True)
    for path, field in folder.assets(task).items():
        write_whole(path, field.to_json())
    write_whole(folder.recipe, dump_recipe(task.recipe))
    save_model(folder, task, model.state_dict())


def _model(
    checkpoint: Checkpoint, recipe: Recipe, vocabularies: tuple[MarianVocabulary, MarianVocabulary]
) -> nn.Module:
    section = recipe.model
    assert isinstance(section, Transformer)
    source, target = (len(vocabulary.rows) for vocabulary in vocabularies)
    model = section.build({"source": source, "target": target})
    try:
        converted = convert_weights(
            read_weights(checkpoint.path),
            (section.encoder_layers, section.decoder_layers),
            vocabularies,
            share=section.share,
            pad_counts=not checkpoint.renormalizes,
        )
        model.load_state_dict(converted)
    except (IndexError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            t(
                "the weights in {path} do not fit its config.json: {reason}",
                path=checkpoint.path,
                reason=reason,
            )
        ) from error
    return model


def _vocabularies(
    checkpoint: Checkpoint,
) -> tuple[tuple[MarianVocabulary, MarianVocabulary], tuple[Tokenizer, Tokenizer]]:
    """Of the source and of the target."""
    path, shared = checkpoint.path, checkpoint.shares_embeddings
    separate = (path / "target_vocab.json").is_file()
    if shared and separate:
        raise ValueError(
            t("{path} has two vocabularies, but config.json says they share embeddings", path=path)
        )
    from_source, from_target = (
        read_sentencepiece(find_file(path, f"{side}.spm")) for side in ("source", "target")
    )
    ids, rows = read_object(path, "vocab.json"), checkpoint.config["vocab_size"]
    target = source = number_tokens(ids, rows, _special(checkpoint, ids, rows), from_source)
    if not shared:
        ids = read_object(path, "target_vocab.json") if separate else ids
        rows = checkpoint.config.get("decoder_vocab_size", rows)
        target = number_tokens(ids, rows, _special(checkpoint, ids, rows))
    return (source, target), (
        source_tokenizer(from_source, source),
        target_tokenizer(from_target, target),
    )


def _special(checkpoint: Checkpoint, ids: Mapping[str, int], rows: int) -> SpecialRows:
    path, config = checkpoint.path, checkpoint.config
    pad, eos = config["pad_token_id"], config["eos_token_id"]
    start = checkpoint.generation.get("decoder_start_token_id", pad)
    if ids.get("</s>") != eos or "<unk>" not in ids:
        raise ValueError(
            t(
                "the vocabulary of {path} must have <unk>, and </s> as number {eos}, which "
                "config.json calls the end; it has {get} and {value}",
                path=path,
                eos=eos,
                get=ids.get("<unk>"),
                value=ids.get("</s>"),
            )
        )
    if (last := max(*ids.values(), pad, start)) >= rows:
        raise ValueError(
            t(
                "the vocabulary of {path} goes up to {last}, but there are only {rows} embeddings",
                path=path,
                last=last,
                rows=rows,
            )
        )
    return SpecialRows(pad=pad, unk=ids["<unk>"], start=start, eos=eos)
