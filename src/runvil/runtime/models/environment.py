"""Which model is meant (contract 3): the variables of an OpenAI-compatible server, or a name that says Anthropic's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runvil.core.config import ConfigError
from runvil.runtime.models.anthropic import AnthropicModel
from runvil.runtime.models.openai import OpenAICompatibleModel

URL, KEY, NAME = "RUNVIL_MODEL_URL", "RUNVIL_MODEL_API_KEY", "RUNVIL_MODEL"
ANTHROPIC_KEY: Final = "ANTHROPIC_API_KEY"
ANTHROPIC: Final = "anthropic/"
"""What a model's name begins with that is asked for at Anthropic's API."""


def from_environment(name: str | None, env: Mapping[str, str]) -> OpenAICompatibleModel | AnthropicModel | None:
    """The model of that name, or of RUNVIL_MODEL; None when nobody names one. Raises ConfigError."""
    chosen = (name or env.get(NAME, "")).strip()
    if not chosen:
        return None
    if chosen.startswith(ANTHROPIC):
        return AnthropicModel(_needed(env, ANTHROPIC_KEY, chosen), chosen.removeprefix(ANTHROPIC))
    return OpenAICompatibleModel(_needed(env, URL, chosen), env.get(KEY, "").strip() or None, chosen)


def _needed(env: Mapping[str, str], variable: str, name: str) -> str:
    value = env.get(variable, "").strip()
    if not value:
        raise ConfigError(f"the model {name} needs {variable} in the environment")
    return value
