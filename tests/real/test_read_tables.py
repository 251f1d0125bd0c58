"""Results by others, read with one call each: the facts of their PROVENANCE.md and of STATISTICS.md section 13."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.report.describe import describe
from levelbest.stats import expected_best


def codes(trials, family=None):
    return {one.code for one in trials.cautions if family is None or one.family == family}


def caution(trials, code, family=None):
    return next(one for one in trials.cautions if one.code == code and (family is None or one.family == family))


def test_hedwig(real_data):
    trials = lb.read_trials(real_data / "hedwig" / "hedwig.tsv")
    assert {name: trials[name].n_trials for name in trials.families} == {"reg_lstm": 152, "mlp": 145}
    assert trials.metric.direction == "max"
    assert codes(trials) == {"guessed-columns", "no-reported", "ties"}  # MLP F1 is stored to 4 decimals
    assert np.unique(trials["mlp"].selection).size == 77


def as_reader(real_data, **options):
    return lb.read_trials(
        real_data / "boon" / "cbt_fixed_hyppar.csv",
        selection="valid.accuracy",
        reported="accuracy",
        where="log_path like '%dist%' and epoch > 0",
        **options,
    )


def test_as_reader(real_data):
    trials = as_reader(real_data)
    (one,) = describe(trials)
    assert one.n_trials == 370
    assert one.reported_mean == pytest.approx(0.63157, abs=5e-6)
    assert one.reported_sd == pytest.approx(0.00937, abs=5e-6)
    assert one.reported_iqr == pytest.approx(0.0120, abs=5e-5)
    assert one.spearman == pytest.approx(0.179, abs=5e-4)
    assert np.unique(trials.selection).size == 54
    assert "ties" in codes(trials)
    low, high = np.quantile(trials.reported, [0.05, 0.95])
    assert (low, high) == (pytest.approx(0.6153, abs=1e-4), pytest.approx(0.6460, abs=1e-4))
    assert (trials.reported.min(), trials.reported.max()) == (pytest.approx(0.5988), pytest.approx(0.6528))


def test_as_reader_asks_which_of_two_validation_scores(real_data):
    with pytest.raises(lb.InputError, match=r"'valid.accuracy', 'init.valid.accuracy'; choose one with"):
        lb.read_trials(real_data / "boon" / "cbt_fixed_hyppar.csv")


def test_resnet(real_data):
    path = real_data / "boon" / "cifar100-resnet-oct17.csv"
    trials = lb.read_trials(path, selection="Precision_valid", where="step_test >= 35000")
    assert trials.n_trials == 74
    assert trials.metric.reported == "Precision_test"
    curve = expected_best(trials.selection, [1, 5, 50], trials.reported)
    assert curve.tolist() == pytest.approx([0.68451, 0.68571, 0.68501], abs=6e-6)
    leaky = lb.read_trials(path, selection="Precision_valid", reported="Best Precision_test")
    assert "leaky-reported" in codes(leaky)


def test_the_variant_run_far_above_its_peers_is_an_outlier(real_data):
    path = real_data / "boon" / "cbt_fixed_hyppar.csv"
    trials = lb.read_trials(path, selection="accuracy", reported="none", where="log_path not like '%dist%'")
    assert caution(trials, "outlier").value > 3
    assert trials.selection.max() == pytest.approx(0.9756)


def test_alexnet(real_data):
    path = real_data / "opda" / "alexnet_tuning.results.jsonl"
    trials = lb.read_trials(path, selection="learning_curve.top_1", cost="learning_curve.time", bounds=(0, 1))
    assert (trials.n_trials, trials.n_failed) == (512, 49)
    assert np.nanmax(trials.selection) == pytest.approx(0.58558, abs=5e-6)
    marked = [one for one in trials.cautions if one.code == "failures"]
    assert {one.value for one in marked} == {147.0, 49.0}
    worst, drop = trials.scores("worst"), trials.scores("drop")
    assert expected_best(worst.selection, 10) == pytest.approx(0.536, abs=5e-4)
    assert expected_best(drop.selection, 10) == pytest.approx(0.542, abs=5e-4)
    calm = lb.read_trials(path, selection="learning_curve.top_1", where="nan_train_loss = false")
    assert expected_best(calm.selection, 10) == pytest.approx(0.552, abs=6e-4)
    assert set(trials.configuration) >= {"epochs", "batch_size", "lr", "momentum", "weight_decay", "label_smoothing"}


def test_alexnet_keys_are_named_when_the_path_stops_short(real_data):
    path = real_data / "opda" / "alexnet_tuning.results.jsonl"
    with pytest.raises(lb.InputError, match="its objects have time, epoch, top_1, top_5, train_loss"):
        lb.read_trials(path, selection="learning_curve", direction="max")


def test_deberta_is_a_paired_design(real_data):
    trials = lb.read_trials(
        str(real_data / "opda" / "deberta-*.jsonl"),
        selection="learning_curves.matched",
        reported="learning_curves.mismatched",
        direction="max",
    )
    assert [trials[name].n_trials for name in trials.families] == [1024, 1024]
    assert caution(trials, "paired-design").value == 1024.0
    assert [caution(trials, "ties", name).value > 0.5 for name in trials.families] == [True, True]
    # The reported score is that of the checkpoint that validation chose, in the file's own words.
    with open(real_data / "opda" / "deberta-base_tuning.results.jsonl") as file:
        curves = json.loads(next(file))["learning_curves"]
    step, best = max(curves["matched"], key=lambda pair: pair[1])
    assert trials.selection[0] == best
    assert trials.reported[0] == dict(curves["mismatched"])[step]


def test_hans(real_data):
    trials = lb.read_trials(real_data / "hans" / "berts_of_a_feather_accuracies_by_run.csv")
    assert trials.n_trials == 100
    assert trials.metric.selection == "MNLI dev acc."
    whys = [one.why for one in trials.skipped]
    assert len(whys) == 11
    assert sum(why == "every cell is empty" for why in whys) == 7
    assert sum("summary" in why for why in whys) == 4
    assert trials.selection.mean() == pytest.approx(0.843392765, abs=1e-9)  # the file's own footer


def test_rtdl(real_data):
    path = real_data / "rtdl" / "rtdl_runs.csv"
    trials = lb.read_trials(path, family="dataset,model,setting", direction="max")
    assert len(trials) == 2633
    assert (trials.metric.selection, trials.metric.reported) == ("val_score", "test_score")
    assert trials.metric.cost_unit == "s"
    assert int(np.isnan(trials.cost).sum()) == 1070
    node = [name for name in trials.families if name.endswith("node / tuning")]
    assert len(node) == 9
    assert all("grid" in codes(trials, name) for name in node)
    tuned = [name for name in trials.families if name.endswith(("/ tuned", "/ default"))]
    assert not any("grid" in codes(trials, name) for name in tuned)
    for family in ("model", "model,setting"):
        mixed = lb.read_trials(path, family=family, direction="max")
        assert [name for name in mixed.families if "grid" in codes(mixed, name)] in (["node"], ["node / tuning"])
    with pytest.raises(lb.InputError, match=r"direction=? max or min"):
        lb.read_trials(path)


def test_rtdl_one_file_per_run(real_data):
    trials = lb.read_trials(
        str(real_data / "rtdl" / "raw_sample" / "*.json"),
        selection="metrics.val.rmse",
        reported="metrics.test.rmse",
    )
    assert trials.families == ("mlp",)  # its column "algorithm"
    assert trials.n_trials == 3
    assert trials.metric.direction == "min"


def test_wandb_export(real_data):
    trials = lb.read_trials(
        real_data / "eop" / "wandb_host.csv",
        family="env,policy_level,n_trajectories,alg",
        selection="epoch_40/val_vs0_fqe",
        reported="epoch_40/online_vs0",
        direction="max",
    )
    assert len(trials) == 710
    assert trials.metric.cost == "Runtime"
    assert "industrial / high / 9999 / cql" in trials.families
    assert trials.n_failed == 0


def test_wandb_export_says_which_rows_have_no_such_score(real_data):
    trials = lb.read_trials(
        real_data / "eop" / "wandb_host.csv", family="alg", selection="epoch_40/val_vs0_q", direction="max"
    )
    assert trials.n_failed == 420
    assert {one.family for one in trials.cautions if one.code == "failures"} == {"bc"}


@pytest.mark.parametrize(("run", "n_trials"), [(1, 20), (2, 88), (3, 42)])
def test_deepcave_tables(real_data, run, n_trials):
    trials = lb.read_trials(real_data / "deepcave" / f"DataFrame_run_{run}_trials.csv")
    assert trials.n_trials == n_trials
    assert trials.metric.direction == "max"  # "(maximize)" stands in the column's name
    assert trials.metric.bounds == (0.0, 1.0)
    assert trials.n_failed == 0


def test_tau(real_data):
    trials = lb.read_trials(real_data / "tau" / "gpt4o_airline_50x4.csv", cost="n_messages")
    assert len(trials) == 200
    assert len(trials.groups) == 50
    assert np.bincount(trials.group).tolist() == [4] * 50
    assert trials.metric.cost_unit == "messages"
    assert "unequal-groups" not in codes(trials)
    assert "stops-at-success" not in codes(trials)


def test_game_of_24(real_data):
    trials = lb.read_trials(str(real_data / "tot" / "*.csv"), direction="max")
    assert trials.families == ("game24_cot_100", "game24_io_100")
    means = {name: trials[name].selection.mean() for name in trials.families}
    assert means == {"game24_cot_100": pytest.approx(0.0403), "game24_io_100": pytest.approx(0.0734)}
    best = {}
    for name in trials.families:
        one = trials[name]
        best[name] = np.mean([one.selection[one.group == g].max() for g in np.unique(one.group)])
    assert best == {"game24_cot_100": pytest.approx(0.49), "game24_io_100": pytest.approx(0.33)}
    assert caution(trials, "paired-design").value == 100.0


def test_cruxeval(real_data):
    trials = lb.read_trials(real_data / "cruxeval" / "codellama7b_T0.2_input_scored.csv", direction="max")
    assert len(trials) == 8000
    assert len(trials.groups) == 800
    assert trials.selection.mean() == pytest.approx(0.3595, abs=5e-5)


def test_algoperf_checkpoints_are_one_run(real_data):
    path = real_data / "algoperf" / "raw_trial" / "eval_measurements.csv"
    with open(path) as file:
        header, *rows = [line.strip().split(",") for line in file]
    best = max(rows, key=lambda row: float(row[header.index("validation/mean_average_precision")]))
    trials = lb.read_trials(
        path, selection="validation/mean_average_precision", trial="preemption_count", cost="total_duration"
    )
    assert trials.n_trials == 1
    assert trials.reported[0] == float(best[header.index("test/mean_average_precision")])
    assert trials.cost[0] == float(rows[-1][header.index("total_duration")])


def test_one_command_describes_each(real_data, capsys):
    for arguments in (
        ["hedwig/hedwig.tsv"],
        ["hans/berts_of_a_feather_accuracies_by_run.csv"],
        ["tau/gpt4o_airline_50x4.csv"],
        ["deepcave/DataFrame_run_2_trials.csv"],
        ["opda/alexnet_tuning.results.jsonl", "--selection", "learning_curve.top_1"],
    ):
        assert main(["describe", str(real_data / arguments[0]), *arguments[1:], "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["families"]
