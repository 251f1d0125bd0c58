"""Sphinx configuration: ``sphinx-build -W docs docs/_build`` builds the site without warnings."""

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

from levelbest import __version__

project = "levelbest"
copyright = "The levelbest developers"  # noqa: A001
release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_block"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "levelbest"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
autosummary_generate = True  # a page for each public object, in api/
autodoc_typehints = "none"  # the signature has them; parameters are explained below it
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
suppress_warnings = ["myst.header"]
PAGES = Path(__file__).parent
_ATTRIBUTES: dict[str, list[str]] = {}


class Thumbnails(Directive):
    """``{thumbnails} gallery.md``: the figures of a page, small, each a link to its section."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One grid."""
        text = (PAGES / self.arguments[0]).read_text(encoding="utf-8")
        sections = re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, flags=re.S | re.M)
        cards = []
        for title, body in sections:
            figure = re.search(r"!\[[^\]]*\]\(([^)]+)\)", body)
            if figure:
                anchor = re.sub(r"[^\w\s-]", "", title.lower()).strip().replace(" ", "-")
                image = Path(figure[1])
                place = f"_images/{image.name}"
                cards.append(f'<a href="#{anchor}"><img src="{place}" alt=""><span>{title}</span></a>')
        return [nodes.raw("", f'<div class="thumbnails">{"".join(cards)}</div>', format="html")]


def _keep(_app: object, what: str, name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Before napoleon, which would take ``Families: those ...`` for a type and a description."""
    if what in ("attribute", "property"):
        _ATTRIBUTES[name] = list(lines)


def _restore(_app: object, _what: str, name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """After it: the text of an attribute as it was written."""
    if name in _ATTRIBUTES:
        lines[:] = _ATTRIBUTES.pop(name)


def setup(app: object) -> None:
    """Make directive and handlers known."""
    app.add_directive("thumbnails", Thumbnails)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", _keep, priority=400)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", _restore, priority=600)  # type: ignore[attr-defined]
