"""Templates: arguments are split before anything is filled in, so that no value can become one."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelbest.errors import InputError
from levelbest.run.template import Template


def test_a_template_is_split_first_and_filled_after():
    template = Template("python 'my train.py' --lr {lr} --tag=x-{name}-{seed} {{}}")
    assert template.names == {"lr", "name", "seed"}
    hostile = '; rm -rf / "$(id)" `id` {seed} {lr.__class__}'
    assert template.fill({"lr": 1e-4, "name": hostile, "seed": 7}) == [
        "python", "my train.py", "--lr", "0.0001", f"--tag=x-{hostile}-7", "{}",
    ]  # fmt: skip


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_text_stays_within_its_argument(value):
    assert Template(["run", "{x}", "--y={x}"]).fill({"x": value}) == ["run", value, f"--y={value}"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_come_back_exactly(value):
    assert float(Template("run {x}").fill({"x": value})[1]) == value


def test_values_are_written_as_the_study_file_writes_them():
    values = {"a": True, "b": None, "c": [64, 32], "d": "text", "e": 3}
    assert Template("{a} {b} {c} {d} {e}").fill(values) == ["true", "null", "[64, 32]", "text", "3"]


def test_an_absent_parameter_takes_its_option_with_it():
    template = Template("run --lr {lr} --momentum {momentum} --decay={decay} -v {file}")
    assert template.fill({"lr": 1, "momentum": 2, "decay": 3, "file": "x"}) == [
        "run", "--lr", "1", "--momentum", "2", "--decay=3", "-v", "x",
    ]  # fmt: skip
    assert template.fill({"lr": 1, "file": "x"}) == ["run", "--lr", "1", "-v", "x"]


def test_args_stands_for_every_parameter():
    config = {"lr": 0.1, "units": 64}
    assert Template("run {args} --seed {seed}").fill({**config, "seed": 3}, config) == [
        "run", "--lr", "0.1", "--units", "64", "--seed", "3",
    ]  # fmt: skip


def test_a_name_with_dots_is_a_key_and_never_an_attribute():
    assert Template("run opt.lr={opt.lr}").fill({"opt.lr": 1}) == ["run", "opt.lr=1"]
    with pytest.raises(InputError, match=r"mentions \{lr.__class__\}, which is not a parameter"):
        Template("run {lr.__class__}").check(["lr"])


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"mentions \{learning_rat\}.*did you mean 'learning_rate'"):
        Template("run {learning_rat}").check(["learning_rate", "seed"])
    Template("run {learning_rate}").check(["learning_rate", "seed"])


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("", "empty"),
        ([], "empty"),
        ("run 'x", "cannot be split"),
        ("run {x", "unmatched brace"),
        ("run x}", "unmatched brace"),
        ("run {}", "name. only"),
        ("run {x!r}", "format codes"),
        ("run {x:.3f}", "format codes"),
        ("run {x[0]}", "format codes"),
        (["run", "a\0b"], "zero byte"),
    ],
)
def test_bad_templates_are_refused(command, sentence):
    with pytest.raises(InputError, match=sentence):
        Template(command)


def test_printable_text_without_braces_is_left_alone():
    plain = string.printable.replace("{", "").replace("}", "")
    assert Template(["run", plain]).fill({}) == ["run", plain]
