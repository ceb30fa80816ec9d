#!/usr/bin/env python3
"""How long an operator's journey takes on Debian 12 and 13, from the apt repository of `make repo`: the first start,
setup, pairing, an upgrade, a restore and a purge, in seconds and typed keys.

usage: journey.py FOLDER_OF_PACKAGES [--write]

The operator types at a terminal of a minimal Debian with a real systemd. Names, passwords, codes, addresses, and lines
that are pasted from docs/install.md or from what a program printed do not count. It fails if the service (first start
and setup) or the box (pairing) needs more than 60 s or 40 keys. --write puts the table into the documents.
"""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from container import PACKAGING, Container, Unavailable
from packages_stage import PUBLIC_URL, a_token, built, place, repacked, requestors, running, stage
from packages_typing import measured, unexpected_warnings
from repository_stage import HOST, Keys, lines_of_the_page

NEWER, KEYRING = "9.9.9", "regent-archive-keyring.gpg"
SUITES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
KEYS, SECONDS = 40, 60
DOCUMENTS = ("docs/install.md", "docs/progress.md")
BEGIN, END = "<!-- Tests/acceptance/journey.py --write -->\n", "<!-- end of the table -->"


def pasted(keyboard, package):
    """The lines of docs/install.md for this package; apt asks once."""
    *lines, last = lines_of_the_page()
    keyboard.paste("\n".join([*lines, re.sub(r" *#.*", "", last).replace("regentd", package)]))
    keyboard.shows(r"(Do you want to continue|Continue)\? \[Y/n\] *\s*\Z")
    keyboard.type("")
    for _ in lines_of_the_page():
        keyboard.prompt()


def first_start(keyboard):
    pasted(keyboard, "regentd")
    running()


def setup(keyboard):
    keyboard.type("regentctl setup")
    for question, name in (
            ("address that phones open", PUBLIC_URL), ("requestor:", ""), ("name of the requestor", ""), ("provider:", ""),
            ("name of the provider", ""), ("titles that every viewer may watch", ""), ("account:", "anna"),
            ("password of anna", "a long enough password"), ("again", "a long enough password"), ("or none", "")):
        keyboard.shows(rf"{question}[^\n]*: *\s*\Z")
        keyboard.type("", name)
    stage.enrolment = keyboard.shows(r"sudo (regent setup --code '\S+#\S+')").group(1)
    screen = keyboard.tmux("capture-pane", "-p", "-S", "-200")
    assert "BAD" not in screen and not unexpected_warnings(screen), screen


def pair(keyboard):
    pasted(keyboard, "regent")
    keyboard.paste(stage.enrolment)
    keyboard.shows("to sign in, run regent pair")
    keyboard.prompt()
    keyboard.type("regent pair")
    code = keyboard.code()
    stage.machine.run("regentctl", "code", "approve", code, "--provider", "home", "--account", "anna")
    keyboard.prompt()
    assert a_token()


def upgrade(keyboard):
    stage.folder.joinpath("tree").unlink()
    stage.folder.joinpath("tree").symlink_to("newer-tree")
    keyboard.type("apt update")
    keyboard.prompt()
    keyboard.type("apt upgrade")
    keyboard.shows(r"(Do you want to continue|Continue)\? \[Y/n\] *\s*\Z")
    keyboard.type("")
    keyboard.prompt()
    assert stage.machine.run("dpkg-query", "-W", "-f", "${Version}", "regentd") == NEWER
    running()
    assert requestors() == {"tv"} and a_token()


def restore(keyboard):
    stage.machine.run("regentctl", "requestor", "add", "later")
    newest = stage.machine.run("sh", "-c", "ls -t /var/backups/regentd/*.db | head -n 1").strip()
    keyboard.type("systemctl stop regentd")
    keyboard.prompt()
    keyboard.type("regentctl restore ", newest)
    keyboard.shows(r"Type yes to continue: *\s*\Z")
    keyboard.type("yes")
    keyboard.shows("the previous database is kept as")
    keyboard.prompt()
    keyboard.type("systemctl start regentd")
    keyboard.prompt()
    running()
    assert requestors() == {"tv"} and a_token()


