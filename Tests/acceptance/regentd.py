"""Starts `regentd` for all these tests: waits for its line with a time limit, stops it by its pid, shows its log."""

import json
import os
import pathlib
import select
import socket
import subprocess
import time

SECONDS = 60


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def control(programs, environment, *words, text=None, out=subprocess.PIPE, seconds=SECONDS):
    """Runs `regentctl` and returns its output; a failure ends the test with its message."""
    done = subprocess.run(
        [pathlib.Path(programs, "regentctl"), *words], env=environment, input=text, stdout=out, stderr=subprocess.PIPE,
        text=True, timeout=seconds)
    if done.returncode:
        raise SystemExit(f"regentctl {' '.join(map(str, words))}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def control_json(programs, environment, *words, **more):
    """Runs `regentctl --json`; returns the document, or None if there is none."""
    printed = control(programs, environment, "--json", *words, **more)
    return json.loads(printed) if printed.strip() else None


class Regentd:
    """`regentd serve` with these options, which listens when this returns. Its log is FOLDER/log."""

    def __init__(self, programs, folder, *options, listen="127.0.0.1:0", environment=None):
        self.log_file = pathlib.Path(folder, "log")
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [pathlib.Path(programs, "regentd"), "serve", "--listen", listen, *options],
                env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        # The program writes its line at once, so the whole line is there with its first byte.
        ready = select.select([self.process.stdout], [], [], SECONDS)[0]
        line = self.process.stdout.readline() if ready else ""
        if "listening on " not in line:
            self.process.kill()
            self.process.wait()
            raise SystemExit(f"regentd did not listen within {SECONDS} s ({line!r}): {self.log()}")
        self.url = line.split("listening on ")[1].strip()

    def log(self):
        return self.log_file.read_text()

    def stop(self):
        """Ends it with SIGTERM and returns its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise SystemExit(f"regentd did not end within 20 s: {self.log()}") from None

    def kill(self):
        self.process.kill()
        self.process.wait()


# The number of nodes on one database that the tests use.
NODES = int(os.environ.get("REGENT_NODES", "1"))


def serve(programs, folder, *options, **more):
    """Starts one service, or several nodes on one database."""
    if NODES == 1:
        return Regentd(programs, folder, *options, **more)
    from nodes.several import Several
    return Several(NODES, programs, folder, *options, **more)


def let_others_hear():
    """Waits until all nodes know a change. It takes milliseconds, in which they may still answer "not yet"."""
    if NODES > 1:
        time.sleep(0.5)
