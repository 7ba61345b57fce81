"""CTranslate2 runs what was trained: the same tokens, scores and attention, or a refusal that says why."""

from __future__ import annotations

import json

import pytest
import torch

import regard
from regard.export import CannotExport, export, load_engine
from regard.export.ctranslate2 import vocabulary
from regard.runs.model_file import load_model, save_model
from regard.runs.run_folder import RunFolder
from regard.tasks.prediction import Prediction

ctranslate2 = pytest.importorskip("ctranslate2")

MODELS = {
    "pre": {},
    "post, learned": {"norm": "post", "positions": "learned", "max_positions": 60},
    "post with a last norm": {"norm": "post", "final_norm": True},
    "pre without a last norm": {"final_norm": False, "positions": "sinusoidal-halves"},
    "rotary, groups of heads": {"positions": "rotary", "key_heads": 2},
    "one key head": {"key_heads": 1, "positions": "none", "scaled": False},
    "swiglu": {"activation": "swiglu", "share": "none"},
    "gelu": {"activation": "gelu", "decoder_layers": 1},
    "silu, dot, temperature": {
        "activation": "silu",
        "cross_attention": {"score": "dot", "normalize": "softmax(2.0)"},
    },
}
REFUSED = {
    "score Additive": {"encoder_attention": {"score": "additive"}},
    "region Window": {"decoder_attention": {"region": "window(4)"}},
    "region Atrous": {"encoder_attention": {"region": "atrous(2)"}},
    "normaliser Sparsemax": {"cross_attention": {"normalize": "sparsemax"}},
    "norm=none": {"norm": "none"},
    "residual=false": {"residual": False},
    "feed_forward=false": {"feed_forward": False},
    "RecurrentDecoder": {"kind": "rnnsearch", "embedding": 8, "hidden": 8, "maxout": 8},
}


