#!/usr/bin/env python3
"""A disk of 150 MB that one address, one account and one app fill; honest viewers must not notice it.

    full_disk.py PROGRAMS [--minutes N] [--quiet SECONDS]

The service has a tmpfs of 150 MB and its usual limits. For N minutes (1) a hostile viewer pairs invented devices and
opens invented titles of a kilobyte on them, guests with invented devices do the same, and the app's statement and
secret register clients and begin codes that are never used. All of that comes from one address, as fast as the service
responds. Meanwhile honest viewers at other addresses pair their screens, open titles and fetch media tokens, as they
did before the attack.

Fails when a call of an honest viewer fails, when the 99th percentile of pairing or playing is more than twice that
before the attack (and more than 100 ms), when an operator's line in the audit log is lost or its chain broken, or when
less than the reserve is free at the end. Needs root, for the mount.
"""

import argparse
import collections
import html
import http.client
import json
import math
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from regentd import Regentd, control
from service import PASSWORD, PATIENCE, REQUESTOR, ROOT, authorization

MEGABYTES, RESERVE, FLOOR = 150, 15 << 20, 0.100
HOSTILE = "127.0.7.7"
HONEST = [f"viewer{number}" for number in range(12)]
# Every account is disabled and enabled eight times.
LINES = 16 * len(HONEST)


class Caller:
    """Requests from one address, over one connection."""

    def __init__(self, url, key, source):
        self.url, self.key, self.source = url, key, source
        self.cookies, self.page, self.connection = {}, "", None

    def request(self, method, path, body=None, headers=()):
        """The status, headers and text of the response."""
        for again in (False, True):
            if not self.connection:
                place = urllib.parse.urlsplit(self.url)
                self.connection = http.client.HTTPConnection(
                    place.hostname, place.port, timeout=PATIENCE, source_address=(self.source, 0))
            try:
                self.connection.request(method, path, body, dict(headers))
                answer = self.connection.getresponse()
                return answer.status, answer.headers, answer.read().decode()
            except (http.client.HTTPException, OSError):
                self.connection.close()
                self.connection = None
                if again:
                    raise

    def call(self, method, path, **query):
        """Sends a signed call."""
        headers = {"Authorization": authorization(self.key, method, path), "Accept": "application/json"}
        status, _, text = self.request(method, f"{path}?{urllib.parse.urlencode(query)}", headers=headers)
        return status, json.loads(text) if text.startswith("{") else text

    def browse(self, method, path, **fields):
        """Opens a page or sends a form; returns a redirect's target, a page's path or an error's status."""
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), "Origin": self.url}
        body = None
        if method == "POST":
            token = re.search(r'name="csrf" value="([^"]*)"', self.page)
            body = urllib.parse.urlencode({"csrf": html.unescape(token.group(1)) if token else "", **fields})
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        status, answer, text = self.request(method, path, body, headers)
        for line in answer.get_all("Set-Cookie", []):
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
        if status in (302, 303):
            return answer["Location"]
        self.page = text
        return path if status == 200 else status

    def sign_in(self, name):
        """Signs the browser in, with a code that it opens."""
        code = self.call("POST", f"/reggie/v1/{REQUESTOR}/regcode", deviceId=f"first-{name}", mvpd="local")[1]["code"]
        self.browse("GET", f"/D/{code}")
        self.follow("POST", f"/D/{code}/open")
        self.follow("POST", f"/D/{code}/sign-in?provider=local", user=name, password=PASSWORD)

    def follow(self, method, path, **fields):
        place = self.browse(method, path, **fields)
        while isinstance(place, str) and place != path:
            path, place = place, self.browse("GET", place)
        return place

    def pair(self, device):
        """Pairs a device; returns the first wrong status, or 200."""
        status, record = self.call("POST", f"/reggie/v1/{REQUESTOR}/regcode", deviceId=device, mvpd="local")
        if status != 201:
            return status
        code = record["code"]
        self.browse("GET", f"/D/{code}")
        place = self.follow("POST", f"/D/{code}/open")
        if isinstance(place, int):
            return place
        place = self.browse("POST", f"/D/{code}/approve")
        if isinstance(place, int) or "/result" not in place:
            return place
        return self.call("GET", "/api/v1/tokens/authn", deviceId=device)[0]

    def play(self, device, title):
        status, _ = self.call("GET", "/api/v1/authorize", deviceId=device, resource=title)
        return status if status != 200 else self.call(
            "GET", "/api/v1/tokens/media", deviceId=device, resource=title)[0]


