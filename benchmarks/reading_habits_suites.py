"""Tables of problems and tasks as people keep them: samples of language models, ratings, agents, games, patients."""

from __future__ import annotations

import numpy as np

from _labelled import Labelled, Rng, crossed, pick, scored, some

CHAT = ["gpt-4o-mini", "claude-3-haiku", "Llama-3.1-8B-Instruct", "Qwen2.5-7B", "gemma-2-9b-it"]


def chat_samples(rng: Rng) -> Labelled:
    """Samples of chat models with their text, tokens and a grade."""
    family, group = pick(rng, "model", "model_name", "llm"), pick(rng, "prompt_id", "question", "item", "id")
    score = pick(rng, "correct", "pass", "graded_correct", "exact_match")
    columns = crossed(**{group: range(int(rng.integers(20, 40))), family: some(rng, CHAT, 2, 3), "sample": range(4)})
    rows = len(columns[group])
    chance = np.clip(scored(rng, columns, (family, group), centre=0.5, spread=0.2, noise=0), 0.02, 0.98)
    columns["response"] = [f"The answer is {number}." for number in rng.integers(0, 90, rows)]
    columns["temperature"] = [0.8] * rows
    columns["prompt_tokens"] = [120 + 3 * number for number in columns[group]]
    columns["completion_tokens"] = rng.integers(20, 400, rows).tolist()
    columns[score] = [pick_word if hit else other for hit in rng.random(rows) < chance for pick_word, other in [(1, 0)]]
    if rng.random() < 0.3:
        columns[score] = ["yes" if cell else "no" for cell in columns[score]]
    return Labelled("chat", columns, {"family": family, "group": group, "selection": score}, set(), rows, 2)


def rated_answers(rng: Rng) -> Labelled:
    """Ratings of answers by several people."""
    columns = crossed(
        prompt=[f"p{number:02d}" for number in range(30)], system=some(rng, CHAT, 2, 3), annotator=["A1", "A2", "A3"]
    )
    score = pick(rng, "rating", "helpfulness", "score_1_5", "likert")
    columns[score] = (
        np.clip(np.round(scored(rng, columns, ("system", "prompt"), centre=3.4, spread=0.4, noise=0.8)), 1, 5)
        .astype(int)
        .tolist()
    )
    roles = {"family": "system", "group": "prompt", "selection": score}
    return Labelled("ratings", columns, roles, set(), len(columns[score]), 2, nothing={"annotator"})


def agent_runs(rng: Rng) -> Labelled:
    """Agents on tasks, several attempts each, with money and turns."""
    task, attempt = (
        pick(rng, "task_id", "task", "instance_id", "scenario"),
        pick(rng, "attempt", "trial", "k", "rollout"),
    )
    columns = crossed(
        **{
            "agent": some(rng, ["react", "plan-act", "swe-agent", "baseline"], 2, 3),
            task: [f"task_{number}" for number in range(25)],
            attempt: range(1, 4),
        }
    )
    rows = len(columns["agent"])
    chance = np.clip(scored(rng, columns, ("agent", task), centre=0.45, spread=0.2, noise=0), 0.02, 0.98)
    score = pick(rng, "reward", "solved", "success", "resolved")
    columns[score] = (rng.random(rows) < chance).astype(int).tolist()
    columns["cost_usd"] = rng.gamma(2, 0.1, rows).round(4).tolist()
    columns["n_turns"] = rng.integers(2, 30, rows).tolist()
    columns["termination"] = rng.choice(["agent_stop", "max_turns"], rows).tolist()
    roles = {"family": "agent", "selection": score, "direction": "max"}
    labelled = Labelled("agents", columns, roles | {"group": task}, set(), rows, 2)
    labelled.nothing = {"n_turns", "termination"}
    return labelled


def returns_at_the_end(rng: Rng) -> Labelled:
    """Agents on environments: the final return of each seed."""
    family, task = (
        pick(rng, "agent", "algo", "exp_name", "method"),
        pick(rng, "env", "env_name", "environment", "env_id"),
    )
    envs = some(rng, ["HalfCheetah-v4", "Hopper-v4", "Walker2d-v4", "Ant-v4", "Humanoid-v4"], 2, 5)
    columns = crossed(**{task: envs, family: some(rng, ["PPO", "SAC", "TD3", "REDQ"], 2, 4), "seed": range(5)})
    score = pick(rng, "final_return", "eval/mean_reward", "avg_return", "episodic_return", "mean_return")
    columns[score] = scored(rng, columns, (task, family), centre=4000, spread=900, noise=300, digits=1)
    columns["wallclock_h"] = rng.uniform(2, 9, len(columns[score])).round(2).tolist()
    roles = {"family": family, "task": task, "selection": score, "direction": "max"}
    return Labelled("returns", columns, roles, set(), len(columns[score]), 2)


