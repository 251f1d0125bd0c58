"""One palette for figures and page, and figures that follow the reader's light or dark scheme."""

from __future__ import annotations

import re

Dash = str | tuple[float, tuple[float, ...]]
Style = tuple[str, Dash]
"""The colour and the dash of a line."""

# Eight hues, each with a contrast of 4.5 to white, so that names can be written in them; dashes tell lines apart in
# greyscale and for readers who see fewer colours. page.css holds the same ones.
COLOURS = ("#2a62c9", "#c4500e", "#0b7d57", "#ab3f8c", "#0b7fa8", "#8a6800", "#6a4fcf", "#47525f")
DARK_COLOURS = ("#7aa7ff", "#ff9257", "#3ccf9c", "#f08fd0", "#5cc8ee", "#e3bb45", "#b4a1ff", "#b3bfcc")
DASHES: tuple[Dash, ...] = (
    "-",
    (0, (5, 1.6)),
    (0, (1.2, 1.2)),
    (0, (6, 1.6, 1.2, 1.6)),
    (0, (3, 1)),
    (0, (8, 2)),
    (0, (4, 1.6, 1.2, 1.6, 1.2, 1.6)),
    (0, (2, 3)),
)
_GREY = re.compile(r"#(?P<one>[0-9a-f]{2})(?P=one){2}\b")

_BESIDE_LETTERS = re.compile(r"\s*([A-Za-z])\s*")


def line_style(i: int) -> Style:
    """Colour and dash of the i-th line; after eight the colours come again, with other dashes."""
    return COLOURS[i % len(COLOURS)], DASHES[(i + i // len(COLOURS)) % len(DASHES)]


def themed(svg: bytes) -> bytes:
    """A figure of ours for the page: its colours as variables that a dark scheme sets anew, its ground the page's."""
    names = {colour: f"k{i}" for i, colour in enumerate(COLOURS)}
    used: dict[str, str] = {}

    def variable(match: re.Match[str]) -> str:
        colour = match[0].lower()
        if colour in COLOURS:
            used[names[colour]] = DARK_COLOURS[COLOURS.index(colour)]
        elif _GREY.fullmatch(colour):
            names[colour] = f"g{colour[1:3]}"
            used[names[colour]] = _dark_grey(int(colour[1:3], 16))
        else:
            return match[0]
        return f"var(--{names[colour]},{colour})"

    text = re.sub(r"(?<=[:\s])#[0-9a-fA-F]{6}\b", variable, svg.decode())
    text = text.replace("var(--gff,#ffffff)", "var(--gff,transparent)", 1)  # the ground of the whole figure comes first
    dark = "".join(f"--{name}:{colour};" for name, colour in sorted(used.items()))
    style = (
        f"<style>@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} text {{ fill: {_dark_grey(0)} }} }}</style>"
    )
    return re.sub(r"(<svg\b[^>]*>)", lambda match: match[1] + style, text, count=1).encode()


def slim(svg: bytes) -> bytes:
    """The same picture in fewer bytes: hundredths of a point are less than a screen shows.

    Examples
    --------
    >>> slim(b'<path d="M 40.64024 228.430496 \\nL 1 2.50001 \\n"/>').decode()
    '<path d="M40.64 228.43L1 2.5"/>'
    """
    text = re.sub(r"<[^>]+>", lambda tag: _slim_tag(tag[0]), svg.decode())
    return re.sub(r">\s+<", "><", text).encode()


def _slim_tag(tag: str) -> str:
    if "base64," in tag:
        return re.sub(r'(?<=base64,)[^"]*', lambda match: "".join(match[0].split()), tag)
    tag = re.sub(r"(?<=[\s\"(,])-?\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), tag)
    tag = re.sub(r"('DejaVu Sans',)[^;]*?(sans-serif)", r"\1\2", " ".join(tag.split()))
    return re.sub(r'(?<= d=")[^"]*', lambda path: _BESIDE_LETTERS.sub(r"\1", path[0]).strip(), tag)


def _dark_grey(level: int) -> str:
    """A grey of the dark scheme: white is the card, black is the ink."""
    card, ink = (22, 29, 37), (232, 237, 242)
    share = 1 - level / 255
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(card, ink, strict=True))
