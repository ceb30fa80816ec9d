"""A real regentd with sample data, and boxes that get codes from it; the stories in browsers use them."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse
import uuid

from regentd import control, free_port, serve

ROOT = pathlib.Path(__file__).resolve().parents[2]
# REGENT_WEB names the pages of another state of the sources, to test them with these tests.
WEB = pathlib.Path(os.environ.get("REGENT_WEB") or ROOT / "web")
REQUESTOR = "cinema"
PASSWORD = "a password of many words"
LOGO = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8H0z" fill="#345"/></svg>')


# Large, because a wait normally ends with its event; this limit only ends what hangs.
PATIENCE = 60


class Failure(Exception):
    """An error: a story did not go as expected."""


def until(what, condition, seconds=PATIENCE):
    """Waits until the condition returns a true value, and returns that."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


class Proxy:
    """nginx on a port that serves the service below a path; with `certificate` and `key` it speaks TLS."""

    def __init__(self, home, path, port=None, certificate=None, key=None):
        self.home, self.path, self.port = pathlib.Path(home), path, port or free_port()
        self.process, self.tls = None, certificate is not None
        self.certificates = f"ssl_certificate {certificate}; ssl_certificate_key {key};" if self.tls else ""
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}{path}"

    def start(self, service, strips=False, also=()):
        """`strips` is whether nginx removes the path; `also` are paths outside of it that go to the service, too."""
        inside = service + ("/" if strips else "")
        forwarded = "proxy_set_header X-Forwarded-Proto https;" if self.tls else ""
        more = "".join(f"location {path} {{ proxy_pass {service}; }}\n" for path in also)
        (self.home / "nginx.conf").write_text(f"""
            daemon off; master_process off; pid {self.home}/nginx.pid; error_log stderr warn;
            events {{ }}
            http {{
              access_log off; client_body_temp_path {self.home}/body; proxy_temp_path {self.home}/proxy;
              fastcgi_temp_path {self.home}/f; uwsgi_temp_path {self.home}/u; scgi_temp_path {self.home}/s;
              proxy_http_version 1.1; proxy_set_header Connection "";
              proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; {forwarded}
              proxy_read_timeout 75s; proxy_buffering off;
              server {{
                listen 127.0.0.1:{self.port}{" ssl" if self.tls else ""}; {self.certificates}
                location {self.path}/ {{ proxy_pass {inside}; }}
                {more}
                location / {{ return 418; }}
              }}
            }}""")
        program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin")
        self.process = subprocess.Popen(
            [program, "-p", self.home, "-c", self.home / "nginx.conf", "-e", "stderr"], stderr=subprocess.DEVNULL)
        until("nginx listens", self.listens)

    def listens(self):
        if self.process.poll() is not None:
            raise SystemExit("nginx did not start")
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE).close()
            return True
        except OSError:
            return False

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=20)


class Service:
    """`regentd serve` in its own folder on a free port.

    `address` is where it listens; `https` makes a certificate for it; `proxy` puts nginx before it, which serves it
    below /tv and removes that path ("strips") or not ("keeps").
    """

    def __init__(self, programs, https=False, options=(), proxy=None, address="127.0.0.1"):
        self.programs = pathlib.Path(programs)
        self.folder = tempfile.TemporaryDirectory(prefix="regent-")
        home = self.folder.name
        web = pathlib.Path(home, "web")
        shutil.copytree(WEB, web)
        (web / "logos").mkdir(exist_ok=True)
        (web / "logos/cinema.svg").write_text(LOGO)
        self.proxy = Proxy(home, "/tv") if proxy else None
        self.environment = {"HOME": home, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        options = list(options)
        if https:
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-subj", "/CN=localhost", "-addext", f"subjectAltName=DNS:localhost,DNS:service.example,IP:{address}", "-days", "2", "-keyout", f"{home}/key", "-out", f"{home}/pem"],
                check=True, capture_output=True, timeout=PATIENCE)
            os.chmod(f"{home}/key", 0o600)
            options += ["--tls-certificate", f"{home}/pem", "--tls-key", f"{home}/key"]
        if proxy:
            options += ["--public-url", self.proxy.url, "--trust-proxy", "127.0.0.0/8"]
        # High limits, because all stories come from one address, and wrong codes of one must not stop the next.
        self.regentd = serve(
            self.programs, home, "--web", web, "--wrong-codes", "1000", "--wrong-codes-total", "1000",
            "--newcomer-rate", "100", *options, environment=self.environment, listen=f"{address}:0")
        # The URLs for boxes and for phones.
        self.inside = self.url = self.regentd.url
        try:
            if proxy:
                self.url = self.proxy.url
                self.proxy.start(self.inside, proxy == "strips")
            self.provision()
        except BaseException:
            self.stop()
            raise

    def control(self, *words, text=None):
        """Runs `regentctl`; returns its JSON if there is any."""
        printed = control(self.programs, self.environment, *words, text=text, seconds=PATIENCE)
        return json.loads(printed) if "--json" in words and printed.strip() else None

    def provision(self):
        self.control(
            "requestor", "add", REQUESTOR, "--name", "Cinema Aperto", "--color", "#e4b400", "--domain", "example.com",
            "--redirect-uri", "http://127.0.0.1/done", "--logo", f"{self.url}/logos/cinema.svg")
        self.key = self.control("key", "issue", REQUESTOR, "--json")
        self.control("provider", "add", "aurora", "--name", "Aurora TV", "--kind", "local", "--featured", "on")
        self.control("provider", "add", "pass", "--name", "Ten minutes", "--kind", "temporary", "--lifetime", "10m")
        for provider in ("aurora", "pass"):
            self.control("integrate", REQUESTOR, provider)
        for name in ("anna", "bruno"):
            self.control("account", "add", "aurora", name, text=PASSWORD + "\n")

    def stop(self):
        """Ends the service and returns its exit code."""
        if self.proxy:
            self.proxy.stop()
        code = self.regentd.stop()
        self.folder.cleanup()
        return code


