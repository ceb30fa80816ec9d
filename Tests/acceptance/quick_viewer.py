#!/usr/bin/env python3
"""A signed-in phone approves at any moment from 0 to 6 s after opening the page: how soon the box knows.

    quick_viewer.py PROGRAMS [--tries N] [--seed N] [--only WAY,WAY]

Each of four ways is tried N times (200): `regent pair`, an app with the SDK, OAuth's device grant (`regent oauth pair`,
and every tenth time docs/examples/oauth/pair.sh), and regent.py with the box's daemon. The moments are spread evenly,
in an order that depends on the seed. It measures the time from the phone's approval (its request is sent) to the moment
when the box reports the sign-in. Fails when the 99th percentile of a way is above 300 ms.
"""

import argparse
import contextlib
import html
import http.cookiejar
import json
import math
import os
import pathlib
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE / "oauth"), str(HERE.parent.parent / "deploy/python")]
from issuer import Phone
from regent import Regent, RegentError
from service import PASSWORD, PATIENCE, REQUESTOR, ROOT, Box, Service, connected, until

# The last moment after opening the page, in seconds; the bar for an approval to reach the box; boxes of each way at a
# time.
LAST, BAR, BOXES = 6.0, 0.300, 10
# If the processors were idle for less than this share of the time, the machine was busy with other work.
BUSY = 0.25
PROVIDER = "local"


class House:
    """A service, and a phone that is signed in there."""

    def __init__(self, programs, **more):
        self.service = Service(programs, options=[
            "--device-rate", "1000", "--device-burst", "10000", "--sign-ins-per-account", "1000"], **more)
        self.context = None
        if more.get("https"):
            os.environ["SSL_CERT_FILE"] = f"{self.service.folder.name}/pem"
        self.url, self.programs = self.service.url, self.service.programs
        self.service.control("provider", "add", PROVIDER, "--name", "Local", "--kind", "local")
        self.service.control("integrate", REQUESTOR, PROVIDER)
        self.service.control("account", "add", PROVIDER, "anna", text=PASSWORD + "\n")
        self.client = self.service.control("client", "add", REQUESTOR, "--name", "Player", "--public", "--json")
        # One sign-in at the phone; each try uses its cookies.
        self.cookies = http.cookiejar.CookieJar()
        code = Box(self.service).ask(mvpd=PROVIDER)
        phone = Phone(self, self.cookies)
        phone.open(f"/D/{code}")
        phone.send(f"/D/{code}/open")
        phone.send(f"/D/{code}/sign-in?provider={PROVIDER}", user="anna", password=PASSWORD)

    def approve(self, code, moment):
        """A signed-in phone opens the link and approves `moment` seconds later; returns the time of that request."""
        code = code.replace("-", "")
        phone = QuickPhone(self.url, self.cookies)
        opened = time.monotonic()
        phone.ask("GET", f"/D/{code}")
        place = phone.ask("POST", f"/D/{code}/open")
        if "/approve" not in place:
            raise SystemExit(f"a phone that is signed in is led to {place}")
        phone.ask("GET", place)
        time.sleep(max(0, opened + moment - time.monotonic()))
        sent = time.monotonic()
        place = phone.ask("POST", f"/D/{code}/approve")
        if "/result" not in place:
            raise SystemExit(f"approved, and the phone is led to {place}")
        return sent


class QuickPhone:
    """A browser's requests on one connection, with as little processor time as possible."""

    def __init__(self, url, cookies):
        self.url = url
        self.cookies = {cookie.name: cookie.value for cookie in cookies}
        self.connection = connected(urllib.parse.urlsplit(url), PATIENCE)
        self.page = ""

    def ask(self, method, path, **fields):
        """The target of a redirect, or the path itself for a page."""
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), "Origin": self.url}
        body = None
        if method == "POST":
            token = re.search(r'name="csrf" value="([^"]*)"', self.page).group(1)
            body = urllib.parse.urlencode({"csrf": html.unescape(token), **fields})
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        for line in answer.headers.get_all("Set-Cookie", []):
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
        if answer.status in (302, 303):
            return answer.headers["Location"]
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status}")
        self.page = text
        return path


