"""Words are read by sentences, sentences by documents: as the formula says, in any batch."""

from __future__ import annotations

import pytest
import torch

from regard.layers.special_tokens import BOS, EOS
from regard.models.documents.document_encoder import HierarchicalEncoder, hierarchical

# ids:      0      1      2      3       4     5     6    7    8     9
PIECES = ["<pad>", "<unk>", "<s>", "</s>", "▁a", "▁b", ".", "。", "c", "▁?"]


def encoder() -> HierarchicalEncoder:
    torch.manual_seed(2)
    made = HierarchicalEncoder(len(PIECES), 5, 4).double().eval()
    made.mark_ends(PIECES)
    return made


def sentences(ids: list[int]) -> list[list[int]]:
    """The tokens of each sentence, by the encoder's layout."""
    source = torch.tensor([ids])
    layout = encoder().layout(source, torch.ones_like(source, dtype=torch.bool))
    rows = zip(layout.at[0], layout.real[0], strict=True)
    return [source[0, at[real]].tolist() for at, real in rows]


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        ([4, 6, 5, 6, EOS], [[4, 6], [5, 6, EOS]]),  # a. b.
        ([4, 6, 8, 6, 5, EOS], [[4, 6, 8, 6], [5, EOS]]),  # a.c. b: no blank, no end
        ([8, 7, 8, 7, EOS], [[8, 7], [8, 7, EOS]]),  # c。c。
        ([8, 7, 7, 8, EOS], [[8, 7, 7], [8, EOS]]),  # c。。c
        ([4, 9, 9, EOS], [[4, 9], [9, EOS]]),  # a ? ?
        ([4, EOS], [[4, EOS]]),
        ([EOS], [[EOS]]),
    ],
)
def test_sentences_end_where_readers_end_them(ids: list[int], wanted: list[list[int]]) -> None:
    assert sentences(ids) == wanted


def test_states_are_the_formula_sentence_by_sentence() -> None:
    made = encoder()
    parts = [[4, 5, 6], [5, 6], [4, 8, 8, EOS]]
    source = torch.tensor([[token for part in parts for token in part]])
    found = made(source, torch.ones_like(source, dtype=torch.bool))
    read = [made.words(made.embed(torch.tensor([part])))[0][0] for part in parts]
    pooled = []
    for h in read:
        assert made.pool.hidden is not None
        alpha = torch.softmax(torch.tanh(made.pool.hidden(h)) @ made.pool.query[0], 0)
        pooled.append(alpha @ h)
    d = made.sentences(torch.stack(pooled)[None])[0][0]
    rows = [made.together(torch.cat([w, d[k]])).tanh() for k, h in enumerate(read) for w in h]
    assert torch.allclose(found.states[0], torch.stack(rows), atol=1e-12)


def test_a_document_alone_is_the_document_in_a_ragged_batch() -> None:
    made = encoder()
    rows = [[4, 6, 5, 6, 4, 5, 6, EOS], [5, EOS], [], [4, 4, 4, 4, 6, 5]]
    width = max(map(len, rows)) + 2
    source = torch.tensor([row + [5] * (width - len(row)) for row in rows])
    mask = torch.arange(width) < torch.tensor([[len(row)] for row in rows])
    together = made(source, mask)
    assert together.states.isfinite().all()
    assert not together.states[~mask].any()
    for row, ids in enumerate(rows):
        if not ids:
            assert not together.summary[row].any()
            continue
        one = torch.tensor([ids])
        alone = made(one, torch.ones_like(one, dtype=torch.bool))
        assert torch.allclose(alone.states[0], together.states[row, : len(ids)], atol=1e-12)
        assert torch.allclose(alone.summary[0], together.summary[row], atol=1e-12)


def test_a_sentence_knows_of_the_others() -> None:
    made = encoder()
    first, second = (torch.tensor([[*start, 6, 5, 5, EOS]]) for start in ([4], [8]))
    all_real = torch.ones_like(first, dtype=torch.bool)
    a, b = (made(x, all_real).states[0, -2] for x in (first, second))
    assert not torch.allclose(a, b)


def test_no_text_at_all_gives_no_state() -> None:
    none = torch.zeros(2, 0, dtype=torch.int64)
    found = encoder()(none, none.bool())
    assert found.states.shape == (2, 0, 8)
    assert not found.summary.any()


def test_where_sentences_end_is_kept_with_the_weights() -> None:
    model = hierarchical(len(PIECES), 7, embedding=4, hidden=4)
    model.encoder.mark_ends(PIECES)  # type: ignore[operator]
    again = hierarchical(len(PIECES), 7, embedding=4, hidden=4)
    again.load_state_dict(model.state_dict())
    source = torch.tensor([[4, 6, 5, 6, EOS]])
    mask, inputs = torch.ones_like(source, dtype=torch.bool), torch.tensor([[BOS, 4]])
    made = [each.eval()(source, mask, inputs).outputs for each in (model, again)]
    assert torch.equal(*made)
    assert model.encoder.layout(source, mask).at.shape == (1, 2, 3)  # type: ignore[operator]