def authorization(key, method, path):
    """The `Authorization` header of a call as a box signs it."""
    text = (f"{method} requestor_id={REQUESTOR}, nonce={uuid.uuid4()}, signature_method=HMAC-SHA256, "
            f"request_time={int(time.time() * 1000)}, request_uri={path}")
    mac = base64.b64encode(hmac.new(key["secret"].encode(), text.encode(), hashlib.sha256).digest()).decode()
    return f"{text}, public_key={key['publicKey']}, signature={mac}"


def connected(place, timeout):
    """A connection to the host of an address, which accepts any certificate."""
    if place.scheme == "https":
        trust = ssl._create_unverified_context()
        return http.client.HTTPSConnection(place.hostname, place.port, timeout=timeout, context=trust)
    return http.client.HTTPConnection(place.hostname, place.port, timeout=timeout)


class Box:
    """A box: signed calls of one device."""

    def __init__(self, service, model="Lounge 7"):
        self.service = service
        self.id = uuid.uuid4().hex
        self.info = base64.b64encode(json.dumps({
            "primaryHardwareType": "SetTopBox", "model": model, "vendor": "Acme", "osName": "Linux"}).encode()).decode()

    def call(self, method, path, prefer=None, **query):
        """The status and the document of one call."""
        headers = {
            "Authorization": authorization(self.service.key, method, path), "Accept": "application/json",
            "X-Device-Info": self.info}
        if prefer:
            headers["Prefer"] = f"wait={prefer}"
        place = urllib.parse.urlsplit(self.service.inside)
        connection = connected(place, timeout=70)
        try:
            query = urllib.parse.urlencode({"deviceId": self.id, **query})
            connection.request(method, f"{path}?{query}", headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            # A service that starts or stops responds with plain text.
            is_document = body and "json" in answer.getheader("Content-Type", "")
            return answer.status, json.loads(body) if is_document else None
        finally:
            connection.close()

    def ask(self, **query):
        """Gets a new code and stores its record."""
        status, record = self.call("POST", f"/reggie/v1/{REQUESTOR}/regcode", **query)
        assert status == 201, (status, record)
        self.record = record
        return record["code"]

    def look(self):
        """The current record of the code."""
        return self.call("GET", f"/reggie/v1/{REQUESTOR}/regcode/{self.record['code']}")[1]

    def signed_in(self):
        """Polls: the status and the document of the sign-in."""
        return self.call("GET", "/api/v1/tokens/authn")

    def wait(self):
        """Starts a long poll in another thread, as a box does; `answer` waits for it."""
        self.answers = []
        self.thread = threading.Thread(
            target=lambda: self.answers.append(self.call("GET", "/api/v1/tokens/authn", prefer=55)), daemon=True)
        self.thread.start()

    def answer(self):
        self.thread.join(60)
        return self.answers[0] if self.answers else (None, None)
