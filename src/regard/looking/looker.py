"""Who answers a question with a record: a run of regard, or a model of somebody else.

Pages, notebooks and the server ask a `Looker`, and do not know which of the two it is.
"""

from __future__ import annotations

from typing import Any, Protocol

from torch import nn

from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.task import Extent


class Looker(Protocol):
    """Asked about one input at a time."""

    @property
    def name(self) -> str:
        """What records call it."""

    @property
    def pictures(self) -> bool:
        """Whether a picture is all that it is asked about."""

    @property
    def searches(self) -> bool:
        """Whether it has a beam, so that a server may say how wide it is."""

    @property
    def reads_pictures(self) -> bool:
        """Whether a picture may be in a question."""

    @property
    def reads_documents(self) -> bool:
        """Whether a text may be as long as all texts of a request together."""

    @property
    def module(self) -> nn.Module:
        """All that computes."""

    def with_module(self, module: nn.Module) -> Looker:
        """The same with a twin of its module."""

    def look(self, question: Question) -> AttentionRecord:
        """A question that has no answer is a ValueError, in one line."""

    def extent(self, question: Question) -> Extent:
        """How much is asked, before any of it is done."""

    def work(self, look: Extent) -> float:
        """Of a look, in multiplications, about."""

    def numbers(self, look: Extent) -> int:
        """Weights in its record, at most."""

    def about(self) -> dict[str, Any]:
        """What the empty page says of it, and /models: task, kind, source, target, verb, reads, writes,
        hint, examples, story."""
