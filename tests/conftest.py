"""Shared by all tests: the folder of real data, Hypothesis' profile."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Machines are noisy: no deadline per example. Derandomised: a red build is red again.
settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests marked long as well")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    for item in items:
        if "long" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="long: run ./test --long"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Results by others, beside the project; never part of it."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real data absent: ../shared/data is not beside the project")
    return folder
