"""`runvil doctor`: what is configured, what is reachable, what would be used, what is wrong or weaker here."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from runvil import __version__, assemble
from runvil.core.addresses import SUPPLEMENT, TABLE
from runvil.core.config import FetchConfig
from runvil.core.failures import FetchFailure
from runvil.doors.cli.output import say
from runvil.doors.cli.policy import opened, policy, policy_options
from runvil.doors.cli.statuses import FAILED, OK
from runvil.extract.sandbox import LOCKS
from runvil.providers.environment import VARIABLES, chosen
from runvil.providers.index import LocalIndex
from runvil.providers.local import LocalProvider
from runvil.providers.support import summary

PROBE = "https://example.com/"
"""Fetched to see whether the internet can be reached: a page that exists to be an example (RFC 2606)."""

WEAKER: Mapping[str, str] = {
    "system-calls": "a page that took over the parser could open files and sockets: no seccomp filter here",
    "memory": "a page can use up memory until the time limit: no address-space limit here",
    "cpu-timer": "a page is stopped by the clock alone: no CPU timer here",
    "parent-death": "a worker outlives a killed parent until its pipe closes",
}
"""What a missing lock means; the other locks only repeat what these do."""


@dataclass(frozen=True, slots=True)
class Report:
    """lines: (subject, what is so). weak: what is weaker here. wrong: what does not work."""

    lines: tuple[tuple[str, str], ...]
    weak: tuple[str, ...]
    wrong: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"facts": dict(self.lines), "weaker": list(self.weak), "wrong": list(self.wrong)}


@click.command("doctor", epilog="Exit: 0 when everything works, 1 when something is wrong.")
@click.option("--offline", is_flag=True, help="Send nothing: leave out whether the internet can be reached.")
@click.option("--json", "as_json", is_flag=True, help="The findings as a JSON object.")
@policy_options
def command(offline: bool, as_json: bool, **options: Any) -> int:
    """Show what is configured, what is reachable, what would be used, and what is wrong or weaker on this machine."""
    report = asyncio.run(_examine(policy(options), offline))
    if as_json:
        say(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
    else:
        _show(report)
    return FAILED if report.wrong else OK


async def _examine(config: FetchConfig, offline: bool) -> Report:
    found = assemble.examine(config)
    locks = await assemble.worker_locks()
    missing = [name for name in LOCKS if name not in locks]
    reachable, unreachable = await _reached(config, offline or bool(found.trust_error))
    servers = ", ".join(found.name_servers) or "none found"
    resolvers = {"dns": f"DNS at {servers}, after the hosts file", "system": "the system's getaddrinfo"}
    lines = (
        ("runvil", f"{__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"),
        ("policy", _policy(config)),
        ("addresses", _addresses(config)),
        ("limits", _limits(config)),
        ("trust", f"{found.trust}: {found.roots} roots ({found.tls})"),
        ("resolver", f"{resolvers[config.resolver]}; nothing is cached"),
        ("proxies", f"ignored{', though set: ' + ', '.join(found.proxies) if found.proxies else ''}"),
        ("workers", f"locks: {', '.join(locks)}" if locks else "could not be started"),
        ("search", _search(os.environ)),
        ("internet", reachable),
    )
    wrong = [found.trust_error, unreachable, "" if locks else "no worker can be started: pages come as bare text"]
    weak = [WEAKER[name] for name in missing if name in WEAKER and locks]
    return Report(lines, tuple(weak), tuple(text for text in wrong if text))


async def _reached(config: FetchConfig, skip: bool) -> tuple[str, str]:
    """Whether PROBE can be fetched: a line, and what is wrong."""
    if skip:
        return "not asked", ""
    try:
        async with opened(config) as fetch:
            page = await fetch.fetch(PROBE)
    except FetchFailure as failure:
        return f"{PROBE} could not be fetched", str(failure)
    return f"{PROBE} answered HTTP {page.status}", ""


def _policy(config: FetchConfig) -> str:
    schemes = "https and http" if config.allow_http else "https alone"
    literals = "public IP literals" if config.allow_ip_literals else "no IP literals"
    return f"{schemes}; ports {', '.join(map(str, config.allow_ports)) or 'none'}; {literals}; no credentials"


def _addresses(config: FetchConfig) -> str:
    parts = [f"{len(TABLE)} ranges blocked"]
    parts.append(f"a supplement of {len(SUPPLEMENT)} and ISATAP" if config.supplement else "without the supplement")
    parts += [f"denied here: {', '.join(config.deny_cidrs)}"] if config.deny_cidrs else []
    parts += [f"exception: {pair.host} at {pair.address}" for pair in config.pairs]
    return "; ".join(parts)


def _limits(config: FetchConfig) -> str:
    return (
        f"{config.timeout:g} s a fetch, {config.connect_timeout:g} s a connection, {config.max_redirects} redirects; "
        f"{config.max_bytes} bytes, {config.max_chars} characters; "
        f"{config.max_concurrent} fetches and {config.max_inflight_bytes} bytes at once"
    )


def _search(env: Mapping[str, str]) -> str:
    """Who would be asked, what is not native there, and the variables that are set: names, never values."""
    way = chosen(None, env)
    named = [name for name in VARIABLES if env.get(name)]
    nobody = way.made is LocalProvider and not LocalIndex().exists()
    who = "no provider: no variable is set and no page is remembered" if nobody else f"{way.name} ({summary(way.name)})"
    return f"{who}{'; set: ' + ', '.join(named) if named else ''}"


def _show(report: Report) -> None:
    for subject, text in report.lines:
        say(f"{subject:<10} {text}")
    for text in report.weak:
        say(f"weaker     {text}")
    for text in report.wrong:
        say(f"wrong      {text}")
    if not report.wrong:
        say("\nNothing is wrong.", sys.stdout)
