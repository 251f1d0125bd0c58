"""What is shipped from others is what they published, and nobody edited it: checksums beside it."""

import hashlib
from importlib import resources


def test_vendored_files_are_as_they_were_published():
    assets = resources.files("levelbest") / "report" / "page" / "assets"
    lines = [line.split() for line in (assets / "uPlot.sha256").read_text(encoding="ascii").splitlines()]
    known = {name: digest for digest, name in (line for line in lines if line[0] != "#")}
    vendored = {file.name for file in assets.iterdir() if file.name.startswith("uPlot.")} - {"uPlot.sha256"}
    assert set(known) == vendored
    for name, digest in known.items():
        assert hashlib.sha256((assets / name).read_bytes()).hexdigest() == digest, name
    assert b"(v1.6.32)" in (assets / "uPlot.iife.min.js").read_bytes()[:100]
