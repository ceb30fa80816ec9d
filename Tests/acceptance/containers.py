#!/usr/bin/env python3
"""The OCI images and deploy/compose.yaml: built twice with the same bytes, and run as the compose file says.

usage: containers.py FOLDER_OF_PROGRAMS

It needs no container engine: umoci unpacks the images, and compose_project.py starts the services in namespaces.
PostgreSQL and Caddy are those of this machine, with the environment, volumes and users of the compose file. Needs root.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from compose_project import Project
from service import until

programs = pathlib.Path(sys.argv[1]).resolve()
place = pathlib.Path(__file__).resolve().parents[2]
os.chdir(place)
FILE = place / "deploy/compose.yaml"
# Roots of both Debians with the images' libraries, and one with docker-compose. A release needs new ones.
ROOTS = place / ".build/image-roots"
COMPOSE_ROOT = place / ".build/compose-root"
TLS_NAME = "tv.localhost"
# What the postgres image does with its variables at the first start, and the program that it then runs.
POSTGRES = """#!/bin/sh
set -eu
PATH=$(echo /usr/lib/postgresql/*/bin | tr ' ' ':'):/usr/bin:/bin
umask 077
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile "$POSTGRES_PASSWORD_FILE" --auth scram-sha-256 $POSTGRES_INITDB_ARGS
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  # Over the socket alone, as the image does.
  pg_ctl --pgdata "$PGDATA" --options "-c listen_addresses= -k /run/postgresql" --wait start
  PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE") createdb --host /run/postgresql --username "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl --pgdata "$PGDATA" --mode fast --wait stop
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -k /run/postgresql
"""


def said(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def made(folder):
    said("deploy/image", str(folder), env=os.environ | {"PROGRAMS": str(programs), "ROOTS": str(ROOTS)})
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def two_builds_of_the_images_give_the_same_bytes():
    first, second = made(layout), made(scratch / "again")
    assert first == second, [name for name in first | second if first.get(name) != second.get(name)]
    manifests = json.loads((layout / "index.json").read_text())["manifests"]
    tags = {found["annotations"]["org.opencontainers.image.ref.name"] for found in manifests}
    assert tags == {f"{version}-debian12", f"{version}-debian13"}, tags


def each_image_contains_a_complete_sbom():
    for number, tag in ((12, f"{version}-debian12"), (13, f"{version}-debian13")):
        said("skopeo", "copy", "--insecure-policy", f"oci:{layout}:{tag}", f"dir:{scratch}/{tag}")
        config = json.loads(said("skopeo", "inspect", "--config", f"oci:{layout}:{tag}"))["config"]
        labels = config["Labels"]
        assert labels["org.opencontainers.image.version"] == version and labels["org.opencontainers.image.licenses"] == "Apache-2.0"
        assert labels["org.opencontainers.image.source"].startswith("https://"), labels
        assert config["User"] == "10001:10001" and config["Volumes"] == {"/data": {}}, config
        root = unpacked(tag)
        parts = json.loads((root / labels["org.regent.sbom"][1:]).read_text())["components"]
        versions = {part["name"]: part["version"] for part in parts}
        assert len(versions) == len(parts), "a part is listed twice"
        debian = ROOTS / f"debian{number}"
        for package in ("libsqlite3-0", "libpq5", "libc6", "libgnutls30" if number == 12 else "libgnutls30t64"):
            form = said("dpkg-query", f"--admindir={debian}/var/lib/dpkg", "-W", "-f", "${Version}", package)
            assert versions[package] == form, (package, versions[package], form)
        # Each library must be that of the Debian release, and belong to a package in the list.
        libraries = [path for path in root.rglob("*.so*") if path.is_file()]
        for library in libraries:
            theirs = next(debian.glob(f"usr/lib/*/{library.name}"))
            assert theirs.resolve().is_relative_to(debian) and theirs.read_bytes() == library.read_bytes(), library
        assert len(libraries) > 20 and not list(root.glob("**/bin/*sh")), libraries
        size = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file())
        print(f"   {tag}: {size / 1e6:.0f} MB unpacked, {len(parts)} parts", flush=True)


