"""The JSON API: each route checks what is asked, queues it, and waits for the worker."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

import regard
from regard.serve.http_errors import GONE, Refused
from regard.serve.jobs import Job
from regard.serve.messages import (
    AttentionRequest,
    HealthAnswer,
    ModelsAnswer,
    PredictAnswer,
    Predicted,
    PredictRequest,
    Problem,
    ProgressAnswer,
    RecordAnswer,
    ScoreAnswer,
    Scored,
    ScoreRequest,
    ServedCounts,
    ServedModel,
    TranslateAnswer,
    TranslateRequest,
    Translation,
    TranslationHypothesis,
)
from regard.serve.models import Served, Shelf
from regard.serve.requests import Looking, Predicting, Scoring, Translating
from regard.serve.sent_pictures import (
    PIXELS,
    check_pixels,
    without_pictures,
)
from regard.tasks.answer import answers_in_place
from regard.words import t

if TYPE_CHECKING:
    from regard.records.question import Question
    from regard.tasks.prediction import Prediction

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": said}
    for status, said in {
        400: "The body is not JSON.",
        401: "The token is missing or wrong.",
        403: "A page of another site asked.",
        404: "No such model.",
        408: "The body did not arrive in time.",
        413: "The body is too large, or the work: the answer says what would fit.",
        415: "The body is not declared as JSON.",
        421: "The server was asked by a name that is not this machine's.",
        422: "A field is missing, unknown, out of range or at odds with another, or the model cannot do it.",
        500: "The server failed at this request; its log says why.",
        503: "Too much is waiting: come back after Retry-After seconds.",
        504: "It took too long.",
    }.items()
}

ANYWHERE: dict[int | str, dict[str, Any]] = {status: PROBLEMS[status] for status in (401, 403, 421)}
SICK = "A translation asked for now would be refused, or not answered."


def api_routes(shelf: Shelf) -> APIRouter:
    routes, begin = APIRouter(), time.monotonic()

    @routes.post("/translate", responses=PROBLEMS, summary="Translate texts")
    async def translate(asked: TranslateRequest, request: Request) -> TranslateAnswer:
        """The best translation of each text, and with `nbest` the next best ones."""
        served = shelf.find(asked.model)
        served.must_translate()
        _check_total(sum(map(len, asked.texts)), shelf)
        estimates = served.run_estimates
        beam = asked.beam or max(shelf.beam or estimates.settings.beam, asked.nbest)
        wish = Translating(served, shelf.limits, beam, asked.nbest)
        work = estimates.translating(asked.texts, beam)
        longest = beam * max(map(len, asked.texts))
        found = await _answers(request, shelf, Job(wish, asked.texts, longest, work))
        return TranslateAnswer(
            model=served.name, translations=[_translation(p, served) for p in found]
        )

    @routes.post("/score", responses=PROBLEMS, summary="Score given translations")
    async def score(asked: ScoreRequest, request: Request) -> ScoreAnswer:
        """How probable the model finds each target for its source."""
        served = shelf.find(asked.model)
        served.must_translate()
        if len(asked.sources) != len(asked.targets):
            seen = t(
                "{count} sources but {targets} targets",
                count=len(asked.sources),
                targets=len(asked.targets),
            )
            raise Refused(422, t("there are {seen}: one is needed for each", seen=seen))
        texts = [*asked.sources, *asked.targets]
        _check_total(sum(map(len, texts)), shelf)
        pairs = list(zip(asked.sources, asked.targets, strict=True))
        work = served.run_estimates.scoring(asked.sources, asked.targets)
        job = Job(Scoring(served, shelf.limits), pairs, max(map(len, texts)), work)
        found = await _answers(request, shelf, job)
        return ScoreAnswer(model=served.name, scores=[_scored(p) for p in found])

    @routes.post("/predict", responses=PROBLEMS, summary="Answer examples")
    async def predict(asked: PredictRequest, request: Request) -> PredictAnswer:
        """The answer to each example, whatever the model was trained for."""
        served = shelf.find(asked.model)
        try:
            pixels = check_pixels(*asked.examples)
            sizes = [_written_size(example, served, shelf) for example in asked.examples]
        except RecursionError:
            raise Refused(422, t("an example is nested too deeply")) from None
        _check_total(sum(sizes), shelf)
        with _mistakes_told():
            task = served.run.task
            given = task.given(asked.examples, files=False)
            examples = [example for example in given if example is not None]
            work = served.run_estimates.predicting(examples, attention=asked.attention)
        wish = Predicting(served, shelf.limits, asked.attention)
        job = Job(wish, examples, max(sizes) + pixels // (PIXELS * len(sizes)), work)
        found = task.ranked(await _answers(request, shelf, job) if examples else [])
        answers = [Predicted(**one.to_dict()) for one in answers_in_place(given, found)]
        notes = list(dict.fromkeys(task.input_doubts(examples, asked=True)))
        return PredictAnswer(model=served.name, answers=answers, notes=notes)

    @routes.post(
        "/attention",
        responses={**PROBLEMS, 200: {"model": RecordAnswer}},
        response_class=Response,
        summary="Look at one text",
    )
    async def attention(asked: AttentionRequest, request: Request) -> Response:
        """What the model attends to while it works on a text: the record that the page draws."""
        served = shelf.find(asked.model)
        beam = asked.beam
        if shelf.beam is not None and beam is None and served.looker.searches:
            beam = max(shelf.beam, asked.nbest or 1)
        check_pixels(asked.text)
        _check_length(asked.text, served, shelf)
        with _mistakes_told():
            question = _question(asked, beam)
            work = served.estimates.looking(question)  # which reads the example that is asked about
        job = Job(Looking(served), [question], 0, work)
        (record,) = await _answers(request, shelf, job, asked.ticket)
        return Response(record, media_type="application/json")

    @routes.get("/progress", responses=ANYWHERE, summary="How far a look is")
    async def progress(
        ticket: Annotated[str, Query(max_length=64, description="As the look has it.")],
    ) -> ProgressAnswer:
        """Of a look that was asked with a ticket and has no answer yet. Who closes its connection ends it."""
        job = shelf.asked.get(ticket)
        return _gone() if job is None else _progress(job)

    @routes.get("/models", responses=ANYWHERE, summary="The models that are served")
    def models() -> ModelsAnswer:  # in a thread: the first time, examples are read from a corpus
        return ModelsAnswer(models=[_model(served) for served in shelf])

    @routes.get(
        "/health",
        responses={**ANYWHERE, 503: {"model": HealthAnswer, "description": SICK}},
        summary="Whether the server can answer, and how busy it is",
    )
    async def health(response: Response) -> HealthAnswer:
        worker = shelf.worker
        if (state := worker.state) not in ("ok", "busy"):
            response.status_code = 503
        return HealthAnswer(
            status=state,
            version=regard.__version__,
            seconds=round(time.monotonic() - begin, 3),
            waiting=worker.waiting,
            load=round(worker.load, 3),
            models=[ServedCounts(name=each.name, **vars(each.counts)) for each in shelf],
        )

    return routes


def _check_length(text: str, served: Served, shelf: Shelf) -> None:
    """A document is read sentence by sentence: it may be as long as all texts of a request."""
    looker, limits = served.looker, shelf.limits
    longest = limits.total if looker.reads_documents else limits.characters
    text = without_pictures(text) if looker.reads_pictures else text
    if len(text) > longest:
        raise Refused(
            413,
            t(
                "a text of {count} characters, and {longest} may be",
                count=f"{len(text):,}",
                longest=f"{longest:,}",
            ),
        )


def _written_size(example: Any, served: Served, shelf: Shelf) -> int:
    """Of an example in JSON; a text in it may be as long as any other text."""
    for text in _texts(example):
        _check_length(text, served, shelf)
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise Refused(422, t("a text holds half of a character (a lone surrogate)"))
    written = without_pictures(example) if served.looker.reads_pictures else example
    return len(json.dumps(written, ensure_ascii=False))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        inside = value if isinstance(value, list) else [*value, *value.values()]
        for each in inside:
            yield from _texts(each)


def _check_total(total: int, shelf: Shelf) -> None:
    if total > shelf.limits.total:
        raise Refused(
            413,
            t(
                "{total} characters in a request, of at most {limits_total}",
                total=f"{total:,}",
                limits_total=f"{shelf.limits.total:,}",
            ),
        )


def _gone() -> ProgressAnswer:
    return ProgressAnswer(state="gone", share=None, seconds=0.0, left=None)


def _progress(job: Job) -> ProgressAnswer:
    now, share = time.monotonic(), job.done.share
    worked = now - job.began if job.began is not None else 0.0
    return ProgressAnswer(
        state="waiting" if job.began is None else "working",
        share=None if share is None else round(share, 4),
        seconds=round(now - job.arrived, 3),
        left=round(worked * (1 - share) / share, 3) if share else None,
    )


async def _answers(request: Request, shelf: Shelf, job: Job, ticket: str = "") -> Sequence[Any]:
    """Queue, and wait until it is done, the client has gone, or it has taken too long."""
    job.long = job.work > shelf.limits.short
    shelf.worker.submit(job)
    if ticket:
        shelf.asked[ticket] = job
    gone = asyncio.ensure_future(request.receive())  # the body was read: only the end can come
    try:
        waited_for: set[asyncio.Future[Any]] = {job.answer, gone}
        await asyncio.wait(waited_for, timeout=shelf.limits.seconds, return_when="FIRST_COMPLETED")
        if job.answer.done():
            with _mistakes_told():
                return job.answer.result()
        if gone.done():
            raise Refused(GONE, t("the client has gone"))
        raise Refused(
            504,
            t(
                "no answer within {seconds} s: send less at a time, or have the server wait longer: "
                "regard serve --seconds N",
                seconds=f"{shelf.limits.seconds:g}",
            ),
        )
    finally:
        gone.cancel()
        job.answer.cancel()
        shelf.worker.drop(job)
        if shelf.asked.get(ticket) is job:
            del shelf.asked[ticket]


@contextmanager
def _mistakes_told() -> Iterator[None]:
    """What a model says of a text that it cannot take, or of a question that has no answer."""
    try:
        yield
    except ValueError as error:
        raise Refused(422, " ".join(str(error).split())) from error
    except RecursionError:
        raise Refused(422, t("what is asked is nested too deeply")) from None


def _question(asked: AttentionRequest, beam: int | None) -> Question:
    from regard.records.question import Question

    return Question.from_dict(asked.model_dump(exclude={"model", "ticket"}) | {"beam": beam})


def _translation(found: Prediction, served: Served) -> Translation:
    others = [TranslationHypothesis(**_hypothesis(other)) for other in found.alternatives]
    notes = list(served.run.reading_notes(found))
    return Translation(**_hypothesis(found), alternatives=others, notes=notes)


def _hypothesis(found: Prediction) -> dict[str, Any]:
    return {
        "text": found.text,
        "score": found.score,
        "log_prob": found.log_prob,
        "finished": found.finished,
    }


def _scored(found: Prediction) -> Scored:
    return Scored(
        score=found.score,
        log_prob=found.log_prob,
        tokens=list(found.tokens.pieces),
        log_probs=list(found.log_probs),
    )


def _model(served: Served) -> ServedModel:
    module = served.looker.module
    return ServedModel(
        name=served.name,
        pictures=served.looker.pictures,
        **served.about,
        parameters=sum(each.numel() for each in module.parameters()),
        device=str(module.device),
    )
