"""Counting answers over checklists of any hand."""

import json

import pytest
from click.testing import CliRunner

from levelbest.cli.main import cli
from levelbest.errors import DataError, InputError
from levelbest.report.paper.survey import survey_checklists

CODE, TRIALS = "Where is the code?", "How many search trials were run?"
MACHINE, SPLITS = "What computing infrastructure was used?", "How were training, validation and test data split?"


def test_our_own_checklists_are_counted_in_both_forms(tmp_path):
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(["model,val_acc,test_acc"] + [f"a,0.{50 + i},0.{49 + i}" for i in range(12)]))
    answers = tmp_path / "answers.yaml"
    answers.write_text("code: here\nsplits: fixed\n")
    folder = tmp_path / "lists"
    folder.mkdir()
    run = CliRunner()
    assert run.invoke(cli, ["checklist", str(table), "--out", str(folder / "one.md")]).exit_code == 0
    told = run.invoke(cli, ["checklist", str(table), "--answers", str(answers), "--json"])
    (folder / "two.json").write_text(told.stdout)
    (folder / "readme.md").write_text("# not a checklist\n")
    counted = survey_checklists([folder])
    answered = dict(counted.answered)
    assert counted.n_checklists == 2
    assert counted.skipped == (("readme.md", "holds no checklist"),)
    assert (answered[CODE], answered[SPLITS], answered[TRIALS], answered[MACHINE]) == (1, 1, 2, 0)
    shown = run.invoke(cli, ["checklist", "--survey", str(folder)])
    assert f"| {TRIALS} | 2 | 100 % |" in shown.stdout
    assert "skipped: readme.md" in shown.stderr
    document = json.loads(run.invoke(cli, ["checklist", "--survey", "--json", str(folder)]).stdout)
    assert document["checklists"] == 2
    assert document["answered"][CODE] == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("boxes.md", "- [x] Is a link to the code given?\n* [ ] Hardware used\n1. [X] Number of search trials\n"),
        ("signs.txt", "☑ a link to the code\n☐ hardware\n✓ how many trials were run\n"),
        (
            "paper.tex",
            "% \\answerYes{} is a macro\n\\item Do you include the code?\n\\answerYes{See appendix.}\n"
            "\\item Did you state the hardware? \\answerNo{}\n\\item The number of trials? \\answerYes{}\n",
        ),
        (
            "neurips.tex",
            "\\item {\\bf Open access to data and code}\n    \\item[] Question: Is there access to the code?\n"
            "    \\item[] Answer: \\answerYes{} % or \\answerNo{}\n    \\item[] Justification: See the appendix.\n"
            "    \\item[] Question: Is the hardware named?\n    \\item[] Answer: \\answerTODO{}\n"
            "    \\item[] Question: Is the number of trials given?\n    \\item[] Answer: \\answerYes{}\n",
        ),
        (
            "neurips.txt",
            "Question: Is there access to the code?\nAnswer: [Yes]\nJustification: See the appendix.\n"
            "Question: Is the hardware named?\nAnswer: [No]\n**Question:** number of trials?\n**Answer:** 50 of each\n",
        ),
        ("table.csv", "question,answer\nWhere is the code,at the end\nhardware,n/a\nnumber of trials,50\n"),
        ("map.yaml", "code repository: in the supplement\nhardware:\nnumber of search trials: 50\n"),
        (
            "list.json",
            '[{"question": "code", "answer": 1}, {"question": "gpu type"}, {"question": "search trials", "answer": 5}]',
        ),
    ],
)
def test_checklists_of_others_are_counted_with_the_items_they_ask_for(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert dict(survey_checklists([tmp_path]).answered) == {MACHINE: 0, CODE: 1, TRIALS: 1}


def test_a_question_of_their_own_keeps_its_words(tmp_path):
    (tmp_path / "a.md").write_text("- [x] Was the moon full?\n- [x] Seeds named?\n- [ ] random seed listed\n")
    answered = dict(survey_checklists([tmp_path]).answered)
    assert answered == {"What varies between trials: seeds, splits, hyperparameters?": 1, "Was the moon full?": 1}


def test_nothing_to_count_is_said(tmp_path):
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe- [x]")
    with pytest.raises(DataError, match="no checklist was found"):
        survey_checklists([tmp_path])
    with pytest.raises(InputError, match="no file or folder"):
        survey_checklists([tmp_path / "nowhere"])
