"""The options of models that answer questions about a story. `build` imports the networks, and torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.models.attention_options import ReaderAttentionOptions
from regard.options import Few, ModelOptions, Rate, Width

if TYPE_CHECKING:
    from torch import nn

EMBEDDING = "features of a word"
DROPOUT = "of embedded words, of states and of what answers"


class Reader(ModelOptions):
    """Story and question are read apart, and the question says where to look in the story."""

    task: ClassVar[str] = "read"
    attends_by: ClassVar[Mapping[str, str]] = {"focus": "attention", "question": "attention"}
    kind: Literal["reader"] = "reader"
    cell: Literal["lstm", "gru", "gru-reset-before", "elman"] = Field(
        "lstm", description="the recurrent cell"
    )
    embedding: Width = Field(64, description=EMBEDDING)
    hidden: Width = Field(64, description="features of a state, in each direction")
    layers: Few = Field(1, description="networks, one on the other")
    question: Literal["apart", "vector", "general", "self"] = Field(
        "apart",
        description="what stands beside each word of the story: nothing, the question in one vector, what "
        "the word attends to in the question (general), or the question pooled by self-attention",
    )
    focus: Literal["last", "uniform", "attentive", "impatient"] = Field(
        "attentive",
        description="how the story becomes one vector: its last states, their mean, by one look of the whole "
        "question, or by a look of each of its words, which knows what was read before",
    )
    attention: ReaderAttentionOptions = Field(
        ReaderAttentionOptions(),
        description="how the question attends to the story, and the story to it",
    )
    dynamic: bool = Field(
        False,
        description="the end of a span is found by another look, which knows the start; else one look "
        "serves the whole answer (static)",
    )
    dropout: Rate = Field(0.1, description=DROPOUT)

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.reader import reader

        return reader(sizes["story"], self, choice="candidates" in sizes)

    def uniform_attention(self, section: str) -> Reader:
        return self._looking("uniform")

    def without_attention(self, section: str) -> Reader:
        return self._looking("last")

    def _looking(self, focus: str) -> Reader:
        """The question is one vector at most, and nothing of it says where to look."""
        question = "apart" if self.question == "apart" else "vector"
        return self.model_copy(update={"focus": focus, "question": question, "dynamic": False})


class DeepLstmReader(ModelOptions):
    """Question and story as one long text, read by a stack of LSTMs with skip connections: no attention."""

    task: ClassVar[str] = "read"
    kind: Literal["deep-lstm-reader"] = "deep-lstm-reader"
    embedding: Width = Field(64, description=EMBEDDING)
    hidden: Width = Field(64, description="features of a state of each layer")
    layers: Few = Field(2, description="networks, one on the other; each sees the words too")
    first: Literal["question", "story"] = Field(
        "question", description="which of the two is read first; a span needs the question first"
    )
    dropout: Rate = Field(0.1, description=DROPOUT)

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.deep_lstm_reader import deep_lstm_reader

        return deep_lstm_reader(sizes["story"], self, choice="candidates" in sizes)
