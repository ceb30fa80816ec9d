#!/usr/bin/env python3
"""The tarball and its SBOM: built twice with the same bytes, installed and removed by a user who has only them.

usage: release.py FOLDER_OF_PROGRAMS
"""
import hashlib, json, os, pathlib, re, shutil, subprocess, sys, tempfile, time

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


def the_tarball_installs_and_uninstalls():
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


def the_sbom_is_valid():
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


with tempfile.TemporaryDirectory() as folder:
    scratch = pathlib.Path(folder)
    for step in (the_tarball_installs_and_uninstalls, the_sbom_is_valid):
        begun = time.monotonic()
        step()
        print(f"ok {step.__name__.replace('_', ' ')} ({time.monotonic() - begun:.1f} s)", flush=True)
