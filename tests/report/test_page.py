"""The page in a real browser, from disk and offline: it works, it is accessible, and nothing in it runs but ours."""

import html
import io
import shutil

import pypdf
import pytest
from page_view import HOSTILE, PLAIN, make_view

from levelbest.report.page.html import render_page, trials_csv

SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='60' height='40'><path d='M0 0L60 40' style='stroke:#000'/></svg>"
FIGURES = {"curves": SVG, "distributions": SVG}


@pytest.fixture(scope="module")
def browser():
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if binary is None:
        pytest.skip("no Chromium on this machine: the page was not opened in a browser")
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
        running = playwright.chromium.launch(executable_path=binary, args=options)
        yield running
        running.close()


@pytest.fixture
def page(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render_page(make_view(), FIGURES), encoding="utf-8")
    context = browser.new_context(offline=True, viewport={"width": 1000, "height": 900})
    tab = context.new_page()
    tab.problems = []
    tab.on("console", lambda m: tab.problems.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else tab.problems.append(r.url))
    tab.goto(path.as_uri())
    yield tab
    context.close()


def test_it_opens_offline_with_the_verdict_and_no_errors(page):
    assert page.locator("#verdict + p").inner_text() == f"{HOSTILE} is better than {PLAIN} from 3 to 4 trials."
    assert page.locator("#chart canvas").count() == 1
    assert page.evaluate("window.hacked") is None
    assert page.title() == f"Report {HOSTILE}"
    assert page.problems == []


def test_the_range_input_drives_the_verdict(page):
    box, slider = page.locator("#at-budget"), page.locator("#budget")
    slider.focus()
    page.keyboard.press("Home")
    assert page.locator("#budget-text").inner_text() == "1 trial"
    assert f"{PLAIN} is better than {HOSTILE}." in box.inner_text()
    page.keyboard.press("ArrowRight")
    assert "Undecided" in box.inner_text()
    page.keyboard.press("End")
    assert page.locator("#budget-text").inner_text() == "4 trials"
    assert f"{HOSTILE} is better than {PLAIN}." in box.inner_text()
    assert "no upper limit" in box.inner_text()


def _tick_labels(page):
    """What uPlot writes on the x axis, caught as it draws."""
    return page.evaluate(
        """() => { const seen = []; const real = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText =
          function (text, ...rest) { seen.push(text); return real.call(this, text, ...rest); };
        const one = document.querySelector('input[name=family]'); one.click(); one.click();
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
          CanvasRenderingContext2D.prototype.fillText = real; done(seen); }))); }"""
    )


def test_switching_the_axis_changes_the_tick_labels(page):
    before = _tick_labels(page)
    page.locator('input[name="axis"][value="cost"]').check()
    after = _tick_labels(page)
    assert "3" in before
    assert not any(text.endswith(" h") for text in before)
    assert any(text.endswith(" h") for text in after)
    assert page.locator("#budget-text").inner_text().endswith(" h")


def test_switches_and_families(page):
    page.locator('input[name="statistic"][value="median"]').check()
    page.locator('input[name="scale"][value="log"]').check()
    page.locator('input[name="family"][value="1"]').uncheck()
    assert PLAIN not in page.locator("#at-budget").inner_text()
    page.locator('input[name="family"][value="0"]').uncheck()
    assert "No family" in page.locator("#chart").inner_text()
    assert page.problems == []


def test_bands_and_names_at_the_ends(page):
    with_bands = page.evaluate("document.querySelector('#chart canvas').toDataURL()")
    page.locator('input[name="bands"]').uncheck()
    assert page.evaluate("document.querySelector('#chart canvas').toDataURL()") != with_bands
    assert PLAIN in _tick_labels(page)  # written where its line ends
    page.set_viewport_size({"width": 375, "height": 700})
    page.wait_for_function("document.querySelector('#chart canvas').clientWidth < 375")
    assert PLAIN not in _tick_labels(page)


def test_the_methods_paragraph_is_copied_or_selected(page):
    page.locator("#copy-methods").click()
    page.wait_for_function("document.getElementById('copied').textContent !== ''")
    assert page.problems == []


def test_hovering_reads_off_values(page):
    chart = page.locator("#chart .u-over")
    chart.hover(position={"x": page.evaluate("document.querySelector('#chart .u-over').clientWidth") - 2, "y": 20})
    assert page.locator("#budget-text").inner_text() == "4 trials"


def test_the_table_sorts(page):
    def column():
        return page.locator("#trials-table tbody tr td:nth-child(2)").all_inner_texts()

    head = page.locator("#trials-table th button", has_text="dev_acc")
    head.click()
    assert column() == ["0.1", "0.5", "0.9", ""]
    head.focus()
    page.keyboard.press("Enter")
    assert column() == ["0.9", "0.5", "0.1", ""]
    assert page.locator("#trials-table th", has_text="dev_acc").get_attribute("aria-sort") == "descending"


def test_the_keyboard_reaches_every_control(page):
    wanted = page.evaluate(
        """() => [...document.querySelectorAll('a[href], button, summary, input[type=range], input[type=checkbox]')]
        .concat([...document.querySelectorAll('input[type=radio]:checked')])
        .filter((e) => e.offsetParent || e.matches('.skip')).length"""
    )
    reached = set()
    for _ in range(wanted + 20):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                """() => { const e = document.activeElement; if (!e.matches('a, button, summary, input')) return null;
                e.dataset.mark ||= String(Math.random()); return e.dataset.mark; }"""
            )
        )
    assert len(reached - {None}) == wanted


def test_no_serious_accessibility_violation(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    # axe runs in the page, which the page's own policy forbids: look at a copy without it
    page.goto("about:blank")
    text = render_page(make_view(), FIGURES)
    start = text.index('<meta http-equiv="Content-Security-Policy"')
    page.set_content(text[:start] + text[text.index(">", start) + 1 :])
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = axe.Axe().run(page).response["violations"]
        serious = [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")]
        assert serious == []


def test_printing_gives_a_pdf_with_the_text(page):
    text = "".join(one.extract_text() for one in pypdf.PdfReader(io.BytesIO(page.pdf())).pages)
    assert "is better than plain from 3 to 4 trials" in " ".join(text.split())
    assert "Budget in" not in text  # controls stay off paper


def test_a_phone_does_not_scroll_sideways(page):
    page.set_viewport_size({"width": 375, "height": 700})
    page.wait_for_function("document.querySelector('canvas').getBoundingClientRect().right <= 375")  # drawn anew
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_without_script_the_verdict_the_figure_and_the_tables_are_there(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render_page(make_view(), FIGURES), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(path.as_uri())
    assert tab.locator("#verdict + p").is_visible()
    assert tab.locator(".static-figure img").is_visible()
    assert tab.locator("#trials-table tbody tr").count() == 4
    assert not tab.locator("#controls").is_visible()
    context.close()


def test_policy_and_text():
    text = render_page(make_view(), FIGURES)
    policy = html.unescape(text.split('Content-Security-Policy" content="')[1].split('"')[0])
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "<script>window.hacked" not in text
    assert "Copyright (c)" in text  # uPlot's licence is in the page


def test_validation_only_is_said():
    assert "validation only" in render_page(make_view(reported=None), FIGURES)


def test_csv_neutralises_formulas():
    assert "'=HYPERLINK(1)" in trials_csv(make_view())


def test_same_bytes_twice():
    assert render_page(make_view(), FIGURES) == render_page(make_view(), FIGURES)
