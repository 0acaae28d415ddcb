"""The application: what is at which address, and how errors are told."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

import nbr
from nbr.app.serving import bodies
from nbr.app.serving.limits import Allowed, Busy, Lanes
from nbr.app.serving.reasoning import Asked, Report
from nbr.app.serving.security import Door, Guard
from nbr.errors import NbrError
from nbr.reasoner import Reasoner

if TYPE_CHECKING:
    from nbr.app.serving.picturing import Judged

PAGE = Path(__file__).parents[1] / "page"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
TOLD = {
    400: "What was asked makes no sense for this model: the error says what, in which field, at which character.",
    401: "A token is needed.",
    403: "A page from elsewhere asked.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "Another host was meant.",
    422: "The body does not have the right shape.",
    503: "Too much to do, or it took too long.",
}
ERROR = {
    "type": "object",
    "properties": {
        "error": {"type": "string"},
        "field": {"type": ["string", "null"]},
        "at": {"type": ["integer", "null"], "description": "The character, from 1."},
    },
    "required": ["error", "field", "at"],
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": words, "content": {"application/json": {"schema": ERROR}}} for status, words in TOLD.items()
}


class Plain(Response):
    """JSON in plain ASCII, so that no odd character can break it; numbers without a value are null."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        try:
            return json.dumps(content, allow_nan=False).encode("ascii")
        except ValueError:
            return json.dumps(_finite(content)).encode("ascii")


def create(model: Any, name: str, door: Door, allowed: Allowed | None = None) -> Guard:
    """An ASGI application for one model that was loaded; requests name no files."""
    allowed = allowed or Allowed()
    lanes = Lanes(allowed)

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
    if isinstance(model, Reasoner):
        _reasoner(api, Asked(model, name), lanes)
    else:
        from nbr.app.serving.picturing import Judged  # needs what a reasoner does without

        _classifier(api, Judged(model, name, allowed.side), lanes)
    app.include_router(api)
    _page(app)
    _errors(app)

    @app.get("/healthz")
    async def healthz() -> Plain:
        """Whether the server is there."""
        return Plain({"ok": True})

    return Guard(app, door, allowed)


def _reasoner(api: APIRouter, asked: Asked, lanes: Lanes) -> None:
    @api.get("/model")
    async def model() -> Plain:
        """Variables, rules, and whether there is a prior."""
        return Plain(asked.model())

    @api.post("/ask")
    async def ask(body: bodies.Ask) -> Plain:
        """Belief, plausibility, conflict and, with a prior, probability; or the values of a variable, ranked."""
        return Plain(await lanes.either(lambda budget: asked.ask(body, budget), _settled, body.budget))

    @api.post("/ask-many")
    async def ask_many(body: bodies.AskMany) -> Plain:
        """Answers to several questions under one condition, in order."""

        def settled(found: Report) -> bool:
            return all(map(_settled, found["answers"]))

        return Plain(await lanes.either(lambda budget: asked.ask_many(body, budget), settled, body.budget))

    @api.post("/explain")
    async def explain(body: bodies.Explain) -> Plain:
        """What the answer owes to each rule, minimal sets of rules, points for and against, what to observe next."""
        return Plain(await lanes.long(lambda budget: asked.explain(body, budget), body.budget))

    @api.post("/probability")
    async def probability(body: bodies.Explain) -> Plain:
        """How often the question holds where the condition does, and what the data leave open."""

        def settled(found: Report) -> bool:
            return bool(found["exact"])

        return Plain(await lanes.either(lambda budget: asked.probability(body, budget), settled, body.budget))

    @api.post("/sample")
    async def sample(body: bodies.Sample) -> Plain:
        """Rows drawn from the model and its prior."""
        return Plain(await lanes.long(lambda _: asked.sample(body), body.budget))


def _classifier(api: APIRouter, judged: Judged, lanes: Lanes) -> None:
    @api.get("/model")
    async def model() -> Plain:
        """Labels, the shape of inputs, and recorded figures."""
        return Plain(judged.model())

    @api.post("/classify")
    async def classify(body: bodies.Picture) -> Plain:
        """The label of a picture, with the interval of every label, conflict, proved radius and reasons."""
        return Plain(await lanes.quick.run(lambda: judged.classify(body), lanes.patience))

    @api.post("/certify")
    async def certify(body: bodies.Picture) -> Plain:
        """How far a picture may be changed, in L2, with the proof that its label stays."""
        return Plain(await lanes.quick.run(lambda: judged.certify(body), lanes.patience))

    @api.post("/attack")
    async def attack(body: bodies.Picture) -> Plain:
        """The nearest picture with another label that a short attack finds."""
        return Plain(await lanes.long(lambda _: judged.attack(body), None))


def _settled(found: Report) -> bool:
    """Whether more time would change an answer, or the ranking of a variable's values."""
    if "values" in found:
        return all(each["exact"] for each in found["values"])
    often = found.get("probability")
    return bool(found["exact"]) and (often is None or bool(often["exact"]))


def _page(app: FastAPI) -> None:
    """The files of the page, read once; nothing else can be fetched."""

    def add(place: Path) -> None:
        content, kind = place.read_bytes(), KINDS[place.suffix]

        async def file() -> Response:
            return Response(content, media_type=kind)

        app.add_api_route("/" if place.name == "index.html" else f"/{place.name}", file, include_in_schema=False)

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
        return told(400, "what was asked is too large to be worked out")

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