def docker_compose_accepts_the_compose_file():
    """Docker Compose of Debian 13 accepts the file and refuses an unknown key."""
    if not COMPOSE_ROOT.exists():
        made_root = COMPOSE_ROOT.with_suffix(".new")
        shutil.rmtree(made_root, ignore_errors=True)
        said("mmdebstrap", "--quiet", "--variant=extract", "--include=docker-compose", "trixie", made_root)
        for name in ("lib", "lib64"):
            (made_root / name).symlink_to(f"usr/{name}")
        made_root.rename(COMPOSE_ROOT)
    folder = COMPOSE_ROOT / "project"
    folder.mkdir(exist_ok=True)
    (folder / ".env").write_text(f"REGENT_PUBLIC_URL=https://{TLS_NAME}\nCOMPOSE_PROFILES=nodes,tls\n")

    def config(text):
        (folder / "compose.yaml").write_text(text)
        return subprocess.run(
            ["chroot", COMPOSE_ROOT, "docker-compose", "--project-directory", "/project", "config", "--format", "json"],
            capture_output=True, text=True, env={"HOME": "/", "PATH": "/usr/sbin:/usr/bin:/bin"})

    good = config(FILE.read_text())
    assert good.returncode == 0 and not good.stderr, good.stderr
    theirs = json.loads(good.stdout)
    assert theirs["services"]["regentd"]["image"] == f"regentd:{version}-debian13"
    assert theirs["services"].keys() == {"regentd", "regentd-2", "postgres", "caddy"}
    # compose_project.py must understand the file as Compose does.
    ours = Project(FILE, {"REGENT_PUBLIC_URL": f"https://{TLS_NAME}", "COMPOSE_PROFILES": "nodes,tls"}, {}, scratch)
    for name, service in ours.services.items():
        other = theirs["services"][name]
        wanted = {key: str(value) for key, value in service.get("environment", {}).items()}
        assert other.get("environment", {}) == wanted and other["healthcheck"]["test"] == service["healthcheck"]["test"], name
        assert other["user"] == service["user"] and other["read_only"] and other["cap_drop"] == ["ALL"], name
    assert theirs["configs"]["caddyfile"]["content"] == ours.document["configs"]["caddyfile"]["content"].replace("$", "$$") or \
        theirs["configs"]["caddyfile"]["content"] == ours.document["configs"]["caddyfile"]["content"]
    assert config(FILE.read_text().replace("read_only: true", "read_onyl: true")).returncode != 0
    (folder / ".env").write_text("")
    missing = config(FILE.read_text())
    assert "set it to the address that phones open" in missing.stderr, missing


def unpacked(tag):
    bundle = scratch / f"bundle-{tag}"
    if not bundle.exists():
        said("umoci", "unpack", "--image", f"{layout}:{tag}", bundle)
    return bundle / "rootfs"


def images():
    found = {}
    for tag in (f"{version}-debian12", f"{version}-debian13"):
        root = unpacked(tag)
        process = json.loads((root.parent / "config.json").read_text())["process"]
        owner = (root / "data").stat()
        found[f"regentd:{tag}"] = {
            "root": root, "words": process["args"], "home": "/data", "environment": dict(pair.split("=", 1) for pair in process["env"]),
            "folders": {"/data": (owner.st_uid, owner.st_mode & 0o7777)}}
    entry = scratch / "postgres"
    entry.write_text(POSTGRES)
    entry.chmod(0o755)
    users = scratch / "passwd"
    users.write_text("root:x:0:0::/:/bin/sh\npostgres:x:999:999::/:/bin/sh\n")
    data = "/var/lib/postgresql/data"
    found["postgres:17"] = {
        "root": "/", "words": ["/bin/sh", "/postgres"], "environment": {"PGDATA": data}, "folders": {data: (999, 0o1777)},
        "binds": [(str(entry), "/postgres", True), (str(users), "/etc/passwd", True)]}
    found["caddy:2"] = {
        "root": "/", "words": ["/usr/bin/caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"],
        "environment": {}, "folders": {"/tmp": (0, 0o1777)}}
    return found


