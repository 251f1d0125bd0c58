"""Layers point one way: a part imports only parts before it (CONTRIBUTING.md)."""

import ast
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import levelbest

ROOT = Path(levelbest.__file__).parent
BASE = ("_cores", "_lazy", "_ledger", "_plain", "_read", "_shown", "_sqlite", "_write", "errors", "cautions", "_check")
LAYERS = (
    "stats",
    "simulation",
    "trials",
    "results",
    "readers",
    "designs",
    "testing",
    "report",
    "run",
    "web",
    "cli",
)


# How a result prints, plots and becomes a document is the report's: asked for when needed, through this door only.
SHOWN = {("_shown", "report")}


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(_tree(path)))


def _rank(part: str) -> int:
    return -1 if part in BASE else LAYERS.index(part)


def _imports(path: Path) -> set[str]:
    found = set()
    for node in _nodes(path):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            if node.module == "levelbest":
                found |= {alias.name for alias in node.names}
            elif node.module and node.module.startswith("levelbest."):
                found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("levelbest.")}
    return found - {"__version__"}


def test_no_layer_imports_one_above_it():
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        part = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if part in ("__init__", "__main__"):
            continue
        for other in _imports(path):
            allowed = other in BASE if part in BASE else _rank(other) <= _rank(part)
            allowed = allowed or (part, other) in SHOWN
            if not allowed:
                wrong.append(f"{path.relative_to(ROOT)} imports {other}")
    assert wrong == []


REPORT = (
    *("words", "tables", "describe", "view", "view_tables", "build", "tasks", "figures", "terminal"),
    *("paper", "page", "trackers", "notebook", "documents", "decisions", "present", "write", "lesson"),
)
"""The parts of report, each building on those before it."""


def test_each_part_of_report_builds_on_those_before_it():
    wrong, parts = [], set()
    for path in sorted((ROOT / "report").rglob("*.py")):
        part = path.relative_to(ROOT / "report").parts[0].removesuffix(".py")
        parts |= {part} - {"__init__"}
        for name in sorted(_modules(path)):
            inside = name.split(".")[2:3] if name.startswith("levelbest.report.") else []
            if inside and REPORT.index(inside[0]) > REPORT.index(part):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert wrong == []
    assert parts == set(REPORT)


def _top_level_packages(path: Path) -> set[str]:
    nodes = _nodes(path)
    plain = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {(node.module or "").split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}


def test_stats_imports_numpy_and_scipy_only():
    allowed = set(sys.stdlib_module_names) | {"numpy", "scipy", "levelbest"}
    wrong = {
        path.name: extra for path in (ROOT / "stats").rglob("*.py") if (extra := _top_level_packages(path) - allowed)
    }
    assert wrong == {}


DOORS = ("best", "bands", "inference", "problems", "budgets", "checks")
"""The doors of stats, each building on those before it."""


def _modules(path: Path) -> set[str]:
    """The modules a file imports from, in full; names imported from a package count as modules of it too."""
    found = set()
    for node in _nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_each_door_of_stats_builds_on_those_before_it():
    wrong = []
    for rank, door in enumerate(DOORS):
        for path in sorted((ROOT / "stats" / door).glob("*.py")):
            for name in sorted(_modules(path)):
                parts = name.split(".")
                if parts[:2] == ["levelbest", "stats"] and parts[2:] and DOORS.index(parts[2]) > rank:
                    wrong.append(f"{door}/{path.name} imports {name}")
    assert wrong == []
    assert {path.name for path in (ROOT / "stats").iterdir() if path.is_dir()} - {"__pycache__"} == set(DOORS)


READERS = ("raw", "tables", "steps", "parts", "formats", "registry", "attempt_words", "attempts", "__init__")
"""The parts of readers, each building on those before it."""


def test_each_part_of_readers_builds_on_those_before_it():
    wrong = []
    for path in sorted((ROOT / "readers").rglob("*.py")):
        part = path.relative_to(ROOT / "readers").parts[0].removesuffix(".py")
        for name in sorted(_modules(path)):
            other = name.split(".")[2:3]
            known = name.startswith("levelbest.readers.") and other[0] in READERS
            if known and READERS.index(other[0]) > READERS.index(part):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert wrong == []
    assert {path.stem for path in (ROOT / "readers").iterdir()} - {"__pycache__"} == set(READERS)


def test_what_stands_behind_a_door_is_imported_through_it():
    wrong = []
    for path in sorted([*(ROOT / "stats").rglob("*.py"), *(ROOT / "simulation").rglob("*.py")]):
        own = ".".join(("levelbest", *path.relative_to(ROOT).parts[:-1])) + "."
        for name in sorted(_modules(path)):
            private = name.startswith("levelbest.stats.") and any(part.startswith("_") for part in name.split(".")[3:])
            if private and not name.startswith(own):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert wrong == []


def test_files_can_be_read_at_a_sitting():
    long = {str(p.relative_to(ROOT)): n for p in ROOT.rglob("*.py") if (n := len(p.read_text().splitlines())) >= 400}
    assert long == {}


def test_test_modules_have_names_of_their_own():
    """Two of one name in different folders cannot be collected together."""
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def _module_names(path: Path) -> set[str]:
    """Names that a module defines at its top: functions, classes and what is assigned; imports do not count."""
    names = set()
    for node in _tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names |= {part.id for target in targets if target for part in ast.walk(target) if isinstance(part, ast.Name)}
    return {name for name in names if not name.startswith("__")}


