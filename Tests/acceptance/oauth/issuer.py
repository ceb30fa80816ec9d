"""A real regentd over TLS with a test CA, alone or behind nginx with a prefix, its operator, and a phone."""

import html
import http.cookiejar
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request

FAKETIME = "/usr/$LIB/faketime/libfaketimeMT.so.1"
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from regentd import control_json, free_port, let_others_hear, serve
from service import PASSWORD, PATIENCE, REQUESTOR, ROOT, Proxy


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=PATIENCE)


class Authority:
    """A CA for one run, and a certificate for localhost."""

    def __init__(self, home):
        self.ca, self.certificate, self.key = f"{home}/ca.pem", f"{home}/localhost.pem", f"{home}/localhost.key"
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        openssl("req", "-x509", *curve, "-subj", "/CN=Test CA", "-days", "2", "-keyout", f"{home}/ca.key",
                "-out", self.ca, "-addext", "basicConstraints=critical,CA:TRUE",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        openssl("req", *curve, "-subj", "/CN=localhost", "-keyout", self.key, "-out", f"{home}/localhost.csr")
        pathlib.Path(home, "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", f"{home}/localhost.csr", "-CA", self.ca, "-CAkey", f"{home}/ca.key",
                "-CAcreateserial", "-days", "2", "-extfile", f"{home}/names", "-out", self.certificate)
        os.chmod(self.key, 0o600)


class Issuer:
    """The service as OAuth clients use it; `prefix` puts nginx before it, `clock` changes its clock."""

    def __init__(self, programs, prefix, clock=None):
        self.prefix = prefix
        self.programs = pathlib.Path(programs).resolve()
        self.folder = tempfile.TemporaryDirectory(prefix="regent-oauth-")
        self.home = self.folder.name
        self.authority = Authority(self.home)
        port = free_port()
        self.url = f"https://localhost:{port}{prefix}"
        self.issuer = self.url + "/oauth"
        self.environment = {"HOME": self.home, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        self.options = ["--web", str(ROOT / "web"), "--public-url", self.url, "--newcomer-rate", "1000"]
        self.proxy = None
        # Sign-ins one after another: the service hashes one password of an account at a time and refuses others as
        # busy.
        self.viewer = threading.Lock()
        if prefix:
            self.listen = f"127.0.0.1:{free_port()}"
            self.options += ["--trust-proxy", "127.0.0.0/8"]
        else:
            self.listen = f"127.0.0.1:{port}"
            self.options += ["--tls-certificate", self.authority.certificate, "--tls-key", self.authority.key]
        self.start(clock)
        try:
            if prefix:
                self.proxy = Proxy(self.home, prefix, port, self.authority.certificate, self.authority.key)
                # The metadata document of RFC 8414 is outside of the prefix.
                self.proxy.start(
                    self.regentd.url, also=[f"/.well-known/oauth-authorization-server{prefix}/"])
            self.control("requestor", "add", REQUESTOR, "--name", "Cinema Aperto", "--domain", "example.com")
            self.control("key", "issue", REQUESTOR)
            self.control("provider", "add", "aurora", "--name", "Aurora TV", "--kind", "local")
            self.control("integrate", REQUESTOR, "aurora")
            self.control("account", "add", "aurora", "anna", text=PASSWORD + "\n")
            self.context = ssl.create_default_context(cafile=self.authority.ca)
        except BaseException:
            self.stop()
            raise

    def start(self, clock=None):
        environment = {**self.environment}
        if clock:
            environment |= {"LD_PRELOAD": FAKETIME, "FAKETIME": clock, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        self.regentd = serve(self.programs, self.home, *self.options, listen=self.listen, environment=environment)

    def restart(self):
        """Restarts the service with the real clock."""
        self.regentd.stop()
        self.start()

    def stop(self):
        if self.proxy:
            self.proxy.stop()
        self.regentd.stop()
        self.folder.cleanup()

    def control(self, *words, text=None):
        """Runs `regentctl`; returns its JSON."""
        return control_json(self.programs, self.environment, *words, text=text, seconds=PATIENCE)

    def client(self, name, *options):
        """Adds a client as an operator does; returns its id, and its secret if it has one."""
        made = self.control("client", "add", REQUESTOR, "--name", name, *options)
        assert made["issuer"] == self.issuer, made
        return made["id"], made.get("secret")

    def document(self, address):
        with urllib.request.urlopen(address, context=self.context, timeout=PATIENCE) as answer:
            return json.loads(answer.read())

    # --- operators and viewers --------------------------------------------------------------------------------------

    def approve(self, code):
        self.control("code", "approve", code, "--provider", "aurora", "--account", "anna")

    def withdraw(self, code):
        self.control("code", "withdraw", code)
        let_others_hear()

    def answer(self, code, word):
        """A viewer approves or denies (`word`) on the pages of the phone."""
        with self.viewer:
            return self.answered(code, word)

    def answered(self, code, word):
        phone = Phone(self)
        wire = code.replace("-", "")
        phone.open(f"/D/{wire}")
        phone.send(f"/D/{wire}/open")
        if "/provider" in phone.address:
            phone.send(f"/D/{wire}/provider", provider="aurora")
        phone.send(f"/D/{wire}/sign-in?provider=aurora", user="anna", password=PASSWORD)
        page = phone.page
        phone.send(f"/D/{wire}/{word}")
        let_others_hear()
        return page


class Phone:
    """A browser without scripts."""

    def __init__(self, issuer, cookies=None):
        self.issuer = issuer
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar() if cookies is None else cookies),
            urllib.request.HTTPSHandler(context=issuer.context))
        self.page = self.address = ""

    def open(self, path, fields=None):
        data = urllib.parse.urlencode(fields).encode() if fields is not None else None
        place = urllib.parse.urlsplit(self.issuer.url)
        request = urllib.request.Request(
            self.issuer.url + path, data, {"Origin": f"{place.scheme}://{place.netloc}"})
        with self.opener.open(request, timeout=PATIENCE) as answer:
            self.page, self.address = answer.read().decode(), answer.geturl()

    def send(self, path, **fields):
        token = re.search(r'name="csrf" value="([^"]*)"', self.page)
        self.open(path, {"csrf": html.unescape(token.group(1)), **fields})
