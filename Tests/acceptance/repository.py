#!/usr/bin/env python3
"""The apt repository of `make repo`, used over https by apt of Debian 12 and 13: installed with the lines of
docs/install.md, upgraded, and refused when a byte, a date, a key or a signature is wrong.

usage: repository.py FOLDER_OF_PACKAGES

The machines are chroots of the Debians of packages.py, each with an overlay and its own network namespace. Without them
it still tests the refusals of `deploy/repo` and that its output is reproducible.
"""
import contextlib
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from container import PACKAGING, Container, Unavailable
from packages_stage import built, place, repacked, stage
from repository_stage import HOST, Keys, Server, lines_of_the_page

os.chdir(place)
NEWER = "9.9.9"
DAY, NOW = 86400, int(time.time())
KEYRING = "/usr/share/keyrings/regent-archive-keyring.gpg"
SUITES = ("bookworm", "trixie")


def tree(name, key, packages=None, *, date=NOW, refused=None, **more):
    """The folder of a repository; with `refused` checks that `deploy/repo` fails with such a message."""
    out = scratch / "trees" / name
    done = subprocess.run(
        ["deploy/repo", key, str(packages or built), str(out)], capture_output=True, text=True,
        env=keys.env | {"SOURCE_DATE_EPOCH": str(date)} | more)
    if refused is None:
        assert done.returncode == 0, done.stderr
        return out
    assert done.returncode == 1 and re.search(refused, done.stderr) and not done.stdout, (name, done)
    return None


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def the_same_inputs_give_the_same_bytes():
    first = contents(tree("first", f"{ours},{second}"))
    # In another second gpg would sign with another time.
    time.sleep(1.1)
    os.umask(0o077)
    try:
        again = contents(tree("again", f"{second.lower()},{ours}", TZ="Asia/Seoul"))
    finally:
        os.umask(0o022)
    signatures = {"dists/stable/InRelease", "dists/stable/Release.gpg"}
    # The signatures have the order of the keys on the command line.
    assert {name for name in first | again if first.get(name) != again.get(name)} <= signatures
    assert contents(tree("again", f"{ours},{second}")) == first
    later = contents(tree("later", f"{ours},{second}", date=NOW + DAY))
    pool = {name for name in first if first[name] == later.get(name) and name.startswith("pool/main/r/regent/")}
    assert len(pool) == len(list(built.glob("*.deb"))), pool
    for path in (scratch / "trees/again").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644), path


def deploy_repo_refuses_to_sign_what_apt_would_refuse():
    tree("no", "", refused="KEY is missing.*make repo KEY=FINGERPRINT")
    tree("no", "0" * 40, refused="has no secret key 0{40}")
    tree("no", ours[:16], refused="is not a fingerprint")
    tree("no", ours, date=0, refused="was made after SOURCE_DATE_EPOCH")
    tree("no", keys.made("short", "rsa1024"), refused="RSA with 1024 bits")
    tree("no", keys.made("sha1", more=("--cert-digest-algo", "SHA1")), refused="SHA-1, which apt 3 refuses")
    tree("no", keys.made("short-lived", expires="20250201T000000"), refused="has expired; type: gpg --quick-set-expire")
    tree("no", ours, scratch, refused="there are no packages in")
    wrong = scratch / "wrong"
    shutil.copytree(built, wrong, ignore=lambda _, names: [name for name in names if not name.endswith((".deb", "SHA256SUMS"))])
    package = next(wrong.glob("regentd_*.deb"))
    shutil.copy(package, wrong / "twin.deb")
    tree("no", ours, wrong, refused="two packages regentd ")
    (wrong / "twin.deb").unlink()
    flip(package)
    tree("no", ours, wrong, refused="are not those of its SHA256SUMS")
    assert not list((scratch / "trees").glob("no*"))
    other = scratch / "trees/other"
    other.mkdir()
    (other / "letter").write_text("kept")
    tree("other", ours, refused="has files that are not an apt repository")
    assert contents(other) == {"letter": b"kept"}


def lintian_accepts_the_keyring_package():
    package = next((scratch / "trees/first").glob("pool/main/r/regent-archive-keyring/*.deb"))
    subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", package], check=True)


def flip(path, at=-1):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


