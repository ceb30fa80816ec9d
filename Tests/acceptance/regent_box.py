"""A box: the real `regent`, the events that it prints, and calls of programs on it."""

import json
import os
import select
import subprocess
import tempfile
import time

from service import PATIENCE, REQUESTOR, Failure


class Box:
    """`regent` with its own state, as a launcher starts it; `service` has `programs`, `url` and `key`."""

    def __init__(self, service):
        self.service = service
        self.folder = tempfile.TemporaryDirectory(prefix="regent-box-")
        home = self.folder.name
        with open(os.open(f"{home}/secret", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(service.key["secret"])
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": home, "LC_ALL": "C.UTF-8", "XDG_RUNTIME_DIR": home,
            "REGENT_SERVICE": service.url, "REGENT_REQUESTOR": REQUESTOR,
            "REGENT_PUBLIC_KEY": service.key["publicKey"], "REGENT_SECRET_FILE": f"{home}/secret",
            "REGENT_STATE": f"{home}/state"}
        self.program = service.programs / "regent"
        self.process, self.rest, self.events = None, b"", []

    def pair(self, *options):
        """Starts `regent pair --json`; returns the code that it shows."""
        self.process = subprocess.Popen(
            [self.program, "pair", "--json", *options], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.rest, self.events = b"", []
        return self.event("code")["code"]

    def event(self, name):
        """The next event, which must have this name."""
        until = time.monotonic() + PATIENCE
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                raise Failure(f"the box says no {name!r}; it said {self.names()}")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                raise Failure(f"the box ended without {name!r}; it said {self.names()}")
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        event = json.loads(line)
        self.events.append(event)
        if event["event"] != name:
            raise Failure(f"the box says {event}, not {name!r}; it said {self.names()}")
        return event

    def names(self):
        return [event["event"] for event in self.events]

    def ends(self, code):
        """Checks that it ends by itself with this code and prints nothing more."""
        rest = self.process.communicate(timeout=PATIENCE)[0]
        if (self.process.returncode, self.rest + rest) != (code, b""):
            raise Failure(f"the box ends with {self.process.returncode} and {self.rest + rest!r}, not {code}")

    def ask(self, *words, expect=0):
        done = subprocess.run(
            [self.program, *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != expect:
            raise Failure(f"regent {' '.join(words)}: {done.returncode}, {done.stdout}{done.stderr}")
        return done.stdout

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=PATIENCE)
        self.folder.cleanup()
