"""Writes docs/cli.md from the commands themselves: ``python docs/write_cli.py``."""

from pathlib import Path

import click

from levelbest.cli.main import COMMANDS, cli


def help_pages() -> str:
    """Every command's help, as the terminal shows it at 88 columns."""
    parts = ["# Command line", "", "The same options mean the same in every command.", ""]
    options = {**cli.context_settings, "terminal_width": 88, "max_content_width": 88}
    context = click.Context(cli, info_name="levelbest", **options)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        inner = click.Context(command, info_name=name, parent=context, terminal_width=88, max_content_width=88)
        parts += [f"## {name}", "", "```text", command.get_help(inner), "```", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    (Path(__file__).parent / "cli.md").write_text(help_pages(), encoding="utf-8")
