"""Files that newcomers tried: each reading is checked against what its rows hold."""

import csv

import pytest

import levelbest as lb
from levelbest.cli.main import main


def write(path, rows):
    """A CSV file of dictionaries."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def learning_curves(counter, unit):
    """Six seeds of two algorithms at four checkpoints; the last is the best of each run, 20 apart."""
    return [
        {"algo": algo, "seed": s, counter: int(place * unit), "episode_return": gain * level + (s * 5) % 7 - 3}
        for algo, level in (("PPO", 100), ("DQN", 80))
        for s in range(6)
        for place, gain in ((1, 0.4), (2, 0.6), (5, 0.85), (10, 1))
    ]


@pytest.mark.parametrize("counter", ["step", "timesteps", "total_timesteps", "frames", "env_frames", "num_timesteps"])
def test_steps_in_an_environment_are_checkpoints(counter, tmp_path):
    path = write(tmp_path / "runs.csv", learning_curves(counter, 1e6))
    trials = lb.read_trials(path)
    assert (len(trials), dict(trials.configuration)) == (12, {})
    effect = lb.compare(path).pairs[0].effect
    assert (effect.winner, effect.difference) == ("PPO", pytest.approx(20))


def test_frames_of_a_video_are_a_setting(tmp_path):
    path = write(tmp_path / "runs.csv", learning_curves("frames", 8))
    trials = lb.read_trials(path)
    assert len(trials) == 48
    assert "frames" in trials.configuration
