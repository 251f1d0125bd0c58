"""Screenshots of the report page on eight kinds of data, on a light and a dark screen, a phone and paper.

``python docs/write_screens.py FOLDER [KIND ...]`` needs Playwright, a Chromium and pdftoppm (poppler-utils); nothing of
it is committed. Look at every picture before a change of the page is done.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

import levelbest as lb

Rows = dict[str, list[object]]
SHIPPED = Path(lb.__file__).parent / "data" / "digits.csv"
SCREENS = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light", "device_scale_factor": 2},
}


def table(levels: dict[str, float], size: int, spread: float, start: int, **columns: object) -> Rows:
    """So many rows of each family around its level; further columns are functions of the row's number."""
    rng = np.random.default_rng(start)
    rows: Rows = {"model": [], "test_acc": []}
    rows |= {name: [] for name in columns}
    for name, level in levels.items():
        rows["model"] += [name] * size
        rows["test_acc"] += np.clip(level + spread * rng.standard_normal(size), 0, 1).round(4).tolist()
        for column, value in columns.items():
            rows[column] += [value(row, rng) for row in range(size)]  # type: ignore[operator]
    return rows


def few_seeds() -> object:
    """Two models with three seeds each."""
    return table({"baseline": 0.81, "ours": 0.83}, 3, 0.008, 1, seed=lambda row, _: row)


def seeds() -> object:
    """Five models with ten seeds each."""
    levels = {"bert-base": 0.861, "bert-large": 0.872, "roberta": 0.881, "deberta": 0.882, "electra": 0.868}
    return table(levels, 10, 0.006, 2, seed=lambda row, _: row)


def searches() -> object:
    """Five random searches: the shipped results."""
    return lb.read_trials(SHIPPED, family="family", selection="val_accuracy", reported="test_accuracy", cost="seconds")


def many() -> object:
    """Twenty families with long names."""
    rng = np.random.default_rng(4)
    rows: Rows = {"model": [], "val_acc": [], "lr": []}
    for k in range(20):
        name = (
            f"vit-{['tiny', 'small', 'base', 'large', 'huge'][k % 5]}-patch{16 if k < 10 else 32}-augreg-in21k-v{k:02d}"
        )
        rows["model"] += [name] * 30
        rows["val_acc"] += (0.72 + 0.008 * k + (0.12 - 0.004 * k) * rng.beta(3, 2, 30) - 0.05).round(4).tolist()
        rows["lr"] += (10.0 ** rng.uniform(-5, -1, 30)).tolist()
    return rows


def losses() -> object:
    """Losses over three decades, of which lower is better, with failures."""
    rng = np.random.default_rng(5)
    rows: Rows = {"model": [], "val_loss": [], "lr": []}
    for name, scale in (("adam", 0.3), ("sgd", 0.5), ("lion", 0.28)):
        values = scale * np.exp(1.1 * rng.standard_normal(40) ** 2)
        values[rng.random(40) < 0.1] = np.nan
        rows["model"] += [name] * 40
        rows["val_loss"] += [None if v != v else round(float(v), 4) for v in values]
        rows["lr"] += (10.0 ** rng.uniform(-5, -1, 40)).tolist()
    return lb.read_trials(rows, direction="min")


def samples() -> object:
    """Sixteen samples of sixty problems from three language models."""
    rng = np.random.default_rng(6)
    hard = rng.beta(0.8, 1.2, 60)
    rows: Rows = {"model": [], "problem_id": [], "sample": [], "correct": []}
    for name, skill in (("large", 0.18), ("small", 0.0), ("distilled", 0.05)):
        for problem, chance in enumerate(np.clip(hard + skill, 0.02, 0.98)):
            for sample in range(16):
                rows["model"].append(name)
                rows["problem_id"].append(f"p{problem}")
                rows["sample"].append(sample)
                rows["correct"].append(int(rng.random() < chance))
    return rows


def tasks() -> object:
    """Four agents on six games, five runs each."""
    rng = np.random.default_rng(7)
    rows: Rows = {"model": [], "game": [], "seed": [], "score": []}
    for k, agent in enumerate(("dqn", "rainbow", "impala", "ppo")):
        for g, game in enumerate(("asterix", "breakout", "freeway", "pong", "qbert", "seaquest")):
            gain = (0.2, 1.2, 0.9, 0.8)[k] * (1 + 0.3 * ((k + g) % 3))
            for seed in range(5):
                rows["model"].append(agent)
                rows["game"].append(game)
                rows["seed"].append(seed)
                rows["score"].append(round(float((10 + 40 * g) * (1 + gain + 0.25 * rng.standard_normal())), 2))
    return lb.read_trials(rows, task="game", direction="max")


def costs() -> object:
    """Two searches whose trials cost hours: the cheap one is ahead at first."""
    rng = np.random.default_rng(8)
    rows: Rows = {"model": [], "val_acc": [], "test_acc": [], "gpu_hours": [], "lr": []}
    for name, mean, spread, hours in (("resnet-18", 0.74, 0.03, 0.6), ("resnet-152", 0.70, 0.09, 5.0)):
        val = np.clip(mean + spread * rng.standard_normal(60), 0, 0.99)
        rows["model"] += [name] * 60
        rows["val_acc"] += val.round(4).tolist()
        rows["test_acc"] += np.clip(val - 0.01 + 0.01 * rng.standard_normal(60), 0, 1).round(4).tolist()
        rows["gpu_hours"] += (hours * rng.lognormal(0, 0.3, 60)).round(2).tolist()
        rows["lr"] += (10.0 ** rng.uniform(-5, -1, 60)).tolist()
    return rows


KINDS = {
    "2x3-seeds": few_seeds,
    "5x10-seeds": seeds,
    "five-searches": searches,
    "20-families": many,
    "losses": losses,
    "llm-samples": samples,
    "tasks": tasks,
    "costs": costs,
}


def on_paper(tab: Page, path: Path) -> None:
    """The page as it is printed, as a PDF and a picture of each of its sheets."""
    tab.evaluate("document.querySelectorAll('details.part').forEach((part) => { part.open = false; })")
    tab.pdf(
        path=path, format="A4", print_background=True, margin=dict.fromkeys(("top", "bottom", "left", "right"), "15mm")
    )
    subprocess.run(["pdftoppm", "-r", "70", "-png", str(path), str(path.with_suffix(""))], check=True)


def photograph(browser: Browser, page: Path, folder: Path) -> None:
    """The whole page and its first screen on every device, and the page on paper."""
    for name, look in SCREENS.items():
        context = browser.new_context(offline=True, **look)
        tab = context.new_page()
        tab.goto(page.as_uri())
        tab.wait_for_timeout(150)
        tab.screenshot(path=folder / f"{page.stem}-{name}.png", full_page=True)
        tab.screenshot(path=folder / f"{page.stem}-{name}-first.png")
        if name == "light":
            tab.evaluate("document.querySelectorAll('details.part').forEach((part) => { part.open = true; })")
            tab.wait_for_timeout(100)
            tab.screenshot(path=folder / f"{page.stem}-opened.png", full_page=True)
            on_paper(tab, folder / f"{page.stem}-print.pdf")
        context.close()


def main(folder: Path, wanted: list[str]) -> None:
    """Make the pages, then their pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=binary, args=["--no-sandbox", "--disable-gpu"])
        for kind in wanted or list(KINDS):
            page = folder / f"{kind}.html"
            report = lb.write_report(KINDS[kind](), page, force=True, page_only=True, n_resamples=499)
            print(f"{kind}: {page.stat().st_size / 1e3:.0f} kB. {report.view.verdict[0]}")
            photograph(browser, page, folder)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
