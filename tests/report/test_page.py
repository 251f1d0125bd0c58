"""The page in a real browser, from disk and offline: it works, it is accessible, and nothing in it runs but ours."""

import contextlib
import html
import io
import itertools
import json
import math
import re
import shutil
import time
from dataclasses import replace

import numpy as np
import pypdf
import pytest
from page_view import HOSTILE, PLAIN, large_view, make_view, many_families

import levelbest as lb
from levelbest.cautions import Caution
from levelbest.report.build import build_view
from levelbest.report.page.data import page_data
from levelbest.report.page.html import asset, render_page, trials_csv, verdict_tables
from levelbest.results import Verdict

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


@contextlib.contextmanager
def opened(browser, folder, view, **options):
    """A page of a view, from disk and offline; its ``problems`` are what a console would show."""
    path = folder / "report.html"
    path.write_text(render_page(view, FIGURES), encoding="utf-8")
    context = browser.new_context(offline=True, viewport={"width": 1000, "height": 900}, **options)
    tab = context.new_page()
    tab.problems = []
    tab.on("console", lambda m: tab.problems.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else tab.problems.append(r.url))
    tab.goto(path.as_uri())
    tab.evaluate("document.querySelectorAll('details.part').forEach((part) => { part.open = true; })")
    yield tab
    context.close()


@pytest.fixture
def page(browser, tmp_path):
    with opened(browser, tmp_path, make_view()) as tab:
        yield tab


def test_it_opens_offline_with_the_verdict_and_no_errors(page):
    assert page.locator(".verdict .lead").inner_text() == f"{HOSTILE} is better than {PLAIN} from 3 to 4 trials."
    assert page.locator("#chart canvas").count() == 1
    assert page.evaluate("window.hacked") is None
    assert page.title() == f"Report {HOSTILE}"
    assert page.problems == []


