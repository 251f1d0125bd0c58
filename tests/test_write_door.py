"""Files that someone named appear whole or not at all, and nothing but a regular file is replaced."""

import ast
import errno
import os
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from levelbest import _write
from levelbest._write import append_text, check_target, make_folder, replacing, write_bytes, write_text
from levelbest.errors import DataError, InputError

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes among its files")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(
    params=[
        "link",
        "dangling link",
        "folder",
        pytest.param("pipe", marks=pipes),
        "socket",
        pytest.param("device", marks=root),
    ]
)
def no_file(request, tmp_path):
    """A name that is taken by something other than a file."""
    path = tmp_path / "out"
    match request.param:
        case "link":
            (tmp_path / "target").write_text("kept")
            path.symlink_to(tmp_path / "target")
        case "dangling link":
            path.symlink_to(tmp_path / "absent")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path))
        case "device":
            try:
                os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # the same as /dev/null
            except PermissionError:
                pytest.skip("this root may not make devices")
    return path


@pytest.mark.parametrize("write", [write_text, append_text, lambda path, _: check_target(path)])
def test_what_is_no_regular_file_is_refused_and_left_as_it_is(no_file, write):
    before = no_file.lstat()
    there = names(no_file.parent)
    with pytest.raises(InputError, match=r"out is a (link|folder|pipe|socket|device) and is left as it is; name "):
        write(no_file, "new")
    after = no_file.lstat()
    assert (after.st_ino, after.st_mode, after.st_rdev) == (before.st_ino, before.st_mode, before.st_rdev)
    assert names(no_file.parent) == there
    if (no_file.parent / "target").exists():
        assert (no_file.parent / "target").read_text() == "kept"


def test_the_devices_of_the_machine_are_refused():
    for name in ("/dev/null", "/dev/full"):
        before = os.lstat(name)
        with pytest.raises(InputError, match="is a device"):
            write_text(name, "new")
        assert os.lstat(name) == before
    with pytest.raises(InputError, match="is a link"):
        write_text("/dev/stdout", "new")


def test_a_file_is_replaced_in_one_step_and_keeps_its_mode(tmp_path):
    path = tmp_path / ("n" * 250 + ".csv")  # no room for a longer temporary name
    assert write_text(path, "a\r\nß\n") == path
    assert path.read_bytes() == "a\r\nß\n".encode()
    umask = os.umask(0o077)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    with path.open() as reader:
        write_bytes(path, b"new")
        assert reader.read() == "a\nß\n"  # who reads the old file reads it to its end
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == [path.name]


@pytest.mark.parametrize("raised", [RuntimeError, KeyboardInterrupt])
def test_what_goes_wrong_in_between_leaves_the_old_file(tmp_path, raised):
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(raised), replacing(path) as fresh:  # noqa: PT012
        fresh.write_text("half of the n")
        assert path.read_text() == "old"
        raise raised
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_name_that_becomes_a_link_meanwhile_is_left_alone(tmp_path):
    (tmp_path / "target").write_text("kept")
    with pytest.raises(InputError, match="is a link"), replacing(tmp_path / "out") as fresh:  # noqa: PT012
        fresh.write_text("new")
        (tmp_path / "out").symlink_to(tmp_path / "target")
    assert (tmp_path / "target").read_text() == "kept"
    assert (tmp_path / "out").is_symlink()


@pytest.mark.parametrize("write", [write_text, append_text])
def test_a_folder_that_is_absent_or_a_file_is_named(tmp_path, write):
    with pytest.raises(InputError, match=r"there is no folder .*absent; make it first"):
        write(tmp_path / "absent" / "out", "new")
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InputError, match="file is not a folder"):
        write(tmp_path / "file" / "out", "new")
    with pytest.raises(InputError, match="a file of that name exists"):
        make_folder(tmp_path / "file")
    with pytest.raises(InputError, match="a file of that name exists"):
        make_folder(tmp_path / "file" / "below")
    assert make_folder(tmp_path / "a" / "b").is_dir()
    assert make_folder(tmp_path / "a" / "b").is_dir()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a folder that not even root can write")
@pytest.mark.parametrize("write", [write_text, append_text])
def test_a_folder_that_cannot_be_written_is_one_line(write):
    with pytest.raises(DataError, match=r"^/proc/self/out cannot be written: [^\n]*$"):
        write("/proc/self/out", "new")
    with pytest.raises(DataError, match=r"^/proc/self/below cannot be written: [^\n]*$"):
        make_folder("/proc/self/below")


