"""Sphinx configuration: ``sphinx-build -W docs docs/_build`` builds the site without warnings."""

import importlib
import inspect

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

from levelbest import __version__

project = "levelbest"
copyright = "The levelbest developers"  # noqa: A001
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "levelbest"
exclude_patterns = ["_build"]
autodoc_typehints = "none"  # the signature has them; parameters are explained below it
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
suppress_warnings = ["myst.header"]


class PublicNames(Directive):
    """``.. public-names:: levelbest.stats``: all public names of a module, or those named in the content."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The names, functions and classes each with what they say of themselves."""
        module = importlib.import_module(self.arguments[0])
        lines: list[str] = []
        for name in [word for line in self.content for word in line.split()] or module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                lines += [f".. autoclass:: {self.arguments[0]}.{name}", "   :members:", ""]
            elif callable(thing):
                lines += [f".. autofunction:: {self.arguments[0]}.{name}", ""]
        place = nodes.section()
        place.document = self.state.document
        self.state.nested_parse(StringList(lines, source=self.arguments[0]), self.content_offset, place)
        return place.children


def setup(app: object) -> None:
    """Make the directive known."""
    app.add_directive("public-names", PublicNames)  # type: ignore[attr-defined]