def assert_same(ours: list[Prediction], theirs: list[Prediction]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert b.tokens.ids == a.tokens.ids, (a.score, b.score)
        assert b.text == a.text
        assert b.finished == a.finished
        assert b.score == pytest.approx(a.score, abs=1e-3)
        assert b.log_prob == pytest.approx(a.log_prob, abs=1e-3)
        if a.attention is not None:
            assert b.log_probs == pytest.approx(a.log_probs, abs=1e-4)
            torch.testing.assert_close(b.attention, a.attention, atol=1e-5, rtol=0)
        assert_same(list(a.alternatives), list(b.alternatives))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_transformer_gives_the_same_translations(make, texts, model):
    run = make(**model)
    native, engine = regard.load(run, device="cpu"), load_engine(run, "ctranslate2", device="cpu")
    asked = {"beam": 4, "attention": True, "max_length": 25}
    assert_same(native.translate(texts, **asked), engine.translate(texts, **asked))


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("beam", [1, 2, 5])
def test_every_beam_and_length_penalty_finds_the_same(small_run, texts, beam, length_penalty):
    native, engine = regard.load(small_run, device="cpu"), load_engine(small_run, "ctranslate2")
    asked = {"beam": beam, "length_penalty": length_penalty}
    ours = native.translate(texts, **asked)
    assert len({p.finished for p in ours}) == 2  # some end, some are cut: both are compared
    assert_same(ours, engine.translate(texts, **asked))


def test_a_sentence_is_cut_at_its_own_limit_whatever_it_is_batched_with(small_run, texts):
    native, engine = regard.load(small_run, device="cpu"), load_engine(small_run, "ctranslate2")
    asked = {"beam": 3, "max_ratio": 0.5, "coverage_penalty": 0.3}
    ours = native.translate(texts, **asked)
    assert len({len(p.tokens) for p in ours if not p.finished}) > 1
    assert_same(ours, engine.translate(texts, **asked))


def test_the_best_is_the_same_where_many_are_asked_for(small_run, texts):
    native, engine = regard.load(small_run, device="cpu"), load_engine(small_run, "ctranslate2")
    ours, theirs = (one.translate(texts, beam=5, nbest=5) for one in (native, engine))
    assert [p.tokens.ids for p in theirs] == [p.tokens.ids for p in ours]
    scores = [[q.score for q in (p, *p.alternatives) if q.finished] for p in theirs]
    assert all(row == sorted(row, reverse=True) for row in scores)


@pytest.mark.parametrize(("reason", "model"), REFUSED.items(), ids=REFUSED)
def test_what_it_cannot_run_is_refused_before_anything_is_written(make, reason, model):
    run = make(**model)
    before = sorted(run.rglob("*"))
    with pytest.raises(CannotExport, match=reason):
        export(run, "ctranslate2")
    assert sorted(run.rglob("*")) == before


def test_what_its_search_does_in_another_way_is_refused(small_run):
    engine = load_engine(small_run, "ctranslate2")
    for asked in ({"method": "sample"}, {"min_length": 2}, {"no_repeat_ngram": 2}):
        with pytest.raises(CannotExport, match="differ from those"):
            engine.translate(["一丁"], **asked)
    with pytest.raises(CannotExport, match="prefixes"):
        engine.translate(["一丁"], prefixes=["waa"])
    with pytest.raises(CannotExport, match="translates only"):
        engine.score(["一丁"], ["waa wab"])


def test_a_source_beyond_the_positions_is_told(make):
    run = make(positions="learned", max_positions=8)
    engine = load_engine(run, "ctranslate2")
    assert engine.translate(["一" * 7])[0].source_tokens.ids
    with pytest.raises(ValueError, match=r"9 tokens .* longer than the 8 positions"):
        engine.translate(["一" * 8])


def test_the_folder_stands_alone_and_the_engine_reads_it_without_regard(small_run, texts, tmp_path):
    folder = export(small_run, "ctranslate2", tmp_path / "out")
    names = {path.name for path in folder.iterdir()}
    assert {"model.bin", "config.json", "recipe.yaml", "export.json"} <= names
    assert not [name for name in names if name.startswith(".")]
    ours = load_engine(folder, "ctranslate2").translate(texts[:1], beam=1)[0]
    tokens = [vocabulary(regard.load(small_run).tokenizers[0])[i] for i in ours.source_tokens.ids]
    plain = ctranslate2.Translator(str(folder), device="cpu")
    limit = 10 + 3 * (len(tokens) + 1)
    found = plain.translate_batch([[*tokens, "</s>"]], beam_size=1, max_decoding_length=limit)
    spelt = json.loads((folder / "target_vocabulary.json").read_text("utf-8"))
    assert found[0].hypotheses[0] == [spelt[i] for i in ours.tokens.ids]


def test_a_run_is_exported_once_and_again_when_its_model_is_another(make, texts):
    run = make()
    load_engine(run, "ctranslate2")
    model = run / "export" / "ctranslate2" / "model.bin"
    written = model.stat().st_mtime_ns
    load_engine(run, "ctranslate2")
    assert model.stat().st_mtime_ns == written
    other = make_other(run)
    assert_same(
        regard.load(other, device="cpu").translate(texts, beam=2),
        load_engine(other, "ctranslate2").translate(texts, beam=2),
    )
    assert model.stat().st_mtime_ns > written


def make_other(run):
    """The same run with other weights."""
    model, task = load_model(RunFolder(run))
    weights = {name: 1.1 * w for name, w in model.state_dict().items()}
    save_model(RunFolder(run), task, weights)
    return run


def test_int8_is_smaller_and_nearly_the_same(make, texts, tmp_path):
    run = make(positions="rotary")
    full = export(run, "ctranslate2", tmp_path / "full")
    small = export(run, "ctranslate2", tmp_path / "small", quantization="int8")
    sizes = [(folder / "model.bin").stat().st_size for folder in (full, small)]
    assert sizes[1] < 0.7 * sizes[0]
    ours, theirs = (
        load_engine(f, "ctranslate2").translate(texts[:1], beam=1, attention=True)
        for f in (full, small)
    )
    assert theirs[0].log_probs[0] == pytest.approx(ours[0].log_probs[0], abs=0.2)


def test_a_folder_of_something_else_is_not_written_over(small_run, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(FileExistsError, match="is no export"):
        export(small_run, "ctranslate2", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_an_export_that_fails_leaves_what_was_there(small_run, tmp_path, monkeypatch):
    folder = export(small_run, "ctranslate2", tmp_path / "out")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def broken(*_):
        raise OSError("no space left")

    monkeypatch.setattr("regard.export.run_export.copy_run_files", broken)
    with pytest.raises(OSError, match="no space"):
        export(small_run, "ctranslate2", folder, quantization="int8")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
