"""Writes the pictures of pages that the documentation shows: ``python docs/write_pictures.py`` (needs playwright)."""

from __future__ import annotations

import shutil
import tempfile
from importlib import resources
from pathlib import Path

import levelbest as lb

FIGURES = Path(__file__).parent / "figures"


def write_page_picture(path: Path) -> None:
    """The top of the page of the shipped results, as a browser shows it."""
    from playwright.sync_api import sync_playwright

    table = resources.files("levelbest") / "data" / "digits.csv"
    chosen = {"family": "family", "selection": "val_accuracy", "reported": "test_accuracy", "cost": "seconds"}
    trials = lb.read_trials(str(table), **chosen, direction="max", bounds=(0, 1))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "report.html"
        lb.write_report(trials, page_file, title="Random search on the digits data")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1100, "height": 1060}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.wait_for_timeout(800)
        page.screenshot(path=str(path))
        browser.close()


if __name__ == "__main__":
    write_page_picture(FIGURES / "page.png")
