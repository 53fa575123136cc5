"""Prompt files, their Lua, Packs and the Host (spec 3). Sees tools and the envelope, nothing else of the house.

Lua, YAML and Markdown are the extra `lua`; they are imported when the first prompt is read.
"""

from runvil.core.conversation import Message, Model, ModelError, ToolCall, ToolDeclaration
from runvil.runtime.errors import RunError, RunErrorKind
from runvil.runtime.host import Host, Run
from runvil.runtime.limits import Limits
from runvil.runtime.models import AnthropicModel, OpenAICompatibleModel
from runvil.runtime.packs import Pack, Plugin, Unavailable
from runvil.runtime.web import WebPlugin

__all__ = [
    "AnthropicModel",
    "Host",
    "Limits",
    "Message",
    "Model",
    "ModelError",
    "OpenAICompatibleModel",
    "Pack",
    "Plugin",
    "Run",
    "RunError",
    "RunErrorKind",
    "ToolCall",
    "ToolDeclaration",
    "Unavailable",
    "WebPlugin",
]
