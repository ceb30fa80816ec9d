"""The setting of account.py: a service, a box with its daemon, and apps that run as different Unix users."""

import base64
import itertools
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

from counting import Connection, signed
from regentd import Regentd, control, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy/python"))
import regent

APPS = 20
FIRST_USER = 23_400
LIMIT = 30
WORD = {"deviceType": "linux"}


class App:
    """A program of another user that uses `regent.py`; it makes one call after another."""

    def __init__(self, number, path):
        self.name, self.user = f"app{number}", FIRST_USER + number
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=self.serve, args=(other, path), daemon=True)
        self.process.start()
        other.close()

    def serve(self, pipe, path):
        os.setgroups([])
        os.setresgid(self.user, self.user, self.user)
        os.setresuid(self.user, self.user, self.user)
        box = regent.Regent(path, timeout=LIMIT)
        while True:
            try:
                name, words = pipe.recv()
            except EOFError:
                return
            try:
                pipe.send((None, getattr(box, name)(*words)))
            except regent.RegentError as error:
                pipe.send((error.code, str(error)))

    def begin(self, name, *words):
        self.pipe.send((name, words))

    def end(self):
        assert self.pipe.poll(LIMIT + 10), f"{self.name} has no answer within {LIMIT + 10} s"
        return self.pipe.recv()

    def ask(self, name, *words):
        self.begin(name, *words)
        code, answer = self.end()
        assert code is None, f"{self.name}: {name}: {code}: {answer}"
        return answer