class Box:
    """A box outside of the containers: `regent` of this build, which uses the published ports."""

    def __init__(self, folder, service, key, secret, authority=None):
        folder.mkdir()
        (folder / "secret").write_text(secret)
        (folder / "secret").chmod(0o600)
        trust = f"ca-file = {authority}\n" if authority else ""
        (folder / "agent.conf").write_text(
            f"service = {service}\nrequestor = acme\npublic-key = {key}\nsecret-file = {folder}/secret\nstate = {folder}/state\n{trust}")
        self.folder = folder
        self.environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": str(folder)}

    def words(self, *words):
        return [str(programs / "regent"), "--config", str(self.folder / "agent.conf"), *words]

    def pair(self, approve):
        with open(self.folder / "shown", "wb") as shown:
            pairing = subprocess.Popen(self.words("pair"), env=self.environment, stdout=shown, stderr=shown)
        code = until("a code", lambda: re.search(
            r"\b[B-Z]{4}-[B-Z]{4}\b", (self.folder / "shown").read_text(errors="replace")))
        approve(code[0])
        assert pairing.wait(timeout=60) == 0, (self.folder / "shown").read_text()

    def token(self):
        return said(*self.words("token", "news-1"), env=self.environment).strip()


def control(project, name, *words, text=None):
    done = project.execute(name, "/usr/bin/regentctl", *words, text=text)
    assert done.returncode == 0, (words, done.stdout, done.stderr, project.log(name)[-2000:])
    return done.stdout


def set_up(project, name):
    answer = control(project, name, "setup", "--requestor", "acme", "--provider", "cable", "--account", "anna", "--backups", "/data",
                     text="a long enough password\n")
    return [re.search(rf"{kind} +(\w+)", answer).group(1) for kind in ("public key", "secret")]


def approver(project, name):
    return lambda code: control(project, name, "code", "approve", code, "--provider", "cable", "--account", "anna")


@contextlib.contextmanager
def started(name, **variables):
    folder = scratch / name
    folder.mkdir(exist_ok=True)
    project = Project(FILE, variables, images(), folder)
    try:
        project.up()
        yield project
        project.down()
    except BaseException:
        for service in project.running:
            print(f"-- {service}\n{project.log(service)[-3000:]}", file=sys.stderr)
        for process, *_ in project.running.values():
            process.kill()
        raise


def is_confined(project, name):
    """Checks the restrictions of the compose file in the kernel's view of the process."""
    _, inside, settings = project.running[name]
    status = dict(re.findall(r"^(\w+):\t(.*)$", pathlib.Path(f"/proc/{inside}/status").read_text(), re.M))
    # NET_BIND_SERVICE, which Caddy's image needs, is bit 10.
    assert int(status["CapBnd"], 16) == (1 << 10 if name == "caddy" else 0), status
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0 and status["NoNewPrivs"] == "1", status
    assert status["Uid"].split() == [str(settings["user"])] * 4 and settings["user"] != 0, status
    root = next(line for line in pathlib.Path(f"/proc/{inside}/mountinfo").read_text().splitlines() if line.split()[4] == "/")
    assert "ro" in re.split("[ ,]", root.split(" - ")[1]) or ",ro," in f",{root.split()[5]},", root


def one_service(tag):
    public = "http://127.0.0.1:8787"
    variables = {"REGENT_PUBLIC_URL": public, "REGENT_TAG": tag, "REGENT_BIND": "127.0.0.1"}
    with started(tag, **variables) as project:
        assert project.services.keys() == {"regentd"}
        is_confined(project, "regentd")
        key, secret = set_up(project, "regentd")
        box = Box(scratch / f"box-{tag}", public, key, secret)
        box.pair(approver(project, "regentd"))
        assert box.token()
    # The contents of the volume outlive the containers.
    with started(tag, **variables) as project:
        assert "acme" in control(project, "regentd", "requestor", "list")
        assert box.token()
        # The command waits for a service that hangs; the timeout of the health check ends it.
        inside = project.running["regentd"][1]
        os.kill(inside, signal.SIGSTOP)
        healthy = project.is_healthy("regentd")
        os.kill(inside, signal.SIGCONT)
        assert not healthy, "a service that does not answer is called healthy"


