"""A fast stand-in for training: gradient descent on a curved valley with noise, scored on two noisy copies of it.

With too large a learning rate the descent diverges and the trial fails.
"""

import random
from typing import Any


def objective(config: dict[str, Any], seed: int) -> dict[str, float]:
    """Descend, and say where it ended."""
    draw = random.Random(seed)
    place, speed = [draw.uniform(-2, 2), draw.uniform(-1, 3)], [0.0, 0.0]
    for step in range(config["steps"]):
        x, y = place
        slope = [4 * x * (x * x - y) + 2 * (x - 1), 2 * (y - x * x)]
        for i in (0, 1):
            pull = slope[i] + draw.gauss(0, 0.3)
            pull = (pull > 0) - (pull < 0) if config["rule"] == "sign" else pull
            speed[i] = config.get("keep", 0) * speed[i] - config["rate"] * pull
            place[i] += speed[i]
        if max(map(abs, place)) > 1e3:
            raise ArithmeticError(f"diverged at step {step}: a rate of {config['rate']:.2g} is too large")
    x, y = place
    loss = (x - 1) ** 2 + (y - x * x) ** 2
    return {"val_loss": loss + abs(draw.gauss(0, 0.02)), "test_loss": loss + abs(draw.gauss(0, 0.02))}
