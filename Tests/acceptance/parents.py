#!/usr/bin/env python3
"""Counts the cost of a sign-in with a parent: reads of an app's own sign-in and of one by the box's account, in turn.

usage: parents.py FOLDER_OF_PROGRAMS

It runs under callgrind, as instructions.py. That has no rows for it, because a box that waits has no sign-in to read,
so no poll costs more. Counted here are requests of boxes that are signed in already.
"""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse

import instructions
from counting import Connection, Running, fail

MAKER = "MAKER"
READS = 200


class Parents(instructions.Guard):
    def requests(self, server):
        place = urllib.parse.urlsplit(server.url)
        self.address, self.host, self.url = (place.hostname, place.port), place.netloc, server.url
        for words, text in [
            (("requestor", "add", instructions.REQUESTOR, "--name", "Bench"), None),
            (("requestor", "add", MAKER, "--name", "Maker", "--platform", "on"), None),
            (("provider", "add", "local", "--name", "Local", "--kind", "local", "--boarding", "supported",
              "--platform-id", "local"), None),
            (("integrate", instructions.REQUESTOR, "local", "--sso", "on"), None),
            (("integrate", MAKER, "local"), None), (("account", "add", "local", "demo"), "demo-demo-1\n"),
        ]:
            self.control(*words, text=text)
        names = (instructions.REQUESTOR, MAKER)
        keys = {name: self.control("key", "issue", name, "--json") | {"requestor": name} for name in names}
        self.connection = Connection(self.address)

        def speak_as(name):
            self.key, instructions.REQUESTOR = keys[name], name

        bench = instructions.REQUESTOR
        speak_as(MAKER)
        self.sign_in("the-box-1")
        box = self.enrol()
        speak_as(bench)
        self.sign_in("own-dev-1")
        self.exchange("app-dev-1", box)
        running = Running(self.counted, "service", server.process.pid)
        # Two turns: the second one shows whether the first was warm.
        for turn in (1, 2):
            for name, device in (("own sign-in", "own-dev-1"), ("a box's sign-in", "app-dev-1")):
                self.row(f"{name}, turn {turn}", running, READS, lambda _: self.connection.ask(
                    self.signed("GET", "/api/v1/tokens/authn", f"deviceId={device}"), 200))
        self.row("waiting: signed poll", running, READS, lambda _: self.connection.ask(
            self.signed("GET", "/api/v1/tokens/authn", "deviceId=nobody-01"), 404))

    def sign_in(self, device):
        head = self.signed(
            "POST", f"/reggie/v1/{instructions.REQUESTOR}/regcode", f"deviceId={device}", "Content-Length: 0")
        code = json.loads(self.connection.ask(head, 201))["code"]
        self.control("code", "approve", code, "--provider", "local", "--account", "demo")
        self.connection.ask(self.signed("GET", "/api/v1/tokens/authn", f"deviceId={device}"), 200)

    def form(self, path, device, fields, status):
        body = urllib.parse.urlencode(fields).encode()
        head = self.signed(
            "POST", path, f"deviceId={device}", "Content-Type: application/x-www-form-urlencoded",
            f"Content-Length: {len(body)}")
        return self.connection.ask(head, status, body)

    def openssl(self, *words):
        return subprocess.run(["openssl", *words], cwd=self.home, capture_output=True, check=True).stdout

    def enrol(self):
        self.openssl("genpkey", "-algorithm", "ed25519", "-out", "box.pem")
        public = self.openssl("pkey", "-in", "box.pem", "-pubout", "-outform", "DER")
        answer = self.form("/api/v1/platform/key", "the-box-1", {"publicKey": base64.b64encode(public).decode()}, 200)
        return json.loads(answer)["box"]

    def exchange(self, device, box):
        path = f"/api/v1/{instructions.REQUESTOR}/profile-requests/local"
        request = self.connection.ask(self.signed("GET", path, f"deviceId={device}"), 200).decode()
        issuer = json.loads(plain(request.split(".")[1]))["iss"]
        head = {"alg": "EdDSA", "typ": "platform-assertion+jwt", "kid": box}
        claims = {"iss": box, "aud": issuer, "request": request, "mvpd": "local", "app": "kodi",
                  "issued": int(time.time() * 1000)}
        text = ".".join(web(json.dumps(part).encode()) for part in (head, claims))
        (self.home / "word").write_text(text)
        signature = self.openssl("pkeyutl", "-sign", "-rawin", "-inkey", "box.pem", "-in", "word")
        self.form("/api/v1/tokens/authn", device, {
            "mvpd": "local", "SAMLResponse": f"{text}.{web(signature)}", "deviceType": "linux"}, 204)


def web(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def plain(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def main():
    if len(sys.argv) != 2:
        fail(__doc__)
    with tempfile.TemporaryDirectory() as home:
        counted = Parents(sys.argv[1], pathlib.Path(home))
        print(instructions.line("", *instructions.COLUMNS))
        counted.service()
        rows = counted.rows
        print(f"parents: {rows['a box' + chr(39) + 's sign-in, turn 2'][0] / rows['own sign-in, turn 2'][0]:.2f} times")


if __name__ == "__main__":
    main()
