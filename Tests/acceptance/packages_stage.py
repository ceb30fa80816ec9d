"""The setting of packages.py: the packages, the machine on which they are installed, and helpers for all steps."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import types

built = pathlib.Path(sys.argv[1]).resolve()
place = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("regentctl", "regentd", "regent")
PUBLIC_URL = "http://192.168.7.1:8787"
# Files that dpkg, systemd and the user database write for themselves.
NOISE = re.compile(
    r"/var/(lib/(dpkg|systemd|apt)|log|cache)|/etc/(passwd|group|shadow|gshadow|subuid|subgid|ld\.so\.cache|\.pwd\.lock)"
    r"|/var/lib/(private|pam)|/etc/machine-id|__pycache__"
    # Folders that systemd makes for its own services, such as timedated, which doctor asks.
    r"|/var/tmp/systemd-private-|/tmp/systemd-private-")
# The machine, the version of the packages, and the folders with newer packages, older packages and the sources.
stage = types.SimpleNamespace()


def repacked(folder, named):
    """Repacks the packages with another version number."""
    for name in NAMES:
        tree = folder / name
        source = next(built.glob(f"{name}_*.deb"))
        subprocess.run(["dpkg-deb", "-R", source, tree], check=True)
        for file in ("control", "preinst"):
            text = tree / "DEBIAN" / file
            if text.exists():
                text.write_text(text.read_text().replace(stage.version, named))
        subprocess.run(["dpkg-deb", "-b", "-Zgzip", "-z1", tree, folder / f"{name}_{named}_all.deb"], check=True, capture_output=True)
        shutil.rmtree(tree)


def files(of=built, names=NAMES):
    return [str(next(of.glob(f"{name}_*.deb"))) for name in names]


def install(*paths, fails=False, downgrade=False):
    allowed = ["REGENT_DOWNGRADE=1"] if downgrade else []
    return stage.machine.run("env", "DEBIAN_FRONTEND=noninteractive", *allowed, "dpkg", "-i", *paths, fails=fails)


def listing():
    found = stage.machine.run("find", "/etc", "/usr", "/lib/systemd", "/var", "-xdev", "-not", "-type", "l", fails=None).split("\n")
    return {path for path in found if path and not NOISE.match(path)}


def running(unit="regentd"):
    stage.machine.until(f"{unit} runs", lambda: stage.machine.show(unit, "ActiveState") == "active")
    return stage.machine.show(unit, "MainPID")


def requestors():
    return {found["id"] for found in json.loads(stage.machine.run("regentctl", "--json", "requestor", "list"))}


def a_token():
    return stage.machine.run("regent", "token", "news-1").strip()
