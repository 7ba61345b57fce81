"""The ONNX graphs of a Transformer as a model: `regard.search` and `TextTranslator` run on it as on any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.export.onnx import DECODER, ENCODER
from regard.export.unsupported import CannotExport, need
from regard.layers.contracts import Decoded, Encoded, State, Step
from regard.layers.positions import TooLong
from regard.words import t


@dataclass(frozen=True)
class OnnxEncoded(Encoded):
    """Also what the decoder remembers of the source."""

    memories: tuple[Tensor, ...] = ()  # (B, heads, S, size) each

    def select(self, sentences: Tensor) -> OnnxEncoded:
        memories = tuple(x.index_select(0, sentences) for x in self.memories)
        chosen = super().select(sentences)
        return OnnxEncoded(chosen.states, chosen.mask, chosen.summary, (), memories)


@dataclass(frozen=True)
class OnnxState:
    """Keys and values of the source and of the past, for every hypothesis."""

    mask: Tensor  # (N, S)
    source: tuple[Tensor, ...]  # (N, heads, S, size) each
    past: tuple[Tensor, ...]  # (N, heads, length, size) each

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> OnnxState:
        chosen = replace(self, past=tuple(x.index_select(0, rows) for x in self.past))
        if sentences is None and len(rows) == len(self.mask):
            return chosen  # the hypotheses of a sentence have the same source
        source = tuple(x.index_select(0, rows) for x in self.source)
        return replace(chosen, mask=self.mask.index_select(0, rows), source=source)


class OnnxDecoder:
    """One step by decoder.onnx."""

    def __init__(self, session: Any, longest: int | None) -> None:
        self._session, self.longest = session, longest
        self._inputs = {one.name: one.shape for one in session.get_inputs()}

    def start(self, encoded: Encoded) -> OnnxState:
        assert isinstance(encoded, OnnxEncoded)
        shapes = [shape for name, shape in self._inputs.items() if name.startswith("past_")]
        past = tuple(torch.zeros(len(encoded.mask), heads, 0, size) for _, heads, _, size in shapes)
        return OnnxState(encoded.mask, encoded.memories, past)

    def step(self, tokens: Tensor, state: State, *, weights: bool = False) -> Step:
        assert isinstance(state, OnnxState)
        given = (tokens, state.mask, *state.source, *state.past)
        logits, seen, *past = _run(self._session, dict(zip(self._inputs, given, strict=True)))
        attended = Attended(seen[:, :0], seen if weights else None)
        return Step(logits, replace(state, past=tuple(past)), attended)

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        """Step by step: the graph has no other way."""
        state: State = self.start(encoded)
        logits, seen = [], []
        for tokens in inputs.unbind(1):
            step = self.step(tokens, state, weights=weights)
            state = step.state
            logits.append(step.logits)
            if weights and step.attended is not None and step.attended.weights is not None:
                seen.append(step.attended.weights)
        together = torch.stack(seen, 1) if seen else None
        return Decoded(torch.stack(logits, 1), Attended(inputs.new_empty(0).float(), together))

    def project(self, outputs: Tensor) -> Tensor:
        """The outputs are the logits."""
        return outputs


class OnnxModel(nn.Module):
    """A source-to-target model whose weights onnxruntime has."""

    def __init__(self, encoder: Any, decoder: OnnxDecoder, longest: int | None) -> None:
        super().__init__()
        self._encoder, self.decoder, self.longest = encoder, decoder, longest
        self.place = nn.Parameter(torch.empty(0), requires_grad=False)  # says that it is on the CPU

    def encode(self, source: Tensor, mask: Tensor) -> OnnxEncoded:
        if self.longest is not None and source.shape[1] > self.longest:
            raise TooLong(
                t(
                    "a source of {source_shape} tokens (its end counted) is longer than the "
                    "{longest} positions that were exported: shorten it",
                    source_shape=source.shape[1],
                    longest=self.longest,
                )
            )
        states, *memories = _run(self._encoder, {"source": source, "mask": mask})
        return OnnxEncoded(states, mask, states[:, 0], (), tuple(memories))


def load_onnx(
    folder: Path, longest: tuple[int | None, int | None], *, device: str | None = None
) -> OnnxModel:
    if device not in (None, "auto", "cpu"):
        raise CannotExport(
            t("the ONNX graphs run on the CPU here, not on {device}", device=device), "--device cpu"
        )
    runtime = need("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    encoder, decoder = (
        runtime.InferenceSession(str(folder / name), options, providers=["CPUExecutionProvider"])
        for name in (ENCODER, DECODER)
    )
    return OnnxModel(encoder, OnnxDecoder(decoder, longest[1]), longest[0])


def _run(session: Any, given: dict[str, Tensor]) -> list[Tensor]:
    found = session.run(None, {name: x.numpy() for name, x in given.items()})
    return [torch.from_numpy(x) for x in found]
