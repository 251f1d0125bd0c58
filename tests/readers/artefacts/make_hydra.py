"""Write the committed Hydra artefact: python make_hydra.py, with ``hydra-core`` installed.

``run`` is also what the tests call to get a fresh one. From hydra.yaml only what the reader looks at is committed: the
rest is Hydra's help text and the paths of this machine.
"""

import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path


def run(folder):
    """Six jobs, of which those of width 8 fail. Hydra ends with an error, and the folders are there."""
    app = Path(__file__).with_name("hydra_app.py")
    Path(folder).parent.mkdir(parents=True, exist_ok=True)
    overrides = ["+lr=0.01,1e-3,0.02", "+net.width=2,8", "+net.name=cnn", "+seed=7", f"hydra.sweep.dir={folder}"]
    command = [sys.executable, str(app), "-m", *overrides]
    return subprocess.run(command, cwd=Path(folder).parent, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    folder = Path(__file__).parent / "hydra"
    shutil.rmtree(folder, ignore_errors=True)
    run(folder.resolve() / "multirun")
    for file in folder.rglob("*.log"):
        file.unlink()
    (folder / "multirun" / "multirun.yaml").unlink()
    for file in folder.rglob("hydra.yaml"):
        text = file.read_text()
        blocks = [re.search(rf"^  {name}:\n(?:    .*\n)*", text, re.MULTILINE)[0] for name in ("sweeper", "job")]
        file.write_text("hydra:\n" + "".join(blocks))
    python = sys.version.split()[0]
    (folder / "VERSIONS").write_text(
        f"hydra-core {version('hydra-core')}\nomegaconf {version('omegaconf')}\npython {python}\n"
    )
