"""The program that Hydra runs for the artefacts: a score from the configuration, a failure, and a log of steps."""

import json
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig


@hydra.main(version_base=None, config_path=None, config_name=None)
def main(config: DictConfig) -> None:
    folder = Path(HydraConfig.get().runtime.output_dir)
    if config.net.width == 8:
        raise MemoryError("too wide")
    score = 0.5 + config.lr * config.net.width
    (folder / "metrics.json").write_text(json.dumps({"val": {"acc": score}, "test": {"acc": score - 0.1}}))
    lines = [{"step": step, "val_acc": score - 0.1 * (step - 1) ** 2} for step in range(3)]
    (folder / "steps.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
