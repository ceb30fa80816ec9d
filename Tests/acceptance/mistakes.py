#!/usr/bin/env python3
"""Thirty mistakes of a hurried operator, made with the packages under a real systemd. The message about each
one names the fix, and following it literally repairs the installation.

usage: mistakes.py FOLDER_OF_PACKAGES [--programs FOLDER] [--only NUMBER,NUMBER] [--table FILE]

With --programs it replaces the programs of the packages, for example by a debug build. The machine is that of
packages.py. The table of the results is written to .build/results/mistakes.md.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from container import PACKAGING, Container, Unavailable
from packages_stage import built, place, repacked, stage
# These two add their functions to MISTAKES.
import mistakes_box
import mistakes_service
from mistakes_stage import FAKETIME, MISTAKES, begin

WANTED = 30


def cell(text):
    return text.replace("|", r"\|").replace("\n", " ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("packages")
    parser.add_argument("--programs", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--only", type=lambda text: [int(number) for number in text.split(",")])
    parser.add_argument("--table", type=pathlib.Path, default=place / ".build/results/mistakes.md")
    given = parser.parse_args()
    os.chdir(place)
    stage.programs = given.programs
    stage.version = re.search(r"regentd_([^_]+)_", next(built.glob("regentd_*.deb")).name)[1]
    assert len(MISTAKES) == WANTED, sorted(set(range(1, WANTED + 1)) - set(MISTAKES))
    binds = [str(built), str(FAKETIME.parent)]
    if given.programs:
        # A debug build loads Swift's libraries from the folder of the compiler.
        linked = subprocess.run(["ldd", f"{given.programs}/regentd"], check=True, capture_output=True, text=True).stdout
        binds += [given.programs, *{os.path.dirname(path) for path in re.findall(r"=> (/\S*/libswift\S*)", linked)}]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        stage.older = pathlib.Path(folder) / "older"
        stage.older.mkdir()
        repacked(stage.older, "0.0.9")
        try:
            stage.machine = Container(
                place / ".build" / Container.packaging_folder(), binds=(*binds, str(stage.older)), more=PACKAGING)
        except Unavailable as reason:
            print(f"mistakes: NOT RUN, no systemd can be booted here: {reason}")
            return 0
        try:
            return made(given)
        finally:
            stage.machine.stop()


def made(given):
    subprocess.run(
        ["nsenter", "-t", str(stage.machine.leader), "-n", "--", "ip", "address", "add", "192.168.7.1/32", "dev", "lo"], check=True)
    begin()
    rows, failed = [], []
    for number in sorted(given.only or MISTAKES):
        one, begun = MISTAKES[number], time.monotonic()
        try:
            said, fixed = one.make(), "yes"
        except (AssertionError, OSError) as reason:
            said, fixed = str(reason), "no"
            failed.append(number)
        rows.append(f"| {number} | {cell(one.what)} | {cell(said)} | {fixed} |")
        print(f"{'ok' if fixed == 'yes' else 'FAILED'} {number} {one.what} ({time.monotonic() - begun:.1f} s): {said}", flush=True)
    print(f"mistakes: {len(rows) - len(failed)} of {len(rows)} are mended by doing what is said")
    if failed:
        print(stage.machine.log("regentd", "regent", lines=200), file=sys.stderr)
    given.table.parent.mkdir(parents=True, exist_ok=True)
    given.table.write_text("\n".join(
        ["| # | mistake | said | fixed by following it |", "|---|---|---|---|", *rows, ""]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
