"""Logs and results of tools in the shapes that they write, made of numbers that a test can foresee."""

import json


def text(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def document(path, content):
    return text(path, json.dumps(content, indent=2))


def stable_baselines(folder, *, algorithms=("ppo", "a2c"), seeds=3, dumps=6):
    """Loggers' progress.csv: sparse rows, the best mean reward of run s of algorithm k is 100 (k + 1) + s + 5."""
    for k, algorithm in enumerate(algorithms):
        for s in range(seeds):
            names = "rollout/ep_len_mean,rollout/ep_rew_mean,time/fps,time/iterations,time/time_elapsed,"
            rows = [names + "time/total_timesteps,train/loss,train/n_updates"]
            for dump in range(dumps):
                reward = 100 * (k + 1) + s + dump
                rows.append(f"{reward},{reward},900,{dump + 1},{2 * (dump + 1)},{2048 * (dump + 1)},{1 / (dump + 1)},")
                rows.append(f",,,,,{2048 * (dump + 1)},{0.5 / (dump + 1)},{10 * dump}")
            text(folder / f"{algorithm}_seed{s}" / "progress.csv", "\n".join(rows) + "\n")
    return folder


def monitor(folder, *, algorithms=("ppo", "a2c"), runs=3, episodes=250):
    """Monitor's episodes: rewards rise from 0 by 1 and end at 200, of two environments; k is added for algorithm k."""
    for k, algorithm in enumerate(algorithms):
        for run in range(1, runs + 1):
            for env in range(2):
                head = "#" + json.dumps({"t_start": 1575000000.0, "env_id": "CartPole-v1"})
                rows = [f"{min(e, 200) + k},{min(e, 200)},{e + 0.1 * env}" for e in range(episodes)]
                home = folder / f"{algorithm}_{run}"
                text(home / f"{env}.monitor.csv", "\n".join([head, "r,l,t", *rows]) + "\n")
    return folder


def spinning_up(folder, *, names=("ppo", "vpg"), seeds=3, epochs=5):
    """progress.txt of Spinning Up: the best return of seed s of algorithm k is 10 (k + 1) + s + 4."""
    for k, name in enumerate(names):
        for s in range(seeds):
            rows = ["Epoch\tAverageEpRet\tStdEpRet\tMaxEpRet\tMinEpRet\tEpLen\tTotalEnvInteracts\tLossPi\tTime"]
            for epoch in range(epochs):
                score = 10 * (k + 1) + s + epoch
                rows.append(
                    f"{epoch}\t{score}\t1.5\t{score + 9}\t{score - 9}\t20\t{4000 * (epoch + 1)}\t-.1\t{epoch + 1}"
                )
            home = folder / name / f"{name}_s{s}"
            text(home / "progress.txt", "\n".join(rows) + "\n")
            document(home / "config.json", {"exp_name": name, "seed": s, "gamma": 0.99, "logger": {"x": "y" * 400}})
    return folder


def ultralytics(folder, *, models=("yolo11n.pt", "yolo11s.pt"), runs=3, epochs=4):
    """results.csv with padded names: the best mAP50-95 of run r of model k is .3 + .1 k + .01 r + .03."""
    names = ["epoch", "time", "train/box_loss", "metrics/precision(B)", "metrics/recall(B)", "metrics/mAP50(B)"]
    names += ["metrics/mAP50-95(B)", "val/box_loss", "lr/pg0"]
    place = 0
    for k, model in enumerate(models):
        for r in range(runs):
            rows = [",".join(f"{name:>23}" for name in names)]
            for epoch in range(1, epochs + 1):
                score = 0.3 + 0.1 * k + 0.01 * r + 0.01 * (epoch - 1)
                cells = [epoch, 10 * epoch, 1 / epoch, 0.9, 0.8, score + 0.2, score, 2 / epoch, 0.01 / epoch]
                rows.append(",".join(f"{cell:>23.6g}" for cell in cells))
            home = folder / ("train" if place == 0 else f"train{place + 1}")
            text(home / "results.csv", "\n".join(rows) + "\n")
            text(home / "args.yaml", f"task: detect\nmodel: {model}\nseed: {r}\nlr0: 0.01\nsave_dir: /home/me/runs\n")
            place += 1
    return folder


def sacred(folder, *, names=("mlp", "cnn"), runs=4):
    """Runs of two experiments: the best val.acc of run r of experiment k is .52 + .1 k + .01 r; the last failed."""
    for number in range(1, len(names) * runs + 1):
        k, r = divmod(number - 1, runs)
        home = folder / str(number)
        status = "FAILED" if r == runs - 1 else "COMPLETED"
        about = {"experiment": {"name": names[k], "base_dir": "/x"}, "status": status, "result": None, "host": {}}
        about |= {"start_time": "2026-01-01T10:00:00.000000", "stop_time": f"2026-01-01T10:0{r + 1}:00.000000"}
        document(home / "run.json", about)
        document(home / "config.json", {"lr": 0.1 * (r + 1), "seed": 1000 + number})
        values = [0.5 + 0.1 * k + 0.01 * r + 0.01 * step for step in range(3)]
        series = {"steps": [0, 1, 2], "timestamps": ["2026-01-01T10:00:00"] * 3, "values": values}
        document(home / "metrics.json", {"val.acc": series} if status == "COMPLETED" else {})
    text(folder / "_sources" / "train_1.py", "pass\n")
    return folder


def tau2(folder, *, agents=("gpt-5", "claude"), tasks=10, trials=4):
    """tau2-bench: agent k gets task t right in trials below (t + 5 k) % 5; one simulation never ran."""
    for k, agent in enumerate(agents):
        info = {"git_commit": "abc", "num_trials": trials, "max_steps": 200, "max_errors": 10, "seed": 300}
        info |= {
            "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1", "llm_args": {"temperature": 0.0}},
            "agent_info": {"implementation": "llm_agent", "llm": agent, "llm_args": {"temperature": 0.0}},
            "environment_info": {"domain_name": "airline", "policy": "# Policy"},
        }
        simulations = []
        for trial in range(trials):
            for task in range(tasks):
                right = trial < (task + 2 * k) % 5
                simulation = {"id": f"{agent}-{task}-{trial}", "task_id": str(task), "trial": trial, "seed": 7 + trial}
                simulation |= {"start_time": "2026-01-01T00:00:00", "duration": 60.0 + task, "agent_cost": 0.02}
                simulation |= {"termination_reason": "user_stop", "messages": [{"role": "user", "content": "hi"}]}
                simulation["reward_info"] = {"reward": float(right), "reward_basis": ["DB"], "info": None}
                simulations.append(simulation)
        simulations[-1] |= {"termination_reason": "infrastructure_error", "reward_info": {"reward": 0.0}}
        results = {"timestamp": "2026-01-01", "info": info, "tasks": [{"id": str(task)} for task in range(tasks)]}
        document(folder / f"{agent}_airline.json", results | {"simulations": simulations})
    return folder