class World:
    """`count` is the number of random events, and `pick` the random generator."""

    def __init__(self, home, programs, count, pick):
        self.count, self.pick = count, pick
        self.home, self.programs, self.nonces = home, programs, itertools.count(1)
        self.plain = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8"}
        self.port = free_port()
        self.host = f"127.0.0.1:{self.port}"
        self.socket = f"{home}/regent/agent.sock"
        self.daemon = None
        self.start_service()

    # The service

    def start_service(self):
        self.service = Regentd(
            self.programs, self.home, "--web", ROOT / "web", "--device-rate", "100000", "--newcomer-rate", "100000",
            listen=self.host, environment=self.plain | {"STATE_DIRECTORY": f"{self.home}/service"})

    def kill_service(self):
        self.service.kill()
        self.start_service()

    def control(self, *words, text=None):
        return control(
            self.programs, self.plain, "--socket", f"{self.home}/service/admin.sock", "--json", *words, text=text, seconds=LIMIT)

    def provision(self):
        for words, text in [
            (("requestor", "add", "APP", "--name", "App"), None),
            (("requestor", "add", "MAKER", "--name", "Maker", "--platform", "on"), None),
            (("provider", "add", "local", "--name", "Local", "--kind", "local", "--boarding", "supported",
              "--platform-id", "local"), None),
            (("integrate", "APP", "local", "--sso", "on"), None), (("integrate", "MAKER", "local"), None),
            (("account", "add", "local", "demo"), "demo-demo-1\n"), (("account", "add", "local", "other"), "demo-demo-1\n"),
            (("entitle", "add", "local", "--allow", "*"), None),
        ]:
            self.control(*words, text=text)
        self.keys = {
            name: json.loads(self.control("key", "issue", name)) | {"requestor": name} for name in ("APP", "MAKER")}

    def head(self, method, path, device, *more, key="APP"):
        return signed(self.keys[key], self.host, next(self.nonces), method, path, f"deviceId={device}", *more)

    def call(self, method, path, device, form=None, connection=None):
        """The status and the body; 0 if there is no response."""
        try:
            connection = connection or Connection(("127.0.0.1", self.port))
            connection.socket.settimeout(LIMIT)
            connection.send(*self.written(method, path, device, form))
            return connection.answer()
        except (OSError, SystemExit):
            return 0, b""

    def written(self, method, path, device, form=None):
        """The head and the body of a call."""
        body, more = b"", []
        if form is not None:
            body = "&".join(f"{name}={value}" for name, value in form.items()).encode()
            more = ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
        return self.head(method, path, device, *more), body

    # The box

    def start_daemon(self):
        if self.daemon is None:
            with open(os.open(f"{self.home}/secret", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(self.keys["MAKER"]["secret"])
            lines = ["app = probe user:0 requestor:APP"] + [f"app = app{n} user:{FIRST_USER + n} requestor:APP" for n in range(APPS)]
            pathlib.Path(self.home, "agent.conf").write_text("\n".join(lines) + "\n")
            self.box = self.plain | {
                "REGENT_SERVICE": f"http://{self.host}", "REGENT_REQUESTOR": "MAKER",
                "REGENT_PUBLIC_KEY": self.keys["MAKER"]["publicKey"], "REGENT_SECRET_FILE": f"{self.home}/secret",
                "REGENT_STATE": f"{self.home}/box", "XDG_RUNTIME_DIR": self.home}
        self.daemon = subprocess.Popen(
            [f"{self.programs}/regent", "daemon", "--config", f"{self.home}/agent.conf"], env=self.box,
            stdout=subprocess.DEVNULL, stderr=open(f"{self.home}/daemon.log", "ab"))
        end = time.monotonic() + LIMIT
        while True:
            try:
                return Connection(self.socket)
            except OSError:
                assert time.monotonic() < end and self.daemon.poll() is None, pathlib.Path(
                    self.home, "daemon.log").read_text()
                time.sleep(0.01)

    def kill_daemon(self):
        self.daemon.kill()
        self.daemon.wait()
        self.start_daemon()

    def regent(self, *words, fails=False):
        done = subprocess.run(
            [f"{self.programs}/regent", *words], env=self.box, capture_output=True, text=True, timeout=LIMIT + 10)
        assert (done.returncode != 0) == fails, f"{words}: {done.returncode} {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def is_signed_in(self):
        return json.loads(self.regent("sso", "status", "--json"))["signedIn"]

    def sign_in(self, account="demo"):
        pairing = subprocess.Popen(
            [f"{self.programs}/regent", "sso", "sign-in", "--json"], env=self.box, stdout=subprocess.PIPE, text=True)
        for line in pairing.stdout:
            event = json.loads(line)
            if event["event"] == "code":
                self.control("code", "approve", event["code"], "--provider", "local", "--account", account)
        assert pairing.wait(timeout=LIMIT) == 0

    def sign_in_anew(self):
        self.regent("sso", "sign-out")
        self.sign_in()

    def sign_in_by_itself(self, device):
        """Signs in a device of an app without the box's account."""
        status, body = self.call("POST", "/reggie/v1/APP/regcode", device, {})
        assert status == 201, body
        self.control("code", "approve", json.loads(body)["code"], "--provider", "local", "--account", "demo")

    # An app signs in

    def request(self, device):
        return self.call("GET", "/api/v1/APP/profile-requests/local", device)

    def exchange(self, device, word):
        return self.call(*self.exchanged(device, word))[0]

    @staticmethod
    def exchanged(device, word):
        return "POST", "/api/v1/tokens/authn", device, {"mvpd": "local", "SAMLResponse": word, **WORD}

    def come_in(self, app, device):
        """Makes the whole exchange; returns True if the app is signed in, otherwise the step that failed."""
        status, request = self.request(device)
        if status != 200:
            return f"request: {status}"
        app.begin("platform_account", "APP", "local", base64.b64encode(request).decode())
        code, answer = app.end()
        if code:
            return f"word: {code}"
        status = self.exchange(device, answer["assertion"])
        return True if status == 204 else f"exchange: {status}"

    def start_sdk(self, app, store):
        """Starts the SDK as the app's user with that store; returns the lines that it prints."""
        folder, key = pathlib.Path(self.home, f"sdk-{app.name}"), self.keys["APP"]
        if not folder.exists():
            folder.mkdir(0o700)
            os.chown(folder, app.user, app.user)
        done = subprocess.run(
            ["setpriv", f"--reuid={app.user}", f"--regid={app.user}", "--clear-groups", f"{self.programs}/SDKProbe", "start",
             folder / store, f"http://{self.host}", "APP", key["publicKey"], key["secret"], self.socket],
            env=self.plain | {"HOME": str(folder)}, cwd="/", capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, f"{app.name}: {done.stdout}{done.stderr}"
        return done.stdout.splitlines()

    def is_in(self, device):
        status, _ = self.call("GET", "/api/v1/tokens/authn", device)
        assert status in (200, 403, 404, 410), f"who is signed in on {device}: {status}"
        return status == 200


def wait(until, what):
    end = time.monotonic() + LIMIT
    while not until():
        assert time.monotonic() < end, f"no {what} within {LIMIT} s"
        time.sleep(0.01)
