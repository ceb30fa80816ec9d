#!/usr/bin/env python3
"""The box's platform account between programs: a service, a daemon, and apps that are Unix users of their own.

usage: account.py FOLDER_OF_PROGRAMS [COUNT [SEED]]

Twenty apps come in by one sign-in. Then the daemon and the service are killed with -9 at every step of the exchange, COUNT
times at random moments within one; the service is stopped and started while all apps come in; the box's disk is full; the
sockets get what nobody would send. Apps stay as they were, and every call ends. At last the figures, for release programs.
It needs root, for the apps' users.
"""
import base64, itertools, json, multiprocessing, os, pathlib, random, re, shutil, socket, statistics
import subprocess, sys, tempfile, threading, time

from counting import Connection, signed
from regentd import Regentd, control, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy/python"))
import regent

programs, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
pick = random.Random(seed)
APPS = 20
FIRST_USER = 23_400
LIMIT = 30
WORD = {"deviceType": "linux"}


class App:
    """A program of another user, with `regent.py`: one call after the other."""

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
    def __init__(self, home):
        self.home, self.nonces = home, itertools.count(1)
        self.plain = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8"}
        self.port = free_port()
        self.host = f"127.0.0.1:{self.port}"
        self.socket = f"{home}/regent/agent.sock"
        self.daemon = None
        self.start_service()

    # The service

    def start_service(self):
        self.service = Regentd(
            programs, self.home, "--web", ROOT / "web", "--device-rate", "100000", "--newcomer-rate", "100000",
            listen=self.host, environment=self.plain | {"STATE_DIRECTORY": f"{self.home}/service"})

    def kill_service(self):
        self.service.kill()
        self.start_service()

    def control(self, *words, text=None):
        return control(
            programs, self.plain, "--socket", f"{self.home}/service/admin.sock", "--json", *words, text=text, seconds=LIMIT)

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
        """Status and body; 0 when nobody answers."""
        try:
            connection = connection or Connection(("127.0.0.1", self.port))
            connection.socket.settimeout(LIMIT)
            connection.send(*self.written(method, path, device, form))
            return connection.answer()
        except (OSError, SystemExit):
            return 0, b""

    def written(self, method, path, device, form=None):
        """Head and body of a call."""
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
            [f"{programs}/regent", "daemon", "--config", f"{self.home}/agent.conf"], env=self.box,
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
            [f"{programs}/regent", *words], env=self.box, capture_output=True, text=True, timeout=LIMIT + 10)
        assert (done.returncode != 0) == fails, f"{words}: {done.returncode} {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def is_signed_in(self):
        return json.loads(self.regent("sso", "status", "--json"))["signedIn"]

    def sign_in(self, account="demo"):
        pairing = subprocess.Popen(
            [f"{programs}/regent", "sso", "sign-in", "--json"], env=self.box, stdout=subprocess.PIPE, text=True)
        for line in pairing.stdout:
            event = json.loads(line)
            if event["event"] == "code":
                self.control("code", "approve", event["code"], "--provider", "local", "--account", account)
        assert pairing.wait(timeout=LIMIT) == 0

    def sign_in_anew(self):
        self.regent("sso", "sign-out")
        self.sign_in()

    def sign_in_by_itself(self, device):
        """An app's device, which nothing binds to the box's account."""
        status, body = self.call("POST", "/reggie/v1/APP/regcode", device, {})
        assert status == 201, body
        self.control("code", "approve", json.loads(body)["code"], "--provider", "local", "--account", "demo")

    # An app comes in

    def request(self, device):
        return self.call("GET", "/api/v1/APP/profile-requests/local", device)

    def exchange(self, device, word):
        return self.call(*self.exchanged(device, word))[0]

    @staticmethod
    def exchanged(device, word):
        return "POST", "/api/v1/tokens/authn", device, {"mvpd": "local", "SAMLResponse": word, **WORD}

    def come_in(self, app, device):
        """The whole way; whether the app is in, or why not."""
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
        """The SDK starts as the app's user with that store: what it tells and whether it is in, line by line."""
        folder, key = pathlib.Path(self.home, f"sdk-{app.name}"), self.keys["APP"]
        if not folder.exists():
            folder.mkdir(0o700)
            os.chown(folder, app.user, app.user)
        done = subprocess.run(
            ["setpriv", f"--reuid={app.user}", f"--regid={app.user}", "--clear-groups", f"{programs}/SDKProbe", "start",
             folder / store, f"http://{self.host}", "APP", key["publicKey"], key["secret"], self.socket],
            env=self.plain | {"HOME": str(folder)}, cwd="/", capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, f"{app.name}: {done.stdout}{done.stderr}"
        return done.stdout.splitlines()

    def is_in(self, device):
        status, _ = self.call("GET", "/api/v1/tokens/authn", device)
        assert status in (200, 403, 404, 410), f"who is signed in on {device}: {status}"
        return status == 200


def one_sign_in_and_all_apps_are_in():
    world.sign_in()
    for app in apps:
        assert app.ask("platform", "APP")["permission"] == "undetermined"
        world.regent("sso", "grant", app.name)
        assert world.come_in(app, app.name) is True
        assert world.is_in(app.name)
        told = app.ask("platform_account", "APP")
        assert told["provider"] == "local" and told["app"] == app.name, told
    picked = apps[0].ask("platform_picker", "APP")
    assert [provider["id"] for provider in picked["providers"]] == ["local"], picked
    stranger = App(APPS, world.socket)
    stranger.begin("platform", "APP")
    assert stranger.end()[0] == "not-an-app"
    stranger.begin("platform_account", "APP")
    assert stranger.end()[0] == "not-an-app"


def the_lines_for_kodi():
    """docs/examples/kodi/account.py as an add-on of another user."""
    key, app = world.keys["APP"], apps[6]
    words = [f"http://{world.host}", "APP", key["publicKey"], key["secret"], "kodi-1"]
    script = f"import account; print(account.come_in(*{words!r}))"
    there = world.plain | {
        "PYTHONPATH": f"{world.home}/kodi", "REGENT_AGENT_SOCKET": world.socket, "PYTHONDONTWRITEBYTECODE": "1"}
    os.makedirs(f"{world.home}/kodi", exist_ok=True)
    for file in ("docs/examples/kodi/account.py", "deploy/python/regent.py"):
        shutil.copy(ROOT / file, f"{world.home}/kodi/")

    def come_in():
        done = subprocess.run(
            ["setpriv", f"--reuid={app.user}", f"--regid={app.user}", "--clear-groups", "python3", "-c", script],
            env=there, cwd="/", capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert come_in() == "True" and world.is_in("kodi-1")
    world.regent("sso", "deny", app.name)
    assert come_in().startswith("Allow this add-on") and not world.is_in("kodi-1")
    world.regent("sso", "grant", app.name)


def the_viewer_is_asked_and_heard():
    asks, other = apps[0], apps[1]
    world.regent("sso", "reset", asks.name)
    asks.begin("platform_access", "APP", True, 20)
    prompts = subprocess.Popen(
        [f"{programs}/regent", "sso", "prompts", "--json"], env=world.box, stdout=subprocess.PIPE, text=True)
    try:
        event = json.loads(prompts.stdout.readline())
        assert event["app"] == asks.name and event["question"] == "access", event
        world.regent("sso", "grant", asks.name)
        code, answer = asks.end()
        assert code is None and answer["permission"] == "granted" and answer["prompt"] == "open", answer
        # An app that is in asks to be signed out with the box: the viewer takes it the account alone.
        other.begin("platform_sign_out", "APP", 20)
        event = json.loads(prompts.stdout.readline())
        assert event["app"] == other.name and event["question"] == "sign-out", event
        world.regent("sso", "deny", other.name)
        code, answer = other.end()
        assert code is None and answer["permission"] == "denied" and answer["prompt"] == "open", answer
        world.regent("sso", "grant", other.name)
    finally:
        prompts.kill()
        prompts.wait()


# What stands between an app and the account, in the order in which it is met: how it is broken, how it is mended, what an
# app hears that wants in, and whether one that is in is out at its next check (None: either).
CONDITIONS = {
    "integration off": (("control", "integrate", "APP", "local", "--off"), ("control", "integrate", "APP", "local", "--on"),
                        "request: 400", True),
    "single sign-on off": (("control", "integrate", "APP", "local", "--sso", "off"),
                           ("control", "integrate", "APP", "local", "--sso", "on"), "request: 400", True),
    "boarding": (("control", "provider", "set", "local", "--boarding", "picker"),
                 ("control", "provider", "set", "local", "--boarding", "supported"), "request: 400", None),
    "degraded": (("control", "integrate", "APP", "local", "--degrade", "authz-all"),
                 ("control", "integrate", "APP", "local", "--degrade", "off"), "request: 400", None),
    "denied": (("regent", "sso", "deny", "app0"), ("regent", "sso", "grant", "app0"), "word: denied", True),
    "undetermined": (("regent", "sso", "reset", "app0"), ("regent", "sso", "grant", "app0"), "word: undetermined", False),
    "signed out": (("regent", "sso", "sign-out"), ("sign_in",), "word: not-signed-in", True),
}


# What the SDK is told at its start; of all others nothing.
TOLD = {"denied": "status VSA403", "undetermined": "status VSA404"}
# What keeps out an app that wants in, and leaves one alone that is in.
FOR_NEWCOMERS = ("boarding", "degraded")


def every_condition_alone_and_every_pair():
    """Two apps; what is decided about the first must not touch the second."""
    def act(words):
        getattr(world, words[0])(*words[1:])

    def starts(app, met, case):
        """The SDK with the store that it keeps, and with an empty one."""
        told = [TOLD[one] for one in met if one in TOLD]
        stays = all(one in FOR_NEWCOMERS for one in met)
        for store, is_in in (("kept", stays), (f"new-{case}", not met)):
            found = world.start_sdk(app, store)
            wanted = told + ["in platform local" if is_in else "out"]
            assert found == wanted, f"{met}: the SDK of {app.name}, store {store}: {found}, not {wanted}"

    for app in apps[:2]:
        assert world.start_sdk(app, "kept") == ["in platform local"]
    pairs = [(one,) for one in CONDITIONS] + list(itertools.combinations(CONDITIONS, 2))
    for case, broken in enumerate(pairs):
        if set(broken) == {"denied", "undetermined"}:
            continue
        for app in apps[:2]:
            assert world.come_in(app, app.name) is True, f"before {broken}"
        for one in broken:
            act(CONDITIONS[one][0])
        met = [one for one in CONDITIONS if one in broken]
        others = [one for one in met if one not in ("denied", "undetermined")]
        for app, mine in ((apps[0], met), (apps[1], others)):
            ends = [CONDITIONS[one][3] for one in mine]
            if True in ends or None not in ends:
                is_out = True in ends
                wait(lambda: world.is_in(app.name) != is_out, f"{app.name} {'out' if is_out else 'in'} after {broken}")
            wanted = CONDITIONS[mine[0]][2] if mine else True
            found = world.come_in(app, app.name)
            assert found == wanted, f"{broken}: {app.name} hears {found}, not {wanted}"
            starts(app, mine, case)
        for one in reversed(broken):
            act(CONDITIONS[one][1])
        for app in apps[:2]:
            wait(lambda: world.come_in(app, app.name) is True, f"way in for {app.name} after {broken} was mended")
            assert world.start_sdk(app, "kept") == ["in platform local"], f"{app.name} after {broken} was mended"
    print(f"   {len(pairs) - 1} cases")


def killed_at_every_step():
    # The box was signed out before, and with it all of them.
    for app in apps:
        assert world.come_in(app, app.name) is True
    for kill in (world.kill_service, world.kill_daemon):
        for step in ("before", "request", "word", "exchange"):
            app, device = pick.choice(apps), f"step-{kill.__name__}-{step}"
            if step == "before":
                kill()
            status, request = world.request(device)
            assert status == 200
            if step == "request":
                kill()
            word = app.ask("platform_account", "APP", "local", base64.b64encode(request).decode())["assertion"]
            if step == "word":
                kill()
            assert world.exchange(device, word) == 204
            if step == "exchange":
                kill()
            assert world.is_in(device), f"{kill.__name__} {step}: the app is out"
            assert world.exchange(device, word) == 400, "an answer counts twice"
            assert world.is_in(app.name), "another sign-in of the app is gone"


def killed_in_between():
    finished = 0
    for number in range(count):
        app, device = pick.choice(apps), f"between-{number}"
        kill = pick.choice((world.kill_service, world.kill_daemon))
        done = []
        way = threading.Thread(target=lambda: done.append(world.come_in(app, device)))
        way.start()
        time.sleep(pick.random() * 0.03)
        kill()
        way.join(timeout=LIMIT * 3)
        assert done, "a call does not end"
        if done[0] is True:
            finished += 1
            assert world.is_in(device), "told that it is in, and is not"
        else:
            assert world.come_in(app, device) is True, f"after {done[0]}: does not come in any more"
        assert world.is_in(device)
        assert app.ask("platform", "APP")["permission"] == "granted"
    print(f"   {count} kills within an exchange, {finished} of them were through")
    # A question that is held while the daemon dies ends, too.
    apps[2].begin("platform_access", "APP", True, 20)
    world.kill_daemon()
    apps[2].end()


def restarted_under_load():
    ends, told, lock = threading.Event(), [], threading.Lock()

    def come_in_again_and_again(app):
        for number in itertools.count():
            if ends.is_set():
                return
            device = f"load-{app.name}-{number % 8}"
            if world.come_in(app, device) is True:
                with lock:
                    told.append(device)

    threads = [threading.Thread(target=come_in_again_and_again, args=(app,)) for app in apps[:8]]
    for thread in threads:
        thread.start()
    for _ in range(3):
        before = len(told)
        wait(lambda: len(told) > before + 20, "exchanges under load")
        assert world.service.stop() == 0
        world.start_service()
    ends.set()
    for thread in threads:
        thread.join(timeout=LIMIT * 3)
        assert not thread.is_alive(), "a call does not end"
    lost = [device for device in set(told) if not world.is_in(device)]
    assert not lost, f"told that they are in, and are not: {lost}"
    print(f"   {len(told)} exchanges around three restarts, none lost")


def the_box_has_no_room():
    """The box's folder on a disk of its own, which is full."""
    place = f"{world.home}/box"
    world.daemon.kill()
    world.daemon.wait()
    shutil.move(place, f"{place}.kept")
    os.mkdir(place, 0o700)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k,mode=700", "tmpfs", place], capture_output=True).returncode:
        os.rmdir(place)
        shutil.move(f"{place}.kept", place)
        world.start_daemon()
        return print("   NOT RUN: nothing can be mounted here")
    try:
        shutil.copytree(f"{place}.kept", place, dirs_exist_ok=True)
        world.start_daemon()
        app = apps[3]
        assert world.come_in(app, "after-the-full-disk-0") is True
        world.regent("sso", "reset", app.name)
        with open(f"{place}/filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"x" * 4096)
            except OSError:
                pass
        said = world.regent("sso", "grant", app.name, fails=True)
        assert "could not be kept" in said, said
        assert app.ask("platform", "APP")["permission"] == "undetermined", "granted, and not on the disk"
        assert apps[4].ask("platform", "APP")["permission"] == "granted", "another's decision is gone"
        world.kill_daemon()
        assert app.ask("platform", "APP")["permission"] == "undetermined"
        # Signed out without room, the service away: it needs none, and a restart does not undo it.
        world.service.kill()
        assert "signed out" in world.regent("sso", "sign-out")
        assert not world.is_signed_in()
        world.kill_daemon()
        assert not world.is_signed_in(), "a restart undoes a sign-out"
        world.start_service()
        wait(lambda: not world.is_in("after-the-full-disk-0"), "end of the app's sign-in")
        os.unlink(f"{place}/filler")
        # The next sign-in is seen without another restart.
        world.sign_in()
        assert world.is_signed_in() and apps[4].ask("platform", "APP")["signedIn"]
        world.regent("sso", "grant", app.name)
        assert world.come_in(app, "after-the-full-disk") is True
        world.daemon.kill()
        world.daemon.wait()
        shutil.rmtree(f"{place}.kept")
        shutil.copytree(place, f"{place}.kept")
    finally:
        world.daemon.kill()
        world.daemon.wait()
        subprocess.run(["umount", place], check=True)
        os.rmdir(place)
        shutil.move(f"{place}.kept", place)
        world.start_daemon()


def nobody_would_send_that():
    good = json.dumps({"requestor": "APP"}).encode()
    calls = ["status", "access", "account", "picker", "sign-out"]
    for number in range(count * 20):
        body = bytearray(good)
        kind = number % 6
        if kind == 0:
            body = bytearray(pick.randbytes(pick.randrange(300)))
        elif kind == 1:
            for _ in range(pick.randrange(1, 5)):
                body[pick.randrange(len(body))] = pick.randrange(256)
        elif kind == 2:
            body = bytearray(pick.choice([b"[", b'{"a":']) * pick.randrange(1, 10_000))
        elif kind == 3:
            body = bytearray(json.dumps({"requestor": pick.choice(["APP", "\u202eAPP", "A" * 60_000, 1, None, []]),
                                         "prompt": pick.choice([1, "true", None]), "provider": {}, "signIn": pick.choice(["x", 1]),
                                         "after": pick.choice([-1, 1 << 70, 1.5, "1"]), "wait": pick.choice([-1, 1 << 62]),
                                         "profileRequest": pick.choice(["===", "A" * 9_000, 7])}).encode())
        head = (f"POST /v1/platform/{pick.choice(calls)} HTTP/1.1\r\nHost: localhost\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode()
        data = head + bytes(body)
        if kind == 4:
            data = data[:pick.randrange(len(data))]
        if kind == 5:
            data = bytearray(data)
            for _ in range(pick.randrange(1, 4)):
                data[pick.randrange(len(head))] = pick.randrange(256)
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(LIMIT)
            one.connect(world.socket)
            try:
                one.sendall(data)
                one.shutdown(socket.SHUT_WR)
                while one.recv(65536):
                    pass
            except (BrokenPipeError, ConnectionResetError):
                pass
        if number % 50 == 0:
            assert apps[5].ask("platform", "APP")["permission"] == "granted"
    assert world.daemon.poll() is None and apps[5].ask("platform", "APP")["permission"] == "granted"
    print(f"   {count * 20} requests that nobody would send")


def a_sign_out_reaches_a_service_that_was_away():
    """The box is signed out while the service is dead: when that is back its apps are out, and nobody need ask."""
    app = apps[2]
    assert world.come_in(app, app.name) is True
    world.service.kill()
    world.regent("sso", "sign-out")
    world.start_service()
    wait(lambda: not world.is_in(app.name), "end of the app's sign-in")
    world.sign_in()
    for one in apps:
        assert world.come_in(one, one.name) is True, one.name


def a_sign_out_at_the_service_is_noticed():
    """As an operator does it, or the viewer on the phone: by the call that the box holds."""
    app = apps[2]
    assert world.come_in(app, app.name) is True and world.is_signed_in()
    boxes = json.loads(world.control("platform", "list"))
    assert len(boxes) == 1, boxes
    world.control("platform", "sign-out", boxes[0]["id"], "--yes")
    begun = time.monotonic()
    wait(lambda: not app.ask("platform", "APP")["signedIn"], "word of the sign-out")
    took = time.monotonic() - begun
    assert took < 2 and not world.is_signed_in(), f"noticed after {took:.2f} s"
    print(f"   noticed after {took:.3f} s (bar 2)")
    world.sign_in()
    for one in apps:
        assert world.come_in(one, one.name) is True, one.name


def the_next_viewer_is_asked():
    world.regent("sso", "deny", apps[1].name)
    world.regent("sso", "sign-out")
    world.sign_in("other")
    assert world.come_in(apps[0], apps[0].name) == "word: undetermined"
    assert world.come_in(apps[1], apps[1].name) == "word: denied"
    world.regent("sso", "grant", apps[0].name)
    assert world.come_in(apps[0], apps[0].name) is True
    world.sign_in_anew()
    assert world.come_in(apps[0], apps[0].name) == "word: undetermined", "taken over from the other viewer"
    for one in apps:
        world.regent("sso", "grant", one.name)
        # The service hears of it a moment later, where there was a no.
        wait(lambda one=one: world.come_in(one, one.name) is True, f"sign-in of {one.name}")


def wait(until, what):
    end = time.monotonic() + LIMIT
    while not until():
        assert time.monotonic() < end, f"no {what} within {LIMIT} s"
        time.sleep(0.01)


def the_daemon_is_small():
    for app in apps:
        app.ask("platform", "APP")
    status = pathlib.Path(f"/proc/{world.daemon.pid}/status").read_text()
    print(f"   RssAnon of the daemon with {APPS} apps: {int(re.search(r'RssAnon:[^0-9]*([0-9]+)', status)[1])} KiB (bar 8,192)")

    def woken():
        switches = 0
        for task in pathlib.Path(f"/proc/{world.daemon.pid}/task").iterdir():
            switches += int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", (task / "status").read_text())[1])
        return switches

    before = woken()
    time.sleep(10)
    print(f"   woken {woken() - before} times in ten seconds in which nobody asks")


def an_app_starts_quickly():
    world.regent("sso", "grant", "probe")
    key = world.keys["APP"]
    with subprocess.Popen(
            [f"{programs}/SDKProbe", "account", f"http://{world.host}", "APP", key["publicKey"], key["secret"],
             world.socket, "50"], env=world.plain, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as probe:
        for device in iter(lambda: probe.stdout.readline().strip(), "devices"):
            assert device, "the probe has ended"
            world.sign_in_by_itself(device)
        said, _ = probe.communicate("\n", timeout=300)
    assert probe.returncode == 0, said
    print("".join(f"   {line}\n" for line in said.splitlines()), end="")


def the_command_is_quick():
    agent = shutil.which("ssh-agent") and shutil.which("ssh-add")
    if not agent:
        return print("   NOT RUN: no ssh-agent")
    path = f"{world.home}/ssh-agent"
    running = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        wait(lambda: os.path.exists(path), "ssh-agent")
        key = f"{world.home}/id"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        there = world.plain | {"SSH_AUTH_SOCK": path}
        # As on a box, where what it is stands in the machine's settings: the command is given nothing that has to be compared.
        here = world.plain | {"XDG_RUNTIME_DIR": world.home}
        subprocess.run(["ssh-add", "-q", key], env=there, check=True, stderr=subprocess.DEVNULL)
        times = {"regent sso status": [], "ssh-add -l": []}
        for _ in range(60):
            for name, words, environment in (
                ("regent sso status", [f"{programs}/regent", "sso", "status"], here),
                ("ssh-add -l", ["ssh-add", "-l"], there),
            ):
                begun = time.perf_counter()
                subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
                times[name].append((time.perf_counter() - begun) * 1000)
        print("   " + ", ".join(f"{name}: {statistics.median(took[5:]):.2f} ms" for name, took in times.items()))
    finally:
        running.kill()
        running.wait()


def exchanges_beside_approvals():
    def rate(work):
        lanes = [work[lane::8] for lane in range(8)]
        threads = [threading.Thread(target=lambda lane=lane: [one() for one in lane]) for lane in lanes]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(work) / (time.perf_counter() - begun)

    rates = {"approvals": [], "exchanges": []}
    for turn in range(3):
        # A new sign-in of the box, from which nobody is in: beyond 16 sign-ins of an app each one ends another, as a box
        # does whose apps make up devices.
        world.regent("sso", "sign-out")
        world.sign_in()
        codes = []
        for number in range(240):
            status, body = world.call("POST", "/reggie/v1/APP/regcode", f"rate-{turn}-{number}", {})
            assert status == 201, body
            codes.append(json.loads(body)["code"])
        words = []
        for number in range(240):
            app, device = apps[number % APPS], f"word-{turn}-{number}"
            request = base64.b64encode(world.request(device)[1]).decode()
            word = app.ask("platform_account", "APP", "local", request)["assertion"]
            # Signed before the clock runs: it is the service that is timed, not what Python needs for a signature.
            words.append(world.written(*world.exchanged(device, word)))
        local, admin = threading.local(), f"{world.home}/service/admin.sock"
        body = b'{"provider": "local", "account": "demo"}'

        def connection(name, address):
            if not hasattr(local, name):
                setattr(local, name, Connection(address))
            return getattr(local, name)

        def approve(code):
            connection("admin", admin).ask(
                f"POST /v1/codes/{code}/approve HTTP/1.1\r\nHost: regent\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n", 200, body)

        def exchange(head, body):
            connection("device", ("127.0.0.1", world.port)).ask(head, 204, body)

        rates["approvals"].append(rate([lambda code=code: approve(code) for code in codes]))
        rates["exchanges"].append(rate([lambda one=one: exchange(*one) for one in words]))
    medians = {name: statistics.median(found) for name, found in rates.items()}
    print(f"   {medians['exchanges']:.0f} exchanges a second, {medians['approvals']:.0f} approvals: "
          f"{medians['exchanges'] / medians['approvals']:.2f} (bar 0.50)")


STEPS = (
    one_sign_in_and_all_apps_are_in, the_lines_for_kodi, the_viewer_is_asked_and_heard,
    every_condition_alone_and_every_pair, killed_at_every_step, killed_in_between,
    restarted_under_load, a_sign_out_reaches_a_service_that_was_away,
    a_sign_out_at_the_service_is_noticed, the_next_viewer_is_asked, the_box_has_no_room, nobody_would_send_that,
    the_daemon_is_small, an_app_starts_quickly, the_command_is_quick, exchanges_beside_approvals)

if os.geteuid():
    sys.exit(print("account: NOT RUN, apps are users of their own, and only root can be several"))
home = tempfile.mkdtemp(prefix="regent-account-")
os.chmod(home, 0o711)
try:
    world, apps = World(home), []
    world.provision()
    world.start_daemon()
    apps = [App(number, world.socket) for number in range(APPS)]
    for step in STEPS:
        begun = time.monotonic()
        step()
        print(f"ok {step.__name__.replace('_', ' ')} ({time.monotonic() - begun:.1f} s)", flush=True)
except BaseException as problem:
    print(f"account: {problem!r} (seed {seed})", file=sys.stderr)
    for log in ("log", "daemon.log"):
        text = pathlib.Path(home, log)
        if text.exists():
            print("\n".join(text.read_text().splitlines()[-12:]), file=sys.stderr)
    raise
finally:
    for process in filter(None, [getattr(world, "daemon", None), world.service.process] if "world" in globals() else []):
        process.kill()
        process.wait()
    subprocess.run(["umount", f"{home}/box"], capture_output=True)
    shutil.rmtree(home, ignore_errors=True)
