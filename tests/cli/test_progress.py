"""Progress is for a person who waits at a terminal: not for files, pipes or quick commands."""

import io
import time

from levelbest.cli.main import working


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def test_quick_work_says_nothing(monkeypatch):
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with working("comparing"):
        pass
    assert terminal.getvalue() == ""


def test_slow_work_shows_seconds_and_leaves_no_trace(monkeypatch):
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("levelbest.cli.main._PATIENCE", 0.02)
    with working("comparing"):
        time.sleep(0.2)
    shown = terminal.getvalue()
    assert shown.startswith("\rcomparing ... 0 s")
    assert shown.endswith("\r\x1b[2K")
    assert "\n" not in shown


def test_a_pipe_hears_nothing(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    monkeypatch.setattr("levelbest.cli.main._PATIENCE", 0.01)
    with working("comparing"):
        time.sleep(0.05)
    assert pipe.getvalue() == ""


def test_an_error_clears_the_line_too(monkeypatch):
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("levelbest.cli.main._PATIENCE", 0.02)
    try:
        with working("comparing"):
            time.sleep(0.1)
            raise ValueError
    except ValueError:
        pass
    assert terminal.getvalue().endswith("\r\x1b[2K")
