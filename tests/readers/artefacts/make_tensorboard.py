"""Write the committed TensorBoard artefacts: python make_tensorboard.py, with ``tensorboard`` installed.

``write_runs`` is also what the tests call to get fresh ones. The committed files are renamed, since the writer puts
the host's name into them.
"""

import shutil
import sys
from pathlib import Path

import tensorboard
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo
from tensorboard.plugins.hparams.summary_v2 import hparams_pb
from tensorboard.summary import Writer
from tensorboard.summary.writer.event_file_writer import EventFileWriter

BEGIN = 1_700_000_000.0


def score(run, step):
    return 0.5 + 0.1 * run - 0.02 * (step - 2) ** 2


def session_end(status):
    """As TensorBoard's own session_end_pb and PyTorch's add_hparams write it."""
    content = HParamsPluginData(session_end_info=SessionEndInfo(status=status), version=0).SerializeToString()
    plugin = SummaryMetadata.PluginData(plugin_name="hparams", content=content)
    value = Summary.Value(tag="_hparams_/session_end_info", metadata=SummaryMetadata(plugin_data=plugin))
    return Summary(value=[value])


def write_runs(home):
    """Four layouts: TensorBoard's own writer, PyTorch's plain values, its add_hparams, and Keras' folders."""
    for run in range(3):  # scalars as tensors, hyperparameters and how it ended
        folder = str(home / "cnn" / f"run{run}")
        plugin = EventFileWriter(folder, filename_suffix=".hparams")
        start = hparams_pb({"lr": 0.01 * (run + 1), "act": "relu", "flag": run > 0})
        plugin.add_event(Event(wall_time=BEGIN + 1000 * run, summary=start))
        status = api_pb2.STATUS_FAILURE if run == 2 else api_pb2.STATUS_SUCCESS
        plugin.add_event(Event(wall_time=BEGIN + 1000 * run + 60, summary=session_end(status)))
        plugin.close()
        writer = Writer(folder)
        for step in range(4):
            moment = BEGIN + 1000 * run + 10 * step
            writer.add_scalar("val/acc", score(run, step), step, wall_time=moment)
            writer.add_scalar(
                "loss", float("nan") if run == 1 and step == 3 else 1 / (step + 1), step, wall_time=moment
            )
        writer.add_scalar("test/acc", 0.4 + 0.1 * run, 100, wall_time=BEGIN + 1000 * run + 50)
        writer.close()
    for run in range(2):  # plain values, and a subfolder named after the time for the hyperparameters
        folder = home / "mlp" / f"run{run}"
        writer = EventFileWriter(str(folder))
        for step in range(3):
            value = Summary.Value(tag="val/acc", simple_value=score(run, step))
            event = Event(wall_time=BEGIN + 10 * step, step=step, summary=Summary(value=[value]))
            writer.add_event(event)
        writer.close()
        child = EventFileWriter(str(folder / "1700000099.25"))
        child.add_event(Event(wall_time=BEGIN + 30, summary=hparams_pb({"width": 2.0**run})))
        value = Summary.Value(tag="final", simple_value=0.25 * run)
        child.add_event(Event(wall_time=BEGIN + 30, summary=Summary(value=[value])))
        child.close()
    for part in ("train", "validation"):
        writer = Writer(str(home / "lstm" / "run0" / part))
        for step in range(2):
            writer.add_scalar("epoch_acc", step + (0.25 if part == "train" else 0.5), step, wall_time=BEGIN + step)
        writer.close()


if __name__ == "__main__":
    folder = Path(__file__).parent / "tensorboard"
    shutil.rmtree(folder, ignore_errors=True)
    write_runs(folder)
    for place, file in enumerate(sorted(folder.rglob("events.out.tfevents.*"))):
        suffix = ".hparams" if file.name.endswith(".hparams") else ""
        file.rename(file.with_name(f"events.out.tfevents.{1700000000 + place}.host.1.0{suffix}"))
    (folder / "VERSIONS").write_text(f"tensorboard {tensorboard.__version__}\npython {sys.version.split()[0]}\n")
