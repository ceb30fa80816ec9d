#!/usr/bin/env python3
"""The examples of docs/examples/oauth with a hostile server: its texts must not reach the terminal as control
characters, a redirect must not carry the token to another host, and a text in place of a number must not run as a
command."""

import contextlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "docs/examples/oauth"
ESCAPE = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202e"


class Server(http.server.ThreadingHTTPServer):
    """Answers each path as the test says, and records the headers of each request."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.seen = {}, []
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.server.seen.append((self.path, dict(self.headers)))
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, document = self.server.answers[self.path]
        body = json.dumps(document).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body)), "Content-Type": "application/json"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def controls(text):
    return [letter for letter in text if letter != "\n" and (ord(letter) < 32 or 127 <= ord(letter) < 160 or letter == "\u202e")]


def pair_prints_no_control_characters():
    for ending in ({"access_token": f"abc{ESCAPE}"}, {"error": "denied", "error_description": f"no {ESCAPE}"}):
        server = Server()
        place = server.address
        server.answers = {
            "/.well-known/openid-configuration": (200, {}, {
                "device_authorization_endpoint": f"{place}/device", "token_endpoint": f"{place}/token",
                "token_endpoint_longest_wait": 5}),
            "/device": (200, {}, {
                "device_code": "d", "user_code": f"ABCD{ESCAPE}", "verification_uri": f"{place}/{ESCAPE}", "interval": 1}),
            "/token": (200 if "access_token" in ending else 400, {}, ending)}
        done = subprocess.run(
            ["sh", EXAMPLES / "pair.sh", place, "client"], capture_output=True, encoding="utf-8", timeout=30, check=False)
        assert "ABCD" in done.stderr and ("abc" in done.stdout or "no" in done.stderr), done
        assert not controls(done.stdout + done.stderr), (done.stdout, done.stderr)
        server.shutdown()


def pair_runs_no_commands_of_the_server():
    # `sh` is bash on some systems, which evaluates a text in $((…)). Variables of the script are set, as `set -u` wants.
    with tempfile.TemporaryDirectory() as folder:
        ran = pathlib.Path(folder, "ran")
        number = f"begun[$(touch {ran}; echo 0)]"
        for interval, longest in ((number, 5), (5, number), (number, number)):
            server = Server()
            place = server.address
            server.answers = {
                "/.well-known/openid-configuration": (200, {}, {
                    "device_authorization_endpoint": f"{place}/device", "token_endpoint": f"{place}/token",
                    "token_endpoint_longest_wait": longest}),
                "/device": (200, {}, {
                    "device_code": "d", "user_code": "ABCD", "verification_uri": f"{place}/go", "interval": interval}),
                "/token": (400, {}, {"error": "slow_down"})}
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(
                    ["bash", "--posix", EXAMPLES / "pair.sh", place, "client"], stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL, timeout=3, check=False)
            assert any(path == "/device" for path, _ in server.seen), server.seen
            assert not ran.exists(), (interval, longest)
            server.shutdown()


def call_keeps_the_token():
    api, other = Server(), Server()
    api.answers = {"/me": (302, {"Location": f"{other.address}/stolen"}, {})}
    other.answers = {"/stolen": (200, {}, {})}
    with tempfile.TemporaryDirectory() as folder:
        # Stands for a signed-in box; OAuthBoxTests uses the real module with a real daemon.
        pathlib.Path(folder, "regent.py").write_text(
            "class RegentError(Exception):\n    code = ''\n\n\nclass Regent:\n    def oauth_token(self, name, **_):\n"
            "        return {'type': 'Bearer', 'token': 'secret-token'}\n")
        done = subprocess.run(
            [sys.executable, "-B", EXAMPLES / "call.py", "music", f"{api.address}/me"], capture_output=True, text=True, timeout=30,
            env=os.environ | {"PYTHONPATH": folder}, check=False)
    assert api.seen and api.seen[0][1].get("Authorization") == "Bearer secret-token", api.seen
    assert done.returncode == 1 and "302" in done.stderr, done
    assert not other.seen, f"the other host was sent {other.seen}"


for check in (pair_prints_no_control_characters, pair_runs_no_commands_of_the_server, call_keeps_the_token):
    check()
print("the OAuth examples print no control characters and do not send the token to another host, and run nothing of the server")
