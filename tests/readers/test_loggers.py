"""Logs of training, known by name: a run is one trial, however many epochs, dumps or episodes it logged."""

import sys
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.readers.registry import reader_for

sys.path.insert(0, str(Path(__file__).parent))
import logs


def by_family(trials):
    return {name: [round(float(score), 6) for score in trials[name].selection] for name in trials.families}


def test_progress_of_stable_baselines(tmp_path):
    trials = lb.read_trials(logs.stable_baselines(tmp_path / "logs"))
    assert by_family(trials) == {"a2c": [205, 206, 207], "ppo": [105, 106, 107]}
    assert (trials.metric.selection, trials.metric.direction) == ("rollout/ep_rew_mean", "max")
    assert set(trials.seed.tolist()) == {0, 1, 2}
    assert trials.cost.tolist() == [12.0] * 6
    alone = lb.read_trials(tmp_path / "logs" / "ppo_seed1" / "progress.csv")
    assert by_family(alone) == {"ppo_seed1": [106]}


def test_evaluations_come_before_episodes_of_training(tmp_path):
    path = logs.text(
        tmp_path / "x" / "progress.csv",
        "time/total_timesteps,rollout/ep_rew_mean,eval/mean_reward\n100,5,\n200,6,2\n300,9,3\n400,8,\n",
    )
    trials = lb.read_trials(path)
    assert (trials.metric.selection, trials.selection.tolist()) == ("eval/mean_reward", [3.0])


def test_episodes_of_a_monitor_are_no_trials(tmp_path):
    """The last 100 episodes of two environments, which end together, have a reward of 200 each, plus k."""
    trials = lb.read_trials(logs.monitor(tmp_path / "logs"))
    assert by_family(trials) == {"a2c": [201.0] * 3, "ppo": [200.0] * 3}
    assert "an episode is not a trial" in " ".join(map(str, trials.cautions))
    home = tmp_path / "one"
    rows = "".join(f"{reward},1,{reward}\n" for reward in range(1, 31))
    logs.text(home / "monitor.csv", '#{"t_start": 1.0, "env_id": "Pong"}\nr,l,t\n' + rows + "7,1\n")
    one = lb.read_trials(home / "monitor.csv")
    assert one.selection.tolist() == [15.5]  # fewer than 100: the mean of 1 to 30
    assert "1 of its episodes are not whole" in one.skipped[0].why


def test_spinning_up(tmp_path):
    trials = lb.read_trials(logs.spinning_up(tmp_path / "data"))
    assert by_family(trials) == {"ppo": [14, 15, 16], "vpg": [24, 25, 26]}
    assert set(trials.configuration) == {"config.gamma"}
    assert trials.seed.tolist() == [0, 1, 2] * 2


def test_ultralytics(tmp_path):
    trials = lb.read_trials(logs.ultralytics(tmp_path / "detect"))
    assert by_family(trials) == {"yolo11n": [0.33, 0.34, 0.35], "yolo11s": [0.43, 0.44, 0.45]}
    assert "the score of a run is 'metrics/mAP50-95(B)', and not" in " ".join(map(str, trials.cautions))
    assert "/home/me" not in str(trials.configuration)
    loss = lb.read_trials(tmp_path / "detect", selection="val/box_loss")
    assert (loss.metric.direction, loss.selection.tolist()) == ("min", [0.5] * 6)


def test_sacred(tmp_path):
    trials = lb.read_trials(logs.sacred(tmp_path / "runs"))
    assert trials.families == ("mlp", "cnn")
    assert trials["cnn"].selection.tolist()[:3] == pytest.approx([0.62, 0.63, 0.64])
    assert trials.status.tolist() == [0, 0, 0, 1] * 2
    assert trials.cost.tolist() == [60, 120, 180, 240] * 2


@pytest.mark.parametrize(
    ("maker", "reader"),
    [
        (logs.stable_baselines, "stable-baselines3"),
        (logs.monitor, "stable-baselines3"),
        (logs.spinning_up, "spinning-up"),
        (logs.ultralytics, "ultralytics"),
        (logs.sacred, "sacred"),
    ],
)
def test_a_log_that_is_cut_off_costs_itself_alone(tmp_path, maker, reader):
    home = maker(tmp_path / "logs")
    assert reader_for(home).name == reader
    whole = lb.read_trials(home)
    victim = sorted(path for path in home.rglob("*") if path.suffix in (".csv", ".txt") or path.name == "run.json")[-1]
    victim.write_bytes(b"\x00\x01")
    hurt = lb.read_trials(home)
    assert len(whole) - 1 <= len(hurt) + len(hurt.skipped)
    assert hurt.skipped


@pytest.mark.parametrize(
    ("maker", "pattern"),
    [
        (logs.stable_baselines, "*/progress.csv"),
        (logs.monitor, "*/*.monitor.csv"),
        (logs.spinning_up, "*/*/progress.txt"),
        (logs.ultralytics, "*/results.csv"),
        (logs.sacred, "*/run.json"),
    ],
)
def test_several_logs_are_read_as_their_folder_is(tmp_path, maker, pattern):
    home = maker(tmp_path / "logs")
    folder, files = lb.read_trials(home), lb.read_trials(sorted(home.glob(pattern)))
    assert set(files.families) == set(folder.families)
    assert np.array_equal(np.sort(files.selection), np.sort(folder.selection), equal_nan=True)
