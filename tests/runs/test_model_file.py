"""A model written and read back: tied weights stay tied, also when several were averaged."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from regard.data.tokenizer import Tokenizer
from regard.recipe.recipe import Recipe
from regard.runs.model_file import load_model, save_model
from regard.runs.run_folder import RunFolder
from regard.tasks.translate.translate_task import TranslateTask
from regard.training.weight_averages import average

SMALL = {"size": 8, "heads": 2, "inner": 8, "encoder_layers": 1, "decoder_layers": 1}


@pytest.mark.parametrize(("share", "matrices"), [("all", 1), ("target", 2), ("none", 3)])
def test_tied_weights_come_back_tied_from_an_average(
    share: str, matrices: int, tmp_path: Path
) -> None:
    recipe = Recipe.model_validate({"model": {"kind": "transformer", "share": share, **SMALL}})
    folder, task = RunFolder(tmp_path), TranslateTask(recipe)
    task.source.tokenizer = task.target.tokenizer = Tokenizer.train(["abcde"], kind="character")
    several = [recipe.model.build(task.sizes).state_dict() for _ in range(2)]
    mean = average(several)
    for path, field in folder.assets(task).items():
        path.write_text(field.to_json())
    save_model(folder, task, mean)
    model, _ = load_model(folder)
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, mean[name])
    tables = (model.encoder.embed.table, model.decoder.embed.table, model.decoder.output)
    assert len({id(table.weight) for table in tables}) == matrices


def test_a_hugging_face_folder_is_told_from_a_run(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "config.json").write_text('{"model_type": "marian"}')
    with pytest.raises(ValueError, match=r"Hugging Face marian model, not a run: .*load_marian"):
        load_model(RunFolder(tmp_path))
