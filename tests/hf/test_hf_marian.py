"""A Marian checkpoint becomes a run: the same tokens, the same numbers, the same translations."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

import torch
from safetensors.torch import load_file
from tiny_marian import corpus, train_sentencepiece, write_model, write_tokenizers

import regard
from regard.data.tokenizer import BOS, EOS, PAD, UNK
from regard.hf import load_marian
from regard.hf.marian_tokenizer import SpecialRows, number_tokens, source_tokenizer
from regard.hf.sentencepiece_file import read_sentencepiece

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
SENTENCES = corpus()[0][::150]
TEXTS = [
    *corpus()[0][7::40],
    "He won't  come   home…",
    "Ça va? Die Straße, naïve “quotes” – dash",
    "ｆｕｌｌ　ｗｉｄｔｈ ① ½ ﬁne €5",
    "😀 😀😀 x😀y 👩‍👧 👍🏽",
    " leading, trailing\tand\nother\u00a0blanks ",
    "zero\u200bwidth, soft\u00adhyphen, \x01control",
    "e\u0301te\u0301 a\u0323\u0302 decomposed",
    "我 and 我们",
    "नमस्ते Việt ไทย 가나다",
    "▁under▁score < / > <b>",
    ">>fra<< How are you?",
    ">>cmn_Hans<<No blank",
    "",
    "   ",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkpoint that has learnt a little, with pieces that are missing in its vocabulary."""
    path = tmp_path_factory.mktemp("hub") / "opus-mt-en-zh"
    write_model(path, write_tokenizers(path, lost=5))
    return path


@pytest.fixture(scope="module")
def theirs(folder):
    from transformers import MarianMTModel, MarianTokenizer

    return MarianMTModel.from_pretrained(folder).eval(), MarianTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def run(folder):
    return load_marian(folder, device="cpu")


def rows_of(tokenizer, ids):
    """The ids of Marian for ours; those that it has not are UNK there."""
    own = {PAD: ids["<pad>"], UNK: ids["<unk>"], BOS: ids["<pad>"], EOS: ids["</s>"]}
    labels = enumerate(tokenizer.labels, 4)
    return own | {number: ids.get(name.rstrip(" "), ids["<unk>"]) for number, name in labels}


def compare_logits(run, model, tokenizer):
    """Encoder states, logits and probabilities of a ragged batch of pairs."""
    target_ids = tokenizer.target_encoder if tokenizer.separate_vocabs else tokenizer.encoder
    english, chinese = (texts[:1000:90] for texts in corpus())
    batch = tokenizer(english, text_target=chinese, padding=True, return_tensors="pt")
    start = torch.full((len(english), 1), model.config.decoder_start_token_id)
    inputs = torch.cat([start, batch["labels"][:, :-1]], 1)
    with torch.no_grad():
        wanted = model(
            batch["input_ids"], attention_mask=batch["attention_mask"], decoder_input_ids=inputs
        )
    from regard.data.padding import pad

    source, mask = pad([tokens.ids for tokens in run.tokenizers[0].encode_many(english)])
    target, real = pad([t.ids for t in run.tokenizers[1].encode_many(chinese)], bos=True)
    assert not mask.all()
    with torch.no_grad():
        encoded = run.model.encode(source, mask)
        decoder = run.model.decoder
        logits = decoder.project(decoder.forward(target[:, :-1], encoded).outputs)
    states = wanted.encoder_last_hidden_state
    torch.testing.assert_close(encoded.states[mask], states[mask], atol=1e-5, rtol=1e-5)
    rows = rows_of(run.tokenizers[1], target_ids)
    said = [i for i in rows if i not in (PAD, BOS) and (rows[i] != rows[UNK] or i == UNK)]
    theirs = wanted.logits[real[:, 1:]][:, [rows[i] for i in said]]
    torch.testing.assert_close(logits[real[:, 1:]][:, said], theirs, atol=1e-5, rtol=1e-5)
    unsaid = [i for i in rows if i not in said and i != PAD]
    assert logits.softmax(-1)[..., unsaid].max() == 0


