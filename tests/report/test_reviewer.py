"""Warnings for reading: each matter once, no number lost."""

from levelbest.cautions import Caution
from levelbest.report.words.remarks import remarks


def test_the_same_matter_is_said_once_with_every_family_and_number():
    found = remarks(
        [
            Caution("guessed-columns", "chosen by name: seed = 'seed'"),
            Caution("ties", "76% of the trials share their score with another", "a"),
            Caution("failures", "11 of 120 trials failed", "a"),
            Caution("ties", "80% of the trials share their score with another", "b"),
            Caution("failures", "9 of 120 trials failed", "c"),
        ],
        3,
    )
    assert [str(one) for one in found] == [
        "a and b: 76% and 80% of the trials share their score with another",
        "a and c: 11 and 9 of 120 trials failed",
        "chosen by name: seed = 'seed'",  # how the files were read comes last
    ]
    assert [one.code for one in found] == ["ties", "failures", "guessed-columns"]


def test_different_words_stay_apart():
    found = remarks([Caution("grid", "a full grid of 9", "a"), Caution("grid", "half a grid of 9", "b")], 2)
    assert [str(one) for one in found] == ["a: a full grid of 9", "b: half a grid of 9"]


def test_what_holds_of_all_needs_no_names():
    cautions = [Caution("few-values", "7 different scores", name) for name in "abc"]
    assert [str(one) for one in remarks(cautions, 3)] == ["7 different scores"]
    assert [str(one) for one in remarks(cautions, 4)] == ["a, b and c: 7 different scores"]


def test_many_families_become_a_range():
    cautions = [Caution("ties", f"{share}% tie", f"f{share}") for share in (50, 9, 100, 20, 30, 40)]
    assert str(remarks(cautions, 6)[0]) == "f50, f9, f100, f20 and 2 more: 9% to 100% tie"


def test_ranges_of_ranges_are_not_made():
    cautions = [Caution("ties", f"n = {a} to {b}", f"f{i}") for i, (a, b) in enumerate([(1, 2)] * 5 + [(3, 4)])]
    assert [str(one) for one in remarks(cautions, 6)] == ["f0, f1, f2, f3 and f4: n = 1 to 2", "f5: n = 3 to 4"]


def test_validation_only_is_one_remark():
    cautions = [Caution("no-reported", f"validation only: {what}", name) for what, name in (("x", "a"), ("y", None))]
    assert [str(one) for one in remarks(cautions, 2)] == ["validation only: x"]


def test_minus_signs_are_kept_and_hyphens_are_none():
    cautions = [
        Caution("trend", f"Spearman {rho} in resnet-18", name) for rho, name in (("-1.00", "a"), ("-0.99", "b"))
    ]
    assert str(remarks(cautions, 2)[0]) == "a and b: Spearman -1.00 and -0.99 in resnet-18"
    mixed = [Caution("trend", f"Spearman {rho}", name) for rho, name in (("0.05", "a"), ("-0.04", "b"))]
    assert str(remarks(mixed, 2)[0]) == "a and b: Spearman 0.05 and -0.04"
    many = [Caution("trend", f"Spearman {rho}", f"f{rho}") for rho in (-3, 2, -1, 0, 1, 3)]
    assert str(remarks(many, 6)[0]).endswith("Spearman -3 to 3")
