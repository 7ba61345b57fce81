"""The ONNX graphs are the model: searched, scored and looked at as any other."""

from __future__ import annotations

import pytest

import regard
from regard.export import CannotExport, export, load_engine

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

UNUSUAL = {  # what CTranslate2 cannot run
    "positions": "rotary",
    "key_heads": 2,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention": {"score": "additive", "region": "window(2)"},
    "cross_attention": {"score": "cosine", "normalize": "sparsemax"},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory, make_in):
    """A run and its ONNX graphs; writing them takes seconds."""
    run = make_in(tmp_path_factory.mktemp("onnx") / "run", ends=0.0, **UNUSUAL)
    return regard.load(run, device="cpu"), load_engine(run, "onnx", device="cpu")


@pytest.mark.parametrize("beam", [1, 4])
def test_translations_scores_and_attention_are_the_same(runs, texts, beam):
    asked = {"beam": beam, "nbest": beam, "attention": True, "no_repeat_ngram": 3}
    ours, theirs = (run.translate(texts, **asked) for run in runs)
    for a, b in zip(ours, theirs, strict=True):
        every = zip((a, *a.alternatives), (b, *b.alternatives), strict=True)
        for one, other in every:
            assert other.tokens.ids == one.tokens.ids
            assert other.log_probs == pytest.approx(one.log_probs, abs=1e-4)
            if one.attention is not None:
                assert (other.attention - one.attention).abs().max() < 1e-5


def test_given_targets_have_the_same_scores(runs, texts):
    targets = ["waa wab wac", "wba", "wab wab", "", "wca waa"]
    ours, theirs = (run.score(texts[:5], targets, attention=True) for run in runs)
    assert [p.score for p in theirs] == pytest.approx([p.score for p in ours], abs=1e-4)
    assert theirs[0].attention.shape == ours[0].attention.shape
    assert theirs[0].attention.sum(1) == pytest.approx(ours[0].attention.sum(1), abs=1e-5)


@pytest.mark.parametrize(
    ("reason", "model"),
    {
        "reads token by token": {"kind": "luong", "embedding": 8, "hidden": 8, "layers": 1},
        "region Window": {"decoder_attention": {"region": "window(4)"}},
        "score Location": {"cross_attention": {"score": "location(50)"}},
    }.items(),
)
def test_what_a_graph_cannot_say_is_refused_before_anything_is_written(make, reason, model):
    run = make(**model)
    with pytest.raises(CannotExport, match=reason):
        export(run, "onnx")
    assert not (run / "export").exists()
    with pytest.raises(CannotExport, match="float32"):
        export(run, "onnx", quantization="int8")