class Machine:
    """A chroot of a Debian, with a temporary overlay. It has curl and the dependencies of Regent's packages."""

    def __init__(self, suite, server):
        self.folder, self.server = scratch / suite, server
        self.root = self.folder / "root"
        self.root.mkdir(parents=True)
        self.folder.chmod(0o755)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", self.folder], check=True)
        for name in ("root", "upper", "work"):
            (self.folder / name).mkdir()
        lower = place / ".build" / Container.packaging_folder(suite) / "root"
        self.mount("-t", "overlay", "-o", f"lowerdir={lower},upperdir={self.folder}/upper,workdir={self.folder}/work", "overlay", "")
        self.mount("-t", "proc", "proc", "proc")
        self.mount("--bind", "/dev", "dev")
        # Debian's own archive is not reachable from this network.
        for path in ("etc/apt/sources.list", *(str(path.relative_to(self.root)) for path in self.root.glob("etc/apt/sources.list.d/*"))):
            (self.root / path).unlink(missing_ok=True)
        for path in (self.root / "etc/apt/apt.conf.d").glob("*[Pp]roxy*"):
            path.unlink()
        (self.root / "etc/hosts").write_text(f"127.0.0.1 localhost {HOST}\n")
        (self.root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (self.root / "usr/sbin/policy-rc.d").chmod(0o755)
        shutil.copy(server.certificate, self.root / "usr/local/share/ca-certificates/test.crt")
        self.run("update-ca-certificates")

    def mount(self, *words):
        subprocess.run(["mount", *words[:-1], self.root / words[-1]], check=True)

    def run(self, *words, text="", fails=False):
        """Runs a command and returns its output. `fails`: True if it must fail, None if it may."""
        done = subprocess.run(
            ["chroot", self.root, *words], input=text, capture_output=True, text=True, timeout=120,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"})
        assert fails is None or (done.returncode != 0) == fails, (words, done.returncode, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def update(self, fails=False):
        return self.run("apt-get", "-o", "APT::Update::Error-Mode=any", "update", fails=fails)

    def forget(self):
        """Resets apt as on a new machine. Otherwise apt keeps the newest release that it has seen."""
        self.run("sh", "-c", "rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb")

    def version(self, package="regentd"):
        return self.run("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package, fails=None).removeprefix("installed ")


def the_lines_of_install_md_install_the_service(machine):
    machine.server.root = scratch / "trees/now"
    for line in lines_of_the_page():
        said = machine.run("sh", "-c", line, text="y\n")
        assert "Err:" not in said and "W: " not in said, said
    assert machine.version() == stage.version
    assert machine.run("dpkg", "-S", KEYRING).startswith("regent-archive-keyring: ")
    # From now on apt verifies with the keyring of the package.
    machine.update()
    assert stage.version in machine.run("regentd", "--version", fails=None)
    verifier = machine.run("sh", "-c", "command -v sqv || command -v gpgv").strip()
    print(f"   {machine.run('apt', '--version').strip()}: {verifier}", flush=True)


# The faults of an attacker at the server, or of one with another key.
def tampered_package(out):
    flip(next(out.glob("pool/main/r/regent/regentd_*.deb")))


def tampered_index(out):
    for path in (out / "dists/stable/main").rglob("*"):
        if path.is_file():
            flip(path, at=-3)


def tampered_release(out):
    for name in ("InRelease", "Release"):
        path = out / "dists/stable" / name
        path.write_text(path.read_text().replace("Label: Regent", "Label: Resent"))


def detached_only(out):
    """Only Release and Release.gpg, and Release is changed."""
    tampered_release(out)
    (out / "dists/stable/InRelease").unlink()


def unsigned(out):
    for name in ("InRelease", "Release.gpg"):
        (out / "dists/stable" / name).unlink()


def stripped(out):
    """InRelease without its signature."""
    unsigned(out)
    shutil.copy(out / "dists/stable/Release", out / "dists/stable/InRelease")


FAULTS = {
    # The name, the change of the newer tree, and the message of apt.
    "tampered package": (tampered_package, "Hash Sum mismatch|unexpected size"),
    "tampered index": (tampered_index, "Hash Sum mismatch|unexpected size"),
    "tampered release": (tampered_release, "BADSIG|Message has been manipulated|[Bb]ad signature|invalid"),
    "tampered release, detached signature": (detached_only, "BADSIG|Message has been manipulated|[Bb]ad signature|invalid"),
    "another key": ("stranger", "NO_PUBKEY|Missing key"),
    "expired release": ("old", "is expired|Release file .* expired"),
    "unsigned": (unsigned, "is not signed|no longer signed|does not have a Release file"),
    "a signature removed": (stripped, "is not signed|no longer signed|Clearsigned file isn't valid|NODATA"),
}


def apt_refuses_each_fault(machine):
    for name, (fault, wanted) in FAULTS.items():
        out = scratch / "trees" / "faulty"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(scratch / "trees" / (fault if isinstance(fault, str) else "newer"), out)
        if not isinstance(fault, str):
            fault(out)
        # A machine that has seen the good tree, and one that has seen none.
        for is_new in (False, True):
            machine.forget()
            if not is_new:
                machine.server.root = scratch / "trees/now"
                machine.update()
            machine.server.root = out
            said = machine.run("apt-get", "-o", "APT::Update::Error-Mode=any", "update", fails=None)
            said += machine.run("apt-get", "-y", "install", "regentd", fails=None)
            assert re.search(wanted, said), (name, is_new, said)
            assert machine.version() == stage.version, (name, said)
        print(f"   {name}: refused", flush=True)


def apt_upgrades_from_the_repository(machine):
    machine.server.root = scratch / "trees/newer"
    machine.update()
    machine.run("apt-get", "-y", "upgrade")
    assert machine.version() == machine.version("regentctl") == NEWER
    # An attacker who replays the earlier tree cannot cause a downgrade.
    machine.server.root = scratch / "trees/now"
    machine.run("apt-get", "update", fails=None)
    assert NEWER in re.search("Candidate: (.*)", machine.run("apt-cache", "policy", "regentd"))[1]


def the_keyring_package_brings_a_new_key(machine):
    """Both keys sign while machines get the new one, then only the new one; the old one is then refused."""
    for name in ("both", "next"):
        machine.server.root = scratch / "trees" / name
        machine.update()
        machine.run("apt-get", "-y", "upgrade")
        assert (machine.root / KEYRING[1:]).read_bytes() == (scratch / "trees" / name / KEYRING.split("/")[-1]).read_bytes(), name
    machine.server.root = scratch / "trees/after"
    assert re.search(FAULTS["another key"][1], machine.update(fails=True))


def on_both_debians():
    newer = scratch / "newer"
    newer.mkdir()
    repacked(newer, NEWER)
    tree("now", ours, date=NOW - 4000)
    for name, key, date in (("newer", ours, NOW - 3000), ("stranger", stranger, NOW - 3000), ("old", ours, NOW - 91 * DAY),
                            ("both", f"{ours},{second}", NOW - 2000), ("next", second, NOW - 1000), ("after", ours, NOW)):
        tree(name, key, newer, date=date)
    server = Server(scratch / "server")
    for suite in SUITES:
        machine = Machine(suite, server)
        for step in (the_lines_of_install_md_install_the_service, apt_refuses_each_fault,
                     apt_upgrades_from_the_repository, the_keyring_package_brings_a_new_key):
            timed(functools.partial(step, machine), f"{step.__name__} ({suite})")


def timed(step, name=None):
    begun = time.monotonic()
    step()
    print(f"ok {(name or step.__name__).replace('_', ' ')} ({time.monotonic() - begun:.1f} s)", flush=True)


def roots():
    """Makes missing roots while there is a network."""
    for suite in SUITES:
        folder = place / ".build" / Container.packaging_folder(suite)
        Container.make(folder / "root", folder / "made-of", suite, PACKAGING)


is_inside = sys.argv[2:] == ["inside"]
if not is_inside and os.geteuid() == 0:
    try:
        roots()
    except Unavailable as reason:
        print(f"repository: apt is NOT RUN: {reason}")
    else:
        os.execvp("unshare", ["unshare", "--net", "--mount", "--propagation", "private", "--", "sh", "-c",
                              'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv, "inside"])
os.umask(0o022)
stage.version = re.search(r"regentd_([^_]+)_", next(built.glob("regentd_*.deb")).name)[1]
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.ExitStack() as ends:
    scratch = pathlib.Path(folder)
    scratch.chmod(0o755)
    (scratch / "trees").mkdir()
    keys = Keys(scratch / "keys")
    ends.callback(keys.end)
    ours, second, stranger = keys.made("ours"), keys.made("second"), keys.made("stranger")
    for step in (
            the_same_inputs_give_the_same_bytes, deploy_repo_refuses_to_sign_what_apt_would_refuse,
            lintian_accepts_the_keyring_package):
        timed(step)
    if is_inside:
        on_both_debians()
    else:
        print("repository: apt is NOT RUN, because only root can use chroot")
