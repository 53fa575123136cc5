"""`models.loop`: rounds with the model until it answers with text (spec 3.10)."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from runvil.core.conversation import Message, Model, ModelError, ToolCall, ToolDeclaration
from runvil.core.envelope import wrap
from runvil.runtime.calls import STOPPED, Refused, Setting, called
from runvil.runtime.errors import ErrorKind, HostFailure
from runvil.runtime.interrupt import Stopped
from runvil.runtime.trace import since

logger = logging.getLogger("runvil.runtime")

EXHAUSTED: Final = "tool-call loop did not converge"
OUT_OF_SCOPE: Final = 'the model called "{name}", which the round did not offer'
UNASKED: Final = "the model could not be asked"
NO_REPLY: Final = "the model's reply is empty"


async def lua_loop(setting: Setting, label: object, messages: object, scope: object) -> tuple[str | None, ...]:
    """Run the loop for Lua: JSON of the new records and of the calls made, then how it failed, if it did."""
    loop = Loop(setting, str(label), read_messages(str(messages)), json.loads(str(scope)))
    failure: tuple[str | None, ...] = ()
    try:
        await loop.run()
    except HostFailure as error:
        failure = (str(error.kind), str(error), error.name)
    return written(loop.new), json.dumps(dict(loop.calls)), *failure


class Loop:
    """One loop. new: the records it added. calls: how often each tool was called, by id."""

    def __init__(
        self, setting: Setting, label: str, messages: Sequence[Message], scope: Sequence[Mapping[str, Any]]
    ) -> None:
        self.new: list[Message] = []
        self.calls: Counter[str] = Counter()
        self._setting = setting
        self._label = label
        self._messages = messages
        self._by_wire = {setting.catalog.tools[tool["id"]].wire_name: str(tool["id"]) for tool in scope}
        self._declared = [_declared(setting, tool) for tool in scope]

    async def run(self) -> None:
        """Raises HostFailure."""
        self._setting.interrupt.begin_round()
        for number in range(self._setting.rounds):
            try:
                reply = _with_ids(await self._asked(), number)
                if not reply.tool_calls:
                    self.new.append(reply)
                    return
                self._check(reply.tool_calls)
                results = [await self._result(call) for call in reply.tool_calls]
            except Stopped:
                raise HostFailure(ErrorKind.STOPPED, STOPPED) from None
            self.new += [reply, *results]
        raise HostFailure(ErrorKind.TOOL_LOOP_EXHAUSTED, EXHAUSTED)

    async def _asked(self) -> Message:
        begun = self._setting.trace.now()
        try:
            reply = await self._reply()
        except HostFailure as error:
            self._tell(begun, error=str(error))
            raise
        calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls]
        self._tell(begun, content=reply.content, tool_calls=calls)
        return reply

    async def _reply(self) -> Message:
        model = self._setting.model
        assert isinstance(model, Model)  # the requirements were met
        try:
            reply = await self._setting.interrupt.droppable(model.reply([*self._messages, *self.new], self._declared))
        except ModelError as error:
            kind = ErrorKind.CONTEXT_EXHAUSTED if error.too_long else ErrorKind.COMPLETION
            raise HostFailure(kind, str(error)) from error
        except Stopped:
            raise
        except Exception as error:
            logger.exception("a model round ended in an error that has no sentence")
            raise HostFailure(ErrorKind.COMPLETION, UNASKED) from error
        if not reply.content and not reply.tool_calls:
            raise HostFailure(ErrorKind.COMPLETION, NO_REPLY)
        return reply

    def _tell(self, begun: float, **members: Any) -> None:
        trace = self._setting.trace
        if trace.on:
            sent = len(self._messages) + len(self.new)
            names = [tool.name for tool in self._declared]
            trace.tell(
                "round",
                section=trace.section,
                label=self._label,
                messages=sent,
                tools=names,
                ms=since(begun),
                **members,
            )

    def _check(self, calls: Sequence[ToolCall]) -> None:
        """A name that was not offered: none of the batch runs."""
        for call in calls:
            if call.name not in self._by_wire:
                raise HostFailure(ErrorKind.OUT_OF_SCOPE_TOOL, OUT_OF_SCOPE.format(name=call.name), call.name)

    async def _result(self, call: ToolCall) -> Message:
        """The record that answers a call. A failure is the tool's message, in the envelope, and the loop goes on."""
        self._setting.interrupt.check_round()
        tool_id = self._by_wire[call.name]
        self.calls[tool_id] += 1
        try:
            text = await called(self._setting, tool_id, call.arguments, "model")
        except Refused as error:
            text = wrap(str(error), self._setting.nonce)
        self._setting.interrupt.check_round()
        return Message("tool", text, tool_call_id=call.id)


def _declared(setting: Setting, tool: Mapping[str, Any]) -> ToolDeclaration:
    found = setting.catalog.tools[tool["id"]]
    return ToolDeclaration(found.wire_name, tool.get("description") or found.description, found.parameters)


def _with_ids(reply: Message, number: int) -> Message:
    """The reply as an assistant's record, in which every call has an id of its own: servers insist, models forget."""
    seen: set[str] = set()
    calls = []
    for place, call in enumerate(reply.tool_calls):
        made = call if call.id and call.id not in seen else replace(call, id=f"call_{number}_{place}")
        seen.add(made.id)
        calls.append(made)
    return Message("assistant", reply.content, tuple(calls))


def read_messages(text: str) -> list[Message]:
    """Records as Lua keeps them."""
    return [_message(record) for record in json.loads(text)]


def _message(record: Mapping[str, Any]) -> Message:
    calls = tuple(
        ToolCall(str(call["id"]), str(call["name"]), str(call["arguments"]))
        for call in record.get("tool_calls") or ()
        if isinstance(call, dict) and {"id", "name", "arguments"} <= set(call)
    )
    answers = record.get("tool_call_id")
    return Message(str(record["role"]), str(record["content"]), calls, None if answers is None else str(answers))


def written(messages: Sequence[Message]) -> str:
    """Records as Lua reads them."""
    return json.dumps([_record(message) for message in messages], ensure_ascii=False)


def _record(message: Message) -> dict[str, Any]:
    record: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        record["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        record["tool_call_id"] = message.tool_call_id
    return record