def harbor(folder, *, agents=("terminus-2", "claude-code"), tasks=8, attempts=3):
    """Harbor: agent k solves task t in attempts below (t + k) % 4; one trial ended in an exception without a reward."""
    for k, agent in enumerate(agents):
        job = folder / f"2026-01-0{k + 1}__10-00-00"
        document(job / "config.json", {"job_name": job.name, "n_attempts": attempts})
        document(job / "result.json", {"id": "x", "n_total_trials": tasks * attempts, "stats": {"n_errors": 1}})
        for task in range(tasks):
            for attempt in range(attempts):
                name = f"task-{task}__{'abcdef'[attempt]}{k}"
                lost = (task, attempt) == (tasks - 1, attempts - 1)
                trial = {"id": name, "task_name": f"task-{task}", "trial_name": name, "trial_uri": "file:///x"}
                trial |= {"task_id": {"path": f"tasks/task-{task}"}, "source": "terminal-bench", "task_checksum": "1"}
                trial |= {"config": {"agent": {"name": agent, "model_name": "org/m1"}}}
                trial["agent_info"] = {"name": agent, "version": "2", "model_info": {"name": "m1", "provider": "org"}}
                trial["agent_result"] = {"n_input_tokens": 1000, "n_output_tokens": 50, "cost_usd": 0.1}
                reward = {"rewards": {"reward": float(attempt < (task + k) % 4)}}
                trial["verifier_result"] = None if lost else reward
                trial["exception_info"] = {"exception_type": "DockerError", "exception_message": ""} if lost else None
                trial |= {
                    "started_at": f"2026-01-01T10:0{attempt}:00Z",
                    "finished_at": f"2026-01-01T10:0{attempt + 1}:30Z",
                }
                document(job / name / "result.json", trial)
                document(job / name / "config.json", {"trial_name": name})
    return folder


