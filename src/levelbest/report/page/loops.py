"""The page of a research loop: its state, and every attempt in a figure and a table."""

from __future__ import annotations

from html import escape

from levelbest import __version__
from levelbest.report.figures.curves import figure_bytes, figure_of, new_axes, own_style, slim, themed
from levelbest.report.figures.gates import draw_attempts
from levelbest.report.page.html import data_uri, own_policy, page_style
from levelbest.report.tables.gates import loop_table
from levelbest.report.words.loops import state_sentences
from levelbest.results import LoopState

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<header><h1>{title}</h1>
{sentences}</header>
<section class="card" aria-labelledby="attempts"><h2 id="attempts">Every attempt</h2>
{picture}
<div class="scroll tall" tabindex="0" role="region" aria-label="Every attempt">{table}</div></section>
</main>
<footer><p>levelbest {version}. Ledger head {head}</p></footer>
</body>
</html>
"""


def loop_page(state: LoopState, title: str) -> str:
    """One HTML file without script, which needs no network."""
    style = page_style()
    picture = ""
    if state.attempts:
        with own_style():
            drawn = figure_bytes(figure_of(draw_attempts(new_axes(), state)), "svg")
        source = data_uri(slim(themed(drawn)), "image/svg+xml")
        picture = f"<figure><img src='{source}' alt='The score of every attempt, and what was kept'></figure>"
    return _PAGE.format(
        policy=escape(own_policy(style, "")),
        title=escape(title),
        style=style,
        sentences="\n".join(f"<p>{escape(sentence)}</p>" for sentence in state_sentences(state)),
        picture=picture,
        table=loop_table(state).html(),
        version=__version__,
        head=escape(state.head),
    )
