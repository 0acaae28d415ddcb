"""The application: what is at which address, and how errors are told."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, FastAPI, File, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import WithJsonSchema
from starlette.exceptions import HTTPException

import nbr
from nbr.app.serving import bodies, replies
from nbr.app.serving.limits import Allowed, Busy, Lanes, Processes, Threads, Work
from nbr.app.serving.reasoning import ReasonerApi, Report
from nbr.app.serving.security import Door, Guard, policy
from nbr.errors import NbrError
from nbr.reasoner import Reasoner

if TYPE_CHECKING:
    from nbr.app.serving.picturing import Judged

PAGE = Path(__file__).parents[1] / "page"
PLACES = {"index.html": "/", "docs.html": "/docs"}
LINKED = b'<link rel="stylesheet" href="/style.css">'
Sent = Annotated[UploadFile, WithJsonSchema({"type": "string", "format": "binary"})]  # as makers of clients know files
Files = Annotated[
    list[Sent],
    File(min_length=1, max_length=bodies.AT_ONCE, description="PNG, JPEG, GIF, BMP or WebP files."),
]
Routes = Callable[[APIRouter, Any, Lanes], None]
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
TOLD = {
    400: "The request does not fit the model: the error says why, in which field and at which character.",
    401: "A token is needed.",
    403: "The request came from a page of another site.",
    408: "The request did not arrive in time.",
    413: "The body is too large.",
    415: "The body is not JSON, or where files are sent no form.",
    421: "The Host header names another server (HTTP 421, misdirected request).",
    422: "The body does not have the right shape.",
    431: "The request headers are too large.",
    503: "The server is busy, or the request took too long.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": words, "model": replies.Error} for status, words in TOLD.items()
}


class Plain(Response):
    """JSON in plain ASCII, so that no odd character can break it; numbers without a value are null."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        try:
            return json.dumps(content, allow_nan=False).encode("ascii")
        except ValueError:
            return json.dumps(_finite(content)).encode("ascii")


def create(
    model: Any, name: str, door: Door, allowed: Allowed | None = None, apart: bool = False, path: Path | None = None
) -> Guard:
    """An ASGI application for one model that was loaded; requests name no files.

    With `apart` slow questions go to processes of their own, to which the model must be able to travel. `path` is the
    file of the model: it is read again when it changes, and a .toml can be saved from the page.
    """
    allowed = allowed or Allowed()
    rules = isinstance(model, Reasoner)
    if rules and model.model.sensors:
        allowed = replace(allowed, body=allowed.picture)  # every question may come with pictures
    make, routes = _reasoner(model, name, path, allowed) if rules else _classifier(model, name, allowed)
    here, count = make(), allowed.slow_workers
    lanes = Lanes(here, Processes(make, count) if apart else Threads(here, count), allowed)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        lanes.close()

    app = FastAPI(
        title="Neural Belief Reasoner",
        version=nbr.__version__,
        summary=f"Ask {name}.",
        lifespan=lifespan,
        docs_url=None,  # the pages that come with FastAPI load scripts from elsewhere
        redoc_url=None,
        responses=ERRORS,
    )
    api = APIRouter(prefix="/api")
    routes(api, here, lanes)
    app.include_router(api)
    _page(app)
    _errors(app)

    @app.get("/healthz")
    async def healthz() -> Plain:
        """Whether the server is there."""
        return Plain({"ok": True})

    return Guard(app, door, allowed)


def _reasoner(
    model: Reasoner, name: str, path: Path | None, allowed: Allowed
) -> tuple[Callable[[], ReasonerApi], Routes]:
    return partial(ReasonerApi, model, name, path, allowed.side), _about_rules


def _classifier(model: Any, name: str, allowed: Allowed) -> tuple[Callable[[], Judged], Routes]:
    from nbr.app.serving.picturing import Judged  # needs what a reasoner does without

    return partial(Judged, model, name, allowed.side), _about_pictures


