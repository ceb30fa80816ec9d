"""Becomes the first process of a container: sets root, mounts, user and capabilities, then runs the image's program."""

import ctypes
import json
import os
import pathlib
import subprocess
import sys

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
NUMBERS = {"NET_BIND_SERVICE": 10}
libc = ctypes.CDLL(None, use_errno=True)


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def place(root, target, is_folder):
    """Creates the mount point; container engines make it in the container's own layer."""
    path = root / target.lstrip("/")
    if is_folder:
        path.mkdir(parents=True, exist_ok=True)
    elif not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return str(path)


def main(settings):
    scratch = pathlib.Path(settings["scratch"])
    root = scratch / "root"
    for name in ("root", "upper", "work"):
        (scratch / name).mkdir()
    mount("-t", "overlay", "-o", f"lowerdir={settings['root']},upperdir={scratch}/upper,workdir={scratch}/work", "overlay", root)
    # The network devices come from outside; the program starts when they exist.
    assert sys.stdin.readline() == "go\n"
    mount("-t", "proc", "proc", place(root, "/proc", True))
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", place(root, "/dev", True))
    for device in ("null", "zero", "random", "urandom"):
        mount("--bind", f"/dev/{device}", place(root, f"/dev/{device}", False))
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", place(root, "/dev/shm", True))
    for target in settings["tmpfs"]:
        mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", place(root, target, True))
    for source, target, is_read_only in settings["binds"]:
        mount("--bind", source, place(root, target, os.path.isdir(source)))
        if is_read_only:
            mount("-o", "remount,bind,ro", place(root, target, os.path.isdir(source)))
    for name, value in settings["sysctls"].items():
        pathlib.Path("/proc/sys", *name.split(".")).write_text(str(value))
    if settings["read_only"]:
        mount("-o", "remount,ro", root)
    subprocess.run(["hostname", settings["hostname"]], check=True)
    last = int(pathlib.Path("/proc/sys/kernel/cap_last_cap").read_text())
    os.chroot(root)
    os.chdir("/")
    assert settings["drops"] == ["ALL"], settings["drops"]
    kept = {NUMBERS[name] for name in settings["keeps"]}
    for number in range(last + 1):
        if number not in kept and libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), f"capability {number}")
    os.setgroups(settings["groups"])
    os.setresgid(*[settings["group"]] * 3)
    os.setresuid(*[settings["user"]] * 3)
    if settings["no_new_privileges"]:
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    os.execve(settings["words"][0], settings["words"], settings["environment"])


main(json.loads(sys.argv[1]))
