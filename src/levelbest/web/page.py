"""The live page itself: one HTML document, its style and script inside, drawn by the report's chart library."""

from __future__ import annotations

from importlib import resources

from levelbest import __version__
from levelbest.report.page.html import asset, own_policy, page_style, wrapped


def live_page(title: str) -> tuple[str, str]:
    """The page and its Content-Security-Policy. It holds no results: they come as events, and are set as text."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style = page_style() + _own("live.css")
    script = wrapped(asset("common.js"), _own("live.js"))
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page = environment.from_string(_own("live.html.j2")).render(
        title=title,
        version=__version__,
        style=Markup(style),
        script=Markup(script),
        licence=asset("uPlot.LICENSE"),
    )
    return page, f"{own_policy(style, script)}; connect-src 'self'; frame-ancestors 'none'"


def _own(name: str) -> str:
    return resources.files("levelbest.web").joinpath("assets", name).read_text(encoding="utf-8")
