"""Tables, methods and checklist compile with LuaLaTeX in a minimal document, hostile names and all."""

import shutil
import subprocess

import pytest
from page_view import make_view

from levelbest.cli.main import main
from levelbest.report.paper import checklist
from levelbest.report.view_tables import appendix_tables, methods_latex, paper_table

DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage{fontspec}
\setmainfont{DejaVu Sans}
\begin{document}
%s
\end{document}
"""


@pytest.mark.long
def test_everything_compiles(tmp_path):
    if shutil.which("lualatex") is None:
        pytest.skip("no LuaLaTeX on this machine: the LaTeX output was parsed but not compiled")
    view = make_view()
    parts = [paper_table(view).latex(), *(table.latex() for table in appendix_tables(view)), methods_latex(view)]
    parts.append(checklist.checklist_latex(checklist.fill_checklist(view)))
    (tmp_path / "paper.tex").write_text(DOCUMENT % "\n\n".join(parts), encoding="utf-8")
    command = ["lualatex", "-interaction=nonstopmode", "-halt-on-error", "--no-shell-escape", "paper.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 1000


@pytest.mark.long
@pytest.mark.parametrize("template", [r"\documentclass[twocolumn]{article}", r"\documentclass{IEEEtran}"])
def test_the_table_of_families_compiles_as_it_is_in_two_columns(tmp_path, template):
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdfLaTeX on this machine")
    rows = [
        f"{model},{seed},0.8{seed}{place}"
        for place, model in enumerate(("base_v1", "ours & 50 %"))
        for seed in range(5)
    ]
    (tmp_path / "seeds.csv").write_text("\n".join(["model,seed,test_acc", *rows]) + "\n")
    assert main(["report", str(tmp_path / "seeds.csv"), "--out", str(tmp_path / "page.html")]) == 0
    (table,) = tmp_path.rglob("families.tex")
    (tmp_path / "paper.tex").write_text(template + "\n\\begin{document}\n" + table.read_text() + "\n\\end{document}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "`IEEEtran.cls' not found" in run.stdout:
        pytest.skip("no IEEEtran on this machine")
    assert run.returncode == 0, run.stdout[-2000:]
    assert "Overfull" not in run.stdout
