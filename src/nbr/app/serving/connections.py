"""Connections: how long one may take to say what it wants, how much it may say, and how many there may be.

The application is called only once the head of a request is there. All that comes before is bounded here: whoever opens
connections and says nothing, or never comes to an end, must not keep others out.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from nbr.app.serving.limits import Allowed
from nbr.app.serving.security import Refused

ENDING = 2  # seconds that running requests get when the server ends
FIELDS = 100  # of a head
PIPELINED = 8  # requests that one connection may send ahead

_order = itertools.count()


def settings(app: Any, allowed: Allowed) -> uvicorn.Config:
    """How uvicorn is run: with our connections, without websockets and without a word about every request."""
    return uvicorn.Config(
        app,
        http=type("Connection", (_Connection,), {"allowed": allowed}),
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_keep_alive=math.ceil(allowed.kept_alive),
        timeout_graceful_shutdown=ENDING,
    )


class _Connection(HttpToolsProtocol):
    """uvicorn's connection, within limits.

    A clock runs whenever something has to come from the client. When there are too many connections, the one that has
    waited longest goes, those that were never answered first: only a request that is being worked on keeps its place.
    """

    allowed: Allowed
    clock: asyncio.TimerHandle | None = None
    refused: Refused | None = None
    answered = False  # whether it has been of use to anybody
    since = 0  # its place in the order of those that came or were answered
    coming = False  # whether a part of a request is there
    moved = False  # whether the latest bytes began a request or were of its body
    stalled = 0  # bytes since then: of a head, or after a body, and so far of no use
    fields = 0  # bytes of the head, or after the body, that were read

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = next(_order)
        self._wait(self.allowed.first_byte)
        address = self._address
        for most, alike in ((self.allowed.of_one_address, True), (self.allowed.connections, False)):
            others = [
                each
                for each in self.connections
                if isinstance(each, _Connection) and each is not self and not each.transport.is_closing()
                if not alike or each._address == address
            ]
            if len(others) < most:
                continue
            idle = [each for each in others if each.idle]
            if not idle:
                self._refuse(503, "too many connections; try again in a moment")
                return
            min(idle, key=lambda each: (each.answered, each.since)).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait(None)
        super().connection_lost(exc)

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def working(self) -> bool:
        """Whether a whole request is there that has not been answered."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    @property
    def idle(self) -> bool:
        """Whether it is the client that is waited for: to ask, or to read its answer."""
        return not self.working or self.flow.write_paused

    def data_received(self, data: bytes) -> None:
        self.moved = False
        super().data_received(data)
        self.stalled = 0 if self.moved else self.stalled + len(data)
        if self.stalled > self.allowed.head_bytes and not self.transport.is_closing():
            self._refuse(431, f"the headers of a request may have {self.allowed.head_bytes:,} bytes")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.coming, self.moved, self.fields = True, True, 0
        self._wait(self.allowed.head)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.fields += len(name) + len(value)
        if self.fields > self.allowed.head_bytes or len(self.headers) >= FIELDS:
            self._stop(431, f"the headers of a request may have {FIELDS} fields and {self.allowed.head_bytes:,} bytes")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if not self.url.startswith(b"/"):
            self._stop(400, "a request names a path, such as /api/ask")
        if len(self.url) > self.allowed.head_bytes:
            self._stop(414, "the address is too long")
        if len(self.pipeline) >= PIPELINED:
            self._stop(429, f"wait for an answer after {PIPELINED} requests")
        super().on_headers_complete()
        self._wait(self.allowed.upload + 1)  # whoever reads the body may say by itself that it is late

    def on_body(self, body: bytes) -> None:
        self.moved = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.coming = False
        super().on_message_complete()
        self._wait(None if self.working else self.allowed.kept_alive)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.answered, self.since = True, next(_order)
        if not self.coming:
            self._wait(None if self.working else self.allowed.kept_alive)

    def send_400_response(self, msg: str) -> None:
        """What uvicorn does with what it cannot read, and with what we stop: an error like all others, and the end."""
        refused = self.refused or Refused(400, "this is not an HTTP request")
        unheard = self.cycle is None or self.cycle.response_complete
        if unheard or (self.cycle.more_body and not self.cycle.response_started and not self.pipeline):
            content = json.dumps({"error": str(refused), "field": None, "at": None}).encode()
            head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(content)
            self.transport.write(STATUS_LINE[refused.status] + head + content)
        self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        self.refused = Refused(status, message)
        self.send_400_response(message)

    def _stop(self, status: int, message: str) -> None:
        """The same from within the parser, which is left by an error."""
        self.refused = Refused(status, message)
        raise self.refused

    def _wait(self, seconds: float | None) -> None:
        if self.clock is not None:
            self.clock.cancel()
        self.clock = None if seconds is None else self.loop.call_later(seconds, self._late, seconds)

    def _late(self, seconds: float) -> None:
        if self.transport.is_closing():
            return
        if self.flow.read_paused:  # it is we who do not read on
            self._wait(seconds)
        elif self.coming:
            self._refuse(408, "the request did not arrive in time")
        else:
            self.transport.close()