READ_ONLY = """
import os, sys
from levelbest._write import append_text, write_text
from levelbest.errors import DataError
os.chdir(sys.argv[1])
os.setgid(65534)
os.setuid(65534)
for write in (write_text, append_text):
    for name in ("file", "closed/new", "closed/old"):
        try:
            write(name, "new")
        except DataError as error:
            print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="root gives its rights away to see what others see")
def test_what_is_read_only_stays_as_it_is(tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o444)
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "old").write_text("old")
    (tmp_path / "closed" / "old").chmod(0o666)
    (tmp_path / "closed").chmod(0o555)
    ran = subprocess.run([sys.executable, "-c", READ_ONLY, tmp_path], capture_output=True, text=True, check=True)
    lines = [
        "file is read-only and is left as it is; give another name",
        "closed/new cannot be written: the folder closed is read-only; choose another",
        "closed/old cannot be written: the folder closed is read-only; choose another",
    ]
    assert ran.stdout.splitlines() == lines * 2
    assert (tmp_path / "file").read_text() == (tmp_path / "closed" / "old").read_text() == "old"
    assert names(tmp_path / "closed") == ["old"]


@pytest.mark.parametrize("stage", ["write", "fsync"])
@pytest.mark.parametrize("write", [write_text, append_text])
def test_a_full_disk_leaves_the_old_file_whole(tmp_path, monkeypatch, write, stage):
    path = tmp_path / "out"
    path.write_text("old\n")
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if stage == "fsync":  # as a disk across a network says it
        monkeypatch.setattr(_write.os, "fsync", lambda _: (_ for _ in ()).throw(full))
    elif write is append_text:
        real = os.write

        def half(handle, data):
            if len(data) <= 4:
                raise full
            return real(handle, data[: len(data) // 2])

        monkeypatch.setattr(_write.os, "write", half)
    else:
        monkeypatch.setattr(_write.Path, "write_bytes", lambda *_: (_ for _ in ()).throw(full))
    with pytest.raises(DataError, match=r"^.*out cannot be written: No space left on device$"):
        write(path, "new and longer than the old\n")
    monkeypatch.undo()
    assert path.read_text() == "old\n"
    assert names(tmp_path) == ["out"]


FULL = """
import sys
from pathlib import Path
from pathlib import Path
from levelbest._write import append_text, write_text
from levelbest.errors import DataError
out = Path(sys.argv[1]) / "out"
write_text(out, "old")
for write in (write_text, append_text):
    try:
        write(out, "x" * 10**6)
    except DataError as error:
        print(str(error).partition(": ")[2], out.read_text(), len(list(out.parent.iterdir())))
"""


def test_a_truly_full_disk(tmp_path):
    """A file system of 64 kB in a namespace of its own, where this machine allows one."""
    script = f'mount -t tmpfs -o size=64k none "$1" && exec {sys.executable} -c "$2" "$1"'
    apart = ["unshare", "--user", "--map-root-user", "--mount"] if shutil.which("unshare") else ["false"]
    command = [*apart, "bash", "-c", script, "bash", tmp_path, FULL]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode and not ran.stdout:
        pytest.skip("no file system can be mounted here")
    assert ran.stdout.splitlines() == ["No space left on device old 1"] * 2, ran.stderr


def test_appending_makes_the_file_and_adds_to_its_end(tmp_path):
    append_text(tmp_path / "out", "a\n")
    append_text(tmp_path / "out", "ß\n")
    assert (tmp_path / "out").read_text(encoding="utf-8") == "a\nß\n"


def test_there_is_no_other_door():
    """Whatever else opens a file for writing keeps the runner's own logs and locks, or a copy that nobody named."""
    own = {"_write.py", "__main__.py", "run", "simulation", "engine.py"}
    source = Path(_write.__file__).parent
    for path in source.rglob("*.py"):
        if own & set(path.relative_to(source).parts):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            where = f"{path.relative_to(source)}:{node.lineno}"
            if name in ("write_text", "write_bytes"):
                assert isinstance(node.func, ast.Name), f"{where} writes past levelbest._write"
            if name in ("open", "savefig") and node.args:
                modes = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
                writes = any(set(mode) <= set("rwaxbt+") and set(mode) & set("wax") for mode in modes)
                # A figure may also be drawn into memory; writing those bytes is the door's business again.
                into = {"open": ("fresh",), "savefig": ("fresh", "out")}[name]
                if writes or name == "savefig":
                    assert getattr(node.args[0], "id", "") in into, f"{where} writes by itself"
