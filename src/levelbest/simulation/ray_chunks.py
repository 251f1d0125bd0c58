"""Chunks of a simulation as tasks of Ray Core, on the cluster that ``RAY_ADDRESS`` names or on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from levelbest._check import FloatArray
from levelbest.errors import DataError, MissingExtra
from levelbest.simulation.battery import Plan, run_chunk


def run_on_ray(plan: Plan, truth: FloatArray, todo: Sequence[int]) -> Iterator[tuple[int, dict[str, object]]]:
    """Finished chunks as they come. A task whose worker died runs again: its number and the seed decide the result."""
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "ray") from None
    ours = not ray.is_initialized()
    if ours:
        address = os.environ.get("RAY_ADDRESS")
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
    try:
        shared = ray.put((plan, truth))
        task = ray.remote(_chunk)
        waiting = [task.remote(shared, chunk) for chunk in todo]
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from ray.get(done)
    except ray.exceptions.RayError as error:
        raise DataError(f"the Ray cluster lost the simulation: {type(error).__name__}; run it again") from error
    finally:
        if ours:
            ray.shutdown()


def _chunk(shared: tuple[Plan, FloatArray], chunk: int) -> tuple[int, dict[str, object]]:
    return chunk, run_chunk(*shared, chunk)
