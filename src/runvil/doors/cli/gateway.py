"""`runvil gateway`: the search gateway, and keys for its clients."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from runvil.core.config import ConfigError
from runvil.doors.cli.output import say
from runvil.doors.cli.statuses import OK

try:
    from runvil.gateway import serve as serving
    from runvil.gateway.config import MEMORY, Config
    from runvil.gateway.keys import digest, mint
except ImportError as error:  # an extra of its own
    raise click.ClickException(f"the gateway needs the extra runvil[gateway]: {error}") from error

DEFAULT = "gateway.toml"


@click.group("gateway", invoke_without_command=True, epilog="Example: runvil gateway --config gateway.toml --check")
@click.option("--config", "path", default=DEFAULT, metavar="FILE", help=f"The configuration (default {DEFAULT}).")
@click.option("--check", is_flag=True, help="Only say whether the configuration can be served.")
@click.pass_context
def command(context: click.Context, path: str, check: bool) -> int:
    """Serve web searches to clients that must not hold the vendor's key."""
    if context.invoked_subcommand is not None:
        return OK
    try:
        if check:
            _show(serving.check(Path(path)))
        else:
            serving.serve(Path(path))
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    return OK


def _show(config: Config) -> None:
    """What is in force, without a secret."""
    say(f"listens on {config.host}:{config.port}")
    for client in config.clients:
        say(f"client {client.name}: rate {client.rate or 'unlimited'}, quota {client.quota or 'unlimited'}")
        if not client.strong:
            say(f"warning: the key of {client.name} is short enough to be guessed", sys.stderr)
    vendors = ", then ".join(vendor.name for vendor in config.search.vendors) if config.search else "not configured"
    say(f"web_search: {vendors}")
    say(f"limits in {_kind(config.limits)}, cache in {_kind(config.cache)} for {config.cache_ttl} s")


def _kind(store: str) -> str:
    return "memory" if store == MEMORY else "redis"


@command.group("key")
def key() -> None:
    """Keys of the gateway's clients."""


@key.command("new")
@click.argument("name")
def new(name: str) -> int:
    """Print a new key for the client NAME, once, and the lines that let it in."""
    try:
        made = mint(name)
    except ValueError as error:
        raise click.UsageError("a name is letters, digits, dots and hyphens, at most 63, and not default") from error
    say(made)
    say("The key is shown once. Let it in with these lines of the configuration:", sys.stderr)
    say(f'\n[[server.keys]]\nname = "{name}"\nhash = "{digest(made).hex()}"', sys.stderr)
    return OK