def _until(page, expression, seconds=30):
    """Wait for an expression to hold; the page's policy forbids playwright's own way of waiting."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        time.sleep(0.02)


def _standing(page):
    """The sentence, and the rows of the table at the chosen budget."""
    rows = page.locator("#at-budget tbody tr").all()
    return page.locator("#answer .rest").inner_text(), [
        [row.locator("th").get_attribute("title"), *(c.inner_text() for c in row.locator("td").all())] for row in rows
    ]


def test_the_range_input_drives_the_standing(page):
    page.locator("#budget").focus()
    page.keyboard.press("Home")
    assert page.locator("#budget-text").inner_text() == "1 trial"
    said, rows = _standing(page)
    assert said == f"Best: {PLAIN}, better than {HOSTILE}."
    assert [row[0] for row in rows] == [PLAIN, HOSTILE]  # the better one first
    assert [row[1] for row in rows] == ["0.600", "0.500"]  # as many decimals for all, so that they line up
    page.keyboard.press("ArrowRight")
    assert _standing(page)[0] == "Undecided."
    page.keyboard.press("End")
    assert page.locator("#budget-text").inner_text() == "4 trials"
    said, rows = _standing(page)
    assert said == f"Best: {HOSTILE}, better than {PLAIN}."
    assert "no upper limit" in rows[0][3]
    assert rows[1][3] == "no limits"


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
    page.locator('input[name="axis"][value="cost"]').dispatch_event("click")
    after = _tick_labels(page)
    assert "3" in before
    assert not any(text.endswith(" h") for text in before)
    assert any(text.endswith(" h") for text in after)
    assert page.locator("#budget-text").inner_text().endswith(" h")


def test_switches_and_families(page):
    page.locator('input[name="statistic"][value="median"]').dispatch_event("click")
    page.locator('input[name="scale"][value="log"]').dispatch_event("click")
    page.locator('input[name="family"][value="1"]').dispatch_event("click")
    assert PLAIN not in page.locator("#at-budget").inner_text()
    page.locator('input[name="family"][value="0"]').dispatch_event("click")
    assert "No family" in page.locator("#chart").inner_text()
    assert page.problems == []


def test_the_median_has_no_cost_axis_and_the_switches_agree(page):
    """Median, then cost: once 'No family is switched on. Budget: NaN s'."""
    page.locator('input[name="statistic"][value="median"]').dispatch_event("click")
    page.locator('input[name="axis"][value="cost"]').dispatch_event("click")
    assert page.locator('input[name="statistic"][value="mean"]').is_checked()
    assert page.locator("#budget-text").inner_text() == "2.00 h"
    assert page.locator("#chart canvas").count() == 1
    page.locator('input[name="statistic"][value="median"]').dispatch_event("click")
    assert page.locator('input[name="axis"][value="trials"]').is_checked()
    assert "NaN" not in page.locator("main").inner_text()
    assert page.problems == []


def _picture(page):
    return page.evaluate("document.querySelector('#chart canvas').toDataURL()")


def test_bands_and_names_at_the_ends(page):
    with_bands = _picture(page)
    page.locator('input[name="bands"][value="off"]').dispatch_event("click")
    assert _picture(page) != with_bands
    assert PLAIN in _tick_labels(page)  # written where its line ends
    page.set_viewport_size({"width": 375, "height": 700})
    _until(page, "document.querySelector('#chart canvas').clientWidth < 375")
    assert PLAIN not in _tick_labels(page)


def _codes(page, where="#ribbon"):
    return [int(one.get_attribute("data-code")) for one in page.locator(f"{where} rect[data-code]").all()]


def test_the_ribbon_lies_under_the_answer_and_a_click_chooses_the_budget(page):
    assert _codes(page) == [1, -1, 0]  # plain at 1, undecided at 2, the hostile one at 3 and 4
    boxes = [one.bounding_box() for one in page.locator("#ribbon rect[data-code]").all()]
    frame = page.locator("#ribbon").bounding_box()
    assert frame["y"] > page.locator("#answer").bounding_box()["y"]
    assert boxes[0]["x"] == pytest.approx(frame["x"], abs=1)
    assert boxes[-1]["x"] + boxes[-1]["width"] == pytest.approx(frame["x"] + frame["width"], abs=2)
    # the first change lies half way between the budgets 1 and 2 of 1 to 4
    assert boxes[1]["x"] == pytest.approx(frame["x"] + frame["width"] / 6, abs=2)
    titles = page.locator("#ribbon rect title").all_text_contents()
    assert titles == [f"1: {PLAIN} is best", f"2: undecided, one of {HOSTILE} and {PLAIN}", f"3–4: {HOSTILE} is best"]
    stripes = page.locator("#ribbon pattern rect:not(.open)")
    assert [one.get_attribute("class") for one in stripes.all()] == ["p0", "p1"]  # both colours where it is undecided
    page.locator("#ribbon svg").click(position={"x": frame["width"] - 3, "y": 30})
    assert page.locator("#budget-text").inner_text() == "4 trials"
    assert page.locator("#answer .answer b").all_inner_texts() == [HOSTILE]


def test_where_nothing_is_compared_the_strip_is_dashed_and_the_bands_end(browser, tmp_path):
    view = make_view()
    cut = (Verdict(1, 2, PLAIN), Verdict(3, 4, "not comparable", "too few"))
    view = replace(view, pairs=tuple(replace(pair, verdicts=cut) for pair in view.pairs))
    with opened(browser, tmp_path, view) as page:
        assert _codes(page) == [1, -2]
        assert page.locator("#ribbon rect.apart").count() == 1
        data = page.evaluate("JSON.parse(document.getElementById('view-data').textContent)")
        assert data["kinds"]["mean/trials"]["reach"] == 2


def test_hovering_shows_a_tooltip_and_moves_nothing(page):
    before, budget = _standing(page), page.locator("#budget-text").inner_text()
    width = page.evaluate("document.querySelector('#chart .u-over').clientWidth")
    page.locator("#chart .u-over").hover(position={"x": width - 2, "y": 60})
    tip = page.locator(".tip")
    assert tip.is_visible()
    assert tip.inner_text().startswith("4 trials")
    assert PLAIN in tip.inner_text()
    assert (_standing(page), page.locator("#budget-text").inner_text()) == (before, budget)
    page.mouse.move(2, 2)
    assert not tip.is_visible()


def test_the_answer_and_the_ribbon_are_above_the_fold_and_the_chart_is_low(browser, tmp_path):
    """One page of five real comparisons serves many assertions: folds, switches, the address, length."""
    trials = lb.Trials.from_arrays(
        np.random.default_rng(3).random(150) + np.repeat([0, 0.1, 0.3, 0.3, 0.9], 30),
        family=np.repeat(list("abcde"), 30), cost=np.tile([1.0, 2.0, 3.0], 50), cost_unit="h", direction="max",
    )  # fmt: skip
    view = build_view(trials, n_resamples=99)
    with opened(browser, tmp_path, view) as page:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.evaluate("document.querySelectorAll('details.part').forEach((part) => { part.open = false; })")
        assert page.evaluate("document.documentElement.scrollHeight") <= 3 * 800
        assert page.locator("#answer .answer").inner_text() == "e"
        for device in ({"width": 1280, "height": 800}, {"width": 390, "height": 844}):
            page.set_viewport_size(device)
            _until(page, "document.documentElement.scrollWidth <= innerWidth")  # the chart is drawn again for the width
            ribbon = page.locator("#ribbon").bounding_box()
            assert ribbon["y"] + ribbon["height"] < device["height"]
            assert page.locator("#chart").bounding_box()["height"] <= 360
        page.set_viewport_size({"width": 1280, "height": 800})
        assert page.locator('input[name="axis"]').first.is_visible()
        assert not page.locator('input[name="scale"]').first.is_visible()
        page.locator(".menu summary").click()
        assert page.locator('input[name="scale"]').first.is_visible()
        page.locator('input[name="scale"][value="log"]').check()
        page.locator('input[name="family"][value="1"]').uncheck()
        page.locator("#budget").focus()
        page.keyboard.press("End")
        address, chosen = page.url, page.locator("#budget-text").inner_text()
        page.goto("about:blank")
        page.goto(address)  # the address keeps the view
        assert page.locator("#budget-text").inner_text() == chosen
        assert page.locator('input[name="scale"][value="log"]').is_checked()
        assert not page.locator('input[name="family"][value="1"]').is_checked()
        assert "e" in page.locator("#answer .answer").inner_text()
        assert page.problems == []


def test_a_missing_limit_is_drawn_as_open(page):
    """The first family has no upper limit at 4: its bar fades and ends in an arrowhead."""
    page.locator("#budget").focus()
    page.keyboard.press("End")
    first, second = (page.locator("#at-budget tbody .forest").nth(k) for k in (0, 1))
    assert (first.locator("linearGradient").count(), first.locator("path.end").count()) == (1, 1)
    assert (second.locator("linearGradient").count(), second.locator("path.end").count()) == (2, 2)
    page.keyboard.press("Home")
    assert page.locator("#at-budget linearGradient").count() == 0


def test_the_curve_under_the_pointer_is_highlighted(browser, tmp_path):
    with opened(browser, tmp_path, many_families(9)) as page:
        assert page.locator("#at-budget .dot.f6").count() == 3  # of nine six have a colour
        before, box = _picture(page), page.locator("#chart .u-over").bounding_box()
        page.locator("#chart .u-over").hover(position={"x": 30, "y": box["height"] / 2})
        assert _picture(page) != before


def _drag(page, start, end):
    """Press, move and let go; places are shares of the chart."""
    box = page.locator("#chart .u-over").bounding_box()

    def move(x, y):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])

    move(*start)
    page.mouse.down()
    move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    move(*end)
    page.mouse.up()


def test_a_click_chooses_the_budget_and_the_line_can_be_dragged(page):
    width = page.evaluate("document.querySelector('#chart .u-over').clientWidth")
    page.locator("#chart .u-over").click(position={"x": width - 3, "y": 60})
    assert page.locator("#budget-text").inner_text() == "4 trials"
    _drag(page, (0.997, 0.5), (0.34, 0.5))
    assert page.locator("#budget-text").inner_text() == "2 trials"
    assert page.locator("button.zoomed").count() == 0  # that drag moved the line: nothing is zoomed


def test_a_drag_zooms_and_a_double_click_returns(page):
    whole, budget = _picture(page), page.locator("#budget-text").inner_text()
    _drag(page, (0.45, 0.2), (0.95, 0.8))
    page.locator("button.zoomed").wait_for()
    assert _picture(page) != whole
    assert page.locator("#budget-text").inner_text() == budget
    assert _codes(page) == [1, -1, 0]  # the ribbon shows all budgets
    page.locator("#chart .u-over").dblclick(position={"x": 30, "y": 30})
    page.locator("button.zoomed").wait_for(state="detached")
    assert _codes(page) == [1, -1, 0]


def test_the_heights_show_where_curves_differ_and_the_whole_range_is_one_click_away(browser, tmp_path, page):
    near = _picture(page)
    page.locator('input[name="range"][value="whole"]').dispatch_event("click")
    assert _picture(page) == near  # all of it fits: nothing was cut off
    view = make_view()
    fallen = tuple(replace(line, value=(-5.0, *line.value[1:]), low=(-6.0, *line.low[1:])) for line in view.lines)
    with opened(browser, tmp_path, replace(view, lines=fallen)) as far:
        near = _picture(far)
        far.locator('input[name="range"][value="whole"]').dispatch_event("click")
        assert _picture(far) != near


def test_losses_can_be_drawn_on_a_log_scale(browser, tmp_path, page):
    assert page.locator('input[name="heights"]').count() == 0  # higher is better: no loss
    with opened(browser, tmp_path, replace(make_view(), direction="min", bounds=(0.0, None))) as losses:
        before = _picture(losses)
        losses.locator('input[name="heights"][value="log"]').dispatch_event("click")
        assert _picture(losses) != before
        assert losses.problems == []


def test_two_families_show_their_difference_at_once(page):
    assert page.locator("#difference canvas").count() == 1
    assert not page.locator("#matrix-box").is_visible()
    assert "minus" in page.locator("#difference-title").inner_text()


@pytest.mark.parametrize(("count", "cells"), [(5, "tapes"), (20, "squares")])
def test_a_cell_of_the_matrix_opens_the_difference_chart(browser, tmp_path, count, cells):
    with opened(browser, tmp_path, many_families(count)) as page:
        buttons = page.locator("#matrix button")
        assert buttons.count() == count * (count - 1) // 2
        assert not page.locator("#difference-box").is_visible()
        assert page.locator("#matrix.small").count() == (cells == "squares")
        buttons.first.focus()
        page.keyboard.press("Enter")
        assert page.locator("#difference canvas").count() == 1
        first, second, again = page.locator("#difference-title b").all_inner_texts()
        assert again == first  # "a minus b, above zero a is better"
        assert {first, second} == {f"model {count - 1}", f"model {count - 2}"}  # the two best stand first
        assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
        page.keyboard.press("Enter")
        assert not page.locator("#difference-box").is_visible()
        assert page.problems == []


def test_a_pair_without_limits_is_said_instead_of_an_empty_chart(browser, tmp_path):
    view, nan = make_view(), np.full(4, math.nan)
    apart = (Verdict(1, 4, "not comparable", "too few trials"),)
    view = replace(view, pairs=tuple(replace(pair, low=nan, high=nan, verdicts=apart) for pair in view.pairs))
    with opened(browser, tmp_path, view) as page:
        assert page.locator("#difference canvas").count() == 0
        assert (
            page.locator("#difference-title").inner_text()
            == f"{HOSTILE} and {PLAIN} cannot be compared: too few trials."
        )


def test_names_in_the_verdict_have_the_colours_of_their_lines(page):
    marked = page.locator(".verdict .lead b")
    assert marked.all_inner_texts() == [HOSTILE, PLAIN]
    assert [one.get_attribute("class") for one in marked.all()] == ["f0", "f1"]


def test_the_methods_paragraph_is_copied_or_selected(page):
    page.locator("#copy-methods").click()
    _until(page, "document.getElementById('copied').textContent !== ''")
    assert page.problems == []


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
        .filter((e) => e.checkVisibility() || e.matches('.skip')).length"""
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
    for view, scheme in itertools.product((make_view(), many_families(5)), ("light", "dark")):
        text = render_page(view, FIGURES)
        start = text.index('<meta http-equiv="Content-Security-Policy"')
        page.set_content(text[:start] + text[text.index(">", start) + 1 :])
        page.emulate_media(color_scheme=scheme)
        found = axe.Axe().run(page).response["violations"]
        serious = [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")]
        assert serious == []


def test_printing_gives_a_pdf_with_the_text(page):
    text = "".join(one.extract_text() for one in pypdf.PdfReader(io.BytesIO(page.pdf())).pages)
    assert "is better than plain from 3 to 4 trials" in " ".join(text.split())
    assert "whole range" not in text  # controls stay off paper


def test_a_phone_does_not_scroll_sideways(page):
    page.set_viewport_size({"width": 375, "height": 700})
    _until(page, "document.querySelector('canvas').getBoundingClientRect().right <= 375")  # redrawn
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_without_script_the_verdict_the_figure_and_the_tables_are_there(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render_page(make_view(), FIGURES), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(path.as_uri())
    assert tab.locator(".verdict .lead").is_visible()
    assert tab.locator("figure.plain img").is_visible()
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


def test_many_families_stay_a_page_that_can_be_sent():
    """Of 990 pairs some have curves, all have verdicts; the page of 45 families is smaller than 1.2 MB."""
    view = many_families(45)
    text = render_page(view, FIGURES)
    assert len(text.encode()) < 1_200_000
    data = json.loads(text.split('id="view-data">')[1].split("</script>")[0])
    pairs = data["kinds"]["mean/trials"]["pairs"]
    assert len(pairs) == 990
    verdicts = data["kinds"]["mean/trials"]["verdicts"]
    assert verdicts == [[[1, 1, -1], [2, 4, 1]]]  # what all have in common is there once: the second is better from 2
    assert {place for _, _, place, *_ in pairs} == {0}
    drawn = {name for pair in pairs if len(pair) > 3 for name in pair[:2]}
    assert 44 in drawn  # the best stand first
    assert 0 not in drawn
    assert "further pairs are in report.json" in text


def test_a_page_of_45_families_with_costs_and_all_their_trials_is_smaller_than_a_megabyte_and_a_fifth():
    view = large_view(45)
    # of the size that the figures of such a report have, with numbers as a drawing has them
    path = b'<path d="' + b"M 40.640240 228.430496 \nL 432.476830 228.430496 \n" * 20 + b'"/>\n'
    sizes = {"curves": 114_000, "cost": 106_000, "differences": 51_000, "distributions": 130_000}
    figures = {name: b"<svg>" + path * (size // len(path)) + b"</svg>" for name, size in sizes.items()}
    text = render_page(view, figures)
    assert len(text.encode()) < 1_200_000
    data = json.loads(text.split('id="view-data">')[1].split("</script>")[0])
    assert all(len(kind["pairs"]) == 990 and len(kind["lines"]) == 45 for kind in data["kinds"].values())
    assert 5 in data["kinds"]["mean/trials"]["budgets"][0]  # the headline budget is among those drawn


def test_a_pair_whose_curve_is_left_out_says_where_it_is(browser, tmp_path):
    with opened(browser, tmp_path, many_families(20)) as page:
        page.locator("#matrix button").last.click()
        assert page.locator("#difference-title").inner_text().endswith("The curve of this pair is in report.json.")
        assert "model 1 is better at 2–4" in page.locator("#difference-title").inner_text()
        assert page.problems == []


def test_a_cost_that_reads_the_same_at_both_ends_is_one_cost(browser, tmp_path):
    """Once '1.45 s to 1.45 s, 1.83 s to 2.06 s'."""
    view = make_view()
    ranges = (Verdict(1.45, 1.4501, HOSTILE), Verdict(1.4501, 3600.0, "undecided"))
    terms, costs = replace(view.pairs[0].terms, axis="cost"), np.array([1.45, 1.4501, 3.0, 3600.0])
    pair = replace(view.pairs[0], terms=terms, budget=costs, verdicts=ranges)
    view = replace(view, pairs=(*view.pairs, pair))
    (table,) = [one for one in verdict_tables(view) if "cost" in one.title]
    assert table.rows[0][1:] == (f"{HOSTILE}: 1.45 s", "1.45 s to 1.00 h")
    with opened(browser, tmp_path, view) as page:
        page.locator('input[name="axis"][value="cost"]').dispatch_event("click")
        titles = page.locator("#ribbon rect title").all_text_contents()
        assert all("1.45 s – 1.45 s" not in one for one in titles)


def test_tables_use_the_whole_width(page):
    for table in ("#at-budget", "#trials-table", "section[aria-labelledby=standing] details table"):
        shares = page.evaluate(
            f"((t) => t.offsetWidth / t.parentElement.clientWidth)(document.querySelector('{table}'))"
        )
        assert shares > 0.98, table


def test_names_of_families_stay_on_one_line_on_a_phone(browser, tmp_path):
    view = many_families(5)
    with opened(browser, tmp_path, view) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        heights = page.evaluate("[...document.querySelectorAll('#at-budget tbody tr')].map((r) => r.offsetHeight)")
        assert max(heights) < 45
        _until(page, "document.documentElement.scrollWidth <= innerWidth")  # the chart is drawn again for the width


def test_the_script_has_no_sentences_of_its_own():
    """What is said is in report/words: a letter, a blank and a letter within quotes would be a sentence."""
    for name in ("page.js", "standing.js", "chart.js", "tape.js"):
        code = re.sub(r"/\*.*?\*/", "", asset(name), flags=re.DOTALL)
        quoted = re.findall(r'"[^"\n]*[a-z]{3,} [a-z]{2,} [a-z]+[^"\n]*"', code)
        assert not [text for text in quoted if "sans-serif" not in text and "=" not in text], name


def test_names_and_numbers_of_every_trial_stay_on_one_line(page):
    heights = page.evaluate("[...document.querySelectorAll('#trials-table tbody tr')].map((r) => r.offsetHeight)")
    assert len(heights) == 4
    assert max(heights) < 40


def test_figures_are_dark_in_the_dark(browser, tmp_path):
    from PIL import Image

    from levelbest.report.figures.curves import figure_bytes
    from levelbest.report.figures.panels import Panel, draw_lines

    figure = figure_bytes(draw_lines(Panel(make_view().lines_of("mean"), "score")).figure, "svg")
    path = tmp_path / "dark.html"
    path.write_text(render_page(make_view(), {**FIGURES, "distributions": figure}), encoding="utf-8")
    grounds = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(offline=True, color_scheme=scheme)
        tab = context.new_page()
        tab.goto(path.as_uri())
        tab.evaluate("document.querySelectorAll('details.part').forEach((part) => { part.open = true; })")
        shot = tab.locator("#figure-distributions").screenshot()
        grounds[scheme] = Image.open(io.BytesIO(shot)).convert("L").getpixel((3, 3))
        context.close()
    assert grounds["light"] > 240
    assert grounds["dark"] < 60


def test_choices_stand_apart_from_doubts():
    chosen = Caution.of("guessed-columns", columns=(("seed", "seed"),))
    view = make_view()
    text = render_page(replace(view, cautions=(*view.cautions, chosen)), FIGURES)
    doubts = text[text.index('<ul class="asked">') : text.index("</ul>", text.index('<ul class="asked">'))]
    assert "failures" in doubts
    assert "guessed-columns" not in doubts
    assert "seed = &#39;seed&#39;" in text


def test_against_a_baseline_every_rival_has_a_labelled_strip(browser, tmp_path):
    view = many_families(4)
    against = tuple(pair for pair in view.pairs if "model 0" in pair.families)
    with opened(browser, tmp_path, replace(view, pairs=against)) as page:
        labels = page.locator("#ribbon text.row")
        assert labels.all_text_contents() == [f"model 0 and model {k}" for k in (1, 2, 3)]
        frame = page.locator("#ribbon svg").bounding_box()
        assert all(one.bounding_box()["x"] == pytest.approx(frame["x"], abs=3) for one in labels.all())
        assert _codes(page) == [-1, 1, -1, 2, -1, 3]
        assert page.problems == []


def test_numbers_that_the_page_rounds_again_are_those_of_the_terminal():
    """0.87235468 is 0.8724 in the terminal; cut to 0.87235 it was 0.8723 on the page."""
    view, rng = make_view(), np.random.default_rng(3)
    values = rng.uniform(0.86, 0.89, len(view.lines[0].x)).tolist()
    values[0] = 0.8772900000000001
    line = replace(
        view.lines[0], value=values, low=[v - 0.00493532 for v in values], high=[v + 0.00464 for v in values]
    )
    (data, *_) = page_data(replace(view, lines=(line,)))["kinds"][f"{line.statistic}/{line.axis}"]["lines"]
    for name in ("value", "low", "high"):
        assert [f"{v:.4f}" for v in data[name]] == [f"{v:.4f}" for v in getattr(line, name)]


def test_of_seeds_figures_fit_a_phone_and_paper_has_the_answer(browser, tmp_path):
    names = [f"{word}-with-a-name-that-is-long-enough-for-two" for word in ("ours", "base")]
    rows = {"model": [name for name in names for _ in range(4)], "seed": list(range(4)) * 2}
    rows["test_acc"] = [0.81, 0.82, 0.83, 0.84, 0.80, 0.82, 0.81, 0.83]
    report = lb.write_report(rows, tmp_path / "seeds.html", page_only=True)
    for look, (width, broad) in {"screen": (1280, True), "phone": (390, False)}.items():
        tab = browser.new_page(viewport={"width": width, "height": 844})
        tab.goto(report.page.as_uri())
        runs, narrow = tab.locator("#figure-runs"), tab.locator("img.narrow")
        assert (runs.is_visible(), narrow.is_visible()) == (broad, not broad), look
        assert (runs if broad else narrow).bounding_box()["width"] > 0.8 * (width - 170 if broad else width - 60)
        deviation = tab.locator("#at-budget thead th", has_text="SD")
        assert deviation.is_visible() is broad  # what the phone has no room for is left out
        assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        tab.close()
    tab = browser.new_page(viewport={"width": 680, "height": 900})
    tab.goto(report.page.as_uri())
    tab.emulate_media(media="print")
    assert tab.locator("#answer .long").is_visible()
    assert names[0] in tab.locator("#answer").inner_text()
    tab.close()


def test_on_paper_the_ribbon_is_as_wide_as_the_sheet(browser, tmp_path):
    with opened(browser, tmp_path, make_view()) as page:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 500, "height": 900})
        frame = page.locator("#ribbon svg").bounding_box()
        boxes = [one.bounding_box() for one in page.locator("#ribbon rect[data-code]").all()]
        assert max(box["x"] + box["width"] for box in boxes) <= frame["x"] + frame["width"] + 1
        assert page.locator("#difference-title").count() == 1
