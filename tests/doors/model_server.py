"""A model behind HTTP that is strict: it speaks three vendors' APIs, makes the table's calls all at once, and takes no
answer that is not one to each of them, in the vendor's form. It runs on loopback, in a thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from runvil.core.calls import FETCH, SEARCH, fetch_schema, search_schema
from tests.doors.matrix import Row

DESCRIBED = {
    "web_fetch": (FETCH.description, fetch_schema(40_000)),
    "web_search": (SEARCH.description, search_schema()),
}
"""What must be declared of each tool, to the letter."""

Json = dict[str, Any]


class Refused(Exception):
    """A request that the vendor would answer with 400, or ours would not have made."""


def must(holds: bool, what: str) -> None:
    if not holds:
        raise Refused(what)


class Model:
    """said: the answers to the calls, in their order, once they are there. failed: which were marked as errors."""

    def __init__(self, rows: Sequence[Row], names: Sequence[str]) -> None:
        self.described = {name: DESCRIBED[name] for name in names}
        self.calls = [(f"call_{number}", row) for number, row in enumerate(rows)]
        self.said: list[str] = []
        self.failed: list[bool] = []
        self.refused: list[str] = []
        self.url = ""

    def answer(self, path: str, request: Json) -> Json:
        speak = SPOKEN.get(path)
        if speak is None:
            raise Refused(f"no such path: {path}")
        must(bool(request.get("model")), "no model")
        return speak(self, request)

    def take(self, answers: Sequence[tuple[str, object, bool]]) -> None:
        """(id, text, marked as an error) of each answer; ids must be those of the calls, in order."""
        must([id_ for id_, _, _ in answers] == [id_ for id_, _ in self.calls], "not one answer to each call, in order")
        must(all(isinstance(text, str) for _, text, _ in answers), "an answer is not text")
        self.said = [str(text) for _, text, _ in answers]
        self.failed = [failed for _, _, failed in answers]


def declared(model: Model, tools: Sequence[Json]) -> None:
    """(name, description, parameters) as they must be; `strict` may only say no."""
    found = {tool["name"]: (tool["description"], tool["parameters"]) for tool in tools}
    must(found == model.described, f"declared: {found}")
    must(not any(tool.get("strict") for tool in tools), "strict mode wants every argument required")


def chat(model: Model, request: Json) -> Json:
    must(all(tool["type"] == "function" for tool in request["tools"]), "not a function")
    declared(model, [tool["function"] for tool in request["tools"]])
    turns = [message for message in request["messages"] if message["role"] == "tool"]
    message: Json = {"role": "assistant", "content": "done", "refusal": None}
    if turns:
        model.take([(turn["tool_call_id"], turn["content"], False) for turn in turns])
    else:
        message["content"] = None
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": row.tool, "arguments": json.dumps(row.arguments)}}
            for id_, row in model.calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": "stop" if turns else "tool_calls", "logprobs": None}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "chat_1", "object": "chat.completion", "created": 1, "model": request["model"], "choices": [choice],
        "usage": usage,
    }  # fmt: skip


def responses(model: Model, request: Json) -> Json:
    must(all(tool["type"] == "function" for tool in request["tools"]), "not a function")
    declared(model, request["tools"])
    turns = [item for item in request["input"] if isinstance(item, dict) and item.get("type") == "function_call_output"]
    output: list[Json]
    if turns:
        model.take([(turn["call_id"], turn["output"], False) for turn in turns])
        text = {"type": "output_text", "text": "done", "annotations": []}
        output = [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}]
    else:
        output = [
            {
                "type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": row.tool, "status": "completed",
                "arguments": json.dumps(row.arguments),
            }
            for id_, row in model.calls
        ]  # fmt: skip
    return {
        "id": "r", "object": "response", "created_at": 1, "model": request["model"], "status": "completed",
        "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def messages(model: Model, request: Json) -> Json:
    must(all(set(tool) == {"name", "description", "input_schema"} for tool in request["tools"]), "not a tool")
    declared(model, [{**tool, "parameters": tool["input_schema"]} for tool in request["tools"]])
    last = request["messages"][-1]["content"]
    turns = [block for block in last if isinstance(block, dict) and block["type"] == "tool_result"]
    content: list[Json] = [{"type": "text", "text": "done"}]
    if turns:
        model.take([(turn["tool_use_id"], turn["content"], turn.get("is_error", False)) for turn in turns])
    else:
        content = [
            {"type": "tool_use", "id": id_, "name": r.tool, "input": dict(r.arguments)} for id_, r in model.calls
        ]
    return {
        "id": "m", "type": "message", "role": "assistant", "model": request["model"], "content": content,
        "stop_reason": "end_turn" if turns else "tool_use", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


SPOKEN: Mapping[str, Callable[[Model, Json], Json]] = {
    "/v1/chat/completions": chat,
    "/v1/responses": responses,
    "/v1/messages": messages,
}


@contextmanager
def model_server(rows: Sequence[Row], names: Sequence[str] = tuple(DESCRIBED)) -> Iterator[Model]:
    """The model, at `url`; tools of these names must be declared. What it refused fails the test at the end."""
    model = Model(rows, names)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert model.refused == []


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                status, answer = 200, model.answer(self.path, request)
            except (Refused, KeyError, TypeError) as error:
                model.refused.append(repr(error))
                status, answer = 400, {"error": {"message": repr(error), "type": "invalid_request_error"}}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name there
            return

    return Handler
