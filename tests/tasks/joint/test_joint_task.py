"""Joint models by recipe: trained, kept, loaded, judged, searched and looked at, told places or not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from regard.models.joint.joint_decoder import JointDecoder
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.runs.loaded_run import LoadedRun, load
from regard.tasks.joint.affiliated_text import AffiliatedText
from regard.tasks.recipe_task import task_of
from regard.training.run import train

ENCODERS = ("in-cnn", "tag-cnn", "window", "none")
WORDS = dict(zip("abcdefgh", "stuvwxyz", strict=True))


def write_pairs(path: Path, count: int, seed: int) -> None:
    """A cipher, word by word, of which the first word is said last."""
    draw, lines = random.Random(seed), []
    for _ in range(count):
        words = draw.choices("abcdefgh", k=draw.randint(2, 6))
        said = [WORDS[word] for word in (*words[1:], words[0])]
        lines.append(f"{' '.join(words)}\t{' '.join(said)}\n")
    path.write_text("".join(lines))


def recipe_of(folder: Path, encoder: str, **changes) -> Recipe:
    for seed, (name, count) in enumerate((("train", 500), ("dev", 30), ("test", 30))):
        write_pairs(folder / f"{name}.tsv", count, seed)
    return Recipe.model_validate(
        {
            "task": {"kind": "joint"},
            "data": {part: f"{folder}/{part}.tsv" for part in ("train", "dev", "test")},
            "tokenizer": {side: {"kind": "word", "size": 40} for side in ("source", "target")},
            "model": {
                "kind": "meng",
                "encoder": encoder,
                "embedding": 16,
                "hidden": 32,
                "features": 24,
                "around": 2,
            },
            "training": {"epochs": 6, "batch_sentences": 25, "optimizer": {"lr": 0.01}},
            "search": {"beam": 2},
            "trainer": {"accelerator": "cpu", "threads": 1},
            **changes,
        }
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, LoadedRun]:
    """Trained once for all tests."""
    made = {}
    for encoder in ENCODERS:
        folder = tmp_path_factory.mktemp(encoder)
        made[encoder] = load(train(recipe_of(folder, encoder), folder / "run", quiet=True))
    return made


@pytest.fixture(params=ENCODERS)
def run(request, runs) -> LoadedRun:
    return runs[request.param]


def looked(run: LoadedRun, question: Question) -> AttentionRecord:
    return run.task.look(run.module, question)


def scores(run: LoadedRun) -> dict[str, float]:
    examples = run.task.examples(run.recipe.data.test)
    return dict(run.task.evaluate(run.module, "test", examples).measures)


def test_who_reads_the_source_is_less_surprised(runs) -> None:
    found = {encoder: scores(run)["perplexity"] for encoder, run in runs.items()}
    assert max(found[name] for name in ("in-cnn", "tag-cnn", "window")) < 0.75 * found["none"]


def test_to_be_told_the_place_helps_and_nothing_is_told_to_others(run) -> None:
    found = scores(run)
    told, asked = found["aligned_perplexity"], found["perplexity"]
    if run.recipe.model.aligned:
        assert told < asked
    else:
        assert told == pytest.approx(asked)


def test_a_cipher_is_aligned_and_the_places_are_kept_in_the_run(runs) -> None:
    target = runs["tag-cnn"].task.target
    assert isinstance(target, AffiliatedText)
    (parts,) = target.encode([{"source": "a b c", "target": "t u s"}])
    assert list(parts[1]) == [1, 2, 0, 3]


def test_a_batch_has_the_places_of_what_follows_bos(runs) -> None:
    task = runs["window"].task
    examples = [{"source": "a b c", "target": "t u s"}, {"source": "d", "target": "v"}]
    ((_, batch),) = task.batches(examples, torch.device("cpu"))
    assert batch["target_places"].shape == batch["target"][:, 1:].shape
    rows = {len(row): row for row in (r[r != 0].tolist() for r in batch["target_places"])}
    assert sorted(map(tuple, rows.values())) == [(1,), (1, 2, 3)]


def test_a_score_is_that_of_the_search(run) -> None:
    (found,) = run.translate(["a b c d"])
    (again,) = run.score(["a b c d"], [found.text])
    assert again.log_prob == pytest.approx(found.log_prob, abs=1e-4)
    assert again.log_probs == pytest.approx(found.log_probs, abs=1e-4)


def test_sentences_together_are_the_sentences_alone(run) -> None:
    texts, targets = ["a b c d e f", "a", "h g"], ["t u v w x s", "s", "y z"]
    together = run.score(texts, targets)
    for text, target, one in zip(texts, targets, together, strict=True):
        (alone,) = run.score([text], [target])
        assert alone.log_probs == pytest.approx(one.log_probs, abs=1e-4)


def test_what_a_target_is_looked_at_for_adds_up(runs) -> None:
    for encoder in ("in-cnn", "tag-cnn", "window"):
        record = looked(runs[encoder], Question("a b c", target="t u s"))
        (cross,) = record.maps
        assert cross.weights.shape == (1, 1, 4, 4)
        assert cross.weights.sum(-1) == pytest.approx(1, abs=1e-5)
        if encoder == "window":  # b, c, a, and the end
            assert cross.weights[0, 0].argmax(-1).tolist() == [1, 2, 0, 3]
    with pytest.raises(BadQuestion, match="nothing to look at"):
        looked(runs["none"], Question("a b c"))
    with pytest.raises(BadQuestion, match="blank"):
        looked(runs["in-cnn"], Question(" "))


def test_attention_can_be_trained_beside_it(tmp_path) -> None:
    recipe = recipe_of(
        tmp_path,
        "in-cnn",
        model={"kind": "rnnsearch", "embedding": 8, "hidden": 8, "maxout": 8},
        training={"epochs": 1, "batch_sentences": 100},
    )
    run = load(train(recipe, tmp_path / "run", quiet=True))
    assert not isinstance(run.module.model.decoder, JointDecoder)
    assert looked(run, Question("a b")).maps[0].name == "cross"


def test_an_aligner_needs_two_vocabularies(tmp_path) -> None:
    shared = {"shared": True, "target": {"kind": "word", "size": 40}}
    with pytest.raises(RecipeError, match=r"tokenizer\.shared"):
        task_of(recipe_of(tmp_path, "tag-cnn", tokenizer=shared))
    task_of(recipe_of(tmp_path, "in-cnn", tokenizer=shared))


def test_a_file_without_a_lexicon_is_refused() -> None:
    source = AffiliatedText("target", source=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no tokenizer and lexicon"):
        source.load("{}")