class TestNumbers:
    def test_the_published_layout_gives_the_same_logits(self, run, theirs):
        compare_logits(run, *theirs)

    @pytest.mark.parametrize(
        ("separate", "settings"),
        [
            (False, {"activation_function": "relu", "scale_embedding": False}),
            (False, {"share_encoder_decoder_embeddings": False}),
            (False, {"tie_word_embeddings": False, "activation_function": "gelu"}),
            (True, {"share_encoder_decoder_embeddings": False}),
            (
                True,
                {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
            ),
        ],
        ids=["relu", "own embeddings", "own output", "two vocabularies", "nothing shared"],
    )
    def test_whatever_is_shared(self, tmp_path, separate, settings):
        tokenizer = write_tokenizers(tmp_path / "model", separate=separate, lost=3)
        model = write_model(tmp_path / "model", tokenizer, steps=1, **settings)
        compare_logits(load_marian(tmp_path / "model", device="cpu"), model, tokenizer)

    def test_attention_is_the_mean_over_the_heads_of_the_last_layer_but_one(self, run, theirs):
        model, tokenizer = theirs
        found = run.translate(SENTENCES[:4], beam=1, attention=True)
        for text, prediction in zip(SENTENCES, found, strict=False):
            batch = tokenizer([text], return_tensors="pt")
            rows = rows_of(run.tokenizers[1], tokenizer.encoder)
            said = [model.config.pad_token_id, *(rows[i] for i in prediction.tokens.ids)]
            with torch.no_grad():
                model.set_attn_implementation("eager")
                given = model(
                    **batch, decoder_input_ids=torch.tensor([said]), output_attentions=True
                )
            wanted = given.cross_attentions[model.config.decoder_layers - 2][0].mean(0)
            assert prediction.attention.shape == wanted.shape
            torch.testing.assert_close(prediction.attention, wanted, atol=1e-5, rtol=1e-5)


class TestTranslations:
    """transformers' search is ours with length_penalty=0 and early_stopping=True, and when greedy."""

    @pytest.mark.parametrize("beam", [1, 4, 5])
    @pytest.mark.parametrize("renormalize", [True, False])
    def test_are_those_of_transformers(self, folder, theirs, tmp_path, beam, renormalize):
        model, tokenizer = theirs
        settings = json.loads((folder / "generation_config.json").read_text())
        shutil.copytree(folder, tmp_path / "model")
        (tmp_path / "model" / "generation_config.json").write_text(
            json.dumps({**settings, "renormalize_logits": renormalize})
        )
        run = load_marian(tmp_path / "model", device="cpu")
        batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")
        wanted = model.generate(
            **batch,
            num_beams=beam,
            renormalize_logits=renormalize,
            max_length=60,
            return_dict_in_generate=True,
            output_scores=True,
            **({"length_penalty": 0.0, "early_stopping": True} if beam > 1 else {}),
        )
        found = run.translate(SENTENCES, beam=beam, length_penalty=0, max_length=59, max_ratio=50)
        assert len({one.text for one in found}) > 5
        rows = rows_of(run.tokenizers[1], tokenizer.encoder)
        for number, (one, sequence) in enumerate(zip(found, wanted.sequences, strict=True)):
            said = [rows[i] for i in one.tokens.ids]
            end = sequence.tolist().index(0)
            assert one.finished
            assert said == sequence[1:end].tolist()
            assert one.text == tokenizer.decode(sequence, skip_special_tokens=True)
            if beam > 1:
                assert one.log_prob == pytest.approx(
                    float(wanted.sequences_scores[number]), abs=1e-4
                )

    def test_a_found_translation_is_scored_as_it_was_found(self, run):
        found = run.translate(SENTENCES, beam=4)
        again = run.score(SENTENCES, [one.tokens for one in found])
        assert [one.score for one in again] == pytest.approx([one.score for one in found], abs=1e-4)

    def test_a_saved_run_is_a_run_like_others(self, folder, run, tmp_path, monkeypatch):
        for library in ("transformers", "sentencepiece"):  # neither is needed
            monkeypatch.setitem(sys.modules, library, None)
        saved = load_marian(folder, save=tmp_path / "run", device="cpu")
        loaded = regard.load(tmp_path / "run", device="cpu")
        assert saved.folder.path == loaded.folder.path == tmp_path / "run"
        assert loaded.recipe == run.recipe == saved.folder.read_recipe()
        wanted = run.translate(TEXTS, attention=True, nbest=2)
        for one, other in zip(
            loaded.translate(TEXTS, attention=True, nbest=2), wanted, strict=True
        ):
            assert (one.text, one.score, one.source_tokens) == (
                other.text,
                other.score,
                other.source_tokens,
            )
        with pytest.raises(FileExistsError, match="holds a run already"):
            load_marian(folder, save=tmp_path / "run")

    def test_the_recipe_tells_what_the_checkpoint_is(self, run):
        recipe = run.recipe
        assert (recipe.name, recipe.data.source, recipe.data.target) == (
            "opus-mt-en-zh",
            "en",
            "zh",
        )
        assert (recipe.search.beam, recipe.search.max_length) == (4, 40)
        model = recipe.model
        assert (model.kind, model.share, model.norm, model.activation, model.positions) == (
            "transformer",
            "all",
            "post",
            "silu",
            "sinusoidal-halves",
        )


class TestTokens:
    def test_a_source_is_cut_as_by_transformers(self, run, theirs):
        tokenizer, ours = theirs[1], run.tokenizers[0]
        rows = rows_of(ours, tokenizer.encoder)
        for text in TEXTS:
            assert [rows[i] for i in ours.encode(text).ids] == tokenizer(text).input_ids[:-1], text

    def test_so_is_a_target_and_it_reads_the_same(self, run, theirs):
        tokenizer, ours = theirs[1], run.tokenizers[1]
        rows = rows_of(ours, tokenizer.encoder)
        for text in corpus()[1][3::40]:
            wanted = tokenizer(text_target=text).input_ids
            found = ours.encode(text).ids
            assert [rows[i] for i in found] == wanted[:-1], text
            assert ours.decode(found) == tokenizer.decode(wanted, skip_special_tokens=True)

    def test_every_token_knows_its_place_in_the_raw_text(self, run):
        for text in TEXTS:
            tokens = run.tokenizers[0].encode(text)
            covered: set[int] = set()
            at = (0, 0)
            for piece, (start, end) in zip(tokens.pieces, tokens.offsets, strict=True):
                assert piece in ("▁", text[start:end])
                # one character may be several tokens: ½, or ﬁ at the seam of two
                assert (start, end) >= at
                assert start >= at[1] - 1
                at = (start, end)
                covered.update(range(start, end))
            left = "".join(sign for i, sign in enumerate(text) if i not in covered)
            assert not left.strip(" \t\n▁\u00a0\u3000\u200b\x01"), text

    def test_a_piece_without_an_id_is_unknown_to_the_model(self, folder, run, theirs):
        ids = json.loads((folder / "vocab.json").read_text())
        lost = [
            piece for piece in read_sentencepiece(folder / "source.spm").scores if piece not in ids
        ]
        assert lost
        table = run.model.encoder.embed.table.weight
        names = run.tokenizers[0].labels
        for piece in lost:
            torch.testing.assert_close(table[4 + names.index(piece)], table[UNK])

    def test_special_signs_in_a_text_are_signs(self, run):
        for text in ("a </s> b", "<pad>", "<s><unk>"):
            ids = run.tokenizers[0].encode(text).ids
            assert not {PAD, BOS, EOS} & set(ids)
            assert len(ids) > 2

    def test_where_it_differs_from_transformers(self, run):
        def pieces(text):
            return run.tokenizers[0].encode(text).pieces

        assert pieces("Hi >>fra<< you")[-2:] == [">>fra<<", "you"]
        assert ">>xyz<<" not in pieces(">>xyz<< you")
        assert pieces("我们 中国人")[-1] == "人"

    def test_scripts_of_the_world_are_normalised_alike(self, tmp_path):
        import sentencepiece

        texts = [
            "ＡＢＣ アイウ ｱｲｳ ガ が",
            "q\u0323\u0307 \u1ead a\u0323\u0302 \u1100\u1161\u11a8 각",
            "هذا نصٌّ بالعربيّة שָׁלוֹם ไทย น้ำ क्षत्रिय ज़",
            "Ω Å K … ‼ ㎏ ㍿ İ ǆ ŉ ſ 👍🏽 🇩🇪 ❤️",
        ]
        path = tmp_path / "source.spm"
        pieces = train_sentencepiece(texts * 30, path, 250, character_coverage=1.0)
        theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
        model = read_sentencepiece(path)
        ids = {name: number for number, name in enumerate(["</s>", "<unk>", *pieces, "<pad>"])}
        last = len(ids) - 1
        special = SpecialRows(pad=last, unk=1, start=last, eos=0)
        ours = source_tokenizer(model, number_tokens(ids, len(ids), special, model))
        names = ["<pad>", "<unk>", "<s>", "</s>", *ours.labels]
        for text in (*texts, "<unknown> ☃ " + texts[0]):
            found = [names[i] for i in ours.encode(text).ids]
            pieces_there = theirs.encode(text, out_type=str)
            assert found == [piece if piece in ids else "<unk>" for piece in pieces_there]


class TestFiles:
    def test_the_older_file_of_weights_is_read_without_running_it(self, folder, run, tmp_path):
        copy = shutil.copytree(folder, tmp_path / "model")
        torch.save(load_file(copy / "model.safetensors"), copy / "pytorch_model.bin")
        (copy / "model.safetensors").unlink()
        older = load_marian(copy, device="cpu").model.state_dict()
        for name, value in run.model.state_dict().items():
            assert torch.equal(value, older[name])

    def test_a_file_that_would_run_something_is_refused(self, folder, tmp_path):
        class Danger:
            def __reduce__(self):
                return (sys.exit, (1,))

        copy = shutil.copytree(folder, tmp_path / "model")
        torch.save({"model.shared.weight": Danger()}, copy / "pytorch_model.bin")
        (copy / "model.safetensors").unlink()
        with pytest.raises(ValueError, match="holds more than tensors"):
            load_marian(copy)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"model_type": "bart"}, "model_type 'bart', not 'marian'"),
            ({"normalize_before": True}, "normalize_before: true"),
            ({"normalize_embedding": True}, "normalize_embedding: true"),
            ({"activation_function": "gelu_new"}, "activation_function 'gelu_new'"),
            ({"decoder_ffn_dim": 5}, "encoder_ffn_dim 24 and decoder_ffn_dim 5"),
            ({"d_model": None}, "does not say d_model"),
            ({"eos_token_id": 7}, "</s> as number 7"),
            ({"vocab_size": 9}, "only 9 embeddings"),
            ({"vocab_size": 5000}, "do not fit its config.json"),
            ({"d_model": 8}, "do not fit its config.json"),
            ({"decoder_layers": 4}, "has no model.decoder.layers.3"),
        ],
    )
    def test_what_cannot_be_the_same_is_refused(self, folder, tmp_path, changes, message):
        copy = shutil.copytree(folder, tmp_path / "model")
        config = json.loads((copy / "config.json").read_text())
        (copy / "config.json").write_text(json.dumps({**config, **changes}))
        with pytest.raises(ValueError, match=message):
            load_marian(copy)

    @pytest.mark.parametrize(
        "name", ["config.json", "vocab.json", "source.spm", "target.spm", "model.safetensors"]
    )
    def test_a_missing_file_is_named(self, folder, tmp_path, name):
        copy = shutil.copytree(folder, tmp_path / "model")
        (copy / name).unlink()
        with pytest.raises(FileNotFoundError, match=name):
            load_marian(copy)

    @pytest.mark.parametrize("name", ["vocab.json", "source.spm", "model.safetensors"])
    def test_a_damaged_file_is_named(self, folder, tmp_path, name):
        copy = shutil.copytree(folder, tmp_path / "model")
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[: len(content) // 2])
        with pytest.raises(ValueError, match=name if name != "model.safetensors" else "damaged"):
            load_marian(copy)

    def test_learnt_positions_are_refused(self, folder, tmp_path):
        copy = shutil.copytree(folder, tmp_path / "model")
        weights = load_file(copy / "model.safetensors")
        torch.save(
            {**weights, "model.encoder.embed_positions.weight": torch.randn(128, 16)},
            copy / "pytorch_model.bin",
        )
        (copy / "model.safetensors").unlink()
        with pytest.raises(ValueError, match="learnt"):
            load_marian(copy)

    @pytest.mark.parametrize("kind", ["bpe", "char"])
    def test_other_kinds_of_sentencepiece_are_refused(self, tmp_path, kind):
        train_sentencepiece(corpus()[0], tmp_path / "other.spm", 200, model_type=kind)
        with pytest.raises(ValueError, match="no unigram model"):
            read_sentencepiece(tmp_path / "other.spm")
