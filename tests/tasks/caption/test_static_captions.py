"""The loss of a batch of captions in one of few shapes: that of the batch, whatever padding was added."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.attention import normalizers
from regard.data.tokenizer import BOS, EOS, Tokenizer
from regard.models.captions.show_attend_tell import show_attend_tell
from regard.tasks.caption.caption_loss import CaptionTraining, ChosenCells
from tasks.test_static_loss import NothingIsRead

WORDS = Tokenizer.train(["a b c d"], kind="word")
ATTENTIONS = {
    "soft": {"attention": {"normalize": "softmax"}},
    "uneven": {"attention": {"score": "scaled-dot"}, "doubly_stochastic": 0.5, "gate": False},
    "gumbel": {"attention": {"normalize": "gumbel(1.0, straight_through=true)"}},
    "hard": {"attention": {"normalize": "hard"}},
    "mean": {"attention": {"normalize": "uniform"}},
    "none": {"attention": None},
}


def module_of(name: str, picture: object = (1, 9, 9)) -> CaptionTraining:
    torch.manual_seed(0)
    options = {"filters": (3, 4), "embedding": 5, "hidden": 6, **ATTENTIONS[name]}
    model = show_attend_tell(picture, len(WORDS), **options)
    for weight in model.double().parameters():
        nn.init.normal_(weight, std=0.5)
    reinforce = ChosenCells(entropy=0.1).double() if name == "hard" else None
    return CaptionTraining(model, WORDS, reinforce=reinforce, label_smoothing=0.1).train()


def batch_of(*lengths: int, ragged: bool = False, prompts: bool = False) -> dict[str, Tensor]:
    """Captions of so many words, of pictures of 9 × 9 or, ragged, of several sizes."""
    draw = torch.Generator().manual_seed(1)
    caption = torch.zeros(len(lengths), max(lengths) + 2, dtype=torch.long)
    mask = torch.zeros_like(caption, dtype=torch.bool)
    for row, length in enumerate(lengths):
        words = torch.randint(4, len(WORDS), (length,), generator=draw)
        caption[row, : length + 2] = torch.tensor([BOS, *words.tolist(), EOS])
        mask[row, : length + 2] = True
    batch = {"caption": caption, "caption_mask": mask}
    batch["image"] = torch.randn(len(lengths), 1, 9, 9, generator=draw).double()
    if ragged:
        sizes = torch.randint(3, 10, (len(lengths), 2), generator=draw)
        at = torch.arange(9)
        real = (at < sizes[:, :1])[:, :, None] & (at < sizes[:, 1:])[:, None]
        batch["image"], batch["image_mask"] = batch["image"] * real[:, None], real
    if prompts:
        batch["prompt"] = caption[:, 1:4].clone()
        batch["prompt_mask"] = mask[:, 1:4].clone()
        batch["boxes"] = torch.rand(len(lengths), 1, 6)
        batch["boxes_mask"] = torch.ones(len(lengths), 1, dtype=torch.bool)
    return batch


LENGTHS = (8, 3, 1, 9, 5, 8, 2, 7, 4)


@pytest.fixture(autouse=True)
def _same_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a place, whatever padding is around it."""

    def noise(like: Tensor, generator: object) -> Tensor:
        rows = torch.arange(like.shape[0], dtype=torch.float64)
        cells = torch.arange(like.shape[-1], dtype=torch.float64)
        each = (1 + rows).sqrt()[:, None] * (2 + cells).sqrt() * 37
        return each.sin().view(len(rows), *(1,) * (like.dim() - 2), -1).expand_as(like).to(like)

    monkeypatch.setattr(normalizers, "gumbel_noise", noise)


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("kind", [{}, {"ragged": True}, {"prompts": True}])
def test_loss_and_gradient_are_those_of_the_batch(name: str, kind: dict[str, bool]) -> None:
    found = []
    for static in (False, True):
        module = module_of(name)
        batch = batch_of(*LENGTHS, **kind)
        module.static = static
        given = module.in_few_shapes(batch) if static else batch
        loss = [module(**given) for _ in range(2)][-1]  # the second by the averages of the first
        weights = [p for p in module.parameters() if p.requires_grad]
        grads = torch.autograd.grad(loss.total, weights, allow_unused=True)
        found.append((loss, grads))
    assert given["image"].shape[0] == given["caption"].shape[0] == 10
    assert given["caption"].shape[1] == 11
    (one, of_one), (other, of_other) = found
    assert int(one.tokens) == int(other.tokens) == sum(LENGTHS) + len(LENGTHS)
    torch.testing.assert_close(one.total, other.total)
    for a, b in zip(of_one, of_other, strict=True):
        if a is not None:
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ATTENTIONS)
def test_nothing_is_read_on_the_way(name: str) -> None:
    module = module_of(name)
    module.static = True
    given = module.in_few_shapes(batch_of(*LENGTHS, prompts=True))
    weights = [p for p in module.parameters() if p.requires_grad]
    with NothingIsRead():
        torch.autograd.grad(module(**given).total, weights, allow_unused=True)


def test_vectors_of_parts_get_more_rows_and_places() -> None:
    module, batch = module_of("soft", picture=4), batch_of(*LENGTHS)
    batch["image"] = torch.randn(len(LENGTHS), 9, 4).double()
    batch["image_mask"] = torch.arange(9)[None] < torch.tensor(LENGTHS)[:, None]
    expected = module(**batch).total
    module.static = True
    given = module.in_few_shapes(batch)
    assert given["image"].shape == (10, 10, 4)
    torch.testing.assert_close(module(**given).total, expected)


def test_what_is_told_of_a_label_is_not_recorded() -> None:
    assert module_of("hard").why_not_static is None
    module = module_of("none")
    module.source = "label"
    assert module.why_not_static is not None
