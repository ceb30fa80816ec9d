#!/usr/bin/env python3
"""The checks for ARM that need no such machine: the C headers compile for arm64, and the Kodi module signs a box in
with a 32-bit ARM Python that qemu emulates.

usage: arm.py PROGRAMS

PROGRAMS is the folder with regentd, regentctl and regent. No Swift code runs here, because that needs another toolchain
(docs/arm.md).
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import kodi

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / ".build/arm"
DEVELOPMENT = ("libc6-dev", "libssl-dev", "libsqlite3-dev", "libqrencode-dev", "libcurl4-openssl-dev", "libpq-dev", "libargon2-dev",
               "libcrypt-dev", "libexpat1-dev")


def mirror():
    """This machine's source of Debian packages, without the security updates, which are at another address."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
        check=True, capture_output=True, text=True).stdout
    found = re.search(r"^(\S+) \w+ main$", listed, re.M)
    assert found, f"apt has no source of Debian's packages: {listed}"
    return found[1]


def unpacked(architecture, packages):
    """A folder with Debian packages of another architecture and their dependencies; nothing in it is run."""
    folder = CACHE / architecture
    if not folder.exists():
        new = folder.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["mmdebstrap", "--quiet", f"--architectures={architecture}", "--variant=extract", f"--include={','.join(packages)}",
             "bookworm", new, f"deb {mirror()} bookworm main"], check=True)
        if not (new / "lib").exists():
            (new / "lib").symlink_to("usr/lib")
        new.rename(folder)
    return folder


def each_c_header_compiles_for_arm64():
    headers = unpacked("arm64", DEVELOPMENT)
    command = ["clang", "--target=aarch64-unknown-linux-gnu", f"--sysroot={headers}", "-isystem", f"{headers}/usr/include/postgresql", "-std=gnu11",
               "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only", "-x", "c", "-"]
    shims = sorted(ROOT.glob("Sources/C*/shim.h"))
    assert len(shims) >= 9, shims
    for shim in shims:
        # 32 bits have another size of long, x86 another sign of char: this proves that the target is arm64.
        text = f'#include "{shim}"\n_Static_assert(sizeof(long) == 8 && (char)-1 > 0, "arm64");\n'
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        assert done.returncode == 0, (shim, done.stderr)


def the_kodi_module_signs_in_with_32_bits():
    root = unpacked("armhf", ("python3",))
    python = ["qemu-arm-static", "-L", str(root), str(root / "usr/bin/python3.11")]
    said = subprocess.run([*python, "-c", "import sys, platform; print(sys.maxsize, platform.machine())"], capture_output=True, text=True)
    assert said.stdout.split()[:1] == [str(2**31 - 1)] and "arm" in said.stdout, said
    with tempfile.TemporaryDirectory(prefix="regent-arm-") as home:
        house = kodi.House(pathlib.Path(sys.argv[1]).resolve(), home)
        try:
            kodi.signs_in(house, *python)
            # Both Pythons draw the same QR code, so letters, numbers and check digits are right on 32 bits.
            draw = ("import sys; sys.path.insert(0, sys.argv[1]); from regent import picture; picture.write(sys.argv[2], "
                    "picture.qr_code('HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK', 840))")
            for name, words in (("here.png", [sys.executable]), ("arm.png", python)):
                subprocess.run([*words, "-B", "-c", draw, house.repository.module, f"{home}/{name}"], check=True)
            assert pathlib.Path(home, "here.png").read_bytes() == pathlib.Path(home, "arm.png").read_bytes()
        finally:
            house.service.stop()


for story in (each_c_header_compiles_for_arm64, the_kodi_module_signs_in_with_32_bits):
    story()
    print(f"ok {story.__name__.replace('_', ' ')}", flush=True)
