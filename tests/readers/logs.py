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