def terminal_bench(folder, *, models=("m1", "m2"), tasks=8, attempts=2):
    """Terminal-Bench before Harbor: model k solves task t in attempts below (t + k) % 3; a task has no verdict."""
    for k, model in enumerate(models):
        run = folder / f"run-{model}"
        results = []
        for task in range(tasks):
            for attempt in range(attempts):
                lost = (task, attempt) == (0, 0)
                trial = {"id": "x", "trial_name": f"t{task}.{attempt}", "task_id": f"task-{task}", "instruction": "do"}
                trial |= {
                    "is_resolved": None if lost else attempt < (task + k) % 3,
                    "parser_results": {"test": "passed"},
                }
                trial |= {"failure_mode": "unknown_agent_error" if lost else "unset", "total_input_tokens": 100}
                trial |= {"trial_started_at": "2025-01-01T00:00:00", "trial_ended_at": "2025-01-01T00:01:00"}
                results.append(trial)
                document(run / f"task-{task}" / f"t{task}.{attempt}" / "results.json", trial)
        document(run / "results.json", {"id": "x", "results": results, "pass_at_k": {"1": 0.5}, "accuracy": 0.5})
        about = {"run_id": run.name, "agent_name": "terminus", "model_name": model, "dataset_name": "core"}
        document(run / "run_metadata.json", about)
    return folder


def swe_bench(folder, *, models=("model-a", "model-b"), instances=20):
    """Reports of runs: model k resolves instance i where i % (k + 2) == 0; the last two are an error and empty."""
    names = [f"django__django-{i}" for i in range(instances)]
    for k, model in enumerate(models):
        done = names[:-2]
        resolved = [name for i, name in enumerate(done) if i % (k + 2) == 0]
        report = {"total_instances": instances + 5, "submitted_instances": instances, "schema_version": 2}
        report |= {"completed_ids": done, "submitted_ids": names, "resolved_ids": resolved}
        report |= {"unresolved_ids": [name for name in done if name not in resolved], "error_ids": [names[-2]]}
        report |= {"empty_patch_ids": [names[-1]], "incomplete_ids": [f"flask-{i}" for i in range(5)]}
        document(folder / f"{model}.run1.json", report)
    return folder


def swe_bench_instances(folder, *, models=("model-a", "model-b"), instances=6):
    """Reports of single instances, as the harness leaves them in its logs."""
    for k, model in enumerate(models):
        for i in range(instances):
            told = {"patch_is_None": False, "patch_exists": True, "patch_successfully_applied": True}
            name = f"django__django-{i}"
            home = folder / "run1" / model / name
            document(home / "report.json", {name: told | {"resolved": i % (k + 2) == 0, "tests_status": {}}})
    return folder


def promptfoo(folder, *, providers=("openai:gpt-4.1", "anthropic:sonnet"), tests=12, repeats=2):
    """promptfoo: provider k passes test t where t % (k + 2) == 0; the last call of each failed."""
    results = []
    for repeat in range(repeats):
        for test in range(tests):
            for k, provider in enumerate(providers):
                good = test % (k + 2) == 0
                lost = (repeat, test) == (repeats - 1, tests - 1)
                result = {
                    "promptIdx": k,
                    "testIdx": repeat * tests + test,
                    "promptId": "p",
                    "success": good and not lost,
                }
                result |= {
                    "provider": {"id": provider, "label": ""},
                    "prompt": {"raw": "Say {{q}}", "label": "Say {{q}}"},
                }
                result |= {
                    "vars": {"q": f"question {test}"},
                    "testCase": {"vars": {"q": f"question {test}"}, "assert": []},
                }
                result |= {"score": float(good and not lost), "latencyMs": 400 + test, "cost": 0.001, "namedScores": {}}
                result |= {
                    "failureReason": 2 if lost else 0 if good else 1,
                    "gradingResult": {"pass": good, "score": 1},
                }
                results.append(result | ({"error": "429"} if lost else {}))
    output = {"version": 3, "timestamp": "2026-01-01", "prompts": [], "results": results, "stats": {"successes": 1}}
    document(folder / "output.json", {"evalId": "eval-1", "results": output, "config": {}, "shareableUrl": None})
    return folder / "output.json"


def deepeval(folder, *, models=("gpt-4.1", "gpt-4o"), cases=12):
    """DeepEval: model k passes case c where c % (k + 2) == 0; one case has no scores."""
    for k, model in enumerate(models):
        listed = []
        for case in range(cases):
            good = case % (k + 2) == 0
            metric = {"name": "Answer Relevancy", "score": 0.9 if good else 0.2, "threshold": 0.5, "success": good}
            if case == cases - 1:
                metric |= {"score": None, "success": False, "error": "judge timed out"}
            told = {"name": f"test_case_{case}", "input": f"q{case}", "actualOutput": "a", "success": metric["success"]}
            listed.append(told | {"metricsData": [metric], "runDuration": 2.0, "order": case})
        run = {"testCases": listed, "conversationalTestCases": [], "metricsScores": [], "testPassed": 1}
        document(folder / f"{model}.json", run | {"hyperparameters": {"model": model}, "runDuration": 9.0})
    return folder
