"""Windows, as far as a Linux can be one: what its Python lacks is taken away before levelbest is imported."""

import os
import select
import signal
import subprocess  # noqa: F401 - needs what is taken away next
import sys

for module, names in (
    (os, ("fork", "forkpty", "waitid", "wait4", "wait3", "pidfd_open", "memfd_create", "mkfifo", "setsid", "getuid")),
    (os, ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC", "killpg", "setpgid", "sysconf", "sched_getaffinity")),
    (select, ("poll", "epoll")),
    (signal, ("SIGKILL", "SIGHUP", "SIGPIPE", "SIGCHLD", "SIGALRM", "SIGUSR1")),
):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