def two_nodes_behind_caddy(tag):
    secrets = scratch / "secrets"
    secrets.mkdir(mode=0o711)
    password = secrets / "database-password"
    password.write_text("kept-in-a-file-alone\n")
    os.chown(password, 0, 10001)
    password.chmod(0o440)
    variables = {
        "REGENT_PUBLIC_URL": f"https://{TLS_NAME}", "REGENT_TAG": tag, "COMPOSE_PROFILES": "tls,nodes", "REGENT_BIND": "127.0.0.1",
        "REGENT_DATABASE": "postgresql://regent@postgres/regent?sslmode=disable", "REGENT_DATABASE_PASSWORD": str(password),
        "REGENT_UPSTREAMS": "regentd:8787 regentd-2:8787"}
    with started("nodes", **variables) as project:
        assert project.services.keys() == {"regentd", "regentd-2", "postgres", "caddy"}
        for name in project.services:
            is_confined(project, name)
            told = pathlib.Path(f"/proc/{project.running[name][1]}/environ").read_bytes()
            assert b"kept-in-a-file-alone" not in told, name
        assert set(re.findall(r"^(regentd\S*)", control(project, "regentd", "node", "list"), re.M)) == {"regentd", "regentd-2"}
        key, secret = set_up(project, "regentd")
        authority = scratch / "nodes/volumes/caddy/data/caddy/pki/authorities/local/root.crt"
        box = Box(scratch / "box-nodes", f"https://{TLS_NAME}", key, secret, authority)
        # The box waits at either node; the operator approves through the other container's admin socket.
        box.pair(approver(project, "regentd-2"))
        assert box.token()
        # The nodes accept the client's address from Caddy, and from no other container.
        forged = ("-H", "X-Forwarded-For: 203.0.113.9", "-o", "/dev/null")
        page = said("curl", "-s", "--cacert", authority, "-c", scratch / "jar", f"https://{TLS_NAME}/")
        token = re.search(r'name="csrf" value="([^"]+)', page)[1]
        said("curl", "-s", "--cacert", authority, "-b", scratch / "jar", *forged, "-d", f"csrf={token}&code=BCDFGHJK",
             f"https://{TLS_NAME}/code")
        wrong = until("the wrong code in a log", lambda: re.search(
            r"wrong-code address=(\S+)", project.log("regentd") + project.log("regentd-2")), 10)[1]
        # Here published ports are forwarded from the gateway's address.
        assert wrong == "10.87.0.1", wrong
        assert "203.0.113.9" not in project.log("regentd") + project.log("regentd-2")
        # With one node less, viewers and boxes are still served.
        project.stop("regentd-2")
        assert box.token()
        for _ in range(5):
            assert said("curl", "-s", "--cacert", authority, "-w", "%{http_code}", "-o", "/dev/null", f"https://{TLS_NAME}/") == "200"


def timed(step, name):
    begun = time.monotonic()
    step()
    print(f"ok {name} ({time.monotonic() - begun:.1f} s)", flush=True)


version = re.search('regentVersion = "(.*)"', (place / "Sources/RegentPairing/Version.swift").read_text())[1]
if os.geteuid() != 0:
    print("containers: NOT RUN: only root can unpack images and start containers")
    sys.exit(0)
# First in a mount namespace that keeps the network, for building the roots; then in its own network namespace.
again = ["--propagation", "private", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv]
if len(sys.argv) == 2:
    os.execvp("unshare", ["unshare", "--mount", *again, "make"])
if sys.argv[2] != "make":
    scratch = pathlib.Path(sys.argv[2])
    layout = scratch / "image"
    hosts = scratch / "hosts"
    hosts.write_text(f"127.0.0.1 localhost {TLS_NAME}\n")
    said("mount", "--bind", hosts, "/etc/hosts")
    for tag in (f"{version}-debian12", f"{version}-debian13"):
        timed(lambda: one_service(tag), f"one service from the image {tag}")
    timed(lambda: two_nodes_behind_caddy(f"{version}-debian13"), "two nodes behind Caddy")
    sys.exit(0)
with tempfile.TemporaryDirectory() as folder:
    scratch = pathlib.Path(folder)
    scratch.chmod(0o755)
    # A separate file system, because an overlay's upper folder may not be below its lower folder.
    said("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", scratch)
    try:
        layout = scratch / "image"
        for step in (
                two_builds_of_the_images_give_the_same_bytes, each_image_contains_a_complete_sbom,
                docker_compose_accepts_the_compose_file):
            timed(step, step.__name__.replace("_", " "))
        subprocess.run(["unshare", "--net", "--mount", *again[:-1], str(scratch)], check=True)
    finally:
        said("umount", "--lazy", scratch)
