"""`runvil mcp`: both tools for any MCP client."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from runvil import SearchProvider, __version__
from runvil.core.config import ConfigError
from runvil.doors import mcp as door
from runvil.doors.cli.policy import opened, policy, policy_options
from runvil.doors.cli.statuses import OK
from runvil.providers.environment import chosen
from runvil.providers.environment import from_environment as provider_of
from runvil.providers.index import LocalIndex
from runvil.tools import WebSearch

KEY = "RUNVIL_MCP_KEY"
LAST_PORT = 65535


@click.command("mcp", epilog="Example: claude mcp add web -- runvil mcp")
@click.option("--http", "bind", metavar="HOST:PORT", help="Serve streamable HTTP at /mcp instead of stdin and stdout.")
@click.option("--public-host", multiple=True, metavar="NAME", help="A name by which clients reach --http.")
@click.option("--provider", metavar="NAME", help="Who answers searches (default: as the environment says).")
@click.option("--envelope", is_flag=True, help="Put every text between tags that say it is untrusted.")
@policy_options
def command(
    bind: str | None, public_host: tuple[str, ...], provider: str | None, envelope: bool, **options: Any
) -> int:
    """Serve web_fetch, and web_search where a provider is configured, to MCP clients.

    Over HTTP other addresses than loopback need a key in RUNVIL_MCP_KEY, which clients send as a bearer token. Write
    an IPv6 address as [::1]:8080.
    """
    where = None if bind is None else _address(bind)
    if public_host and where is None:
        raise click.UsageError("--public-host is a name of the server that --http starts")
    fetch = opened(policy(options))
    try:
        searching = _provider(provider)
        with _quick_start():
            tools = [fetch] if searching is None else [fetch, WebSearch(searching)]
            server = _sdk().make_server(tools, __version__, provider=searching, envelope=envelope)
            serve = _way(where, public_host)
        serve(server)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    return OK


def _way(where: tuple[str, int] | None, hosts: Sequence[str]) -> Callable[[Any], None]:
    """What serves: nothing of HTTP's server is loaded for a client at the other end of a pipe."""
    if where is None:
        return door.serve_stdio
    host, port = where
    return partial(door.serve_http, host=host, port=port, key=os.environ.get(KEY) or None, hosts=hosts)


def _address(text: str) -> tuple[str, int]:
    host, sign, port = text.rpartition(":")
    is_port = port.isascii() and port.isdigit() and int(port) <= LAST_PORT
    if not sign or not host or not is_port or host.startswith("[") != host.endswith("]"):
        raise click.UsageError(f"--http wants HOST:PORT, such as 127.0.0.1:8080, not {text!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _provider(name: str | None) -> SearchProvider | None:
    """The named one or the environment's; None where there is nothing to search. Raises ConfigError."""
    if name is None and chosen(None, os.environ).name == "local" and not LocalIndex().exists():
        return None
    return provider_of(name)


def _sdk() -> Any:
    try:
        _ = door.make_server
    except ImportError as error:  # an extra of its own
        raise click.ClickException(f"runvil mcp needs the extra runvil[mcp]: {error}") from error
    return door


@contextmanager
def _quick_start() -> Iterator[None]:
    """Importing the SDK makes a million objects that all stay: looking through them for garbage finds none."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
