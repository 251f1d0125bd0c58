"""The live page: who may read it, what it says, and that it follows a study without a reload."""

import asyncio
import contextlib
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import anyio
import httpx
import numpy as np
import psutil
import pytest
from live_ledgers import HOSTILE, SPACE, ended, failed, fill, opening, started

from levelbest.cli.main import main
from levelbest.designs.compare import compare
from levelbest.errors import InputError
from levelbest.readers import read_trials
from levelbest.run.ledger import Entry, Ledger
from levelbest.stats.bands._anytime import anytime_quantile_interval
from levelbest.web.broadcast import Broadcaster
from levelbest.web.data import LiveData, NotFinished
from levelbest.web.guard import allowed_host, host_of
from levelbest.web.server import Server


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "study.db", opening(20, ("cnn", HOSTILE))) as found:
        yield found


@contextlib.contextmanager
def serving(path, **options):
    server = Server(path, **options)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(20)
        assert not thread.is_alive()


@contextlib.contextmanager
def reading(path):
    """A client of a real server, with the server's token."""
    with serving(path) as server, httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=60) as found:
        found.token = server.token
        yield found


@pytest.fixture
def client(ledger):
    with reading(ledger.path) as found:
        yield found


# --- who may read


def test_every_address_needs_the_token(client):
    for place in ("", "events", "state", "trial", "report"):
        for start in ("", "wrong/", client.token[:-1] + "/", client.token + "-/", "%F0%9F%92%A9/"):
            assert client.get(f"/{start}{place}").status_code == 403, (start, place)
    assert client.get(f"/{client.token}").status_code == 403
    assert client.get("/favicon.ico").status_code == 403
    assert client.get(f"/{client.token}/").status_code == 200
    assert client.get(f"/{client.token}/nothing").status_code == 404


def test_other_host_names_are_refused(client):
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "[::2]:80", "192.168.0.5"):
        assert client.get(f"/{client.token}/", headers={"host": host}).status_code == 403, host
    for host in ("localhost", "LOCALHOST:9", "127.0.0.1:8000", "[::1]:8000"):
        assert client.get(f"/{client.token}/", headers={"host": host}).status_code == 200, host


def test_bound_to_everything_it_answers_numeric_addresses_and_named_hosts():
    hosts = frozenset({"here.example"})
    for header, allowed in (("here.example", True), ("10.1.2.3:80", True), ("[fe80::1]:80", True), ("", False),
                            ("evil.example", False), ("10.1.2.3.evil.example", False), ("0x7f.1", False)):  # fmt: skip
        assert allowed_host(host_of(header), hosts, True) is allowed, header
        assert allowed_host(host_of(header), hosts, False) is (header == "here.example")


def test_nothing_can_be_changed(client, ledger):
    before = hashlib.sha256(ledger.path.read_bytes()).digest()
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        for place in ("", "events", "state", "trial", "report"):
            assert client.request(method, f"/{client.token}/{place}").status_code == 405, method
    assert hashlib.sha256(ledger.path.read_bytes()).digest() == before


def test_headers_forbid_what_the_page_does_not_need(client):
    for place in ("", "state", "trial?family=cnn&trial=x", "report", "nothing"):
        for start in (f"{client.token}/", ""):
            headers = client.get(f"/{start}{place}").headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cache-control"] == "no-store"
            rules = dict(rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";"))
            assert rules["default-src"] == "'none'"
            assert rules["frame-ancestors"] == "'none'"
            assert not any("unsafe" in rule or "*" in rule or "http" in rule for rule in rules.values())
    rules = client.get(f"/{client.token}/").headers["content-security-policy"]
    assert "connect-src 'self'" in rules
    assert rules.count("'sha256-") == 2


def test_the_page_holds_the_studys_name_as_text(client):
    page = client.get(f"/{client.token}/").text
    assert HOSTILE not in page
    assert "valid at every look" in page.replace("\n", " ")


def test_the_page_is_packed_for_those_who_can_unpack_it(client):
    plain = client.get(f"/{client.token}/", headers={"accept-encoding": "identity"})
    for accepted in ("gzip", "br;q=1, gzip;q=0.5", "deflate,gzip"):
        packed = client.get(f"/{client.token}/", headers={"accept-encoding": accepted})
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.text == plain.text
        assert int(packed.headers["content-length"]) < len(plain.content) / 2
    for accepted in ("br", "gzip;q=0", "gzip; q=0.000, br", ""):
        answer = client.get(f"/{client.token}/", headers={"accept-encoding": accepted})
        assert "content-encoding" not in answer.headers, accepted


