"""The command line. Results go to stdout, everything else to stderr; exit statuses as in contract 2.

A command's module is imported when the command is asked for, so that `runvil --help` stays light. No rule lives here:
unpack, call the tool, repack.
"""

from __future__ import annotations

import sys
from importlib import import_module
from io import TextIOWrapper

import click

from runvil import __version__
from runvil.doors.cli.statuses import FAILED, INTERRUPTED, OK

COMMANDS = {
    "call": ("runvil.doors.cli.call", "Call a tool exactly as a model does."),
    "check": ("runvil.doors.cli.check", "Parse and compile prompt files, without running them."),
    "demo": ("runvil.doors.cli.demo", "Watch the boundary work, without internet."),
    "doctor": ("runvil.doors.cli.doctor", "What is configured, what is reachable, what would be used."),
    "extract": ("runvil.doors.cli.extract", "Print the article of a page in a file, without network."),
    "fetch": ("runvil.doors.cli.fetch", "Fetch web pages and print what a model would be given."),
    "gateway": ("runvil.doors.cli.gateway", "Serve web searches; the gateway holds the vendor's key."),
    "mcp": ("runvil.doors.cli.mcp", "Serve both tools to MCP clients, over stdio or HTTP."),
    "run": ("runvil.doors.cli.run_prompt", "Run a prompt file and print its result."),
    "search": ("runvil.doors.cli.search", "Search the web and print what a model would be given."),
}
"""name -> (module whose `command` it is, one line for the overview)."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Try: runvil fetch https://example.com/",
)
@click.version_option(__version__, prog_name="runvil")
def cli() -> None:
    """Give a language model the web, never your network."""


def main() -> None:
    """The entry point of the `runvil` command."""
    sys.exit(run())


def run(arguments: list[str] | None = None) -> int:
    """Run a command line and return its exit status. Every expected trouble is one line on stderr."""
    _prepare_streams()
    try:
        status = cli.main(arguments, prog_name="runvil", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("runvil: interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # whoever closed the pipe knows
            print(f"runvil: cannot write the result: {error.strerror}", file=sys.stderr)
        _mute_stdout()
        return FAILED
    return status if isinstance(status, int) else OK


def _prepare_streams() -> None:
    """A page may hold what the terminal's encoding has not: show a mark rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _mute_stdout() -> None:
    """The reader is gone, or the disk is full: keep the interpreter from trying once more at its end."""
    import os  # noqa: PLC0415

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
