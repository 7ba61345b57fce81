"""What a request will cost, before any of it is done; what is too much is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from regard.serve.http_errors import Refused
from regard.serve.request_limits import SPEED, RequestLimits
from regard.words import t

if TYPE_CHECKING:
    from regard.looking.looker import Looker
    from regard.looking.run_looker import RunLooker
    from regard.records.question import Question
    from regard.runs.loaded_run import LoadedRun
    from regard.tasks.task import Extent

LEAST_EXPLAINED = SPEED  # measures are many small calls, which take a second of any model
SHORTER = 0.97  # lengths that are tried, each this part of the last


class LookEstimates:
    """Of the looks of whoever is asked, in its own tokens."""

    def __init__(self, looker: Looker, limits: RequestLimits) -> None:
        self.looker, self.limits = looker, limits

    def looking(self, question: Question) -> float:
        look, limits, looker = self.looker.extent(question), self.limits, self.looker
        if (numbers := looker.numbers(look)) > limits.numbers:
            fits = self._largest(look, lambda less: looker.numbers(less) <= limits.numbers)
            raise Refused(
                413,
                t(
                    "the record of a text of {source} tokens may have {numbers} weights, and at "
                    "most {limits_numbers} are sent: {fits} tokens fit, more of them with a "
                    "narrower beam",
                    source=f"{look.source:,}",
                    numbers=f"{numbers:,}",
                    limits_numbers=f"{limits.numbers:,}",
                    fits=f"{fits:,}",
                ),
            )
        if (work := looker.work(look)) > limits.work and look.explain:
            fits = self._largest(look, lambda less: looker.work(less) <= limits.work)
            what = (
                t("{fits} tokens fit", fits=f"{fits:,}")
                if fits
                else t("no text is short enough with this model")
            )
            raise Refused(
                413,
                t(
                    "explaining {source} tokens is {share}: {what}, or leave out explain",
                    source=f"{look.source:,}",
                    share=self._share(work),
                    what=what,
                ),
            )
        measured = look.explain and work > looker.work(look._replace(explain=False))
        return self._checked(max(work, LEAST_EXPLAINED) if measured else work)

    def _largest(self, look: Extent, fits: Callable[[Extent], bool]) -> int:
        """Tokens of a source that fits, without EOS, to some percent the most; 0: none does.

        Not by halving: a longer text can be less work, where a measure is left out for its length.
        """
        source = look.source
        while source > 1:
            source = min(source - 1, int(SHORTER * source))
            if fits(look._replace(source=source)):
                return source - 1
        return 0

    def _checked(self, work: float) -> float:
        if work > self.limits.work:
            raise Refused(
                413,
                t("this is {share}: send less text, or a narrower beam", share=self._share(work)),
            )
        return work

    def _share(self, work: float) -> str:
        return t(
            "{work} times the work that one request may be", work=f"{work / self.limits.work:.1f}"
        )


class Estimates(LookEstimates):
    """Of all that one run can be asked."""

    looker: RunLooker

    def __init__(self, run: LoadedRun, limits: RequestLimits, *, name: str = "") -> None:
        """name: what its records are called, if not by its own."""
        from regard.looking.run_looker import RunLooker

        super().__init__(RunLooker(run, name), limits)
        self.run = run
        self.model, self.settings = self.looker.costs, self.looker.settings

    def translating(self, texts: Sequence[str], beam: int) -> float:
        sources, expected = self._lengths(texts), self.looker.expected
        return self._checked(sum(self.model.reading(s, expected(s), beam) for s in sources))

    def scoring(self, sources: Sequence[str], targets: Sequence[str]) -> float:
        lengths = zip(self._lengths(sources), self._lengths(targets, side=1), strict=True)
        return self._checked(sum(self.model.reading(*each) for each in lengths))

    def predicting(
        self, examples: Sequence[Mapping[str, Any]], *, attention: bool = False
    ) -> float:
        work, numbers = 0.0, 0
        for each in map(self.run.task.extent, examples):
            target = self.looker.expected(each.source) if each.target is None else each.target
            work += self.model.reading(each.source, target, each.beam)
            whole = each.source * max(each.source, target)
            numbers += whole if each.weights is None else each.weights
        if attention and numbers > self.limits.numbers:
            raise Refused(
                413,
                t(
                    "the answers may have {numbers} weights, and at most {limits_numbers} are "
                    "sent: send shorter or fewer examples, or leave out attention",
                    numbers=f"{numbers:,}",
                    limits_numbers=f"{self.limits.numbers:,}",
                ),
            )
        return self._checked(work)

    def _lengths(self, texts: Sequence[str], side: int = 0) -> list[int]:
        return [len(ids) + 1 for ids in self.run.tokenizers[side].encode_ids(list(texts))]