def returns_over_time(rng: Rng) -> Labelled:
    """One environment: evaluations during training."""
    family, counter = pick(rng, "algo", "agent", "config"), pick(rng, "timesteps", "env_steps", "global_step", "frames")
    columns = crossed(
        **{family: some(rng, ["PPO", "SAC", "TD3"], 2, 3), "seed": range(5), counter: range(10_000, 210_000, 10_000)}
    )
    gain = 2000 * (1 - np.exp(-np.array(columns[counter]) / 60_000))
    score = pick(rng, "eval_return", "episode_reward", "mean_return")
    columns[score] = (
        (np.array(scored(rng, columns, (family, "seed"), centre=300, spread=80, noise=60)) + gain).round(1).tolist()
    )
    runs = 5 * len(set(columns[family]))
    roles = {"family": family, "selection": score, "direction": "max"}
    return Labelled("over-time", columns, roles, set(), runs, 2, ordered=True)


def solvers(rng: Rng) -> Labelled:
    """Heuristics on instances: the gap to the best known solution."""
    family, task = pick(rng, "solver", "heuristic", "algorithm"), pick(rng, "instance", "problem", "graph")
    columns = crossed(
        **{
            task: [f"rand{size}-{number}" for size in (50, 100) for number in range(int(rng.integers(4, 8)))],
            family: some(rng, ["LNS", "tabu", "GA", "SA", "ACO"], 2, 4),
            pick(rng, "seed", "run", "rep"): range(1, 6),
        }
    )
    score = pick(rng, "gap_percent", "gap (%)", "optimality_gap")
    columns[score] = np.abs(scored(rng, columns, (task, family), centre=4, spread=0.8, noise=0.3, digits=3)).tolist()
    columns["time_s"] = rng.uniform(10, 60, len(columns[score])).round(2).tolist()
    roles = {"family": family, "selection": score, "direction": "min"}
    return Labelled("solvers", columns, roles, set(), len(columns[score]), 2)


def recommenders(rng: Rng) -> Labelled:
    """Recommenders on data sets, with the best epoch noted."""
    family = pick(rng, "algo", "recommender", "Model")
    columns = crossed(
        **{
            family: some(rng, ["BPR-MF", "LightGCN", "SASRec", "ItemKNN"], 2, 4),
            "dataset": some(rng, ["ml-1m", "gowalla", "yelp2018", "amazon-books"], 2, 4),
            "seed": [2020, 2021, 2022, 2023, 2024],
        }
    )
    columns["Recall@20"] = scored(rng, columns, (family, "dataset"), centre=0.15, spread=0.02, noise=0.003)
    columns["NDCG@20"] = scored(rng, columns, (family, "dataset"), centre=0.12, spread=0.02, noise=0.003)
    columns["best_epoch"] = rng.integers(20, 200, len(columns["seed"])).tolist()
    roles = {"family": family, "task": "dataset", "selection": ("Recall@20", "NDCG@20"), "direction": "max"}
    return Labelled(
        "recommenders",
        columns,
        roles,
        set(),
        len(columns["seed"]),
        2,
        nothing={"best_epoch"},
        then={"selection": "Recall@20"},
    )


def hospital_folds(rng: Rng) -> Labelled:
    """Segmentation networks by fold and patient."""
    columns = crossed(
        Network=some(rng, ["nnU-Net", "UNETR", "SwinUNETR", "V-Net"], 2, 3),
        Case=[f"case_{number:03d}" for number in range(int(rng.integers(15, 30)))],
    )
    columns["Fold"] = [int(case[-1]) % 5 for case in columns["Case"]]
    columns["Dice"] = np.clip(
        scored(rng, columns, ("Network", "Case"), centre=0.84, spread=0.04, noise=0.02), 0, 1
    ).tolist()
    columns["HD95 (mm)"] = rng.gamma(3, 2, len(columns["Case"])).round(2).tolist()
    roles = {"family": "Network", "selection": ("Dice", "HD95 (mm)"), "group": "Case"}
    return Labelled("segmentation", columns, roles, set(), len(columns["Case"]), 2)


def speech(rng: Rng) -> Labelled:
    """Recognisers on test sets, by seed: word error rates."""
    columns = crossed(
        **{
            pick(rng, "system", "model", "recipe"): some(
                rng, ["conformer", "whisper-small", "wav2vec2", "zipformer"], 2, 4
            ),
            pick(rng, "test_set", "testset", "subset"): some(rng, ["test-clean", "test-other", "ted", "ami"], 2, 4),
            "seed": range(4),
        }
    )
    family, task, _ = columns
    columns["WER"] = scored(rng, columns, (family, task), centre=8, spread=1.5, noise=0.2, digits=2)
    return Labelled(
        "speech",
        columns,
        {"family": family, "task": task, "selection": "WER", "direction": "min"},
        set(),
        len(columns["WER"]),
        2,
    )


ANSWERS = (chat_samples, rated_answers, agent_runs, returns_at_the_end, returns_over_time)
BENCHMARKS = (solvers, recommenders)
PATIENTS = (hospital_folds, speech)
