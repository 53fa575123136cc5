"""Which Packs and tools a run has, and what it lacks (spec 3.7, 3.12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runvil.runtime.errors import RunError, RunErrorKind
from runvil.runtime.frontmatter import Frontmatter, Role, pack_id, reference
from runvil.runtime.packs import Pack, Unavailable
from runvil.tools import Tool

_HOUSE: Final = "runvil/"

NOTICE: Final = "the environment cannot satisfy this prompt:"


@dataclass(frozen=True, slots=True)
class Catalog:
    """packs: in the order of the Host. tools: by id. shown: what a section's environment is told of both."""

    packs: tuple[Pack | Unavailable, ...]
    tools: Mapping[str, Tool]
    shown: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, packs: Mapping[str, Pack | Unavailable], uses: Sequence[str]) -> Catalog:
        """The house's Packs, declared or not, and the declared ones of others, which take an id they share."""
        taken = {pack_id(name): name for name in uses}
        chosen = tuple(
            pack
            for name, pack in packs.items()
            if name in uses or (name.startswith(_HOUSE) and taken.get(pack.id, name) == name)
        )
        tools = {tool.id: tool for pack in chosen if isinstance(pack, Pack) for tool in pack.tools}
        return cls(chosen, tools, [_shown(pack, pack.name in uses) for pack in chosen])


def _shown(pack: Pack | Unavailable, required: bool) -> Mapping[str, Any]:
    entry = {"id": pack.id, "name": pack.name, "required": required}
    if isinstance(pack, Unavailable):
        return {**entry, "unavailable": pack.reason, "tools": []}
    return {**entry, "tools": [{"id": tool.id, "description": tool.description} for tool in pack.tools]}


def check(head: Frontmatter, packs: Mapping[str, Pack | Unavailable], model: object | None) -> None:
    """Raise RunError with the requirements notice when something the prompt declares is not there."""
    lines = [*_missing(head, packs), *_unavailable(head, packs), *_roles(head.models, model)]
    if lines:
        raise RunError(RunErrorKind.REQUIREMENTS_UNMET, "\n".join((NOTICE, *lines)))


def _missing(head: Frontmatter, packs: Mapping[str, Pack | Unavailable]) -> Iterator[str]:
    for name in head.uses:
        if name not in packs:
            yield f"- missing required Pack: {reference(name)}"


def _unavailable(head: Frontmatter, packs: Mapping[str, Pack | Unavailable]) -> Iterator[str]:
    for name in head.uses:
        pack = packs.get(name)
        if isinstance(pack, Unavailable):
            yield f"- {reference(name)} is unavailable: {pack.reason}"


def _roles(roles: Sequence[Role], model: object | None) -> Iterator[str]:
    """Every role is the Host's one model. A model that does not say how much it holds is taken to hold enough."""
    holds = getattr(model, "context_tokens", None)
    for role in roles:
        if model is None:
            yield f"- role '{role.label}': this host provides no model"
        elif holds is not None and holds < role.min_context:
            yield (
                f"- role '{role.label}': requires a context of at least {role.min_context} tokens; "
                f"the current model provides {holds}"
            )