def test_all_readers_are_handed_the_very_same_bytes():
    """One look at the ledger and one message for all, however many read."""

    async def follow() -> tuple[int, list[list[bytes]]]:
        looks = 0

        def state() -> bytes:
            nonlocal looks
            looks += 1
            return b"{}"

        stopped = False
        broadcaster = Broadcaster(state, lambda: stopped)

        async def read() -> list[bytes]:
            return [message async for message in broadcaster.stream()]

        readers = [asyncio.create_task(read()) for _ in range(50)]
        running = asyncio.create_task(broadcaster.run())
        while broadcaster._version == 0:
            await asyncio.sleep(0.01)
        stopped = True
        await running
        return looks, await asyncio.gather(*readers)

    looks, found = asyncio.run(follow())
    assert looks == 1
    assert [len(messages) for messages in found] == [2] * 50
    assert {id(messages[1]) for messages in found} == {id(found[0][1])}
    assert found[0][1] == b"id: 1\ndata: {}\n\n"


def test_readers_that_leave_hold_up_nobody(monkeypatch):
    """They are cancelled wherever they wait, again and again until they are gone (as Starlette does)."""
    monkeypatch.setattr("levelbest.web.broadcast._POLL", 0.01)

    async def come_and_go() -> tuple[int, int]:
        count = itertools.count()
        stopped = False
        broadcaster = Broadcaster(lambda: b"%d" % next(count), lambda: stopped)
        running = asyncio.create_task(broadcaster.run())
        events = 0

        async def read(seconds: float) -> None:
            nonlocal events
            with anyio.move_on_after(seconds):
                async for _ in broadcaster.stream():
                    events += 1

        for turn in range(10):
            async with anyio.create_task_group() as group:
                for _ in range(30):
                    group.start_soon(read, 0.03 + 0.001 * turn)
        events = 0
        await read(0.5)
        stopped = True
        await running
        return events, broadcaster._readers

    events, readers = asyncio.run(asyncio.wait_for(come_and_go(), 60))
    assert events > 2
    assert readers == 0


def test_one_bad_look_does_not_end_the_page(monkeypatch, caplog):
    monkeypatch.setattr("levelbest.web.broadcast._POLL", 0.01)

    async def follow() -> list[bytes]:
        looks = itertools.count()
        stopped = False

        def state() -> bytes:
            if next(looks) == 0:
                raise RuntimeError("no luck")
            return b"{}"

        broadcaster = Broadcaster(state, lambda: stopped)
        running = asyncio.create_task(broadcaster.run())
        found = []
        async for message in broadcaster.stream():
            found.append(message)
            stopped = len(found) == 2
        await running
        return found

    assert asyncio.run(asyncio.wait_for(follow(), 60))[1] == b"id: 1\ndata: {}\n\n"
    assert "no luck" in caplog.text


# --- what it says


def test_progress_counts_and_the_prefix(ledger, client):
    ledger.append([started(0), started(1), started(2), started(0, 1)])
    ledger.append([ended(0, 0.25), ended(2, 0.75), failed(ledger.path, 0, 1)])
    state = client.get(f"/{client.token}/state").json()
    first, second = state["families"]
    counts = ("planned", "finished", "running", "failed", "prefix")
    assert [first[key] for key in counts] == [20, 2, 1, 0, 1]
    assert [second[key] for key in counts] == [20, 1, 0, 1, 1]
    # trial 2 ended before trial 1, and waits: the curve is that of trial 0 alone
    assert [(c["family"], c["x"], c["value"]) for c in state["curves"]] == [("cnn", [1], [0.25])]
    assert state["curves"][0]["low"] == [None]
    assert "no limits before the first look, at 10" in state["note"]
    assert state["failures"] == [{"family": HOSTILE, "trial": 0, "status": "failed", "reason": f"exit 1: {HOSTILE}"}]
    assert state["head"] == ledger.chain.head
    assert not state["finished"]


def _settle(data):
    before = None
    while (now := data.state()) is not before:
        before = now
    return json.loads(now)


