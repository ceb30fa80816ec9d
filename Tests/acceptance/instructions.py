#!/usr/bin/env python3
"""Counts what a request or a command costs: instructions, system calls, allocations, pages written. Times do not
matter.

usage: instructions.py FOLDER_OF_RELEASE_PROGRAMS [--budgets FILE] [--write]

Everything runs under callgrind, whose counts are the same on every machine: virtual machines have no counters for
`perf`, and other load does not change the counts. It presents the same processor everywhere, so that OpenSSL and the C
library choose the same code. A row fails if it needs 3 % more than its budget in FILE. A row that needs 5 % less is
printed with its new figure, which --write stores.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

from counting import SECONDS, Connection, Counted, Running, fail, signed
from regentd import Regentd, control, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUDGETS = ROOT / "Tests/instruction-budgets"
COLUMNS = ("instructions", "system calls", "allocations", "pages")
# More than 3 % above a budget fails, more than 5 % below it is reported. System calls have larger margins, because the
# scheduler decides how often a thread must be woken. The spare is in the column's unit, because small numbers jump by
# one.
OVER, UNDER, SPARE = (0.03, 0.15, 0.03, 0.03), (0.05, 0.2, 0.05, 0.05), (0, 0.3, 0.5, 0.5)
REQUESTOR = "BENCH"
BOXES = 100


class Guard:
    def __init__(self, programs, home):
        self.programs, self.home, self.rows = pathlib.Path(programs).resolve(), pathlib.Path(home), {}
        self.counted = Counted(home)
        self.plain = {
            "PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", "SWIFT_DETERMINISTIC_HASHING": "1"}
        self.nonce = 0

    def row(self, name, running, count, act):
        """Measures `count` calls of `act(number)`, after a quarter as many to warm up."""
        first = max(1, count // 4)
        for number in range(first):
            act(number)
        running.count()
        written = running.written()
        for number in range(first, first + count):
            act(number)
        pages = (running.written() - written) / 4096
        self.rows[name] = [value / count for value in [*running.count(), pages]]
        self.show(name)

    def show(self, name):
        print(line(name, *map(figure, self.rows[name], range(4))), flush=True)

    # The engine without a service

    def static(self):
        port = free_port()
        with open(self.home / "static.log", "wb") as log:
            server = subprocess.Popen(
                [*self.counted.words("static"), self.programs / "Benchmarks", "serve-static", str(port), "hello"],
                env=self.plain, stderr=log)
        try:
            end = time.monotonic() + SECONDS
            while b"listening" not in (self.home / "static.log").read_bytes():
                if server.poll() is not None or time.monotonic() > end:
                    fail(f"the static server does not listen: {(self.home / 'static.log').read_text()}")
                time.sleep(0.05)
            connection = Connection(("127.0.0.1", port))
            head = f"GET /static HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
            self.row("static reply", Running(self.counted, "static", server.pid), 1000,
                     lambda _: connection.ask(head, 200))
        finally:
            server.kill()
            server.wait()

    # The service

    def control(self, *words, text=None):
        printed = control(self.programs, self.plain, *words, text=text, seconds=SECONDS)
        return json.loads(printed) if "--json" in words else None

    def service(self):
        wrapper = self.home / "programs"
        wrapper.mkdir()
        start = " ".join([*self.counted.words("service"), str(self.programs / "regentd")])
        (wrapper / "regentd").write_text(f'#!/bin/sh\nexec {start} "$@"\n')
        (wrapper / "regentd").chmod(0o755)
        server = Regentd(
            wrapper, self.home, "--web", ROOT / "web", "--device-rate", "10000", "--device-burst", "100000",
            "--newcomer-rate", "10000", "--sign-ins-per-account", "10000", "--code-rate", "off", environment=self.plain)
        try:
            self.requests(server)
        finally:
            server.kill()

    def requests(self, server):
        place = urllib.parse.urlsplit(server.url)
        self.address, self.host, self.url = (place.hostname, place.port), place.netloc, server.url
        for words, text in [
            (("requestor", "add", REQUESTOR, "--name", "Bench"), None),
            (("provider", "add", "local", "--name", "Local", "--kind", "local"), None),
            (("integrate", REQUESTOR, "local"), None), (("account", "add", "local", "demo"), "demo-demo-1\n"),
            (("entitle", "add", "local", "--allow", "*"), None),
        ]:
            self.control(*words, text=text)
        self.key = self.control("key", "issue", REQUESTOR, "--json") | {"requestor": REQUESTOR}
        running = Running(self.counted, "service", server.process.pid)
        token = self.access_token()
        self.connection = Connection(self.address)
        self.codes = {}
        self.row("new code", running, BOXES * 4 // 5, self.create)
        boxes = sorted(self.codes)
        self.polls(running, boxes, token)
        self.approvals(running, boxes)
        self.watching(running, boxes)
        self.oauth(running)
        self.programs_that_end()

    def access_token(self):
        statement = self.control("statement", "issue", REQUESTOR, "--application", "Bench", "--json")
        client = json.loads(self.post("/o/client/register", "application/json", json.dumps(
            {"software_statement": statement["softwareStatement"]})))
        return json.loads(self.post("/o/client/token", "application/x-www-form-urlencoded", urllib.parse.urlencode({
            "grant_type": "client_credentials", "client_id": client["client_id"],
            "client_secret": client["client_secret"]})))["access_token"]

    def post(self, path, kind, body):
        connection = http.client.HTTPConnection(*self.address, timeout=SECONDS)
        connection.request("POST", path, body=body, headers={"Content-Type": kind})
        answer = connection.getresponse()
        found = answer.read()
        if answer.status >= 300:
            fail(f"{answer.status} for {path}: {found}")
        return found

    def signed(self, *words):
        self.nonce += 1
        return signed(self.key, self.host, self.nonce, *words)

    def create(self, number):
        box = f"box-{number:04}"
        head = self.signed("POST", f"/reggie/v1/{REQUESTOR}/regcode", f"deviceId={box}", "Content-Length: 0")
        self.codes[box] = json.loads(self.connection.ask(head, 201))["code"]

    def polls(self, running, boxes, token):
        """Polls as boxes do: each over its own connection, with the same request each time."""
        connections = [Connection(self.address) for _ in boxes]

        def pending(number):
            place = number % len(boxes)
            connections[place].ask(
                f"GET /api/v1/tokens/authn?deviceId={boxes[place]}&format=json HTTP/1.1\r\n"
                f"Host: {self.host}\r\nAuthorization: Bearer {token}\r\n\r\n", 404)

        def signed(number):
            place = number % len(boxes)
            connections[place].ask(self.signed("GET", "/api/v1/tokens/authn", f"deviceId={boxes[place]}"), 404)

        # One round beforehand, because the first poll of a box looks up more.
        for number in range(len(boxes)):
            pending(number)
        self.row("pending poll", running, 8 * len(boxes), pending)
        self.row("signed poll", running, 8 * len(boxes), signed)

    def approvals(self, running, boxes):
        waiting = []
        for box in boxes:
            connection = Connection(self.address)
            connection.send(self.signed("GET", "/api/v1/tokens/authn", f"deviceId={box}", "Prefer: wait=55"))
            waiting.append(connection)
        admin = Connection(str(next(self.home.rglob("admin.sock"))))
        body = json.dumps({"provider": "local", "account": "demo"}).encode()

        def approve(number):
            admin.ask(
                f"POST /v1/codes/{self.codes[boxes[number]]}/approve HTTP/1.1\r\nHost: regent\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n", 200, body)
            status, answer = waiting[number].answer()
            if status != 200:
                fail(f"a waiting box got {status}: {answer}")

        self.row("approve and deliver", running, len(boxes) * 3 // 4, approve)

    def watching(self, running, boxes):
        self.tokens = []

        def watch(number):
            query = f"deviceId={boxes[number]}&resource=channel-1"
            self.connection.ask(self.signed("GET", "/api/v1/authorize", query), 200)
            media = json.loads(self.connection.ask(self.signed("GET", "/api/v1/tokens/media", query), 200))
            self.tokens.append(media["serializedToken"])

        self.row("authorize and media token", running, len(boxes) * 3 // 4, watch)

    # OAuth clients

    def form(self, path, status, **fields):
        body = urllib.parse.urlencode(fields).encode()
        return self.connection.ask(
            f"POST /oauth/{path} HTTP/1.1\r\nHost: {self.host}\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n", status, body)

    def oauth(self, running):
        """Uses tokens of ES256 without an ID token, so that each needs one signature."""
        box, api = (
            self.control("client", "add", REQUESTOR, "--name", name, kind, "--algorithm", "ES256", "--json")
            for name, kind in (("Box", "--public"), ("API", "--secret")))
        offers = [json.loads(self.form("device_authorization", 200, client_id=box["id"],
                                       scope="offline_access entitlements")) for _ in range(BOXES)]
        grant = "urn:ietf:params:oauth:grant-type:device_code"

        def ask(number, status):
            return self.form("token", status, client_id=box["id"], grant_type=grant,
                             device_code=offers[number % BOXES]["device_code"])

        self.row("oauth: pending poll", running, 8 * BOXES, lambda number: ask(number, 400))
        admin = Connection(str(next(self.home.rglob("admin.sock"))))
        body = json.dumps({"provider": "local", "account": "demo"}).encode()
        tokens = []
        for number, offer in enumerate(offers):
            admin.ask(
                f"POST /v1/codes/{offer['user_code'].replace('-', '')}/approve HTTP/1.1\r\nHost: regent\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n", 200, body)
            tokens.append(json.loads(ask(number, 200)))
        # The first introspection of each token reads the store.
        for number in range(BOXES):
            self.introspect(api, tokens[number])
        self.row("oauth: introspection", running, 4 * BOXES,
                 lambda number: self.introspect(api, tokens[number % BOXES]))

        def refresh(number):
            place = number % BOXES
            tokens[place] = json.loads(self.form(
                "token", 200, client_id=box["id"], grant_type="refresh_token",
                refresh_token=tokens[place]["refresh_token"]))

        self.row("oauth: refresh", running, BOXES, refresh)

    def introspect(self, api, tokens):
        told = json.loads(self.form(
            "introspect", 200, client_id=api["id"], client_secret=api["secret"], token=tokens["access_token"]))
        if not told["active"]:
            fail("a token is worth nothing")

    # Programs that end

    def programs_that_end(self):
        self.verify()
        self.commands()
        self.box()

    def ended(self, name, words, environment=None):
        done = subprocess.run(
            [*self.counted.words(name), *words], env=environment or self.plain, capture_output=True, text=True,
            timeout=SECONDS)
        if done.returncode:
            fail(f"{name}: {done.stderr}")
        return Counted.read(self.home / name)

    def verify(self):
        """Checks the same tokens once and four times; the difference is the cost of checking."""
        connection = Connection(self.address)
        keys = connection.ask(f"GET /oauth/jwks.json HTTP/1.1\r\nHost: {self.host}\r\n\r\n", 200)
        (self.home / "keys.json").write_bytes(keys)
        (self.home / "tokens").write_text("\n".join(self.tokens[:40]))
        few, many = (
            self.ended(f"verify-{rounds}", [
                self.programs / "Benchmarks", "verify-given", self.home / "keys.json", self.home / "tokens", REQUESTOR,
                rounds])
            for rounds in ("1", "4"))
        self.rows["verify a media token"] = [(b - a) / 120 for a, b in zip(few, many)] + [0]
        self.show("verify a media token")

    def commands(self):
        """A simple read, and the most expensive one, which reads everything and compares it with a file."""
        program, file = self.programs / "regentctl", self.home / "all.json"
        file.write_bytes(subprocess.run([program, "export"], env=self.plain, stdout=subprocess.PIPE, check=True).stdout)
        for words in (["requestor", "list"], ["apply", file, "--dry-run"]):
            name = " ".join(["regentctl", *(word for word in words if word != file)])
            self.ended("command", [program, *words])
            self.rows[name] = [*self.ended("command", [program, *words]), 0]
            self.show(name)

    def box(self):
        (self.home / "secret").write_text(self.key["secret"])
        (self.home / "secret").chmod(0o600)
        environment = self.plain | {
            "REGENT_SERVICE": self.url, "REGENT_REQUESTOR": REQUESTOR, "REGENT_PUBLIC_KEY": self.key["publicKey"],
            "REGENT_SECRET_FILE": f"{self.home}/secret", "REGENT_STATE": f"{self.home}/box",
            "XDG_RUNTIME_DIR": str(self.home)}
        with open(self.home / "box.log", "wb") as log:
            process = subprocess.Popen(
                [*self.counted.words("box"), self.programs / "regent", "pair", "--json", "--unattended"],
                env=environment, stdout=subprocess.PIPE, stderr=log)
        try:
            said, end = b"", time.monotonic() + SECONDS
            while b'"code"' not in said:
                if time.monotonic() > end or process.poll() is not None:
                    fail(f"the box shows no code: {said} {(self.home / 'box.log').read_text()}")
                if select.select([process.stdout], [], [], 1)[0]:
                    said += os.read(process.stdout.fileno(), 65536)
            pages = Running(self.counted, "box", process.pid).written() / 4096
            # The program handles signals, which vgdb cannot forward, so its exit is counted, too.
            process.terminate()
            process.wait(timeout=SECONDS)
        finally:
            process.kill()
            process.wait()
        self.rows["regent to its code"] = [*Counted.read(self.home / "box"), pages]
        self.show("regent to its code")


def figure(value, column):
    return f"{value:.0f}" if column == 0 else f"{value:.1f}"


def line(name, *columns):
    return f"{name:28}" + "".join(f"{column:>14}" for column in columns)


def read_budgets(file):
    rows = {}
    for text in file.read_text().splitlines():
        if text and not text.startswith("#"):
            name, *columns = re.split(r"  +", text.strip())
            rows[name] = [float(column) for column in columns]
    return rows


def write_budgets(file, rows):
    text = [*[at for at in file.read_text().splitlines() if at.startswith("#")], ""]
    text += [line(name, *map(figure, columns, range(4))).rstrip() for name, columns in rows.items()]
    file.write_text("\n".join(text) + "\n")


def verdicts(rows, budgets):
    """A sentence for each figure above its budget, and one for each far below it."""
    over_budget = [f"“{name}” has a budget and was not measured" for name in budgets if name not in rows]
    cheaper = []
    for name, columns in rows.items():
        if name not in budgets:
            over_budget.append(f"“{name}” has no budget: run with --write")
            continue
        for column, value, budget, over, under, spare in zip(COLUMNS, columns, budgets[name], OVER, UNDER, SPARE):
            if value > budget * (1 + over) + spare:
                over_budget.append(f"“{name}” needs {value:.1f} {column}, and its budget is {budget:.1f}: find out what came in")
            elif value < budget * (1 - under) - spare:
                cheaper.append(f"“{name}” needs only {value:.1f} {column} of {budget:.1f}: --write lowers its budget")
    return over_budget, cheaper


def check_the_rule():
    """Checks the rule with examples before anything is measured."""
    budget, just = [1000, 10, 10, 1], [1029, 10.2, 9.6, 1]
    assert verdicts({"a": just}, {"a": budget}) == ([], [])
    for columns in ([1031, 10, 10, 1], [1000, 12, 10, 1], [1000, 10, 10, 1.6]):
        assert [len(found) for found in verdicts({"a": columns}, {"a": budget})] == [1, 0], columns
    for columns in ([940, 10, 10, 1], [1000, 10, 8, 1]):
        assert [len(found) for found in verdicts({"a": columns}, {"a": budget})] == [0, 1], columns
    assert len(verdicts({"b": just}, {"a": budget})[0]) == 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--budgets", type=pathlib.Path, default=BUDGETS)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if not shutil.which("valgrind"):
        fail("valgrind is not installed: run deploy/bootstrap --test")
    check_the_rule()
    print(line("", *COLUMNS))
    with tempfile.TemporaryDirectory(prefix="regent-instructions-") as home:
        guard = Guard(given.programs, home)
        guard.static()
        guard.service()
    if given.write:
        return write_budgets(given.budgets, guard.rows)
    over_budget, cheaper = verdicts(guard.rows, read_budgets(given.budgets))
    print("\n".join([*cheaper, *over_budget]))
    print(f"{len(over_budget)} figures are over their budget" if over_budget else "no figure is over its budget")
    return 1 if over_budget else 0


if __name__ == "__main__":
    sys.exit(main())