def _defined_twice(paths: Iterable[Path]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for path in sorted(paths):
        for name in _module_names(path):
            places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    return {name: where for name, where in places.items() if len(where) > 1}


def test_a_name_of_stats_means_one_thing():
    """A function, class or constant, private or not, is defined in one module; others import it."""
    assert _defined_twice((ROOT / "stats").rglob("*.py")) == {}


def test_a_type_and_a_constant_have_names_of_their_own():
    """One type for one idea, and one name for one type or public constant.

    Every reader has its ``READERS``; ``Table`` is a type that designs take, and the class of a table that is shown.
    """
    names = _defined_twice(ROOT.rglob("*.py")).keys() - {"READERS", "Table"}
    assert {name for name in names if name[0].isupper()} == set()
    classes = [node.name for path in ROOT.rglob("*.py") for node in _tree(path).body if isinstance(node, ast.ClassDef)]
    assert sorted(classes) == sorted(set(classes))


def test_tuned_constants_are_those_of_the_table():
    """Every constant that the table names is defined in the engine, with that value and a note beside it."""
    table = (ROOT.parents[1] / "docs" / "mathematics.md").read_text().partition("### Tuned constants")[2]
    rows = re.findall(r"^\| `([A-Z_]+)` \| ([\d.,]+) \|", table, re.MULTILINE)
    text = "\n".join(path.read_text() for path in sorted((ROOT / "stats" / "inference").glob("*.py")))
    assert len(rows) >= 10
    for name, value in rows:
        defined = re.search(rf'^{name} = ([\d._]+)\n(?:# NOTE: |"""[^"]*NOTE: )', text, re.MULTILINE)
        assert defined, name
        assert float(defined[1].replace("_", "")) == float(value.replace(",", "")), name


def _functions():
    for path in sorted(ROOT.rglob("*.py")):
        for node in _nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.name}", node, ast.get_docstring(node, clean=False) or ""


def test_functions_can_be_seen_at_once():
    """No body over 60 lines, its docstring not counted."""
    long = {
        name: size
        for name, node, text in _functions()
        if (size := node.end_lineno - node.lineno + 1 - text.count("\n") - bool(text)) > 60
    }
    assert long == {}


def _complexity(function) -> int:
    """Paths through a function, counted as radon does: branches, loops, conditions and handlers; closures apart."""
    count, todo = 1, list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        todo += ast.iter_child_nodes(node)
        if isinstance(node, ast.Try):
            count += len(node.handlers) + bool(node.orelse)
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.If | ast.IfExp | ast.Assert):
            count += 1
        elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
            count += 1 + bool(node.orelse)
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
        elif isinstance(node, ast.Match):
            count += len(node.cases)
    return count


def test_functions_are_simple():
    source = "def f(x):\n if x and x > 1:\n  return [y for y in x if y]\n for z in x:\n  pass\n else:\n  return x or 2"
    assert _complexity(ast.parse(source).body[0]) == 1 + 2 + 2 + 2 + 1
    assert {name: count for name, node, _ in _functions() if (count := _complexity(node)) > 20} == {}


def test_many_parameters_have_a_reason():
    """Over 8, ``self`` not counted, only where the docstring says in its prose why there are so many parameters."""
    wrong = {}
    for name, node, text in _functions():
        given = [arg.arg for arg in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
        count = len(given) - (given[:1] in (["self"], ["cls"]))
        prose = re.split(r"\n\s*\w+\n\s*---", text)[0]
        if count > 8 and not re.search(r"\bparameters?\b", prose):
            wrong[name] = count
    assert wrong == {}


def test_types_and_layout_are_said():
    """No line is kept from the formatter, and ``Any`` stands only where values truly are of any kind."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    assert not re.findall(r"# fmt: (?:skip|off)", text)
    assert len(re.findall(r"(?:: |-> )Any\b", text)) <= 97
    assert len(re.findall(r"[dD]ict\[str, Any\]", text)) <= 97


def test_errors_name_flags_in_the_command_line_alone():
    wrong = []
    for path in ROOT.rglob("*.py"):
        if path.relative_to(ROOT).parts[0] == "cli":
            continue
        for node in _nodes(path):
            if isinstance(node, ast.Raise):
                words = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
                wrong += [
                    f"{path.name}: {text}"
                    for text in words
                    if re.search(r"(?<![\w-])--[a-z]", str(text)) and "train.py" not in str(text)
                ]
    assert wrong == []


def test_words_are_those_of_the_field():
    """No private word in code or messages: more expensive, to decide or to stop, permutation, distribution.

    ``law_best(law, n)`` is a name that outsiders rely on, as are ``--law`` and the key ``"law"``.
    """
    banned = re.compile(r"\bdear(?:er|est)\b|\bsettles?\b|\banew\b|\bdealings\b|(?<![\w\"-])laws?\b")
    paths = [path for path in ROOT.rglob("*.py") if path.name != "_distributions.py"]
    used = {str(path.relative_to(ROOT)): hits for path in paths if (hits := banned.findall(path.read_text()))}
    assert used == {}


def test_locals_say_what_they_hold():
    vague = {"own", "one", "found", "said", "told", "asked"}
    used = []
    for path in sorted(ROOT.rglob("*.py")):
        for node in _nodes(path):
            bound = node.arg if isinstance(node, ast.arg) else node.id if isinstance(node, ast.Name) else None
            if bound in vague and not isinstance(getattr(node, "ctx", None), ast.Load):
                used.append(f"{path.relative_to(ROOT)}:{node.lineno}: {bound}")
    # ``asked`` is a key of two public JSON documents
    assert [use for use in used if not use.startswith(("report/paper/survey.py", "stats/inference/_power.py"))] == []