@pytest.mark.parametrize("direction", ["max", "min"])
def test_limits_are_those_that_hold_at_every_look_for_all_families(tmp_path, direction):
    with Ledger.create(tmp_path / "s.db", opening(30, ("a", "b"), direction)) as ledger:
        scores = fill(ledger, 24, 2)
        data = LiveData(ledger.path)
        state = _settle(data)
        data.close()
    for curve, values in zip(state["curves"], scores, strict=True):
        wanted = anytime_quantile_interval(
            values, np.unique(np.geomspace(1, 30, 40).round()).astype(int),
            confidence=0.975, simultaneous=True, last=30, direction=direction,
        )  # fmt: skip
        count = len(curve["x"])
        for key, limit in (("low", wanted.low), ("high", wanted.high)):
            shown = [np.inf if one is None else one for one in curve[key]]
            np.testing.assert_array_equal(np.where(np.isfinite(limit), limit, np.inf)[:count], shown)
        assert curve["n_trials"] == 24
        assert max(curve["x"]) <= 24
    better, worse = ("b", "a") if direction == "max" else ("a", "b")
    assert state["verdict"].startswith("With 5 trials, so far: ")
    assert re.match(rf"1( to \d+)? trials?: {better}; ", state["conditions"])
    assert not re.search(rf": {worse}[;.]", state["conditions"])


def test_a_failed_trial_is_no_limit_and_never_helps(tmp_path):
    path = tmp_path / "s.db"
    with Ledger.create(path, opening(20, ("a",))) as ledger:
        for trial in range(20):
            ledger.append([started(trial)])
            ledger.append([failed(path, trial) if trial % 4 else ended(trial, 0.1 * trial)])
        data = LiveData(path)
        curve = _settle(data)["curves"][0]
        data.close()
    # three quarters failed, so that half of all single trials are worse than every score
    assert curve["low"][0] is None
    assert curve["value"][0] == 0.0
    assert all(one is None or one >= 0 for one in curve["low"] + curve["high"])


def test_few_planned_trials_and_no_score_are_explained(tmp_path):
    for name, entries, words in (
        ("few", opening(5, ("a",)), "Fewer than 10 trials are planned"),
        ("none", opening(20, ("a",), None), "names no selection score"),
    ):
        with Ledger.create(tmp_path / f"{name}.db", entries) as ledger:
            ledger.append([started(0), ended(0, 0.5)])
            data = LiveData(ledger.path)
            assert words in _settle(data)["note"]
            data.close()


def test_a_trial_with_its_log(ledger, client):
    ledger.append([started(0), failed(ledger.path, 0)])
    client.get(f"/{client.token}/state")
    found = client.get(f"/{client.token}/trial", params={"family": "cnn", "trial": "0"})
    assert found.headers["content-type"] == "application/json"
    assert HOSTILE in found.json()["log"]
    assert found.json()["log"].endswith("last line\n")
    assert found.json()["config"] == SPACE.draw(3, 0, 0)[0]
    assert found.json()["config"]["note"] == HOSTILE
    for family, trial, status in (("cnn", "7", 404), ("other", "0", 404), ("cnn", "../0", 400), ("cnn", "", 400)):
        answer = client.get(f"/{client.token}/trial", params={"family": family, "trial": trial})
        assert answer.status_code == status
        assert answer.headers["content-type"].startswith("text/plain")


def test_a_log_that_points_elsewhere_is_not_read(ledger, client, tmp_path):
    (tmp_path / "secret").write_text("secret")
    for trial, name in enumerate(("../secret", str(tmp_path / "secret"))):
        body = {"scores": {}, "wall": 1.0, "cpu": 0.5, "cost": 1.0, "log": name}
        ledger.append([started(trial), Entry("end", body, 0, trial, 1, "failed")])
        client.get(f"/{client.token}/state")
        assert client.get(f"/{client.token}/trial", params={"family": "cnn", "trial": trial}).json()["log"] == ""


def test_the_report_waits_for_the_end(tmp_path):
    path = tmp_path / "s.db"
    with Ledger.create(path, opening(6, ("a", "b"))) as ledger:
        fill(ledger, 5, 2)
        with reading(path) as client:
            early = client.get(f"/{client.token}/report")
            assert early.status_code == 409
            assert "fixed in advance" in early.text
            for family in range(2):
                ledger.append([started(5, family), ended(5, 0.1 + family, family)])
            done = client.get(f"/{client.token}/report")
            assert done.status_code == 200
            assert done.headers["content-type"].startswith("text/html")
            assert "frame-ancestors 'none'" in done.headers["content-security-policy"]
            summary = compare(read_trials(path)).summary
            text = " ".join(re.sub(r"<[^>]+>", "", done.text).split())
            assert all(sentence in text for sentence in summary[1:])  # the answer itself stands in large type
    assert {one.name for one in tmp_path.iterdir()} <= {"s.db", "s.db-wal", "s.db-shm"}


def test_the_report_before_the_end_is_an_error_in_python_too(ledger):
    data = LiveData(ledger.path)
    with pytest.raises(NotFinished, match="every planned trial has ended"):
        data.report()
    data.close()


