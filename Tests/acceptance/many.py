#!/usr/bin/env python3
"""What lists and bulk sign-outs cost with many boxes: processor seconds of both programs, and the service's peak
memory.

usage: many.py FOLDER_OF_PROGRAMS [BOXES]

The folder also contains Benchmarks, which fills the database (`fill-boxes`): the accounts viewer0 to viewer999 own the
boxes in turn, signed in a minute apart. Processor seconds are measured, because elapsed time also depends on other
load. Each list must have the right number of boxes, and each command must stay within the seconds below.
"""

import os
import pathlib
import resource
import subprocess
import sys

from regentd import Regentd, control
from service import PATIENCE, PASSWORD, REQUESTOR

TICK = os.sysconf("SC_CLK_TCK")


class Many:
    def __init__(self, programs, boxes, home):
        self.programs, self.boxes, self.home = pathlib.Path(programs), boxes, home
        self.environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        self.failed = []

    def start(self):
        self.regentd = Regentd(
            self.programs, self.home, "--web", pathlib.Path(__file__).parents[2] / "web", environment=self.environment)

    def control(self, *words, text=None, out=subprocess.PIPE):
        return control(self.programs, self.environment, *words, text=text, out=out, seconds=20 * PATIENCE)

    def fill(self):
        self.start()
        self.control("requestor", "add", REQUESTOR)
        self.control("provider", "add", "aurora", "--name", "Aurora", "--kind", "local")
        self.control("integrate", REQUESTOR, "aurora")
        self.control("account", "add", "aurora", "viewer7", text=PASSWORD + "\n")
        self.regentd.stop()
        state = self.home / ".local/state/regent"
        subprocess.run(
            [self.programs / "Benchmarks", "fill-boxes", state, REQUESTOR, "aurora", str(self.boxes)], check=True,
            env=self.environment, timeout=20 * PATIENCE)
        self.start()

    def service(self):
        """The processor seconds that the service has used, and its peak memory in MiB."""
        folder = pathlib.Path("/proc", str(self.regentd.process.pid))
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        peak = next(line for line in (folder / "status").read_text().splitlines() if line.startswith("VmHWM"))
        return (int(fields[11]) + int(fields[12])) / TICK, int(peak.split()[1]) / 1024

    def row(self, name, *words, boxes=None, seconds):
        """Runs a command; counts its lines, and the seconds of both programs."""
        before, _ = self.service()
        mine = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime + resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime
        said = self.control(*words)
        after, peak = self.service()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = usage.ru_utime + usage.ru_stime - mine
        found = said.count("\n") if boxes is not None else None
        # The clock moves on while the command runs, so two lines more or fewer are accepted.
        good = (found is None or abs(found - boxes) <= 2) and took + after - before <= seconds
        print(f"{name:44} {took:6.2f} s regentctl {after - before:6.2f} s service  {peak:5.0f} MiB"
              f"{f'  {found} lines' if found is not None else ''}{'' if good else '  MISSED'}", flush=True)
        if not good:
            self.failed.append(name)
        return said

    def run(self):
        self.fill()
        # A debug build takes several times as long.
        full = self.boxes / 100_000 * 20
        mine, day = self.boxes // 1000, min(24 * 60, self.boxes)
        half = self.boxes * 57 // 100
        lines = ("device", "list", "--json", "--lines")
        self.row("all, by the line", *lines, boxes=self.boxes, seconds=2 * full)
        self.row("one account's", *lines, "--account", "viewer7", boxes=mine, seconds=1)
        self.row("one account's at its provider", *lines, "--provider", "aurora", "--account", "viewer7", boxes=mine, seconds=1)
        self.row("of the last day", *lines, "--since", "24h", boxes=day, seconds=2)
        self.row("at a provider that has none", *lines, "--provider", "nobody", boxes=0, seconds=1)
        self.row("the first twenty", "device", "list", "--limit", "20", boxes=21, seconds=1)
        before = f"{self.boxes - half}m"
        self.row("who would be signed out, of 57 in 100", "device", "sign-out", "--before", before, "--dry-run", seconds=full)
        self.row("signing out 57 in 100", "device", "sign-out", "--before", before, "--yes", seconds=3 * full)
        self.row("what is left", *lines, boxes=self.boxes - half, seconds=2 * full)
        self.row("an account's that is left", *lines, "--account", "viewer7", boxes=(self.boxes - half) // 1000, seconds=1)
        self.regentd.stop()
        return 1 if self.failed else 0


def main():
    import tempfile
    with tempfile.TemporaryDirectory(prefix="regent-") as home:
        return Many(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000, pathlib.Path(home)).run()


if __name__ == "__main__":
    sys.exit(main())