class Home:
    """The folder and the environment of one box."""

    def __init__(self, house):
        self.house, service = house, house.service
        self.folder = tempfile.TemporaryDirectory(prefix="regent-quick-")
        self.path = self.folder.name
        with open(os.open(f"{self.path}/secret", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(service.key["secret"])
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": self.path, "LC_ALL": "C.UTF-8", "XDG_RUNTIME_DIR": self.path,
            "REGENT_SERVICE": service.url, "REGENT_REQUESTOR": REQUESTOR,
            "REGENT_PUBLIC_KEY": service.key["publicKey"], "REGENT_SECRET_FILE": f"{self.path}/secret",
            "REGENT_STATE": f"{self.path}/state"}
        self.regent = house.programs / "regent"

    def close(self):
        self.folder.cleanup()

    @contextlib.contextmanager
    def started(self, words, stderr=subprocess.DEVNULL):
        process = subprocess.Popen(
            words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, bufsize=0)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def lines(self, words, code_of, is_end):
        """Starts a program and yields its code, and then the moment of its last line."""
        with self.started(words) as process:
            for line in process.stdout:
                heard = time.monotonic()
                if code := code_of(line):
                    yield code
                if is_end(line):
                    yield heard
                    return


def event(name, member=None):
    def found(line):
        said = json.loads(line)
        return said["event"] == name and (said[member] if member else True)
    return found


class Pair(Home):
    """`regent pair --json`."""

    def sign_in(self):
        return self.lines(
            [self.regent, "pair", "--json", "--force"], event("code", "code"), event("authenticated"))


class SDK(Home):
    """An app that links the SDK."""

    def __init__(self, house):
        super().__init__(house)
        key = house.service.key
        self.app = subprocess.Popen(
            [house.programs / "SDKProbe", "sign-ins", house.url, REQUESTOR, key["publicKey"], key["secret"]],
            env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def close(self):
        self.app.kill()
        self.app.communicate()
        super().close()

    def sign_in(self):
        self.app.stdin.write(b"\n")
        yield self.app.stdout.readline().split()[1].decode()
        if self.app.stdout.readline().startswith(b"user "):
            yield time.monotonic()


class OAuth(Home):
    """The device grant, by `regent oauth pair`, and every tenth time by curl as in the example."""

    def __init__(self, house):
        super().__init__(house)
        self.turn = 0
        self.client = house.client["id"], house.client["issuer"]
        self.do("add", "tv", "--issuer", self.client[1], "--client-id", self.client[0])

    def do(self, *words):
        done = subprocess.run(
            [self.regent, "oauth", *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            raise SystemExit(f"quick_viewer: regent oauth {' '.join(words)}: {done.stdout}{done.stderr}")

    def sign_in(self):
        self.turn += 1
        if self.turn % 10 != 5:
            return self.lines(
                [self.regent, "oauth", "pair", "tv", "--json", "--force"], event("code", "code"), event("authenticated"))
        return self.curl()

    def curl(self):
        client, issuer = self.client
        with self.started([ROOT / "docs/examples/oauth/pair.sh", issuer, client], subprocess.PIPE) as process:
            yield process.stderr.readline().split()[-1].decode()
            if not process.stdout.readline():
                raise SystemExit(f"quick_viewer: pair.sh: {process.stderr.read()}")
            yield time.monotonic()


class Python(Home):
    """regent.py with its daemon."""

    def __init__(self, house):
        super().__init__(house)
        self.daemon = subprocess.Popen(
            [self.regent, "daemon"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.box = Regent(f"{self.path}/regent/agent.sock")
        until("the daemon listens", self.listens)

    def listens(self):
        try:
            return self.box.status()
        except RegentError:
            return None

    def close(self):
        self.daemon.terminate()
        self.daemon.wait(timeout=PATIENCE)
        super().close()

    def sign_in(self):
        for said in self.box.pair(force=True):
            heard = time.monotonic()
            if said["event"] == "code":
                yield said["code"]
            elif said["event"] == "authenticated":
                yield heard


WAYS = {"regent pair": Pair, "SDK": SDK, "OAuth grant": OAuth, "regent.py": Python}


class Way:
    """One of the four ways, and its figures."""

    def __init__(self, name, house, moments):
        self.name, self.house, self.figures, self.problems = name, house, [], []
        self.moments = queue.SimpleQueue()
        for moment in moments:
            self.moments.put(moment)
        self.threads = [
            threading.Thread(target=self.run, args=(number,), daemon=True) for number in range(min(BOXES, len(moments)))]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        home = None
        try:
            # The boxes start one after another, because a machine that starts forty programs at once measures that.
            time.sleep(number * LAST / 2 / BOXES)
            home = WAYS[self.name](self.house)
            while True:
                moment = self.moments.get_nowait()
                signing_in = home.sign_in()
                code = next(signing_in)
                heard = []
                listening = threading.Thread(target=lambda: heard.extend(signing_in), daemon=True)
                listening.start()
                sent = self.house.approve(code, moment)
                listening.join(PATIENCE)
                if not heard:
                    raise SystemExit(f"approved {moment:.2f} s after the page was opened, and the box has not heard")
                self.figures.append((heard[0] - sent, moment))
        except queue.Empty:
            pass
        except BaseException as problem:
            self.problems.append(f"{self.name}: {problem!r}")
        finally:
            if home:
                home.close()

    def end(self):
        """Waits for the end, prints the figures and returns whether they are good."""
        for thread in self.threads:
            thread.join()
        for problem in self.problems:
            print(problem)
        if self.problems:
            return False
        took = sorted(seconds for seconds, _ in self.figures)
        p99 = took[math.ceil(0.99 * len(took)) - 1]
        late = sorted((moment, seconds) for seconds, moment in self.figures if seconds > BAR)
        print(f"{self.name}: {len(took)} approvals, to the box in median {took[len(took) // 2] * 1000:.0f} ms, "
              f"p99 {p99 * 1000:.0f} ms (bar {BAR * 1000:.0f}), at most {took[-1] * 1000:.0f} ms, {len(late)} above the bar",
              flush=True)
        for moment, seconds in late[:10]:
            print(f"    approved {moment:.2f} s after the page was opened: {seconds * 1000:.0f} ms")
        return p99 <= BAR


def idle():
    """The time that the machine's processors were idle since its start, and the whole time."""
    with open("/proc/stat") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return times[3] + times[4], sum(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--tries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=38)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(WAYS))
    given = parser.parse_args()
    begun = time.monotonic()
    pick = random.Random(given.seed)
    house = House(given.programs)
    try:
        before = idle()
        ways = []
        for name in given.only:
            moments = [LAST * (number + 0.5) / given.tries for number in range(given.tries)]
            pick.shuffle(moments)
            ways.append(Way(name, house, moments))
        is_good = all([way.end() for way in ways])
        free, whole = (after - earlier for after, earlier in zip(idle(), before))
        print(f"seed {given.seed}, {time.monotonic() - begun:.0f} s, processors idle for {100 * free // whole} %")
        if not is_good and free < whole * BUSY:
            print("The machine was busy with other work, which delays every program; measure again when it is idle.")
    finally:
        house.service.stop()
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
