"""Rows of living_room.py: a network that lets boxes out through an HTTP proxy only.

The proxy forwards whole URLs and CONNECT tunnels. While a row runs, the router drops what the box sends to the service's
port directly, so a row is green only if the call took the way that it names.
"""

import contextlib
import http.client
import http.server
import os
import select
import socket
import subprocess
import sys
import threading
import urllib.parse

from kodi_house import Repository
from service import REQUESTOR

PATIENCE = 60


class Forwarding(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def forward(self):
        self.server.seen.append(self.requestline)
        url = urllib.parse.urlsplit(self.path)
        if not url.netloc:
            return self.send_error(400)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection(url.netloc, timeout=PATIENCE)
        with contextlib.closing(connection):
            headers = {name: value for name, value in self.headers.items() if name != "Connection"}
            connection.request(self.command, url._replace(scheme="", netloc="").geturl(), body, headers)
            answer = connection.getresponse()
            text = answer.read()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in ("connection", "content-length", "transfer-encoding", "date", "server"):
                self.send_header(name, value)
        self.send_header("Date", answer.headers["Date"])
        self.send_header("Content-Length", len(text))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = forward

    def do_CONNECT(self):
        self.server.seen.append(self.requestline)
        host, port = self.path.rsplit(":", 1)
        with socket.create_connection((host.strip("[]"), int(port)), PATIENCE) as other:
            self.send_response(200)
            self.end_headers()
            sides = {self.connection: other, other: self.connection}
            while True:
                for side in select.select(list(sides), [], [], PATIENCE)[0] or sides:
                    data = side.recv(65536)
                    if not data:
                        self.close_connection = True
                        return
                    sides[side].sendall(data)

    def send_response(self, code, message=None):
        self.send_response_only(code, message)

    def log_message(self, *words):
        pass


class Proxy(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address):
        super().__init__((address, 0), Forwarding)
        self.seen = []
        self.url = f"http://{address}:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        pass

    def close(self):
        self.shutdown()
        self.server_close()


@contextlib.contextmanager
def behind(box, address, blocks=True):
    """A proxy at that address, for a box without a daemon; nothing else leads to the service."""
    port = str(urllib.parse.urlsplit(box.house.url).port)
    router = box.network.router
    box.environment |= {"XDG_RUNTIME_DIR": f"{box.path}/other", "REGENT_STATE": f"{box.path}/other"}
    os.mkdir(f"{box.path}/other", 0o700)
    if blocks:
        router.run("ip", "rule", "add", "blackhole", "ipproto", "tcp", "dport", port)
    try:
        with contextlib.closing(Proxy(address)) as proxy:
            yield proxy
            if blocks and not proxy.seen:
                raise SystemExit("the proxy was not asked")
            if blocks and box.house.authority and not all(line.startswith("CONNECT ") for line in proxy.seen):
                raise SystemExit(f"https without a tunnel: {proxy.seen}")
    finally:
        if blocks:
            router.run("ip", "rule", "del", "blackhole", "ipproto", "tcp", "dport", port)


def doctor(box, *words):
    said = subprocess.run(
        [*box.network.box.enter, box.regent, "doctor"], env=box.environment, capture_output=True, text=True,
        timeout=PATIENCE).stdout
    if missing := [word for word in words if word not in said]:
        raise SystemExit(f"regent doctor does not say {missing}: {said}")


def environment(box, service):
    with behind(box, service) as proxy:
        scheme = urllib.parse.urlsplit(box.house.url).scheme
        box.environment[f"{scheme}_proxy"] = proxy.url
        took = box.signed_in()
        box.play()
        doctor(box, f"{proxy.url} for {service}, set by {scheme}_proxy", "the service answers")
        return took


def setting(box, service):
    """A network where the environment's proxy is dead: the one of agent.conf counts."""
    with behind(box, service) as proxy:
        box.environment |= {"http_proxy": "http://10.9.0.99:1", "https_proxy": "http://10.9.0.99:1"}
        os.makedirs(f"{box.path}/.config/regent", 0o700)
        with open(f"{box.path}/.config/regent/agent.conf", "w") as file:
            file.write(f"proxy = {proxy.url}\n")
        took = box.signed_in()
        box.play()
        doctor(box, f"{proxy.url} for {service}, set by the setting proxy", "the service answers")
        return took


def excepted(box, service):
    """Networks and names in no_proxy are called without the proxy, which is dead."""
    with behind(box, service, blocks=False):
        box.environment |= {
            "http_proxy": "http://10.9.0.99:1", "https_proxy": "http://10.9.0.99:1",
            "no_proxy": "other.example,10.9.0.0/24"}
        took = box.signed_in()
        box.play()
        doctor(box, "10.9.0.0/24", "the service answers")
        return took


def python_module(box, service):
    """regent.py asks the daemon on its socket; proxy variables do not matter to it."""
    script = "import regent; print(regent.Regent().status()['signedIn'])"
    module = os.path.join(os.path.dirname(__file__), "../../deploy/python")
    box.signed_in()
    said = subprocess.run(
        ["python3", "-c", script], capture_output=True, text=True, timeout=PATIENCE,
        env=box.environment | {"PYTHONPATH": module, "http_proxy": "http://10.9.0.99:1", "all_proxy": "http://10.9.0.99:1"})
    if said.stdout != "True\n":
        raise SystemExit(f"regent.py: {said.stdout}{said.stderr}")
    return 0


KODI = """
import sys
from regent import proxies
from regent.daemon import RegentError
from regent.service import Service
from regent.storage import Storage
proxies.setting = sys.argv[3]
box = Service(Storage(sys.argv[1]))
box.enrol(sys.argv[2])
try:
    box.media_token("news")
except RegentError as error:
    print(error.code)
"""


def kodi_module(box, service):
    """The Kodi add-on's module enrols with the proxy of the environment, and with the setting beside a dead proxy."""
    module = Repository(box.path).module
    scheme = urllib.parse.urlsplit(box.house.url).scheme
    with behind(box, service) as proxy:
        for number, (variable, setting) in enumerate(((proxy.url, ""), ("http://10.9.0.99:1", proxy.url))):
            code = box.house.service.control("requestor", "invite", REQUESTOR, "--json")["code"]
            said = subprocess.run(
                [*box.network.box.enter, sys.executable, "-c", KODI, f"{box.path}/kodi{number}", f"{box.house.url}#{code}",
                 setting], capture_output=True, text=True, timeout=PATIENCE,
                env=box.environment | {
                    "PYTHONPATH": str(module), f"{scheme}_proxy": variable, "SSL_CERT_FILE": box.house.authority or ""})
            if said.stdout != "not-signed-in\n":
                raise SystemExit(f"the Kodi module with {variable} and {setting!r}: {said.stdout}{said.stderr}")
    return 0


ROWS = {
    "approve and play through the proxy of the environment": environment,
    "approve and play through the proxy of agent.conf": setting,
    "approve and play past a dead proxy to a network of no_proxy": excepted,
    "the Kodi module through a proxy": kodi_module,
    "regent.py beside a dead proxy": python_module,
}
