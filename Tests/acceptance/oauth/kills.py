#!/usr/bin/env python3
"""Kills the service at random moments while clients refresh, introspect and revoke tokens, and checks what was
acknowledged: a client with a response continues from it, a client without one repeats its request, and a revoked grant
stays revoked.

    kills.py PROGRAMS [KILLS] [--lose-log]

`--lose-log` removes SQLite's write-ahead log after each kill; then it must find a loss, or it proves nothing.
"""

import argparse
import http.client
import json
import pathlib
import random
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from regentd import Regentd, control_json
from service import PATIENCE, ROOT

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
CLIENTS = 12


class Gone(Exception):
    """The service was killed before it responded."""


class Service:
    def __init__(self, programs, home):
        self.programs, self.home = programs, home
        self.environment = {"HOME": home, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        self.start()
        self.control("requestor", "add", "acme")
        self.control("key", "issue", "acme")
        self.control("provider", "add", "local", "--name", "Local", "--kind", "local")
        self.control("integrate", "acme", "local")
        self.control("account", "add", "local", "demo", text="a long enough word\n")
        self.client = self.control("client", "add", "acme", "--name", "Kodi", "--public", "--algorithm", "ES256")["id"]
        self.api = self.control("client", "add", "acme", "--name", "API", "--secret", "--algorithm", "ES256")
        self.api = {"client_id": self.api["id"], "client_secret": self.api["secret"]}

    def start(self):
        self.regentd = Regentd(
            self.programs, self.home, "--web", str(ROOT / "web"), "--public-url", "http://127.0.0.1", "--newcomer-rate",
            "1000", "--device-rate", "10000", "--device-burst", "100000", environment=self.environment)
        self.port = int(self.regentd.url.rsplit(":", 1)[1])

    def control(self, *words, text=None):
        return control_json(self.programs, self.environment, *words, text=text, seconds=PATIENCE)

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def post(self, connection, path, **form):
        try:
            connection.request("POST", "/oauth/" + path, urllib.parse.urlencode(form),
                               {"Content-Type": "application/x-www-form-urlencoded"})
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise Gone from error
        return answer.status, json.loads(body) if body else {}


class Screen:
    """The sign-in of a client: its last tokens, its earlier refresh tokens, and whether it was revoked."""

    def __init__(self, service):
        connection = service.connection()
        _, code = service.post(connection, "device_authorization", client_id=service.client)
        service.control("code", "approve", code["user_code"], "--provider", "local", "--account", "demo")
        status, self.told = service.post(
            connection, "token", client_id=service.client, grant_type=DEVICE, device_code=code["device_code"])
        if status != 200:
            raise SystemExit(f"kills: pairing: {self.told}")
        self.before, self.refreshes = [], 0
        # The request that was under way when the service was killed.
        self.under_way = None
        self.is_over = False

    def run(self, service, ends):
        """Refreshes without a pause until the service is killed; if `ends`, it revokes its grant at some time."""
        connection = service.connection()
        try:
            while True:
                self.under_way = "refresh"
                self.refresh(service, connection)
                self.under_way = None
                status, worth = service.post(
                    connection, "introspect", token=self.told["access_token"], **service.api)
                if status != 200 or not worth.get("active"):
                    raise Surprise(f"a new token is worth nothing: {status} {worth}")
                if ends and random.random() < 0.05:
                    self.under_way = "revoke"
                    service.post(connection, "revoke", client_id=service.client, token=self.told["refresh_token"])
                    self.under_way, self.is_over = None, True
                    return
        except Gone:
            return

    def refresh(self, service, connection):
        status, answer = service.post(
            connection, "token", client_id=service.client, grant_type="refresh_token",
            refresh_token=self.told["refresh_token"])
        if status != 200:
            raise Surprise(f"after {self.refreshes} refreshes: {status} {answer}")
        self.before.append(self.told["refresh_token"])
        self.told, self.refreshes = answer, self.refreshes + 1

    def inspect(self, service):
        connection = service.connection()
        worth = service.post(connection, "introspect", token=self.told["access_token"], **service.api)[1].get("active")
        if self.is_over:
            status, _ = service.post(
                connection, "token", client_id=service.client, grant_type="refresh_token",
                refresh_token=self.told["refresh_token"])
            if worth or status == 200:
                raise Surprise("a grant that was given back is there again")
        elif self.under_way == "revoke":
            # No response came, so the grant may be revoked or not.
            self.is_over = not worth
        else:
            if not worth:
                raise Surprise("a token that was told is worth nothing")
            self.refresh(service, connection)
        self.under_way = None


class Surprise(Exception):
    pass


def load_and_kill(service, screens):
    surprises = []

    def run(screen, ends):
        try:
            screen.run(service, ends)
        except Surprise as surprise:
            surprises.append(str(surprise))

    threads = [threading.Thread(target=run, args=(screen, place % 3 == 0)) for place, screen in enumerate(screens)]
    for thread in threads:
        thread.start()
    time.sleep(random.uniform(0.02, 0.3))
    service.regentd.kill()
    for thread in threads:
        thread.join(PATIENCE)
    return surprises, sum(screen.under_way is not None for screen in screens)


def run(programs, kills, loses_log):
    flying = refreshes = ends = 0
    with tempfile.TemporaryDirectory(prefix="regent-oauth-kills-") as home:
        service = Service(programs, home)
        try:
            screens = [Screen(service) for _ in range(CLIENTS)]
            for kill in range(kills):
                surprises, under_way = load_and_kill(service, screens)
                flying += under_way
                if loses_log:
                    for log in pathlib.Path(home).rglob("*.db-wal"):
                        log.unlink()
                service.start()
                for screen in screens:
                    try:
                        screen.inspect(service)
                    except Surprise as surprise:
                        surprises.append(str(surprise))
                if surprises:
                    print(f"LOST after kill {kill + 1}: {surprises[:5]}")
                    return 1
                ends += sum(screen.is_over for screen in screens)
                refreshes += sum(screen.refreshes for screen in screens if screen.is_over)
                screens = [screen for screen in screens if not screen.is_over]
                screens += [Screen(service) for _ in range(CLIENTS - len(screens))]
            # After all that, using an old refresh token must revoke the grant.
            old = next(screen for screen in screens if len(screen.before) > 1)
            connection = service.connection()
            for token in [old.before[-2], old.told["refresh_token"]]:
                status, answer = service.post(
                    connection, "token", client_id=service.client, grant_type="refresh_token", refresh_token=token)
                if answer.get("error") != "invalid_grant":
                    print(f"an old refresh token: {status} {answer}")
                    return 1
            refreshes += sum(screen.refreshes for screen in screens)
        finally:
            service.regentd.kill()
    print(f"{kills} kills with {flying} requests under way: {refreshes} refreshes and {ends} revocations acknowledged, none lost")
    return 0 if flying else 1


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("programs", type=lambda text: pathlib.Path(text).resolve())
    arguments.add_argument("kills", type=int, nargs="?", default=20)
    arguments.add_argument("--lose-log", action="store_true")
    given = arguments.parse_args()
    return run(given.programs, given.kills, given.lose_log)


if __name__ == "__main__":
    sys.exit(main())
