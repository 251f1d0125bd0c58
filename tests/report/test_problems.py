"""The report over many problems: which of them limit the curve, and oracle, verifier and random side by side."""

import re

import numpy as np
import pytest

from levelbest.designs.compare import compare
from levelbest.errors import InputError
from levelbest.report.build import build_view
from levelbest.report.terminal.comparison import print_report
from levelbest.report.write import write_report
from levelbest.stats import all_of_k, pass_at_k
from levelbest.trials import Trials


def verified(n_problems=12, samples=6, seed=0):
    """Two systems with a noisy verifier; problem p0 is never solved."""
    rng = np.random.default_rng(seed)
    rate = np.tile(np.linspace(0, 0.9, n_problems), 2)
    correct = (rng.random((2 * n_problems, samples)) < rate[:, None]).astype(float)
    return Trials.from_arrays(
        (correct + rng.normal(0, 0.7, correct.shape)).ravel(),
        reported=correct.ravel(),
        direction="max",
        family=np.repeat(["base", "new"], n_problems * samples),
        group=np.tile(np.repeat([f"p{i}" for i in range(n_problems)], samples), 2),
        cost=np.ones(correct.size),
    )


def test_sections_list_problems_and_the_verifier():
    trials = verified()
    view = build_view(trials, headline=5, n_resamples=300)
    assert view.statistics == ("mean", "all")  # pass@k and pass^k
    assert view.axes == ("trials",)
    assert view.n_groups == 12
    verifier, every, problems = view.sections
    assert every.title == "pass^k"
    assert verifier.heads == ("family", "n", "oracle", "verifier", "random", "share of the gain")
    correct = trials["base"].reported.reshape(12, 6).sum(axis=1)
    row = next(row for row in every.rows if row[:2] == ("base", "4"))
    assert float(row[2]) == pytest.approx(all_of_k(correct, 6, 4).mean(), abs=0.005)
    row = next(row for row in verifier.rows if row[:2] == ("base", "5"))
    assert float(row[2]) == pytest.approx(pass_at_k(correct, 6, 5).mean(), abs=1e-4)
    assert float(row[4]) == pytest.approx(correct.mean() / 6, abs=1e-4)
    assert float(row[4]) < float(row[3]) < float(row[2])
    assert problems.heads[0] == "problem"
    assert problems.rows[0][0] == "p0"
    assert problems.rows[0][1:] == ("6", "0.000", "0.000") * 2
    assert len(problems.rows) == 12
    assert {line.family for line in view.effect} == {
        f"{s}: {k}" for s in ("base", "new") for k in ("oracle", "verifier", "random")
    }
    assert "12 problems" in view.methods


def test_the_page_shows_them(tmp_path):
    report = write_report(verified(), tmp_path / "page.html", n_resamples=300)
    page = report.page.read_text(encoding="utf-8")
    assert "What the verifier gains" in page
    assert 'id="figure-verifier"' in page
    assert '<h3 id="section-3">Problems</h3>' in page
    assert (tmp_path / "page" / "verifier.svg").is_file()


def test_without_a_verifier_there_is_the_oracle_alone(tmp_path):
    trials = verified()
    alone = Trials.from_arrays(
        trials.reported,
        direction="max",
        family=np.array(trials.families)[trials.family],
        group=np.array(trials.groups)[trials.group],
    )
    report = write_report(alone["base"], tmp_path / "page.html", n_resamples=300, page_only=True, headline=50)
    assert [one.title for one in report.view.sections] == ["pass^k", "Problems"]
    assert report.view.effect == ()
    assert report.view.headline == 6  # no problem has 50 samples
    assert '<li class="badge">oracle</li>' in report.page.read_text(encoding="utf-8")


def test_what_problems_do_not_have_is_said():
    with pytest.raises(InputError, match="over problems"):
        compare(verified(), n_resamples=300, while_running=True)


def test_words_are_of_samples_and_problems(tmp_path, capsys):
    trials = verified()
    report = write_report(trials, tmp_path / "page.html", n_resamples=300)
    page = report.page.read_text(encoding="utf-8")
    shown = page[page.index("<main>") : page.index("<footer>")]
    for text in ("Every sample", '<th scope="col" class="n">samples', "one sample"):
        assert text in shown
    assert '"word":"sample"' in page
    print_report(report.view, details=True)
    out = " ".join(capsys.readouterr().out.split())
    assert "of the best of 1 sample of a problem, over 12 problems" in out
    out = re.sub(r"lb\.\w+\(trials[^)]*\)", "", out)  # a line of code
    told = [out, report.view.methods, *report.view.verdict, *(c.sentence for c in report.view.cautions)]
    told += [(tmp_path / "page" / name).read_text(encoding="utf-8") for name in ("families.md", "families.tex")]
    told += [item.answer for item in report.view.checklist if item.answer]
    for text in told:
        assert not re.search(r"\btrials?\b|winner", text), text
    one = build_view(trials["base"], n_resamples=300)
    assert "of 1 sample is" in one.verdict[0]
    assert "from 72 samples of 12 problems" in one.verdict[0]
    # over problems there is no winner: one sample of each, averaged
    assert one.families[0].winner == pytest.approx(trials["base"].reported.mean())


def test_samples_are_counted_as_samples_and_problems_as_problems():
    """Two systems with 60 and 59 samples of two problems: nobody has 60 of 2 problems."""
    rng = np.random.default_rng(0)
    trials = Trials.from_arrays(
        rng.random(119),
        direction="max",
        bounds=(0, 1),
        family=["base"] * 60 + ["new"] * 59,
        group=["p", "q"] * 59 + ["p"],
    )
    said = " ".join(build_view(trials, n_resamples=200).verdict)
    assert "base: 60 samples, new: 59 samples, of 2 problems, none failed" in said


def test_a_problem_that_gains_is_not_among_those_that_do_not():
    """Once "1 of 2 problems gain nothing, 1 of them at the lowest value", which was that of the problem that gains."""
    trials = Trials.from_arrays([0.1, 0.3, 0.9, 0.9], direction="max", group=["p", "p", "q", "q"])
    (section,) = [own for own in build_view(trials, n_resamples=99).sections if own.title == "Problems"]
    assert section.note == f"{trials.families[0]}: 1 of 2 problems gain nothing from more samples."
