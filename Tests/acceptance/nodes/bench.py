"""Nodes for measurements: their cost is read from the kernel, and the callers themselves cost as little as possible."""

import json
import pathlib
import re
import socket

from cluster import Node, Server
from regentd import free_port
from rounds import PROVIDER, provide
from service import REQUESTOR, authorization, until

OPTIONS = ["--device-rate", "100000", "--device-burst", "100000", "--newcomer-rate", "1000", "--live-codes", "1000000",
           "--sign-ins-per-account", "1000000",
           "--connections-per-source", "100000"]
POLL = "/api/v1/tokens/authn"
CODE = f"/reggie/v1/{REQUESTOR}/regcode"


def processor(pid, name=""):
    """The processor seconds of a process's threads, or of those whose names begin with `name`."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            if (task / "comm").read_text().startswith(name):
                total += int((task / "schedstat").read_text().split()[0])
        except OSError:
            pass
    return total / 1e9


def anonymous(pid):
    """The private memory of a process in KiB."""
    return int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


class Alone(Node):
    """A `regentd` on SQLite."""

    def __init__(self, programs, folder):
        super().__init__(programs, folder, "a", [], "")
        self.options = ["--admin-socket", self.admin, *OPTIONS]


class Caller:
    """A connection that is kept open. It costs little to call over it, because nodes and callers share the cores."""

    def __init__(self, place):
        """`place` is a port, or the path of an admin socket."""
        if isinstance(place, int):
            self.socket = socket.create_connection(("127.0.0.1", place), timeout=30)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(30)
            self.socket.connect(place)
        self.rest = b""

    def send(self, request):
        self.socket.sendall(request)

    def receive(self):
        """The status and the body of the next response."""
        while b"\r\n\r\n" not in self.rest:
            self.more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        length = int(length[1]) if length else 0
        while len(self.rest) < length:
            self.more()
        body, self.rest = self.rest[:length], self.rest[length:]
        return int(head[9:12]), body

    def more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise SystemExit("figures: a node closed a connection")
        self.rest += piece

    def call(self, request, *statuses):
        self.send(request)
        status, body = self.receive()
        if status not in statuses:
            raise SystemExit(f"figures: {status} {body!r} for {request[:200]!r}")
        return body


class Bench:
    """Nodes on one database server, or one on SQLite, with a requestor and a viewer."""

    def __init__(self, programs, home, count=0, options=(), settings=()):
        self.home, self.server = pathlib.Path(home), None
        if count:
            self.server = Server(self.home / "database", free_port())
            self.server.make()
            self.server.start()
            self.server.ask("CREATE DATABASE regent")
            if settings:
                self.server.tell(*settings)
            self.nodes = [
                Node(programs, self.home / name, name, [], self.home / "master-key") for name in "abcdefgh"[:count]]
            for node in self.nodes:
                # Without a link in between, which would be the slowest part.
                node.options = ["--database", f"postgresql://regent@127.0.0.1:{self.server.port}/regent", "--master-key",
                                str(self.home / "master-key"), "--node", node.name, "--admin-socket", node.admin, *OPTIONS, *options]
        else:
            self.nodes = [Alone(programs, self.home / "a")]
        for node in self.nodes:
            node.start()
        self.key = provide(self.nodes[0], PROVIDER)
        for node in self.nodes:
            until(f"{node.name} to know the requestor", lambda: self.status(node) not in (401, 503))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.kill()
        if self.server:
            self.server.kill()

    def request(self, method, path, device, more="", **query):
        words = "".join(f"&{name}={value}" for name, value in query.items())
        body = "Content-Length: 0\r\n" if method == "POST" else ""
        return (f"{method} {path}?deviceId={device}{words} HTTP/1.1\r\nHost: tv\r\nAccept: application/json\r\n{body}{more}"
                f"Authorization: {authorization(self.key, method, path)}\r\n\r\n").encode()

    def status(self, node):
        caller = Caller(node.port)
        caller.send(self.request("GET", POLL, "nobody"))
        status, _ = caller.receive()
        caller.socket.close()
        return status

    def create(self, caller, device):
        return json.loads(caller.call(self.request("POST", CODE, device, ttl=36000), 201))["code"]

    def processors(self):
        """The processor seconds of all nodes, and of the database."""
        backends = sum(processor(pid) for pid in self.server.processes() if alive(pid)) if self.server else 0
        return sum(processor(node.running.process.pid) for node in self.nodes), backends


def alive(pid):
    return pathlib.Path(f"/proc/{pid}/task").is_dir()


def approval(code):
    body = json.dumps({"provider": PROVIDER, "account": "anna"}).encode()
    return (f"POST /v1/codes/{code}/approve HTTP/1.1\r\nHost: regent\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


class Wave:
    """Boxes that sign in and out at the same time, each call at the next node."""
    BOXES, POLLS = 128, 6

    def __init__(self, bench):
        self.bench, self.turn, self.calls = bench, 0, 0
        self.boxes = [[Caller(node.port) for node in bench.nodes] for _ in range(self.BOXES)]
        self.operators = [[Caller(node.admin) for node in bench.nodes] for _ in range(16)]

    def step(self, callers, requests):
        """Sends one call of each at the same time; returns the responses."""
        self.turn += 1
        self.calls += len(requests)
        places = [caller[(self.turn + number) % len(caller)] for number, caller in enumerate(callers)]
        for place, request in zip(places, requests):
            place.send(request)
        return [place.receive() for place in places]

    def polls(self, devices, *statuses):
        answers = self.step(self.boxes, [self.bench.request("GET", POLL, device) for device in devices])
        found = {status for status, _ in answers}
        if not found <= set(statuses):
            raise SystemExit(f"figures: polls gave {found}")
        return found

    def sign_in(self, name):
        devices = [f"box-{name}-{number}" for number in range(self.BOXES)]
        made = self.step(self.boxes, [self.bench.request("POST", CODE, device, ttl=36000) for device in devices])
        codes = [json.loads(body)["code"] for _, body in made]
        for _ in range(self.POLLS):
            self.polls(devices, 404)
        for first in range(0, len(codes), len(self.operators)):
            answers = self.step(self.operators, [approval(code) for code in codes[first:first + len(self.operators)]])
            if {status for status, _ in answers} != {200}:
                raise SystemExit(f"figures: approvals gave {answers}")
        # It takes a moment until every node knows the approval; a box asks again.
        until("the sign-ins", lambda: self.polls(devices, 200, 404) == {200})
        self.polls(devices, 200)
        self.step(self.boxes, [self.bench.request("DELETE", "/api/v1/logout", device) for device in devices])


def fresh(home, name):
    folder = pathlib.Path(home, name)
    folder.mkdir(mode=0o711)
    return folder
