"""The Model Context Protocol over stdio: tools over the models of one folder, one call at a time."""

from __future__ import annotations

import json
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

import nbr
from nbr.app.agents.shelf import Shelf
from nbr.app.agents.tools import LONGEST, TOOLS, called

INSTRUCTIONS = (
    "Rules with degrees of belief and their sources; answers are intervals [belief, plausibility] that keep apart what "
    "is not known, with the conflict among sources and the rules behind each answer. Begin with `describe`. Give each "
    "rule its source, quote and date; after writing, resolve the conflicts that are reported, or lower beliefs."
)


def made(shelf: Shelf, seconds: float) -> Server[Any]:
    """A server over a shelf; each call may take some seconds."""
    turn = anyio.Lock()

    async def listed(context: Any, given: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.schema,
                annotations=types.ToolAnnotations(read_only_hint=not tool.writes, open_world_hint=False),
            )
            for tool in TOOLS
        ]
        return types.ListToolsResult(tools=tools)

    async def call(context: Any, given: types.CallToolRequestParams) -> types.CallToolResult:
        async with turn:
            told, failed = await anyio.to_thread.run_sync(called, shelf, given.name, given.arguments, seconds)
        words = json.dumps(told, ensure_ascii=False, default=str)
        if len(words) > LONGEST:
            told, failed = {"error": {"message": "the answer is too long; ask for less", "where": None}}, True
            words = json.dumps(told)
        text = types.TextContent(type="text", text=words)
        return types.CallToolResult(content=[text], structured_content=json.loads(words), is_error=failed)

    return Server(
        "neural-belief-reasoner",
        version=nbr.__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=call,
    )


async def serve(shelf: Shelf, seconds: float) -> None:
    """Answer on stdin and stdout until the other side hangs up."""
    async with stdio_server() as (incoming, outgoing):
        server = made(shelf, seconds)
        await server.run(incoming, outgoing, server.create_initialization_options())
