"""The page on tables says what the code does."""

import re
from pathlib import Path

import numpy as np
import pytest

from levelbest.cautions import CODES
from levelbest.readers.steps.conditions import matching_rows

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("expression", re.findall(r'--where "([^"]+)"', PAGE))
def test_its_filters_can_be_read(expression):
    columns = {name: np.array([1.0]) for name in ("epoch", "lr")}
    columns |= {name: np.array(["cnn"], dtype=object) for name in ("log_path", "model", "state")}
    assert matching_rows(expression, columns, 1, "runs.csv").shape == (1,)


def test_it_lists_the_codes_that_exist():
    table = PAGE.split("## Is it a random sample?")[1].split("\n## ")[0]
    listed = {
        code
        for line in table.splitlines()
        if line.startswith("| `")
        for code in re.findall(r"`([a-z-]+)`", line.split("|")[1])
    }
    assert listed == CODES
