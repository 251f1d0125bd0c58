"""Sphinx configuration: ``sphinx-build -W docs docs/_build`` builds the site without warnings."""

from levelbest import __version__

project = "levelbest"
copyright = "The levelbest developers"  # noqa: A001
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "levelbest"
exclude_patterns = ["_build"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
suppress_warnings = ["myst.header"]
