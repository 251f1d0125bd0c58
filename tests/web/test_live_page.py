"""What the live page shows: heights within the bounds, budgets one can read, and of a finished study its verdict."""

import json
import shutil
import time

import pytest
from live_ledgers import ended, opening, started

from levelbest.designs.compare import compare
from levelbest.readers import read_trials
from levelbest.report.build import build_view
from levelbest.run.ledger import Ledger
from levelbest.web.app import live_page
from levelbest.web.data import LiveData


def _filled(folder, n_trials, *, planned=40):
    """Scores near 1, the better family second."""
    path = folder / "s.db"
    with Ledger.create(path, opening(planned, ("plain", "tuned"), bounds=(0.0, 1.0))) as ledger:
        for trial in range(n_trials):
            for family in (0, 1):
                score = 0.8 + 0.1 * family + 0.09 * ((7 * trial + 3) % 11) / 11
                ledger.append([started(trial, family), ended(trial, score, family)])
    return path


def _states(data, wanted, seconds=60):
    until = time.monotonic() + seconds
    while not wanted(state := json.loads(data.state())):
        assert time.monotonic() < until, state["verdict"]
        time.sleep(0.05)
    return state


def test_a_finished_study_has_the_verdict_of_its_report(tmp_path):
    path = _filled(tmp_path, 40)
    data = LiveData(path)
    state = _states(
        data, lambda state: state["verdict"] and "being written" not in state["verdict"] + state["conditions"]
    )
    view = build_view(read_trials(path))
    data.close()
    assert [state["verdict"], state["conditions"]] == [view.verdict[0], " ".join(view.verdict[1:])]
    assert "so far" not in state["verdict"]
    # one question, one answer: the pair is judged as compare judges it
    (pair,) = compare(read_trials(path)).pairs
    assert ("tuned" in state["verdict"]) == pair.decided


def test_a_running_study_says_so_far(tmp_path):
    data = LiveData(_filled(tmp_path, 12))
    state = _states(data, lambda state: not state["finished"])
    data.close()
    assert state["bounds"] == [0.0, 1.0]
    assert state["verdict"].startswith("With 5 trials, so far: ")


@pytest.fixture(scope="module")
def browser():
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if binary is None:
        pytest.skip("no Chromium on this machine: the live page was not opened in a browser")
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=binary, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


def _shown(browser, state, **options):
    """The page with one state, as if the server had sent it, and what the chart writes."""
    tab = browser.new_page(**options)
    tab.problems = []
    tab.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.add_init_script(
        """window.written = [];
        const real = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText =
          function (text, ...rest) { window.written.push(String(text)); return real.call(this, text, ...rest); };
        window.EventSource = class { constructor() { window.source = this; } };"""
    )
    page, _ = live_page("study")
    tab.route("http://live/", lambda route: route.fulfill(body=page, content_type="text/html"))
    tab.goto("http://live/")
    tab.evaluate("(text) => window.source.onmessage({ data: text })", json.dumps(state))
    tab.locator("#chart canvas").wait_for()
    tab.wait_for_timeout(100)
    return tab


def test_heights_stay_within_the_bounds_and_budgets_can_be_read(browser, tmp_path):
    data = LiveData(_filled(tmp_path, 40, planned=60))
    state = _states(data, lambda state: all(curve["looked_at"] for curve in state["curves"]))
    data.close()
    tab = _shown(browser, state, viewport={"width": 900, "height": 800})
    written = tab.evaluate("window.written")
    heights = [float(text) for text in written if "." in text]
    assert heights
    assert 0 <= min(heights) < max(heights) <= 1
    budgets = {int(text) for text in written if text.isdigit()}
    assert {1, 2, 5, 10, 20} <= budgets
    assert {"plain", "tuned"} <= set(written)  # names at the ends of the lines
    assert 60 in budgets  # the axis ends at what is planned
    stretches = tab.locator("#ribbon rect[data-code]")
    assert {one.get_attribute("data-code") for one in stretches.all()} <= {"1", "-1", "-2"}  # the better one is second
    assert stretches.last.get_attribute("data-code") == "-2"
    assert "medians" in tab.locator("#differs").inner_text()
    assert tab.locator("#families .bar rect.p1").count() == 2  # in the family's colour
    assert tab.problems == []


def test_no_serious_accessibility_violation(browser, tmp_path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    data = LiveData(_filled(tmp_path, 20))
    state = _states(data, lambda state: state["curves"])
    data.close()
    for scheme in ("light", "dark"):
        tab = _shown(browser, state, color_scheme=scheme)
        found = axe.Axe().run(tab).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")] == []


def test_one_wording_and_the_ribbon_of_the_report_when_finished(browser, tmp_path):
    running = LiveData(_filled(tmp_path, 30))
    state = _states(running, lambda state: all(curve["looked_at"] for curve in state["curves"]))
    running.close()
    assert state["verdict"].startswith("With 5 trials, so far: ")  # the words of the report
    tab = _shown(browser, state)
    assert tab.locator("#verdict-text .where").inner_text() == "With 5 trials, so far"
    assert "to come" in tab.locator("#ribbon").inner_text()
    (tmp_path / "all").mkdir()
    finished = LiveData(path := _filled(tmp_path / "all", 40))
    state = _states(finished, lambda state: state["finished"] and not state["verdict"].endswith("being written."))
    state = _states(finished, lambda state: "being written" not in state["conditions"])
    finished.close()
    view = build_view(read_trials(path))
    (strip,) = view.strips("mean")
    assert [part[:2] for part in state["ribbon"]] == [[part.start, part.end] for part in strip.spans]
    assert state["answer"]["where"] == "With 5 trials"
    tab = _shown(browser, state)
    assert tab.locator("#ribbon rect[data-code]").count() == len(strip.spans)
    assert tab.problems == []