# --- the server


def test_events_follow_the_ledger_and_end_with_the_server(ledger):
    with serving(ledger.path) as server:
        assert server.address.startswith("http://127.0.0.1:")
        with httpx.stream("GET", server.address + "events", timeout=20) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            states = (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))
            assert next(states)["families"][0]["finished"] == 0
            ledger.append([started(0), ended(0, 0.5)])
            assert next(one for one in states if one["families"][0]["finished"] == 1)["head"] == ledger.chain.head
            server.stop()
            assert list(states) == []  # the stream ends, and no reader keeps the server alive
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.address)


def test_tokens_differ_and_a_taken_port_is_explained(ledger):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InputError, match="choose another port="):
        Server(ledger.path, port=taken.getsockname()[1])
    tokens = set()
    for _ in range(3):
        server = Server(ledger.path)
        server._socket.close()
        assert len(server.token) >= 32
        tokens.add(server.token)
    assert len(tokens) == 3


def test_the_command_serves_and_ends_on_ctrl_c(ledger):
    command = [sys.executable, "-m", "levelbest", "serve", str(ledger.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        line = running.stdout.readline()
        address = line.split()[-1]
        assert httpx.get(address, timeout=30).status_code == 200
        with httpx.stream("GET", address + "events", timeout=30) as answer:
            lines = answer.iter_lines()
            next(lines)
            os.kill(running.pid, signal.SIGINT)
            assert not any(line.startswith("error") for line in lines)  # it ends, and whole
        _, told = running.communicate(timeout=30)
    assert running.returncode == 0
    assert "the page is closed" in told
    assert "Traceback" not in told


HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "


@pytest.fixture
def limited(ledger):
    """``levelbest serve`` as a process that may open 256 files, and so serves 64 connections; its address."""
    command = f"ulimit -n 256; exec {sys.executable} -m levelbest serve {ledger.path}"
    running = subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield running, running.stdout.readline().split()[-1]
    finally:
        running.kill()
        running.communicate()


def test_half_sent_requests_starve_nobody(limited):
    """Four times as many as it may hold, without the token: the owner reads on, and the log has one line of it."""
    running, address = limited
    port = httpx.URL(address).port
    with contextlib.ExitStack() as stack:
        for count in range(256):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            half.sendall(HALF)
            if count % 64 == 63:
                assert httpx.get(address, timeout=10).status_code == 200
        with httpx.stream("GET", address + "events", timeout=20) as answer:
            assert next(answer.iter_lines()) == "retry: 2000"
        used = psutil.Process(running.pid).cpu_times()
        time.sleep(1)
        later = psutil.Process(running.pid).cpu_times()
        assert later.user + later.system - used.user - used.system < 0.5
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=30)
    lines = [line for line in told.splitlines() if "Ctrl-C stops the page" not in line]
    assert lines == [
        "more than 64 connections to the page at once: idle ones are closed",
        "levelbest: the page is closed",
    ]


def test_a_reader_for_whom_there_is_no_room_is_told(ledger, monkeypatch):
    monkeypatch.setattr("levelbest.web.connections.Connection.most", 2)
    with serving(ledger.path) as server, contextlib.ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(httpx.stream("GET", server.address + "events", timeout=30))
        refused = httpx.get(server.address, timeout=30)
        assert refused.status_code == 503
        assert "as many readers as it can serve" in refused.text


@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"])
def test_the_head_of_a_request_has_a_time_limit(ledger, monkeypatch, first):
    """A byte now and then does not extend it, in the first request of a connection or the next."""
    monkeypatch.setattr("levelbest.web.connections._HEADERS", 0.5)
    with serving(ledger.path) as server, socket.create_connection(("127.0.0.1", server.port), timeout=10) as slow:
        if first:
            slow.sendall(first)
            assert b"403" in slow.recv(10_000)
        slow.sendall(HALF)
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - began < 10:
                slow.sendall(b"x")
                time.sleep(0.05)
        assert 0.3 < time.monotonic() - began < 5


def test_ctrl_c_ends_it_while_a_report_is_computed(ledger):
    slow = (
        "import sys, time\nfrom levelbest.web.data import LiveData\n"
        "def report(self):\n    print('computing', flush=True)\n    time.sleep(100)\n"
        "LiveData.report = report\nfrom levelbest.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", slow, "serve", str(ledger.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        address = running.stdout.readline().split()[-1]
        with socket.create_connection(("127.0.0.1", httpx.URL(address).port)) as reader:
            reader.sendall(f"GET {httpx.URL(address).path}report HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            assert running.stdout.readline() == "computing\n"
            began = time.monotonic()
            running.send_signal(signal.SIGINT)
            _, told = running.communicate(timeout=30)
    assert time.monotonic() - began < 10
    assert running.returncode == 0
    assert "Traceback" not in told


def test_a_ledger_that_is_gone_is_said(ledger, client):
    assert client.get(f"/{client.token}/state").json()["problem"] == ""
    ledger.path.rename(ledger.path.with_name("other.db"))
    assert "was deleted or moved" in client.get(f"/{client.token}/state").json()["problem"]
    ledger.path.write_bytes(b"")
    assert "Another file has taken the name" in client.get(f"/{client.token}/state").json()["problem"]


@pytest.mark.parametrize(("name", "words"), [("none.db", "there is no ledger"), ("text.db", "not a ledger")])
def test_no_ledger_is_one_sentence(tmp_path, capsys, name, words):
    (tmp_path / "text.db").write_text("hello")
    assert main(["serve", str(tmp_path / name)]) == 2
    assert words in capsys.readouterr().err


def test_without_the_extra_it_says_how(ledger, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["serve", str(ledger.path)]) == 1
    assert "pip install 'levelbest[web]'" in capsys.readouterr().err


# --- in a browser


@pytest.fixture(scope="module")
def browser():
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if binary is None:
        pytest.skip("no Chromium on this machine: the live page was not opened in a browser")
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
        running = playwright.chromium.launch(executable_path=binary, args=options)
        yield running
        running.close()


def test_the_page_follows_a_study_without_a_reload(browser, ledger):
    with serving(ledger.path) as server:
        tab = browser.new_page()
        problems = []
        tab.on("console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("request", lambda r: None if r.url.startswith((server.address, "data:")) else problems.append(r.url))
        tab.set_default_timeout(30_000)
        tab.goto(server.address)
        tab.evaluate("window.same = true")
        tab.locator("#state", has_text="0 of 40 trials, 0 running: running on local.").wait_for()
        assert tab.locator("h1").inner_text() == f"study {HOSTILE}"
        assert tab.locator("#chart canvas").count() == 0

        ledger.append([started(0), started(0, 1), ended(0, 0.5), failed(ledger.path, 0, 1)])
        tab.locator("#state", has_text="2 of 40 trials").wait_for()
        assert tab.locator("#chart canvas").count() == 1
        row = tab.locator("#families tbody tr").nth(1)
        assert row.locator("th").inner_text().strip() == HOSTILE
        assert [row.locator("td").nth(i).inner_text() for i in range(1, 6)] == ["20", "1", "0", "1", "1"]
        tab.locator("#failures-list summary").click()
        tab.locator("#failures-list pre", has_text="last line").wait_for()
        assert HOSTILE in tab.locator("#failures-list pre").inner_text()
        assert HOSTILE in tab.locator("#failures-list summary").inner_text()

        ledger.append([started(1), started(1, 1), ended(1, 0.501), failed(ledger.path, 1, 1)])
        tab.locator("#failures-list summary").nth(1).wait_for()
        assert "trial 1: failed" in tab.locator("#failures-list summary").nth(0).inner_text()  # the latest comes first
        tab.locator("#news", has_text="left. Last record").wait_for()
        for trial in range(2, 20):
            ledger.append([started(trial), started(trial, 1)])
            ledger.append([ended(trial, 0.5 + trial / 1000), ended(trial, 0.1 + trial / 1000, 1)])
        tab.locator("#state", has_text="40 of 40 trials, 0 running: finished.").wait_for()
        tab.locator("#verdict-text", has_text=f"Better than {HOSTILE}").wait_for()
        assert tab.locator("#verdict-text .answer b").inner_text() == "cnn"
        assert tab.locator("#failures-list details[open]").count() == 1  # what one reads stays open
        assert "valid at every look" in tab.locator("#validity").inner_text()
        assert tab.locator("#report-link a").is_visible()
        assert re.fullmatch(r"Last record \d+ s ago\.", tab.locator("#news").inner_text())
        tab.set_viewport_size({"width": 360, "height": 700})
        # the chart is redrawn for the width, a moment later
        tab.wait_for_function("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        failed_cell = tab.locator("#families tbody tr").nth(1).locator("td").nth(4)
        assert failed_cell.evaluate("one => getComputedStyle(one, '::before').content").startswith('"failed')
        assert tab.evaluate("document.querySelector('#report-link a').href") == server.address + "report"
        assert tab.evaluate("window.same") is True
        assert tab.evaluate("window.hacked") is None
        assert problems == []
        tab.close()
