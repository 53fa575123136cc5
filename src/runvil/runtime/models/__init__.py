"""Models over HTTP: the chat completions that most servers speak, and Anthropic's Messages API (spec 3.15)."""

from runvil.runtime.models.anthropic import AnthropicModel
from runvil.runtime.models.openai import OpenAICompatibleModel

__all__ = ["AnthropicModel", "OpenAICompatibleModel"]
