"""A translation as its model reads it: the answers under other weights.

Each target token is made with other weights alone: those before it are given, and the model reads them as
it would. Legend: as in `model_readings`; Q target tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from regard.attention.module import AttentionModule
from regard.attention.recording import Recorded, recording
from regard.attention.shapes import at_least_single
from regard.attention.steering import Steer, steering
from regard.data.tokenizer import BOS, EOS, UNK, Tokens
from regard.explanations.attribution_cards import Contrast
from regard.explanations.attributions import second_likeliest
from regard.explanations.context_parts import output_matrix, part_norms
from regard.explanations.decoder_readings import DecodedReading, differentiable
from regard.explanations.decoder_steps import all_steps
from regard.explanations.explaining_work import answer_work
from regard.explanations.model_readings import Weighed
from regard.explanations.model_work import GRADIENT
from regard.explanations.work_done import worked
from regard.layers.contracts import Translator
from regard.records.explanation import Explanation
from regard.records.question import BadQuestion, Foil
from regard.search import Ensemble, Search
from regard.tasks.translate.text_translator import TextTranslator
from regard.words import t


def explain_translation(
    translator: TextTranslator, source: Tokens, target: Sequence[int], foil: Foil | None = None
) -> tuple[Explanation, ...]:
    """Of the maps "cross" (rows: target tokens; columns: source tokens, then EOS) and "encoder".

    target: the ids of the rows, EOS at the end where the model said it. foil: a word that was not said. The
    model is asked as it is: not inside a `steering` of its attentions.
    """
    if not target or not len(source):
        return ()
    with translator.inference(), differentiable():
        reading = TranslationReading(translator.model, source.ids, target)
        contrast = None if foil is None else _contrast(translator, reading, source, foil)
        return reading.explained("cross", contrast)


def translation_readings(
    translator: TextTranslator, texts: Sequence[str], settings: Search
) -> Iterator[TranslationReading | None]:
    """Each text as it is translated; None: there is nothing to translate, or nothing was said."""
    for found in translator.predict(texts, settings, batch=len(texts)):
        said, read = found.ids, found.source_tokens
        nothing = not said or not len(read)
        yield None if nothing else TranslationReading(translator.model, read.ids, said)


def _contrast(
    translator: TextTranslator, reading: TranslationReading, source: Tokens, foil: Foil
) -> Contrast:
    """The first token of the other word, at its step, or where it was the likeliest to come instead."""
    tokenizer = translator.target_tokenizer
    # a word stands after others, where it has a blank before it
    spelt = tokenizer.encode(f"a {foil.text}").ids[len(tokenizer.encode("a").ids) :]
    ids = [(spelt or tokenizer.encode(foil.text).ids)[:1], tokenizer.encode(foil.text).ids[:1]]
    others = [each[0] for each in ids if each and each[0] != UNK]
    if not others:
        raise BadQuestion(
            t("the model has no token for {text}: it could never say it", text=repr(foil.text))
        )
    steps, said = range(len(reading.said)), reading.said
    if foil.step is not None and foil.step not in steps:
        raise BadQuestion(
            t(
                "foil.step is {step}, and the output has {count} tokens",
                step=foil.step,
                count=len(said),
            )
        )
    rows = steps if foil.step is None else [foil.step]
    places = [(row, token) for row in rows for token in others if token != int(said[row])]
    if not places:
        raise BadQuestion(
            t("{text} is what was said there: name what was not", text=repr(foil.text))
        )
    row, token = max(places, key=lambda place: float(reading.answers[place]))
    against = second_likeliest(reading)
    against[row] = token

    def spelling(number: int) -> str:
        return "EOS" if number == EOS else tokenizer.decode([number]).strip() or "…"

    return Contrast(against, row, spelling, [*source.pieces, "EOS"])


class TranslationReading(DecodedReading):
    """source: ids without EOS; said: the ids of all target tokens, EOS too where it was said."""

    def __init__(self, model: Translator, source: Sequence[int], said: Sequence[int]) -> None:
        super().__init__(model, source, [BOS, *said[:-1]])
        self.said = torch.tensor(said, device=self.source.device)
        self.heads = dict[str, int | None]()  # of every attention to the source; None: no such axis
        with recording(self.module) as recorded:
            outputs, reported = self._decode()
        self.answers = self._distributions(outputs)
        if reported is not None:
            self.weighed = self._weighed(recorded, reported)
        self.steps = all_steps(model.decoder, self.inputs[0], self.encoded)
        in_steps = self.steps is not None
        self.work = answer_work(self.costs, self.source.shape[1], len(said), in_steps)

    def steered(self, weights: Tensor, rows: slice) -> Tensor:
        found = self._run(weights, rows)[0]
        runs = GRADIENT if weights.requires_grad else 1
        worked(runs * len(weights) * weights.shape[1] * self.work)
        return found

    def states(self, weights: Tensor, rows: slice) -> Tensor | None:
        output, kept = getattr(self.model.decoder, "output", None), []
        if not isinstance(output, nn.Linear):
            return None

        def keep(_: nn.Module, args: tuple[Tensor]) -> None:
            kept.append(args[0])

        handle = output.register_forward_pre_hook(keep)
        try:
            self._run(weights, rows)
        finally:
            handle.remove()
        return kept[-1].reshape(*weights.shape[:2], -1)

    def norms(self) -> Tensor | None:
        """Of the layer whose weights are reported."""
        if self.weighed is None or isinstance(self.model, Ensemble):
            return None
        number = getattr(self.model.decoder, "reported", 0)
        heads = [count or 1 for count in self.heads.values()]
        name = list(self.heads)[number]
        weights = self.weighed.weights.split(heads, 1)[number].transpose(0, 1)  # (H, Q, K)
        attention = cast(AttentionModule, self.module.get_submodule(name))
        memory = attention.remember(self.encoded.states, self.encoded.mask)
        values = attention.recall(memory)[1][0]
        values = values if attention.heads_axis else values[None]
        return part_norms(weights, values, output_matrix(attention))

    def reported(self, weights: Tensor, rows: slice) -> Tensor:
        return self._run(weights[None], rows)[1][0]

    def _weighed(self, recorded: list[Recorded], reported: Tensor) -> Weighed:
        """The rows of all attentions to the source, and where these might have looked."""
        attentions = {
            n: m for n, m in self.module.named_modules() if isinstance(m, AttentionModule)
        }
        calls: dict[str, list[Tensor]] = {}
        for each in recorded:
            if attentions[each.name].key_size is not None:
                calls.setdefault(each.name, []).append(at_least_single(each.weights[0]))
        rows, allowed = [], []
        for name, parts in calls.items():
            weights = torch.cat(parts, -2)  # ([H,] Q, K)
            self.heads[name] = len(weights) if weights.dim() == 3 else None
            weights = weights.transpose(0, 1) if weights.dim() == 3 else weights[:, None]
            anywhere = attentions[name].region.sees_all
            rows.append(weights)
            allowed.append(torch.ones_like(weights, dtype=torch.bool) if anywhere else weights != 0)
        return Weighed(torch.cat(rows, 1), torch.cat(allowed, 1), reported)

    def _run(self, weights: Tensor, rows: slice) -> tuple[Tensor, Tensor]:
        """Answers (R, N, V) and what is reported of them (R, N, K), for weights (R, N, M, K) of N rows."""
        tries, count = weights.shape[:2]
        row = torch.arange(rows.start, rows.stop, device=weights.device).repeat(tries)
        decoder, weights = self.model.decoder, weights.flatten(0, 1)
        if self.steps is not None:
            here = torch.full_like(row, self.steps.position)
            with steering(self.module, self._plan(weights, one_hot(here).bool())):
                logits, _, attended, *_ = self.steps.at(row)
            reported = None if attended is None else attended.weights
        else:
            encoded = self.encoded.select(torch.zeros_like(row))
            inputs = self.inputs.expand(len(row), -1)
            with steering(self.module, self._plan(weights, one_hot(row, len(self.said)).bool())):
                outputs, attended, *_ = decoder.forward(inputs, encoded, weights=True)
            own = torch.arange(len(row), device=row.device), row
            logits = decoder.project(outputs[own])
            reported = (
                None if attended is None or attended.weights is None else attended.weights[own]
            )
        assert reported is not None
        shape = (tries, count, -1)
        return at_least_single(logits).softmax(-1).view(shape), at_least_single(reported).view(
            shape
        )

    def _plan(self, weights: Tensor, rows: Tensor) -> dict[str, Steer]:
        """Of weights (N, M, K) each attention's own, where rows (N, L) say."""
        plan, parts = {}, weights.split([heads or 1 for heads in self.heads.values()], 1)
        for (name, heads), part in zip(self.heads.items(), parts, strict=True):
            part = part if heads is None else part[:, :, None]
            plan[name] = Steer(part.expand(*part.shape[:-2], rows.shape[1], -1), rows)
        return plan
