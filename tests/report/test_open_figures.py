"""A plot leaves nothing behind: pyplot keeps the figures of those who use it, and of nobody else."""

import subprocess
import sys

PROGRAM = """
import gc, sys, weakref
import levelbest as lb

curve = lb.curve({"val_acc": [0.5, 0.6, 0.7, 0.8]}, selection="val_acc", direction="max")
figures = [weakref.ref(curve.plot().figure) for _ in range(3)]
gc.collect()
assert "matplotlib.pyplot" not in sys.modules
assert [figure() for figure in figures] == [None] * 3
import matplotlib
matplotlib.use("agg")
from matplotlib import pyplot
axes = curve.plot()
assert pyplot.gcf() is axes.figure
"""


def test_a_plot_that_nobody_keeps_is_gone():
    done = subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
