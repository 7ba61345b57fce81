"""How much one server takes at a time."""

from __future__ import annotations

from dataclasses import dataclass

SPEED = 1e11  # multiplications that a small machine does in a second, of those that are estimated


ALONE = 1800.0  # seconds for an answer, where who asks is the one who started the server


@dataclass(frozen=True)
class RequestLimits:
    """What goes beyond is refused, with an answer that names the limit.

    Work is estimated before any of it is done, in multiplications: see `regard.explanations.model_work`.
    """

    body: int = 1 << 20  # bytes of a request
    texts: int = 256  # of a request
    characters: int = 2_000  # of one text
    total: int = 50_000  # characters of all texts of a request
    pictured: int = 1_000_000  # characters of a text with a picture in it, in base64
    batch: int = 64  # sentences that are worked on in one call
    padded: int = (
        81_920  # … their number times the beam times the characters of the longest: memory
    )
    waiting: int = 1_024  # sentences in the queue
    work: float = 2e12  # of a request: half a minute of a small machine at most
    queued: float = 4e12  # of all long requests that wait or are worked on; the same of short ones
    short: float = 5e9  # a request of this work is done without a pause: a few sentences
    numbers: int = 1 << 23  # weights in a record: what its answer weighs
    seconds: float = 30.0  # from the arrival of a request to its answer
    connections: int = 200  # at a time: below the 256 files that some systems open for a process
    patience: float = 10.0  # seconds in which a client must send the rest of a request, or read on
    unread: int = 1 << 27  # bytes of answers that clients have not read, all together
    idle: float = 5.0  # seconds for which a connection is kept that asks nothing

    def fit(self, count: int, longest: int) -> bool:
        """Whether so many sentences go into one call; longest: characters times the beam."""
        return count <= self.batch and count * longest <= self.padded

    def side_by_side(self, longest: int) -> int:
        """How many sentences are padded to one length, where the longest has so many characters × beam."""
        return max(1, min(self.batch, self.padded // max(longest, 1)))
