"""Who may ask: the right host, no page from elsewhere, a token on other hosts, bodies of a sensible size."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import ipaddress
import json
import re
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbr.app.serving.limits import Allowed

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HERE = frozenset({"localhost", "127.0.0.1", "::1"})
SPILLED = 16 << 20  # bytes of a body too large that are read and forgotten: a client that still sends hears no answer
ONCE = frozenset(  # headers that decide who is let in: of two of them another reader might believe the other one
    {b"host", b"origin", b"authorization", b"content-type", b"content-length", b"sec-fetch-site", b"sec-fetch-mode"}
    | {b"sec-fetch-dest", b"transfer-encoding"}
)
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\s:/@\[\]]+))(?::\d{1,5})?\Z")
FILES = "/api/classify-files"  # where files are sent as a form, and all else as JSON
WITH_PICTURES = ("/api/classify", "/api/classify-many", FILES, "/api/certify", "/api/attack")


def policy(style: bytes | None = None) -> str:
    """What a page may load: our own files, and this one style within it."""
    named = "" if style is None else f" 'sha256-{base64.b64encode(hashlib.sha256(style).digest()).decode()}'"
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'{named}; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


HEADERS = {
    b"content-security-policy": policy().encode(),
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"cache-control": b"no-cache",
}


class Refused(Exception):
    """A request that is turned away at the door."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Door:
    """What a request must bring. Without a token the server is for this computer alone."""

    token: str | None = None
    names: frozenset[str] = frozenset()  # of this server, beside those of this computer itself

    @classmethod
    def of(cls, host: str, token: str | None) -> Door:
        return cls(token, frozenset({host.lower(), socket.gethostname().lower()}))

    def check(self, method: str, path: str, sent: Sequence[tuple[bytes, bytes]]) -> None:
        names = [name for name, _ in sent if name in ONCE]
        if len(set(names)) < len(names):
            raise Refused(400, f"the header {_twice(names)} appears twice")
        headers = dict(sent)
        host = headers.get(b"host", b"").decode("latin-1").strip().lower()
        if not self._ours(bare_host(host)):
            raise Refused(421, f"this server is not called {host!r}")
        self._check_origin(method, path, host, headers)
        if self.token is not None and path.startswith("/api/"):
            kind, _, given = headers.get(b"authorization", b"").partition(b" ")
            if kind.lower() != b"bearer" or not hmac.compare_digest(given.strip(), self.token.encode()):
                raise Refused(
                    401, "a token is needed: the header Authorization: Bearer TOKEN, with what nbr serve printed"
                )
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        if method == "POST" and path == FILES and kind != b"multipart/form-data":
            raise Refused(415, "the body is a form with files, with the header Content-Type: multipart/form-data")
        if method == "POST" and path != FILES and kind != b"application/json":
            raise Refused(415, "the body is JSON, with the header Content-Type: application/json")

    def _ours(self, name: str) -> bool:
        """Whether a request means this server: a page elsewhere may have made its own name lead here."""
        if name in HERE:
            return True
        return self.token is not None and (name in self.names or is_address(name))

    @staticmethod
    def _check_origin(method: str, path: str, host: str, headers: dict[bytes, bytes]) -> None:
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower() not in (f"http://{host}", f"https://{host}"):
            raise Refused(403, "requests from pages of other sites are refused")
        site = headers.get(b"sec-fetch-site", b"none")
        followed = headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"
        link = method == "GET" and followed and not path.startswith("/api/")
        if site not in (b"none", b"same-origin") and not link:
            raise Refused(403, "requests from pages of other sites are refused")


class Guard:
    """Stands before the application: checks who asks, reads the body within limits, adds headers to what is sent."""

    def __init__(self, app: App, door: Door, allowed: Allowed) -> None:
        self.app, self.door, self.allowed = app, door, allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        with_headers = _adding(send)
        try:
            self.door.check(scope["method"], scope["path"], scope["headers"])
            body = await self._body(scope, receive)
        except Refused as refused:
            await _tell(with_headers, refused)
            return
        await self._answered(scope, body, receive, with_headers)

    async def _answered(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """The work of a client that has gone away is given up: what waits in a queue leaves it."""
        given: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        gone = asyncio.ensure_future(receive())  # after a whole body nothing else can come

        async def again() -> Message:
            return given.pop() if given else await asyncio.shield(gone)

        work = asyncio.ensure_future(self.app(scope, again, send))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            with contextlib.suppress(RuntimeError):  # it has begun to answer
                await _tell(send, Refused(503, "the server ends"))
        gone.cancel()
        if not work.done():
            work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body, unless it is too large or too slow."""
        most = self.allowed.picture if scope["path"] in WITH_PICTURES else self.allowed.body
        too_large = Refused(413, f"the body may have up to up to up to up to up to {most:,} bytes")
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) > SPILLED:
            raise too_large
        parts, size, more = [], 0, True
        try:
            async with asyncio.timeout(self.allowed.upload):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "the connection closed before the request was complete")
                    part = message.get("body", b"")
                    size += len(part)
                    if size > SPILLED:
                        raise too_large
                    parts += [part] if size <= most else []
                    more = message.get("more_body", False)
        except TimeoutError:
            raise Refused(408, f"the body did not arrive within {self.allowed.upload:g} seconds") from None
        if size > most:
            raise too_large
        return b"".join(parts)


def bare_host(host: str) -> str:
    """A host without its port; nothing if it is not written as a host is.

    >>> bare_host("localhost:8000"), bare_host("[::1]:8000"), bare_host("[::1].example.org"), bare_host("localhost:80x")
    ('localhost', '::1', '', '')
    """
    found = HOST.match(host)
    return "" if found is None else found[1] or found[2]


def _twice(names: Sequence[bytes]) -> str:
    return next(name for at, name in enumerate(names) if name in names[:at]).decode("ascii")


def is_address(name: str) -> bool:
    """Whether it is a number rather than a name: a number cannot be made to lead elsewhere.

    >>> is_address("192.168.0.7"), is_address("example.org")
    (True, False)
    """
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _adding(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            known = {name.lower() for name, _ in message.get("headers", [])}
            added = [(name, value) for name, value in HEADERS.items() if name not in known]
            message["headers"] = [*message.get("headers", []), *added]
        await send(message)

    return sent


async def _tell(send: Send, refused: Refused) -> None:
    content = json.dumps({"error": str(refused), "field": None, "at": None}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    if refused.status in (408, 413):
        headers.append((b"connection", b"close"))  # what is left of the body is not read
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