def invented():
    return uuid.uuid4().hex * 30


def hostile_viewer(caller):
    """Pairs one device after another and opens titles on all of them."""
    caller.sign_in("mallory")
    devices = collections.deque(["first-mallory"], maxlen=100)
    while True:
        device = uuid.uuid4().hex
        yield caller.pair(device)
        devices.append(device)
        for _ in range(20):
            devices.rotate(1)
            yield caller.call("GET", "/api/v1/authorize", deviceId=devices[0], resource=invented())[0]


def guests(caller):
    """Begin temporary passes on invented devices and open titles there."""
    while True:
        device = uuid.uuid4().hex
        yield caller.call(
            "POST", "/api/v1/authenticate/freepreview", deviceId=device, mso_id="pass", requestor_id=REQUESTOR,
            domain_name="example.com")[0]
        for _ in range(20):
            yield caller.call("GET", "/api/v1/authorize", deviceId=device, resource=invented())[0]


def registrations(caller, statement):
    """Register clients of both protocols with the software statement that each copy of the app contains."""
    text = {"Content-Type": "application/json"}
    while True:
        yield caller.request(
            "POST", "/o/client/register", json.dumps({"software_statement": statement}), text)[0]
        yield caller.request("POST", "/oauth/register", json.dumps({
            "software_statement": statement, "client_name": invented()[:100], "token_endpoint_auth_method": "none",
            "grant_types": ["urn:ietf:params:oauth:grant-type:device_code"]}), text)[0]


def attack(url, key, statement, told):
    """Performs acts of each kind in turn until it is killed, at low priority, so that honest viewers get the cores."""
    os.nice(10)
    kinds = {
        "viewer": hostile_viewer(Caller(url, key, HOSTILE)), "guests": guests(Caller(url, key, HOSTILE)),
        "registrations": registrations(Caller(url, key, HOSTILE), statement)}
    while True:
        for name, kind in kinds.items():
            told.put((name, next(kind)))


class Honest:
    """Viewers with different addresses, each with two screens."""

    def __init__(self, url, key):
        self.callers = []
        self.turn = 0
        for place, name in enumerate(HONEST):
            caller = Caller(url, key, f"127.0.{8 + place}.1")
            caller.sign_in(name)
            self.callers.append((name, caller))

    def go_on(self, seconds):
        """Pairs and plays for this long; returns the times of both, and the wrong statuses."""
        times, wrong = {"pair": [], "play": []}, collections.Counter()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            name, caller = self.callers[self.turn % len(self.callers)]
            device = f"screen-{name}-{self.turn // len(self.callers) % 2}"
            self.turn += 1
            for kind, act in [
                ("pair", lambda: caller.pair(device)),
                *[("play", lambda: caller.play(device, f"news-{self.turn % 7}"))] * 3,
            ]:
                begun = time.monotonic()
                status = act()
                times[kind].append(time.monotonic() - begun)
                if status != 200:
                    wrong[kind, status] += 1
            # One pairing a second: one in twelve seconds for each account.
            time.sleep(1)
        return times, wrong


def percentile(times):
    return sorted(times)[math.ceil(len(times) * 0.99) - 1]


def audit(programs, environment):
    return [json.loads(line) for line in control(programs, environment, "audit", "export").splitlines()]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("programs")
    options.add_argument("--minutes", type=float, default=1)
    options.add_argument("--quiet", type=float, default=30)
    given = options.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("full_disk: mounting takes root")
    programs = pathlib.Path(given.programs).resolve()
    with tempfile.TemporaryDirectory(prefix="regent-") as home:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=700", "tmpfs", home], check=True)
        try:
            run(programs, home, given)
        finally:
            subprocess.run(["umount", "-l", home], check=True)


