"""The options of a translator of documents. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from regard.models.attention_options import DecoderAttentionOptions
from regard.models.recurrent_options import Cell, Dropout, Embedding, Hidden
from regard.options import ModelOptions

if TYPE_CHECKING:
    from torch import nn


class HierarchicalTranslator(ModelOptions):
    """Words become sentences by attention, sentences a document; all that is said attends to words in their
    document (after Yang et al. 2016)."""

    kind: Literal["hierarchical"] = "hierarchical"
    cell: Cell = "gru"
    embedding: Embedding = 256
    hidden: Hidden = 256
    attention: DecoderAttentionOptions = Field(
        DecoderAttentionOptions(),
        description="how the decoder attends to the words of the document",
    )
    dropout: Dropout = 0.0

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.documents.document_encoder import hierarchical

        return hierarchical(sizes["source"], sizes["target"], self)
