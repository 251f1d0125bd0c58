"""Light to import: what a fresh interpreter loads."""

import subprocess
import sys

HEAVY = ("matplotlib", "duckdb", "rich", "scipy.stats", "scipy.special", "pandas", "polars", "narwhals", "jinja2")


def _loaded_by(code: str) -> set[str]:
    probe = f"import sys\n{code}\nprint(*[name for name in {HEAVY!r} if name in sys.modules], sep=',', file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(filter(None, run.stderr.strip().splitlines()[-1].split(","))) if run.stderr.strip() else set()


def test_import_levelbest_is_light():
    assert _loaded_by("import levelbest, levelbest.stats") == set()


def test_help_is_light():
    code = "from levelbest.cli.main import main\nassert main(['--help']) == 0\nassert 'numpy' not in sys.modules"
    assert _loaded_by(code) == set()


def test_a_curve_of_means_loads_no_special_functions():
    code = "import levelbest as lb\nprint(lb.curve(lb.Trials.from_arrays([.7, .8, .9], direction='max')))"
    assert _loaded_by(code) == set()


def test_the_probe_sees_what_is_loaded():
    assert _loaded_by("import rich") == {"rich"}
