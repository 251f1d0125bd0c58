"""Tables, methods and checklist compile with LuaLaTeX in a minimal document, hostile names and all."""

import shutil
import subprocess

import pytest
from page_view import make_view

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
