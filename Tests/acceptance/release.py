#!/usr/bin/env python3
"""The tarball, its list of parts and the OCI image: made twice with the same bytes, and used as somebody would who has only them.

usage: release.py FOLDER_OF_PROGRAMS

The image's root is run by chroot, as the image's user and with its settings, in a network of its own. Where one is not root that
is said, and it is no failure.
"""
import hashlib, json, os, pathlib, re, shutil, subprocess, sys, tempfile, time

SECONDS = 60
programs = pathlib.Path(sys.argv[1]).resolve()
place = pathlib.Path(__file__).resolve().parents[2]
os.chdir(place)


def made(script, folder):
    subprocess.run([f"deploy/{script}", str(folder)], check=True, env=os.environ | {"PROGRAMS": str(programs)})
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*") if path.is_file()}


def twice(script, folder):
    first, second = (made(script, folder / f"{script}{number}") for number in "12")
    assert first == second, [name for name in first | second if first.get(name) != second.get(name)]
    return folder / f"{script}1"


def until(what, look):
    end = time.monotonic() + SECONDS
    while not (found := look()):
        assert time.monotonic() < end, f"not within {SECONDS} s: {what}"
        time.sleep(0.05)
    return found


def the_tarball_is_whole():
    folder = twice("tarball", scratch)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    prefix = scratch / "usr/local"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/other").write_text("somebody else's")
    archive = next(folder.glob("*.tar.xz"))
    subprocess.run(["tar", "-xJf", archive, "--strip-components=1", "--no-same-owner", "-C", prefix], check=True)
    for program in ("regentd", "regentctl", "regent"):
        said = subprocess.run([prefix / "bin" / program, "--version"], check=True, capture_output=True, text=True).stdout
        assert re.search(r"\d+\.\d+", said) and said.strip().split()[-1] in archive.name, said
        linked = subprocess.run(["ldd", prefix / "bin" / program], check=True, capture_output=True, text=True).stdout
        assert "libswift" not in linked and "not found" not in linked, linked
    subprocess.run([prefix / "share/regent/deploy/install", "uninstall", prefix], check=True, capture_output=True)
    left = [path for path in prefix.rglob("*") if not path.is_dir()]
    assert left == [prefix / "bin/other"], left


def the_list_of_parts_is_valid():
    [file] = (scratch / "tarball1").glob("*.cdx.json")
    document = json.loads(file.read_text())
    names = {part["name"]: part for part in document["components"]}
    for name in ("regentd", "regentctl", "regent", "swift-runtime", "libsqlite3-0", "libssl3", "libcurl4", "libc6"):
        assert name in names, name
    installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libssl3"], capture_output=True, text=True).stdout
    assert names["libssl3"]["version"] == installed
    known = {part["bom-ref"] for part in document["components"]} | {document["metadata"]["component"]["bom-ref"]}
    for row in document["dependencies"]:
        assert known >= {row["ref"], *row["dependsOn"]}, row
    venv = place / ".build/release-venv"
    if not (venv / "made").exists():
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "--quiet", "cyclonedx-python-lib[json-validation]==11.12.0"], check=True)
        (venv / "made").touch()
    validator = (
        "import sys; from cyclonedx.validation.json import JsonStrictValidator as V; from cyclonedx.schema import SchemaVersion as S;"
        "e = V(S.V1_5).validate_str(open(sys.argv[1]).read()); sys.exit(str(e) if e else 0)")
    subprocess.run([venv / "bin/python", "-c", validator, file], check=True)
    broken = scratch / "broken.json"
    broken.write_text(json.dumps(document | {"components": [{"name": "nameless"}]}))
    refused = subprocess.run([venv / "bin/python", "-c", validator, broken], capture_output=True).returncode
    assert refused != 0, "the validator takes anything"


