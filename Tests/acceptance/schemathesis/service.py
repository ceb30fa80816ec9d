"""A real service with sample data, and calls signed as a box signs them."""

import base64
import hashlib
import hmac
import http.cookiejar
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from regentd import Regentd

REQUESTOR = "REF30"


class Keys:
    """A requestor's key pair."""

    def __init__(self, public_key, secret):
        self.public_key = public_key
        self.secret = secret

    def header(self, method, path):
        """The signed header of a call, with a new nonce."""
        text = (
            f"{method} requestor_id={REQUESTOR}, nonce={uuid.uuid4()}, signature_method=HMAC-SHA256, "
            f"request_time={int(time.time() * 1000)}, request_uri={path}"
        )
        code = hmac.new(self.secret.encode(), text.encode(), hashlib.sha256).digest()
        return f"{text}, public_key={self.public_key}, signature={base64.b64encode(code).decode()}"


class Service:
    """What tests need of a running service; passed in the environment to the process that sends requests."""

    def __init__(self, url, keys, statement):
        self.url = url
        self.keys = keys
        self.statement = statement

    def save(self):
        return json.dumps([self.url, self.keys.public_key, self.keys.secret, self.statement])

    @staticmethod
    def load(text):
        url, public_key, secret, statement = json.loads(text)
        return Service(url, Keys(public_key, secret), statement)

    def call(self, method, target, form=None):
        """Sends a signed call; returns the status and the JSON document."""
        headers = {
            "Authorization": self.keys.header(method, target.split("?")[0]),
            "Accept": "application/json",
        }
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        return self.send(method, target, headers, body)

    def send(self, method, target, headers, body=None):
        request = urllib.request.Request(self.url + target, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, parsed(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, parsed(error.read())

    def new_code(self, device):
        status, record = self.call(
            "POST", f"/reggie/v1/{REQUESTOR}/regcode", {"deviceId": device, "ttl": "36000"}
        )
        assert status == 201, (status, record)
        return record["code"]

    def register(self):
        """A new client's id and secret."""
        body = json.dumps({"software_statement": self.statement}).encode()
        status, record = self.send(
            "POST", "/o/client/register", {"Content-Type": "application/json"}, body
        )
        assert status == 201, (status, record)
        return record["client_id"], record["client_secret"]

    def logout_form(self):
        """The cookies and the form token of the page that asks before it signs a browser out."""
        jar = http.cookiejar.CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        with opener.open(self.url + "/logout", timeout=30) as answer:
            page = answer.read().decode()
        token = re.search(r'name="csrf" value="([^"]*)"', page).group(1)
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar), token


def parsed(body):
    try:
        return json.loads(body)
    except ValueError:
        return body


class RunningService:
    """Starts regentd in its own folder, with sample data and limits that the test does not reach."""

    LIMITS = [
        "--wrong-codes", "1000000", "--wrong-codes-total", "1000000",
        "--device-rate", "100000", "--device-burst", "1000000", "--newcomer-rate", "100000",
    ]

    def __init__(self, programs):
        self.programs = programs
        self.folder = tempfile.TemporaryDirectory(prefix="regent-schemathesis-")
        self.socket = os.path.join(self.folder.name, "admin.sock")

    def __enter__(self):
        self.regentd = Regentd(
            self.programs, self.folder.name, "--web", "web", "--database", f"{self.folder.name}/regent.db",
            "--master-key", f"{self.folder.name}/master-key", "--admin-socket", self.socket, *self.LIMITS)
        try:
            return self.provision(self.regentd.url)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.regentd.stop()
        self.folder.cleanup()

    def log(self):
        return self.regentd.log()

    def control(self, *words, standard_input=None):
        done = subprocess.run(
            [f"{self.programs}/regentctl", "--socket", self.socket, "--json", *words],
            input=standard_input, capture_output=True, text=True, timeout=60,
        )
        if done.returncode != 0:
            raise SystemExit(f"regentctl {' '.join(words)}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    def provision(self, url):
        self.control(
            "requestor", "add", REQUESTOR, "--name", "Reference", "--domain", "example.com",
            "--metadata", "userID", "--metadata", "mvpd",
        )
        key = self.control("key", "issue", REQUESTOR)
        self.control("provider", "add", "local", "--name", "Sample TV", "--kind", "local")
        self.control("provider", "add", "pass", "--name", "A day", "--kind", "temporary",
                     "--lifetime", "1d")
        for provider in ("local", "pass"):
            self.control("integrate", REQUESTOR, provider)
        self.control("account", "add", "local", "demo", standard_input="a long enough word\n")
        statement = self.control("statement", "issue", REQUESTOR, "--application", "Tester")
        service = Service(
            url, Keys(key["publicKey"], key["secret"]), statement["softwareStatement"])
        # A device that is signed in without a phone, and one whose code a viewer approved.
        status, answer = service.call(
            "POST", "/api/v1/authenticate/freepreview",
            {"deviceId": "guest", "mso_id": "pass", "domain_name": "example.com"})
        assert status == 204, (status, answer)
        for resource in ("news", "sports"):
            status, answer = service.call(
                "GET", f"/api/v1/authorize?deviceId=guest&resource={resource}")
            assert status == 200, (status, answer)
        self.approved = service.new_code("approved")
        self.control(
            "code", "approve", self.approved, "--provider", "local", "--account", "demo")
        self.pending = service.new_code("pending")
        return service