def run(programs, home, given):
    environment = {"HOME": home, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    service = Regentd(programs, home, "--web", ROOT / "web", environment=environment)

    def do(*words, text=None):
        printed = control(programs, environment, *words, text=text)
        return json.loads(printed) if "--json" in words else None

    attackers = []
    try:
        do("requestor", "add", REQUESTOR, "--name", "Cinema", "--domain", "example.com")
        key = do("key", "issue", REQUESTOR, "--json")
        statement = do("statement", "issue", REQUESTOR, "--application", "App", "--json")["softwareStatement"]
        do("provider", "add", "local", "--name", "Local", "--kind", "local")
        do("provider", "add", "pass", "--name", "Pass", "--kind", "temporary", "--lifetime", "10m")
        for provider in ("local", "pass"):
            do("integrate", REQUESTOR, provider)
        do("entitle", "add", "local", "--allow", "*")
        for name in [*HONEST, "mallory"]:
            do("account", "add", "local", name, text=PASSWORD + "\n")
        for number in range(LINES):
            turn, place = divmod(number, len(HONEST))
            do("account", "enable" if turn % 2 else "disable", "local", HONEST[place])
        before = audit(programs, environment)
        honest = Honest(service.url, key)
        quiet, wrong = honest.go_on(given.quiet)
        told = multiprocessing.Queue()
        attacker = multiprocessing.Process(target=attack, args=(service.url, key, statement, told), daemon=True)
        attacker.start()
        attackers.append(attacker)
        seen, end = collections.Counter(), time.monotonic() + given.minutes * 60
        busy = {"pair": [], "play": []}
        while (left := end - time.monotonic()) > 0:
            times, more = honest.go_on(min(10, left))
            wrong += more
            for kind in busy:
                busy[kind] += times[kind]
            while not told.empty():
                seen[told.get()] += 1
            if not attacker.is_alive():
                raise SystemExit("full_disk: the attack ended by itself")
        attacker.terminate()
        attacker.join()
        sizes = {path.name: path.stat().st_size >> 10 for path in pathlib.Path(home).rglob("*") if path.is_file()}
        free = os.statvfs(home).f_bavail * os.statvfs(home).f_frsize
        after = audit(programs, environment)
    finally:
        for attacker in attackers:
            attacker.kill()
        code = service.stop()
    whole = subprocess.run(
        [programs / "regentd", "check", "--web", ROOT / "web"], env=environment, capture_output=True, text=True, timeout=PATIENCE)
    problems = [f"{kind} of an honest viewer: {status} ({count} times)" for (kind, status), count in wrong.items()]
    for kind in busy:
        least, most = percentile(quiet[kind]), percentile(busy[kind])
        print(f"{kind}: p99 {least * 1000:.0f} ms before the attack, {most * 1000:.0f} ms under attack ({len(busy[kind])} times)")
        if most > max(2 * least, FLOOR):
            problems.append(f"{kind} takes {most * 1000:.0f} ms, {least * 1000:.0f} before the attack")
    for (kind, status), count in sorted(seen.items(), key=str):
        print(f"attack: {kind} {status}: {count}")
    lines = {json.dumps(line, sort_keys=True) for line in after}
    gone = sum(json.dumps(line, sort_keys=True) not in lines for line in before)
    print("KiB: " + ", ".join(f"{name} {size}" for name, size in sorted(sizes.items()) if size > 99))
    print(f"free: {free >> 20} of {MEGABYTES} MiB; audit log: {len(after)} lines, {len(before)} from before the attack, "
          f"{gone} of them lost")
    if gone:
        problems.append(f"{gone} of {len(before)} lines of operators are lost")
    if free < RESERVE // 2:
        problems.append(f"{free} bytes are free")
    if whole.returncode or code:
        problems.append(f"regentd: exit {code}; check: {whole.stdout}{whole.stderr}")
    for problem in problems:
        print(f"full_disk: {problem}")
    if problems:
        sys.exit(1)


if __name__ == "__main__":
    main()