def _about_rules(api: APIRouter, asked: ReasonerApi, lanes: Lanes) -> None:
    @api.get("/model", responses=_told(replies.ModelReply))
    async def model() -> Plain:
        """Variables, rules, and whether there is a prior."""
        return Plain(await lanes.short(_said("model", None)))

    @api.get("/version", responses=_told(replies.File))
    async def version() -> Plain:
        """What changes when the file of the model does."""
        return Plain(await lanes.short(_said("version", None)))

    @api.post("/rules", responses=_told(replies.Rules))
    async def rules(body: bodies.Edited) -> Plain:
        """The rules of the model with those that were changed or added; an error says which one is wrong."""
        return Plain(await lanes.short(_said("listed", body)))

    @api.post("/save", responses=_told(replies.ModelReply))
    async def save(body: bodies.Edited) -> Plain:
        """Write changed rules to the .toml file that is served, and tell the model as it is then."""
        return Plain(await lanes.short(_said("save", body)))

    @api.post("/marginals", responses=_told(replies.Shares))
    async def marginals(body: bodies.Marginals) -> Plain:
        """How likely every value of every variable is; numbers in about ten pieces."""

        def settled(found: Report) -> bool:
            return bool(found["exact"])

        return Plain(await lanes.either(_said("marginals", body), settled, body.budget))

    @api.post("/ask", responses=_told(replies.AskedReply))
    async def ask(body: bodies.Ask) -> Plain:
        """Belief, plausibility, conflict and, with a prior, probability; or the values of a variable, ranked."""
        return Plain(await lanes.either(_said("ask", body), _settled, body.budget))

    @api.post("/ask-many", responses=_told(replies.Answers))
    async def ask_many(body: bodies.AskMany) -> Plain:
        """Answers to several questions under one condition, in order."""

        def settled(found: Report) -> bool:
            return all(map(_settled, found["answers"]))

        return Plain(await lanes.either(_said("ask_many", body), settled, body.budget))

    @api.post("/explain", responses=_told(replies.ExplanationReply))
    async def explain(body: bodies.Explain) -> Plain:
        """What the answer owes to each rule, minimal sets of rules, points for and against, what to observe next."""
        return Plain(await lanes.long(_said("explain", body), body.budget))

    @api.post("/probability", responses=_told(replies.ProbabilityReply))
    async def probability(body: bodies.Explain) -> Plain:
        """How often the question holds where the condition does, and what the data leave open."""

        def settled(found: Report) -> bool:
            return bool(found["exact"])

        return Plain(await lanes.either(_said("probability", body), settled, body.budget))

    @api.post("/read", responses=_told(replies.SeenTogether))
    async def read(body: bodies.Look) -> Plain:
        """What pictures show together, beside what each would show alone; which rules that breaks, how far it holds."""
        return Plain(await lanes.long(_said("read", body), body.budget))

    @api.post("/sample", responses=_told(replies.SampledReply))
    async def sample(body: bodies.SampleBody) -> Plain:
        """Rows drawn from the model and its prior."""
        return Plain(await lanes.long(_said("sample", body), body.budget))


