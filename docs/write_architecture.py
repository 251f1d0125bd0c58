"""Writes docs/architecture.md from the real imports and a real trace: ``python docs/write_architecture.py``."""

import ast
import html
import importlib
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import levelbest as lb

ROOT = Path(lb.__file__).parent
DOCS = Path(__file__).parent
BASE = "base"
"""The modules beside the packages: errors, validators, cores, writing files."""


# --- one call, followed


@dataclass
class Trace:
    """Which modules and functions of levelbest one call enters, in order, and how deep it goes."""

    steps: list[tuple[int, str, str]] = field(default_factory=list)
    """(depth, module, function), each function where it is first entered."""
    depth: int = 0

    @property
    def modules(self) -> list[str]:
        """The modules entered, in order."""
        return list(dict.fromkeys(module for _, module, _ in self.steps))


def load_everything() -> None:
    """Import every module, so that imports are no part of a trace."""
    for path in sorted(ROOT.rglob("*.py")):
        if "data" not in path.parts and path.name != "__main__.py":
            importlib.import_module(".".join(("levelbest", *path.relative_to(ROOT).with_suffix("").parts)))
    for package in (lb, lb.stats):
        for name in package.__all__:
            getattr(package, name)  # which is imported on first use


def trace(call: Callable[[], object], *, every_depth: bool = True) -> Trace:
    """What ``call`` enters, once every module is imported; else by each function's first entry alone."""
    load_everything()
    followed, seen, prefix = Trace(), set[CodeType](), str(ROOT)

    def ours(frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(prefix) and not frame.f_code.co_name.startswith("<")

    def follow(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or (frame.f_code in seen and not every_depth) or not ours(frame):
            return
        depth, outer = 1, frame.f_back
        while outer is not None:
            depth, outer = depth + ours(outer), outer.f_back
        followed.depth = max(followed.depth, depth)
        if (code := frame.f_code) not in seen:
            seen.add(code)
            module = code.co_filename[len(prefix) + 1 : -3].replace("/", ".").removesuffix(".__init__")
            followed.steps.append((depth, module, code.co_qualname))

    sys.settrace(follow)  # calls alone: no line is traced
    try:
        call()
    finally:
        sys.settrace(None)
    return followed


def comparison() -> object:
    """The call that is followed: two families of 30 trials, as a user has them."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.uniform(0.5, 0.8, 30), rng.uniform(0.6, 0.9, 30)])
    return lb.compare(pd.DataFrame({"model": np.repeat(["cnn", "lstm"], 30), "val_acc": scores.round(4)}))


# --- who imports whom


def part_of(module: str) -> str:
    """The package of a module, or the base."""
    first = module.split(".")[0]
    return first if (ROOT / first).is_dir() and not first.startswith("_") else BASE


def imports() -> dict[str, Counter[str]]:
    """For each part the parts that its modules import, and how many of its modules do."""
    found: dict[str, Counter[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT).with_suffix("").parts
        if "data" in inside or inside[0] in ("__init__", "__main__"):
            continue
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "levelbest":
                names |= {alias.name for alias in node.names if alias.name != "__version__"}
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("levelbest."):
                names.add((node.module or "").removeprefix("levelbest."))
        part = part_of(".".join(inside))
        found.setdefault(part, Counter()).update({part_of(name) for name in names} - {part})
    return found


def ranks(graph: dict[str, Counter[str]]) -> dict[str, int]:
    """How high a part stands: one above the highest that it imports. Imports that point up are left out."""
    order = ("base", "stats", "simulation", "trials", "results", "readers", "designs", "report", "run", "web", "cli")
    place = {part: rank for rank, part in enumerate(order)}
    height: dict[str, int] = {}
    for part in order:
        below = [height[other] for other in graph[part] if place[other] < place[part]]
        height[part] = 1 + max(below) if below else 0
    return height


def reduced(graph: dict[str, Counter[str]], height: dict[str, int]) -> list[tuple[str, str]]:
    """The imports that follow from no others: what the picture draws."""
    down = {part: {other for other in graph[part] if height[other] < height[part]} for part in graph}

    def reaches(part: str) -> set[str]:
        return down[part].union(*(reaches(other) for other in down[part]))

    return [(a, b) for a in down for b in down[a] if not any(b in reaches(c) for c in down[a] - {b})]


# --- the picture


WIDTH, BOX, TALL, STEP, LINE = 920, 290, 62, 104, 42


def sentence_of(module: str) -> str:
    """The first sentence of a module's docstring."""
    file = ROOT.joinpath(*module.split("."))
    text = ast.get_docstring(
        ast.parse((file / "__init__.py" if file.is_dir() else file.with_suffix(".py")).read_text())
    )
    return " ".join((text or "").split("\n\n")[0].split()).split(". ")[0].rstrip(".:").replace("``", "`")


def wrapped(text: str, most: int = LINE) -> list[str]:
    """At most two lines; what does not fit ends in three dots."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= most and len(lines) == 2:
            lines[-1] = lines[-1].rstrip(",;:") + " ..."
            break
        lines = [*lines, word] if len(lines[-1]) + len(word) >= most else [*lines[:-1], f"{lines[-1]} {word}".strip()]
    return lines


def picture() -> str:
    """The architecture as SVG: arrows point to what a part imports; imports that follow from others are left out."""
    graph = imports()
    height = ranks(graph)
    top = max(height.values())
    place: dict[str, tuple[float, float]] = {}
    for rank in range(top + 1):
        row = [part for part in height if height[part] == rank]
        for i, part in enumerate(row):
            place[part] = (WIDTH * (i + 0.5) / len(row), 12 + STEP * (top - rank))
    tall = STEP * top + TALL + 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" font-family="sans-serif" '
        'role="img" aria-label="The parts of levelbest and what each imports">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{tall}" fill="#fff"/>',
    ]
    for above, below in sorted(reduced(graph, height)):
        (x, y), (u, v) = place[above], place[below]
        path = f"M{x:g} {y + TALL:g} L{u:g} {v - 2:g}"
        if height[above] - height[below] > 1:  # past other boxes, along the left side
            path = f"M{x - BOX / 2:g} {y + TALL / 2:g} H40 V{v + TALL / 2:g} H{u - BOX / 2:g}"
        lines.append(f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#tip)"/>')
    for part, (x, y) in place.items():
        about = "errors, validators, multiprocessing, files, warnings as data" if part == BASE else sentence_of(part)
        lines += [
            f'<rect x="{x - BOX / 2:g}" y="{y:g}" width="{BOX}" height="{TALL}" rx="6" fill="#f4f6fa" '
            'stroke="#31517d"/>',
            f'<text x="{x:g}" y="{y + 19:g}" text-anchor="middle" font-size="14" font-weight="bold">{part}</text>',
        ]
        for i, text in enumerate(wrapped(html.escape(about.replace("`", "")))):
            lines.append(f'<text x="{x:g}" y="{y + 37 + 15 * i:g}" text-anchor="middle" font-size="11.5">{text}</text>')
    return "\n".join([*lines, "</svg>", ""])


# --- the page


PAGE = """# Architecture

One picture of the package, and the path of one call: both are written by `python docs/write_architecture.py`, from the
imports in the files and from a trace of the call. `CONTRIBUTING.md` says where new code goes.

## The parts

Data flows one way. An arrow points to what a part imports; an import that follows from others is not drawn. A test
(`tests/test_layers.py`) fails on an import against the arrows.

![The parts of levelbest and what each imports](figures/architecture.svg)

## The path of one call

`lb.compare(df)`, two families of 30 trials in a dataframe: the modules that the call enters, in order, each with the
first function called in it. `tests/test_path.py` limits their number and the depth of calls.

| module | entered through | what the module is for |
|---|---|---|
{rows}
"""


def page(followed: Trace) -> str:
    """The page, with the path of the call."""
    first: dict[str, str] = {}
    for _, module, function in followed.steps:
        first.setdefault(module, function)
    rows = [
        f"| `{module}` | `{name.replace('.<locals>', '')}` | {sentence_of(module)} |" for module, name in first.items()
    ]
    return PAGE.format(rows="\n".join(rows))


if __name__ == "__main__":
    (DOCS / "figures" / "architecture.svg").write_text(picture(), encoding="utf-8")
    (DOCS / "architecture.md").write_text(page(trace(comparison)), encoding="utf-8")
