"""Translation as a task: the loss of a batch of pairs.

Legend: B sentences, S source and T target positions, M real target tokens, V the target vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from torch import Tensor

from regard.attention.normalizers import Reinforce
from regard.data.length_batches import rounded_length, rounded_rows
from regard.data.padding import widened
from regard.data.tokenizer import EOS, Tokenizer
from regard.layers.contracts import Translator, longest_target
from regard.layers.recurrent import unpacked
from regard.tasks.loss import masked_cross_entropy, smoothed_cross_entropy
from regard.tasks.task_module import Loss
from regard.tasks.translate.teacher_forcing import draw_forced, unroll
from regard.tasks.translate.text_translator import TextTranslator
from regard.words import t


class Translate(TextTranslator):
    """A model and its two tokenisers. Called with a batch, it gives the loss to train by.

    teacher_forcing: the share of reference tokens fed while training, drawn by sequence or step.
    label_smoothing: as in `regard.tasks.loss`. reinforce: trains a hard attention; the reward of a
    choice is log p(y_t), and this loss counts `reinforce_weight` times. None: another way trains it.
    """

    def __init__(
        self,
        model: Translator,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        *,
        label_smoothing: float = 0.0,
        teacher_forcing: float = 1.0,
        forcing_draw: Literal["sequence", "step"] = "sequence",
        reinforce: Reinforce | None = None,
        reinforce_weight: float = 1.0,
    ) -> None:
        super().__init__(model, source_tokenizer, target_tokenizer)
        self.label_smoothing = label_smoothing
        self.teacher_forcing, self.forcing_draw = teacher_forcing, forcing_draw
        self.reinforce = reinforce
        self.reinforce_weight = reinforce_weight

    def forward(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor
    ) -> Loss:
        """source (B, S), target (B, T + 1) = BOS y1 … EOS PAD …; masks are True where tokens are real.

        Only real positions are projected to the vocabulary: padding costs nothing. All are while `static`.
        """
        if self.static:
            return self._static_loss(source, source_mask, target, target_mask)
        encoded = self.model.encode(source, source_mask)
        inputs, scored = target[:, :-1], target_mask[:, 1:]
        forced = penalty = None
        if self.teacher_forcing < 1:
            forced = draw_forced(inputs, self.teacher_forcing, self.forcing_draw)
        if forced is None or bool(forced.all()):
            decoded = self.model.decoder.forward(inputs, encoded)
            choice = None if decoded.attended is None else decoded.attended.choice
            logits, penalty = self.model.decoder.project(decoded.outputs[scored]), decoded.penalty
        else:
            unrolled = unroll(self.model.decoder, encoded, inputs, forced)
            scored = scored[:, : unrolled.going.shape[1]] & unrolled.going
            choice, logits = unrolled.choice, unrolled.logits[scored]
        wanted = target[:, 1 : 1 + scored.shape[1]][scored]
        total = smoothed_cross_entropy(logits, wanted, self.label_smoothing)
        if choice is not None and self.reinforce is not None:
            reward = _likelihood_of_each(logits, wanted, scored)
            made = choice._replace(index=choice.index.masked_fill(~scored, -1))
            policy = self.reinforce(made, reward) * (made.index >= 0).sum()
            total = total + self.reinforce_weight * policy
        return Loss(self._with_penalty(total, penalty), scored.sum())

    def _with_penalty(self, total: Tensor, penalty: Tensor | None) -> Tensor:
        """Of what is trained by more than its tokens; what is reported is the loss of tokens."""
        return total if penalty is None or not self.training else total + penalty.sum()

    def _static_loss(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor
    ) -> Loss:
        decoder, scored = self.model.decoder, target_mask[:, 1:].flatten()
        with unpacked():
            decoded = decoder.forward(target[:, :-1], self.model.encode(source, source_mask))
        logits = decoder.project(decoded.outputs.flatten(0, 1))
        wanted = target[:, 1:].flatten()
        total = masked_cross_entropy(logits, wanted, scored, self.label_smoothing)
        return Loss(self._with_penalty(total, decoded.penalty), scored.sum())

    @property
    def why_not_static(self) -> str | None:
        if self.teacher_forcing < 1:
            return t(
                "with training.teacher_forcing.ratio below 1, what was said decides what comes next"
            )
        if hasattr(getattr(self.model, "encoder", None), "mark_ends"):
            return t("where sentences end decides how they are laid out")
        return None if self.reinforce is None else t("hard attention is trained by what it chose")

    def in_few_shapes(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """More rows, of a source that is only EOS and no target; longer rows, up to a class of lengths."""
        encoder, rows = getattr(self.model, "encoder", None), len(batch["source"])
        longest = getattr(encoder, "longest", None), longest_target(self.model.decoder)
        many = rounded_rows(rows)
        wide = rounded_length(batch["source"].shape[1], longest[0])
        long = rounded_length(batch["target"].shape[1] - 1, longest[1]) + 1
        sizes = {"source": wide, "source_mask": wide, "target": long, "target_mask": long}
        padded = {name: widened(batch[name], (many, size)) for name, size in sizes.items()}
        if batch["source"].shape[1]:
            padded["source"][rows:, 0], padded["source_mask"][rows:, 0] = EOS, True
        return padded


def _likelihood_of_each(logits: Tensor, wanted: Tensor, scored: Tensor) -> Tensor:
    """log p of the tokens scored (M,), in their places (B, T); it carries no gradient."""
    log_probs = logits.detach().float().log_softmax(-1).gather(-1, wanted[:, None])
    return log_probs.new_zeros(scored.shape).masked_scatter(scored, log_probs)