def _about_pictures(api: APIRouter, judged: Judged, lanes: Lanes) -> None:
    @api.get("/model", responses=_told(replies.Tells))
    async def model() -> Plain:
        """Labels, the shape of inputs, and recorded figures."""
        return Plain(judged.model())

    @api.post("/classify", responses=_told(replies.Classified))
    async def classify(body: bodies.Picture) -> Plain:
        """The label of a picture, with the interval of every label, conflict, proved radius and reasons."""
        return Plain(await lanes.short(_said("classify", body)))

    @api.post("/classify-many", responses=_told(replies.Several))
    async def classify_many(body: bodies.PicturesBody) -> Plain:
        """The same of several pictures, in order."""
        return Plain(await lanes.long(_said("classify_many", body), None))

    @api.post("/classify-files", responses=_told(replies.Several))
    async def classify_files(pictures: Files) -> Plain:
        """The same of several picture files, sent as a form (multipart/form-data) with a field for each."""
        files = [base64.b64encode(await each.read()).decode() for each in pictures]
        sent = [bodies.Picture(picture=each, numbers=None, sample=None) for each in files]
        return Plain(await lanes.long(_said("classify_many", bodies.PicturesBody(pictures=sent)), None))

    @api.post("/certify", responses=_told(replies.Certified))
    async def certify(body: bodies.Picture) -> Plain:
        """How far a picture may be changed, in L2, with the proof that its label stays."""
        return Plain(await lanes.short(_said("certify", body)))

    @api.post("/attack", responses=_told(replies.Attacked))
    async def attack(body: bodies.Picture) -> Plain:
        """The nearest picture with another label that a short attack finds."""
        return Plain(await lanes.long(_said("attack", body)))


def _told(shape: type[replies.Reply]) -> dict[int | str, dict[str, Any]]:
    return {200: {"model": shape}}


def _said(name: str, body: bodies.Body | None) -> Work:
    """What a request asks of the model that is served: the method of that name. It can be sent to another process."""
    return partial(_called, name, body)


def _called(name: str, body: bodies.Body | None, served: Any, budget: float) -> Report:
    found: Report = getattr(served, name)(body, budget)
    return found


def _settled(found: Report) -> bool:
    """Whether more time would change an answer, or the ranking of a variable's values."""
    if "values" in found:
        return all(each["exact"] for each in found["values"])
    often = found.get("probability")
    return bool(found["exact"]) and (often is None or bool(often["exact"]))


def _page(app: FastAPI) -> None:
    """The files of the page, read once; nothing else can be fetched."""
    style = (PAGE / "style.css").read_bytes()

    def add(place: Path) -> None:
        content, kind = place.read_bytes(), KINDS[place.suffix]
        headers = {}
        if (
            place.suffix == ".html"
        ):  # painted after one request: the style comes with the page, and is named by its hash
            content = content.replace(LINKED, b"<style>" + style + b"</style>")
            headers = {"content-security-policy": policy(style)}

        async def file() -> Response:
            return Response(content, headers=headers, media_type=kind)

        app.add_api_route(PLACES.get(place.name, f"/{place.name}"), file, include_in_schema=False)

    for place in sorted(PAGE.iterdir()):
        if place.suffix in KINDS:
            add(place)


def _errors(app: FastAPI) -> None:
    def told(status: int, message: str, field: str | None = None, at: int | None = None) -> Plain:
        return Plain({"error": message, "field": field, "at": at}, status)

    async def wrong(_: Request, error: Exception) -> Plain:
        at = error.at if isinstance(error, NbrError) else None
        return told(400, " ".join(str(error).split()), getattr(error, "field", None), at)

    async def shape(_: Request, error: Exception) -> Plain:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:] if first["type"] != "json_invalid")
        return told(422, f"{field or 'the body'}: {first['msg']}", field or None)

    async def busy(_: Request, error: Exception) -> Plain:
        answer = told(503, str(error))
        answer.headers["Retry-After"] = "1"
        return answer

    async def http(_: Request, error: Exception) -> Plain:
        assert isinstance(error, HTTPException)
        answer = told(error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    async def large(_: Request, __: Exception) -> Plain:
        return told(400, "the question is too large to compute")

    handlers: list[tuple[type[Exception], Callable[[Request, Exception], Any]]] = [
        (NbrError, wrong),
        (RequestValidationError, shape),
        (Busy, busy),
        (HTTPException, http),
        (RecursionError, large),
        (MemoryError, large),
    ]
    for kind, handler in handlers:
        app.add_exception_handler(kind, handler)


def _finite(content: Any) -> Any:
    """The same without numbers that JSON does not have."""
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and (content != content or abs(content) == float("inf")) else content
