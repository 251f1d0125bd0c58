"""The help pages: options of the command first, then those of output and of reading tables, then examples."""

from __future__ import annotations

import click

OUTPUT = ("details", "as_json", "out", "force", "title", "figures", "paper", "form", "markdown", "log", "shade", "kind")
"""Parameters that say what becomes of the answer."""
EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("levelbest demo", "levelbest demo --run        # a small study, run here and now"),
    "report": (
        "levelbest report results.csv --bounds 0 1",
        "levelbest report results.csv --family model --selection dev --reported test",
        "levelbest report study.db --out page.html",
    ),
    "describe": ("levelbest describe results.csv", "levelbest describe results.csv --where \"model = 'cnn'\""),
    "curve": ("levelbest curve results.csv --n 1,5,20", "levelbest curve results.csv --axis cost --out curve.pdf"),
    "compare": (
        "levelbest compare results.csv",
        "levelbest compare results.csv --headline 5 --baseline lr",
        "levelbest compare results.csv --axis cost --out verdict.pdf",
    ),
    "reach": (
        "levelbest reach results.csv --target 0.92",
        'levelbest reach results.csv --target "Smith 2019=0.92" --axis cost',
    ),
    "plan": ("levelbest plan pilot.csv --n 5", "levelbest plan pilot.csv --cost gpu_hours --price 2.5"),
    "gate": (
        "levelbest gate runs.csv --baseline main --candidate pr",
        "levelbest gate runs.csv --baseline main --candidate pr --worth 0.02 --markdown",
    ),
    "claim": (
        'levelbest claim "base 76.3 ± 0.4 (5)" "ours 77.0 ± 0.6 (5)"',
        'levelbest claim "base 76 ± 0.4 (5), tuned 10" "ours 77 ± 0.6 (5), tuned 100"',
    ),
    "loop": (
        "levelbest loop loop.db --baseline --score 0.712 --direction max  # 16 times",
        "levelbest loop loop.db --candidate wider --score 0.731           # every run",
        "levelbest loop loop.db                                           # its state",
    ),
    "audit": ("levelbest audit results.tsv", "levelbest audit results.tsv --out attempts.png"),
    "run": (
        "levelbest run study.yaml --check  # print the first configurations only",
        "levelbest run study.yaml          # run; the same command resumes it",
    ),
    "serve": ("levelbest serve study.db",),
    "verify": ("levelbest verify study.db", "levelbest verify study.db --head 6b1abcf42406cec38c37e38e874b6cca"),
    "simulate": (
        'levelbest simulate --law "beta(8,2)" --trials 50',
        "levelbest simulate --law norm --interval percentile",
    ),
    "checklist": ("levelbest checklist results.csv", "levelbest checklist results.csv --out checklist.md"),
    "convert": ("levelbest convert results.csv --out tidy.csv", "levelbest convert study.db --out trials.parquet"),
}


class Verb(click.Command):
    """A command with its options in groups and examples at the end of its help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What is asked first; what every command shares last."""
        from levelbest.cli.options import data

        params = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        shared = {param.name for param in click.command()(data(lambda: None)).params}
        reading = shared if shared <= {param.name for param in self.params} else set()
        groups: dict[str, list[tuple[str, str]]] = {"Options": [], "Output": [], "Reading the table": []}
        for param in params:
            group = "Reading the table" if param.name in reading else "Output" if param.name in OUTPUT else "Options"
            if (record := param.get_help_record(ctx)) is not None:
                groups["Output" if param.name == "help" else group].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Commands to start from."""
        if self.name in EXAMPLES:
            with formatter.section("Examples"):
                for line in EXAMPLES[self.name]:
                    formatter.write(f"{' ' * formatter.current_indent}{line}\n")