def purge(keyboard):
    keyboard.type("apt purge 'regent*'")
    keyboard.shows(r"(Do you want to continue|Continue)\? \[Y/n\] *\s*\Z")
    keyboard.type("")
    # Below it may be apt's progress bar.
    keyboard.shows(r"(?s)Remove the database, the master key and the backups\?.*\[yes/no\]")
    keyboard.type("yes")
    keyboard.prompt()
    assert stage.machine.code("test", "-e", "/var/lib/regentd") != 0 and stage.machine.code("test", "-e", "/usr/bin/regent") != 0


STEPS = (first_start, setup, pair, upgrade, restore, purge)


def tree(name, key, packages):
    subprocess.run(
        ["deploy/repo", key, str(packages), str(stage.folder / f"{name}-tree")], check=True, capture_output=True,
        env=keys.env | {"SOURCE_DATE_EPOCH": str(int(time.time()) - (4000 if name == "now" else 2000))})


@contextlib.contextmanager
def machine(suite):
    """A Debian whose only source of packages is the repository, at the address of the document."""
    link = stage.folder / "tree"
    link.unlink(missing_ok=True)
    link.symlink_to("now-tree")
    stage.machine = Container(
        place / ".build" / Container.packaging_folder(suite), suite=suite, binds=(str(stage.folder), str(built)), more=PACKAGING)
    inside = ["nsenter", "-t", str(stage.machine.leader), "-n", "--"]
    server = None
    try:
        subprocess.run([*inside, "ip", "address", "add", "192.168.7.1/32", "dev", "lo"], check=True)
        certificates = stage.folder / f"certificates-{suite}"
        server = subprocess.Popen([*inside, sys.executable, "Tests/acceptance/repository_stage.py", certificates, link])
        stage.machine.until("the web server listens", lambda: stage.machine.code("curl", "-sko", "/dev/null", f"https://127.0.0.1/{KEYRING}") == 0)
        stage.machine.run("sh", "-ec", f"""
            rm -f /etc/apt/sources.list /etc/apt/sources.list.d/* /etc/apt/apt.conf.d/*[Pp]roxy*
            echo 127.0.0.1 {HOST} >>/etc/hosts
            cp {certificates}/ca.crt /usr/local/share/ca-certificates/test.crt && update-ca-certificates""")
        yield
    finally:
        if server:
            server.send_signal(signal.SIGTERM)
            server.wait()
        stage.machine.stop()


def journey():
    """The keys and seconds of each step, by the name of the Debian."""
    figures = {}
    for suite, name in SUITES.items():
        with machine(suite):
            figures[name] = {}
            for step in STEPS:
                what = step.__name__.replace("_", " ")
                _, count, took = measured(f"{name} {what}", step)
                figures[name][what] = (took, count)
    return figures


def table(figures):
    names = [step.__name__.replace("_", " ") for step in STEPS]
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for debian, found in figures.items():
        cells = (f"{took:.0f} s, {count} key{'s' * (count != 1)}" for took, count in found.values())
        lines.append(f"| {debian} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write(text):
    for path in DOCUMENTS:
        file = place / path
        before, rest = file.read_text().split(BEGIN)
        file.write_text(before + BEGIN + text + END + rest.split(END, 1)[1])


def checked(figures):
    for debian, found in figures.items():
        for who, steps in (("service", ("first start", "setup")), ("box", ("pair",))):
            took, count = (sum(found[step][at] for step in steps) for at in (0, 1))
            print(f"{debian}: the {who} is ready after {took:.1f} s (at most {SECONDS}) and {count} keys (at most {KEYS})")
            assert took <= SECONDS and count <= KEYS, (debian, who)


os.chdir(place)
os.umask(0o022)
stage.version = re.search(r"regentd_([^_]+)_", next(built.glob("regentd_*.deb")).name)[1]
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    # The server of the repository and the typing find their files here.
    stage.folder = stage.newer = pathlib.Path(folder)
    stage.folder.chmod(0o755)
    newer = stage.folder / "newer"
    newer.mkdir()
    repacked(newer, NEWER)
    keys = Keys(stage.folder / "keys")
    try:
        key = keys.made("ours")
        tree("now", key, built)
        tree("newer", key, newer)
        found = journey()
    except Unavailable as reason:
        print(f"journey: NOT RUN, no systemd can be booted here: {reason}")
        sys.exit(0)
    finally:
        keys.end()
print(table(found), end="")
(place / ".build/results").mkdir(parents=True, exist_ok=True)
(place / ".build/results/journey.md").write_text(table(found))
checked(found)
if "--write" in sys.argv:
    write(table(found))
