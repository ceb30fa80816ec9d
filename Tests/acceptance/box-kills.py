#!/usr/bin/env python3
"""Kills the box or the service with -9 at random moments, each while a request is under way, and checks that nothing
hangs.

usage: box-kills.py FOLDER_OF_PROGRAMS [COUNT [SEED]]

After each kill the killed program is started again. Then the box must show a code (the same or a new one) that can be
approved, and a signed-in box must stay signed in.
"""
import json, os, random, select, shutil, signal, socket, subprocess, sys, tempfile, time

from counting import Connection, signed
from regentd import Regentd

programs, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
pick = random.Random(seed)
home = tempfile.mkdtemp(prefix="regent-kills-")
os.chmod(home, 0o700)


def free_port():
    """A port outside the range for outgoing connections, so that it stays free while the service is down."""
    for _ in range(1000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port := random.randrange(15000, 32000)))
                return port
            except OSError:
                pass
    sys.exit("box-kills: no free port")


port = free_port()
numbers = []
url = f"http://127.0.0.1:{port}"
web = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "web")
plain = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8"}


def service():
    return Regentd(
        programs, home, "--web", web, listen=f"127.0.0.1:{port}",
        environment=plain | {"STATE_DIRECTORY": f"{home}/service"})


def control(*words, text=None):
    return subprocess.run(
        [f"{programs}/regentctl", "--socket", f"{home}/service/admin.sock", "--json", *words],
        env=plain, input=text, capture_output=True, text=True, timeout=30)


class Box:
    def __init__(self):
        self.process = subprocess.Popen(
            [f"{programs}/regent", "pair", "--json", "--unattended"], env=box,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.rest = b""

    def event(self, name, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                event = json.loads(line)
                if event["event"] == name:
                    return event
            if select.select([self.process.stdout], [], [], 0.2)[0]:
                data = os.read(self.process.stdout.fileno(), 65536)
                if not data:
                    break
                self.rest += data
        return None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=60)


def call(*words):
    numbers.append(len(numbers))
    return signed(key, f"127.0.0.1:{port}", len(numbers), *words)


def ask(*words):
    return subprocess.run([f"{programs}/regent", *words], env=box, capture_output=True, text=True, timeout=60)


try:
    server = service()
    for words, text in [
        (("requestor", "add", "BOX", "--name", "Box"), None),
        (("provider", "add", "local", "--name", "Local", "--kind", "local"), None),
        (("integrate", "BOX", "local"), None), (("account", "add", "local", "demo"), "demo-demo-1\n"),
        (("entitle", "add", "local", "--allow", "*"), None),
    ]:
        done = control(*words, text=text)
        assert done.returncode == 0, done.stderr
    key = json.loads(control("key", "issue", "BOX").stdout) | {"requestor": "BOX"}
    with open(os.open(f"{home}/secret", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(key["secret"])
    box = plain | {
        "REGENT_SERVICE": url, "REGENT_REQUESTOR": "BOX", "REGENT_PUBLIC_KEY": key["publicKey"],
        "REGENT_SECRET_FILE": f"{home}/secret", "REGENT_STATE": f"{home}/box", "XDG_RUNTIME_DIR": home}

    between = 0
    for turn in range(1, 6):
        # Killed after a box has its response and before the delivery is written, 50 ms later. The code must still be
        # approved, the sign-in must exist, and the box's next poll must count as the delivery.
        authn = ("GET", "/api/v1/tokens/authn", f"deviceId=quick-{turn}")
        made = Connection(("127.0.0.1", port)).ask(
            call("POST", "/reggie/v1/BOX/regcode", f"deviceId=quick-{turn}", "Content-Length: 0"), 201)
        code = json.loads(made)["code"]
        waiting = Connection(("127.0.0.1", port))
        waiting.send(call(*authn, "Prefer: wait=55"))
        body = b'{"provider": "local", "account": "demo"}'
        Connection(f"{home}/service/admin.sock").ask(
            f"POST /v1/codes/{code}/approve HTTP/1.1\r\nHost: regent\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n", 200, body)
        status, answer = waiting.answer()
        server.kill()
        assert status == 200, f"approved, and the waiting box gets {status}"
        server = service()
        state = json.loads(control("code", "show", code).stdout)["state"]
        assert state in ("approved", "delivered"), f"the code of a box that has its answer is {state}"
        between += state == "approved"
        again = Connection(("127.0.0.1", port)).ask(call(*authn), 200)
        assert again == answer, f"after the kill the box is told {again}, before it {answer}"
        state = json.loads(control("code", "show", code).stdout)["state"]
        assert state == "delivered", f"the box has asked again, and its code is {state}"
    assert between, "the delivery was written each time before the kill"

    same = new = sign_ins = asked = 0
    while same + new + asked < count:
        # The box is asking for a code, storing it, showing it, or waiting.
        last = None
        for _ in range(min(5, count)):
            pairing = Box()
            if pick.random() < 0.5:
                time.sleep(pick.random() * 0.15)
            else:
                shown = pairing.event("code")
                assert shown, "no code is shown"
                if last is not None:
                    same, new = same + (last == shown["code"]), new + (last != shown["code"])
                last = shown["code"]
                time.sleep(pick.random() * 0.1)
            if pick.random() < 0.5:
                server.kill()
                server = service()
            pairing.kill()
        pairing = Box()
        shown = pairing.event("code")
        assert shown, "no code is shown after the kills"
        # The code stays valid when the service is restarted while the box waits.
        if pick.random() < 0.5:
            server.kill()
            server = service()
        done = control("code", "approve", shown["code"], "--provider", "local", "--account", "demo")
        assert done.returncode == 0, done.stderr
        if pick.random() < 0.3:
            # Killed between approval and pick-up: the box finds the sign-in at its next start.
            pairing.kill()
            pairing = Box()
        assert pairing.event("authenticated"), "approved, and the box does not notice"
        pairing.process.wait(timeout=60)
        sign_ins += 1
        # Every kill must leave the sign-in intact.
        for _ in range(4):
            # A daemon that keeps the tokens may also be killed while it handles a call.
            keeper = pick.random() < 0.3 and subprocess.Popen(
                [f"{programs}/regent", "daemon"], env=box, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if keeper:
                time.sleep(pick.random() * 0.1)
            words = pick.choice([("authorize", "one"), ("status",), ("preauthorize", "one", "two")])
            asking = subprocess.Popen(
                [f"{programs}/regent", *words], env=box, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(pick.random() * 0.05)
            if pick.random() < 0.5:
                server.kill()
                server = service()
            if keeper:
                keeper.kill()
                keeper.wait(timeout=60)
            asking.kill()
            asking.wait(timeout=60)
            asked += 1
            status = ask("status", "--json")
            assert status.returncode == 0, f"signed out by a kill: {status.stdout}{status.stderr}"
            assert ask("authorize", "one", "--verify").returncode == 0, "no media token after a kill"
        assert ask("logout").returncode == 0
    print(f"{count} kills (seed {seed}): {same} times the same code, {new} times a new one, {sign_ins} sign-ins kept;"
          f" {between} before the delivery was written")
except AssertionError as problem:
    print(f"box-kills: {problem} (seed {seed})", file=sys.stderr)
    sys.exit(1)
finally:
    started = [globals().get("server"), globals().get("keeper"), getattr(globals().get("pairing"), "process", None)]
    for process in filter(None, started):
        process.kill()
    shutil.rmtree(home, ignore_errors=True)
