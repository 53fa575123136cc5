"""The policy options that commands share: each sets one knob of FetchConfig (spec 1.21)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from runvil.core.config import ConfigError, FetchConfig
from runvil.tools import WebFetch

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--allow-http", {"is_flag": True, "help": "Fetch http:// URLs too."}),
    ("--allow-port", {"multiple": True, "type": int, "metavar": "PORT", "help": "A port beside 80 and 443."}),
    ("--allow-ip-literals", {"is_flag": True, "help": "Fetch URLs whose host is a public IP address."}),
    (
        "--allow-host-address",
        {
            "multiple": True,
            "metavar": "HOST=IP",
            "help": "Let HOST, and it alone, be reached at the otherwise blocked address IP.",
        },
    ),
    (
        "--deny-cidr",
        {"multiple": True, "metavar": "CIDR", "help": "A range that is blocked too, such as 203.0.114.0/24."},
    ),
    ("--no-supplement", {"is_flag": True, "help": "Judge addresses by the table of 30 ranges alone."}),
    ("--max-redirects", {"type": int, "metavar": "N", "help": "Redirect hops to follow (default 5)."}),
    ("--max-bytes", {"type": int, "metavar": "N", "help": "Largest body in bytes, decompressed (default 8388608)."}),
    ("--connect-timeout", {"type": float, "metavar": "SECONDS", "help": "For opening a connection (default 5)."}),
    ("--timeout", {"type": float, "metavar": "SECONDS", "help": "For a whole fetch (default 20)."}),
    ("--user-agent", {"metavar": "TEXT", "help": "The User-Agent header (default harness-webfetch/0.0)."}),
    (
        "--resolver",
        {"type": click.Choice(["dns", "system"]), "help": "Ask DNS (default), or the system's getaddrinfo."},
    ),
)


def policy_options(command: F) -> F:
    """Add the options; the command takes them as keyword arguments and hands them to `policy`."""
    for flag, attributes in reversed(OPTIONS):
        command = click.option(flag, **attributes)(command)
    return command


def policy(options: dict[str, Any]) -> FetchConfig:
    """The policy that the options ask for. Raises click.UsageError with the ConfigError's text."""
    default = FetchConfig()
    knobs: dict[str, Any] = {
        "allow_http": options["allow_http"],
        "allow_ports": (*default.allow_ports, *options["allow_port"]),
        "allow_ip_literals": options["allow_ip_literals"],
        "deny_cidrs": options["deny_cidr"],
        "allow_host_addresses": tuple(_pair(text) for text in options["allow_host_address"]),
        "supplement": not options["no_supplement"],
    }
    for name in ("max_redirects", "max_bytes", "connect_timeout", "timeout", "user_agent", "resolver"):
        if options[name] is not None:
            knobs[name] = options[name]
    knobs["max_inflight_bytes"] = max(default.max_inflight_bytes, knobs.get("max_bytes", 0))
    try:
        return FetchConfig(**knobs)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error


def _pair(text: str) -> tuple[str, str]:
    host, sign, address = text.rpartition("=")
    if not sign:
        raise click.UsageError(f"--allow-host-address wants HOST=IP, such as wiki.corp=10.0.5.42, not {text!r}")
    return host, address


def opened(config: FetchConfig) -> WebFetch:
    """The tool under that policy. Raises click.ClickException where the environment's trust roots are unusable."""
    try:
        return WebFetch(config)
    except ConfigError as error:
        raise click.ClickException("; ".join((str(error), *getattr(error, "__notes__", ())))) from error