def the_image_runs_and_signs_a_box_in():
    layout = twice("image", scratch)
    tag = json.loads((layout / "index.json").read_text())["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"]
    subprocess.run(["umoci", "unpack", "--image", f"{layout}:{tag}", scratch / "unpacked"], check=True, capture_output=True)
    root = scratch / "unpacked/rootfs"
    process = json.loads((scratch / "unpacked/config.json").read_text())["process"]
    user = (process["user"]["uid"], process["user"]["gid"])
    assert 0 not in user and os.stat(root / "data").st_uid == user[0], user
    assert not (root / "bin/sh").exists() and not (root / "usr/bin/sh").exists()
    subprocess.run(["mount", "-t", "proc", "proc", root / "proc"], check=True)

    def inside(*words):
        return ["chroot", f"--userspec={user[0]}:{user[1]}", str(root), *words]

    settings = dict(pair.split("=", 1) for pair in process["env"])
    public = "http://127.0.0.1:8787"
    log = open(scratch / "regentd.log", "wb")
    service = subprocess.Popen(
        inside(*process["args"]), env=settings | {"REGENT_PUBLIC_URL": public}, stdout=log, stderr=log)
    try:
        def control(*words, text=None, may_fail=False):
            done = subprocess.run(
                inside("/usr/bin/regentctl", *words), env=settings, input=text, capture_output=True, text=True, timeout=SECONDS)
            assert may_fail or done.returncode == 0, (words, done.stdout, done.stderr, (scratch / "regentd.log").read_text())
            return done.stdout if not may_fail else done.returncode

        # The label's command is what a healthy service answers from its first moment on, and no other does.
        config = next(
            found for path in (layout / "blobs/sha256").iterdir() if path.stat().st_size < 65536
            and "config" in (found := json.loads(path.read_text())) and "Labels" in found["config"])
        health = config["config"]["Labels"]["org.regent.health"].split()
        assert health[0] == "/usr/bin/regentctl" and config["config"]["Volumes"] == {"/data": {}}
        until("the service is healthy", lambda: control(*health[1:], may_fail=True) == 0)
        said = control(
            "setup", "--requestor", "acme", "--provider", "cable", "--account", "anna", "--backups", "/data",
            text="a long enough password\n")
        key, secret = (re.search(rf"{name} +(\w+)", said).group(1) for name in ("public key", "secret"))
        box = scratch / "box"
        box.mkdir()
        (box / "secret").write_text(secret)
        (box / "secret").chmod(0o600)
        (box / "agent.conf").write_text(
            f"service = {public}\nrequestor = acme\npublic-key = {key}\nsecret-file = {box}/secret\nstate = {box}/state\n")
        at = {"HOME": str(box), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": str(box)}

        def regent(*words):
            return [str(programs / "regent"), "--config", str(box / "agent.conf"), *words]

        with open(scratch / "pair.log", "wb") as shown:
            pairing = subprocess.Popen(regent("pair"), env=at, stdout=shown, stderr=shown)
        code = until("a code", lambda: re.search(r"\b[B-Z]{4}-[B-Z]{4}\b", (scratch / "pair.log").read_text(errors="replace")))
        control("code", "approve", code[0], "--provider", "cable", "--account", "anna")
        assert pairing.wait(timeout=SECONDS) == 0, (scratch / "pair.log").read_text()
        token = subprocess.run(regent("token", "news-1"), env=at, capture_output=True, text=True, timeout=SECONDS)
        assert token.returncode == 0 and token.stdout.strip(), token.stderr
    finally:
        service.terminate()
        status = service.wait(timeout=SECONDS)
        subprocess.run(["umount", root / "proc"], check=True)
    assert status == 0, status
    stopped = subprocess.run(inside("/usr/bin/regentctl", *health[1:]), env=settings, capture_output=True).returncode
    assert stopped != 0, "a stopped service is called healthy"


steps = (the_tarball_is_whole, the_list_of_parts_is_valid)
if sys.argv[2:] == ["image"]:
    steps = (the_image_runs_and_signs_a_box_in,)
with tempfile.TemporaryDirectory() as folder:
    scratch = pathlib.Path(folder)
    scratch.chmod(0o755)
    for step in steps:
        begun = time.monotonic()
        step()
        print(f"ok {step.__name__.replace('_', ' ')} ({time.monotonic() - begun:.1f} s)", flush=True)
if len(sys.argv) > 2:
    sys.exit(0)
if os.geteuid() != 0:
    print("release: the image is NOT RUN, as only root can chroot")
    sys.exit(0)
os.execvp("unshare", ["unshare", "--net", "--mount", "--propagation", "private", "--", "sh", "-c",
                      'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv, "image"])
