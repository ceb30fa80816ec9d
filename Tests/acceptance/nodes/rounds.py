#!/usr/bin/env python3
"""Several nodes on one database under load, while nodes, database and network fail.

usage: rounds.py FOLDER_OF_PROGRAMS [--rounds N] [--seed N] [--nodes N] [--faults NAME,…] [--asynchronous]

Boxes sign in and out through a balancer that sends each request to another node, and operators approve and withdraw at
random nodes. Each round has a fault. Then everything is repaired, every box is polled at every node, and all answers
are checked against a model (history.py). With `--asynchronous` no COMMIT waits for the standby, so acknowledged changes
are lost; then this must fail, or it proves nothing. Exit codes: 0 nothing lost, 1 something was lost; then it prints
where the history is.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import urllib.parse

from cluster import Cluster
from history import History, prove_itself
from service import REQUESTOR, authorization, until

PROVIDER, PASSWORD = "aurora", "a password of many words"
BOXES, OPERATORS = 6, 2


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("regent", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(connection, method, path, headers=(), body=None):
    """The status and the document; None if the result of the call is unknown."""
    try:
        connection.request(method, path, body=body, headers=dict(headers))
        answer = connection.getresponse()
        text = answer.read()
        is_document = text and "json" in answer.getheader("Content-Type", "")
        return answer.status, json.loads(text) if is_document else None
    except (OSError, http.client.HTTPException, ValueError):
        return None, None
    finally:
        connection.close()


def provide(node, *providers):
    """Adds a requestor, and a viewer at each provider; returns the requestor's key pair."""
    node.control("requestor", "add", REQUESTOR)
    key = json.loads(node.control("key", "issue", REQUESTOR, "--json"))
    for provider in providers:
        node.control("provider", "add", provider, "--name", provider, "--kind", "local")
        node.control("integrate", REQUESTOR, provider)
        node.control("account", "add", provider, "anna", text=PASSWORD + "\n")
    return key


class World:
    """The cluster, the key of its requestor, and the history."""

    def __init__(self, cluster, pick):
        self.cluster, self.pick, self.history = cluster, pick, History()
        self.numbers, self.lock = 0, threading.Lock()
        self.key = provide(cluster.nodes[0], PROVIDER, "spare")

    # Boxes

    def call(self, device, method, path, node=None, words=None, wait=None, timeout=8, **query):
        port = node.port if node else self.cluster.balancer.port
        headers = {"Authorization": words or authorization(self.key, method, path), "Accept": "application/json"}
        if wait:
            headers["Prefer"] = f"wait={wait}"
        query = urllib.parse.urlencode({"deviceId": device, **query})
        return ask(http.client.HTTPConnection("127.0.0.1", port, timeout=timeout), method, f"{path}?{query}", headers.items())

    def create(self, device):
        call = self.history.begin(device, "create")
        status, record = self.call(device, "POST", f"/reggie/v1/{REQUESTOR}/regcode", ttl=36000)
        if status == 201:
            self.history.end(call, "yes", record["code"])
            return record["code"]
        return None

    def poll(self, device, node=None, wait=None, final=False):
        """Polls for a box: "yes", "no", "ended", or None."""
        call = self.history.begin(device, "poll", node.name if node else "", final=final)
        status, document = self.call(device, "GET", "/api/v1/tokens/authn", node, wait=wait)
        answer = {200: "yes", 404: "no", 403: "ended", 410: "ended"}.get(status)
        self.history.end(call, answer, self.sign_in(document) if answer == "yes" else None)
        return answer

    @staticmethod
    def sign_in(document):
        """The part that is equal in all answers about one sign-in and differs between sign-ins."""
        return f"{document.get('userId')} {document.get('expires')}"

    def logout(self, device):
        call = self.history.begin(device, "logout")
        status, _ = self.call(device, "DELETE", "/api/v1/logout")
        answer = {204: "yes", 200: "yes", 404: "refused", 412: "refused"}.get(status)
        self.history.end(call, answer)
        return answer

    # Operators

    def operate(self, device, code, verb, provider=PROVIDER):
        """Approves or withdraws (`verb`) at a random node."""
        node = self.pick.choice(self.cluster.nodes)
        body = json.dumps({"provider": provider, "account": "anna"}).encode() if verb == "approve" else b""
        call = self.history.begin(device, verb, node.name, told=code)
        status, document = ask(
            UnixConnection(node.admin, 8), "POST", f"/v1/codes/{code}/{verb}", [("Content-Type", "application/json")], body)
        answer = {200: "yes", 204: "yes", 404: "refused", 409: "refused", 410: "refused"}.get(status)
        self.history.end(call, answer)
        return answer

    # Load

    def one_box(self, stop):
        with self.lock:
            self.numbers += 1
            device = f"box-{self.numbers}"
        code = self.create(device)
        if code is None:
            return time.sleep(0.05)
        waiting = None
        if self.pick.random() < 0.5:
            waiting = threading.Thread(target=self.poll, args=(device,), kwargs={"wait": 3})
            waiting.start()
        fate = self.pick.random()
        if fate < 0.7:
            self.operate(device, code, "approve")
        elif fate < 0.85:
            self.operate(device, code, "withdraw")
            self.poll(device)
        if fate < 0.1:
            self.operate(device, code, "approve")
        if waiting:
            waiting.join()
        for _ in range(3):
            if self.poll(device) != "no" or stop.is_set():
                break
        if fate < 0.3:
            self.logout(device)
            self.poll(device)

    def load(self, stop):
        while not stop.is_set():
            self.one_box(stop)

    def devices(self):
        return list(self.history.calls)


class Faults:
    """The fault of a round. Each leaves the cluster broken for a while; `mend` repairs it."""

    def __init__(self, world, pick):
        self.world, self.cluster, self.pick = world, world.cluster, pick

    def names(self):
        return [name.removeprefix("do_") for name in dir(self) if name.startswith("do_")]

    def perform(self, name):
        getattr(self, f"do_{name}")()

    def do_node_killed(self):
        """Kills a node with SIGKILL and starts it again."""
        node = self.pick.choice(self.cluster.nodes)
        node.kill()
        time.sleep(self.pick.random() * 0.3)
        node.start()

    def do_all_nodes_killed(self):
        for node in self.cluster.nodes:
            node.kill()
        for node in self.cluster.nodes:
            node.start()

    def do_database_killed(self):
        """Kills the database with SIGKILL; it starts again with what it had written."""
        self.cluster.primary.start_again()

    def do_fail_over(self):
        self.cluster.fail_over()

    def do_fail_over_from_a_frozen_standby(self):
        """The standby is stopped, then the primary is killed; changes acknowledged in between would be lost."""
        self.cluster.standby.signal(signal.SIGSTOP)
        time.sleep(0.5)
        self.cluster.primary.kill()
        self.cluster.standby.signal(signal.SIGCONT)
        self.cluster.standby.promote()
        self.cluster.primary, self.cluster.standby = self.cluster.standby, self.cluster.primary

    def do_fail_over_after_cancelled_commits(self):
        """An operator cancels COMMITs that wait for a stopped standby: they then exist only at the primary. Then the
        primary is killed, and so is the standby with the data that it had not read."""
        self.cluster.standby.signal(signal.SIGSTOP)
        ends = time.monotonic() + 1
        while time.monotonic() < ends:
            self.cluster.primary.ask("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            time.sleep(0.02)
        begun = time.monotonic()
        self.cluster.primary.kill()
        self.cluster.standby.start_again()
        self.cluster.standby.promote()
        self.world.history.lost(begun, time.monotonic())
        self.cluster.primary, self.cluster.standby = self.cluster.standby, self.cluster.primary

    def do_database_frozen(self):
        self.cluster.primary.signal(signal.SIGSTOP)
        time.sleep(0.5 + self.pick.random())
        self.cluster.primary.signal(signal.SIGCONT)

    def do_standby_frozen(self):
        """Every COMMIT waits meanwhile."""
        self.cluster.standby.signal(signal.SIGSTOP)
        time.sleep(0.5 + self.pick.random())
        self.cluster.standby.signal(signal.SIGCONT)

    def do_link_cut(self):
        node = self.pick.choice(self.cluster.nodes)
        node.set_links("cut")
        time.sleep(0.3 + self.pick.random())

    def do_link_frozen(self):
        node = self.pick.choice(self.cluster.nodes)
        node.set_links("frozen")
        time.sleep(0.3 + self.pick.random())

    def do_link_slow(self):
        for node in self.cluster.nodes:
            node.set_links(self.pick.random() * 0.02)
        time.sleep(0.5)

    def do_connections_ended(self):
        """An operator ends all connections of the nodes, including those that listen for notifications."""
        self.cluster.primary.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'regent'")

    def do_clock_wrong(self):
        """The clock of a node is wrong by half a minute."""
        node = self.pick.choice(self.cluster.nodes)
        node.kill()
        library = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        node.start(f"LD_PRELOAD={library}", f"FAKETIME={self.pick.choice(['-30s', '+30s'])}", "DONT_FAKE_MONOTONIC=1")
        self.wrong = node

    def mend(self):
        cluster = self.cluster
        for node in cluster.nodes:
            node.set_links("open")
        wrong = getattr(self, "wrong", None)
        if wrong:
            wrong.kill()
            self.wrong = None
        if cluster.standby.process is None or cluster.standby.process.poll() is not None:
            cluster.follow()
        for node in cluster.nodes:
            if not node.is_up:
                node.start()
        for node in cluster.nodes:
            until(f"node {node.name} to be ready", lambda: ask(
                http.client.HTTPConnection("127.0.0.1", node.port, timeout=5), "GET", "/readyz")[0] == 200)


def used_twice(world, faulty):
    """Replays a signed header at all nodes, at once and a moment later; returns how often each replay was accepted."""
    def takes(node, words):
        # Every answer except the refusal of the header itself.
        status, _ = world.call("replay", "GET", "/api/v1/tokens/authn", node, words)
        return status is not None and status not in (401, 503)

    at_once = later = 0
    for _ in range(5):
        words, taken = authorization(world.key, "GET", "/api/v1/tokens/authn"), []
        threads = [threading.Thread(target=lambda node=node: taken.append(takes(node, words))) for node in world.cluster.nodes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        at_once += max(0, sum(taken) - 1)
    time.sleep(1)
    for node in world.cluster.nodes:
        words = authorization(world.key, "GET", "/api/v1/tokens/authn")
        first = takes(node, words)
        time.sleep(0.5)
        later += sum(takes(other, words) for other in world.cluster.nodes if first and other is not node)
    return at_once, later


def one_round(world, faults, name):
    stop = threading.Event()
    before = set(world.devices())
    threads = [threading.Thread(target=world.load, args=(stop,)) for _ in range(BOXES)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(0.3 + world.pick.random() * 0.3)
        begun = time.monotonic()
        faults.perform(name)
        time.sleep(0.3)
        failed_for = time.monotonic() - begun
    finally:
        stop.set()  # Otherwise this program would not end when a fault cannot be made.
    for thread in threads:
        thread.join()
    begun = time.monotonic()
    faults.mend()
    mended = time.monotonic() - begun
    # A transaction that a dying connection had sent may still be committed.
    time.sleep(0.5)
    devices = sorted(set(world.devices()) - before)
    for device in devices:
        for node in world.cluster.nodes:
            answer = world.poll(device, node, final=True)
            if answer is None:
                until(f"{node.name} to answer about {device}", lambda: world.poll(device, node, final=True), 30)
    failures = world.history.failures()
    at_once, later = used_twice(world, faults)
    if later:
        failures.append(f"a header used at one node was accepted by another node half a second later, {later} times")
    known = [call for device in devices for call in world.history.calls[device]]
    unknown = sum(call.answer is None for call in known)
    told = {kind: sum(call.kind == kind and call.answer == "yes" for call in known) for kind in ("create", "approve", "withdraw", "logout")}
    print(f"   {name.replace('_', ' ')}: {len(devices)} boxes, {len(known)} calls, {unknown} with unknown results, "
          f"acknowledged {', '.join(f'{count} {kind}s' for kind, count in told.items())}, "
          f"failed for {failed_for:.1f} s, repaired in {mended:.1f} s"
          + (f", {at_once} headers accepted twice at the same time" if at_once else ""), flush=True)
    # Devices without failures are not checked again.
    for device in devices:
        del world.history.calls[device]
    return failures


def main():
    words = argparse.ArgumentParser()
    words.add_argument("programs")
    words.add_argument("--rounds", type=int, default=20)
    words.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    words.add_argument("--nodes", type=int, default=3)
    words.add_argument("--faults", default="")
    words.add_argument("--asynchronous", action="store_true")
    words.add_argument("--option", action="append", default=[], help="for each regentd, such as --option=--wakeups=poll")
    words = words.parse_args()
    prove_itself()
    pick = random.Random(words.seed)
    home = tempfile.mkdtemp(prefix="regent-nodes-")
    cluster, keeps = None, False
    try:
        cluster = Cluster(os.path.abspath(words.programs), home, "abcdefgh"[:words.nodes], options=[
            "--device-rate", "1000", "--device-burst", "1000", "--newcomer-rate", "1000", "--live-codes", "100000",
            # All boxes belong to one account.
            "--sign-ins-per-account", "100000", "--permit-rate", "1000",
            *[part for option in words.option for part in option.split("=", 1)]])
        if words.asynchronous:
            cluster.is_synchronous = False
            cluster.primary.tell("synchronous_standby_names = ''")
        world = World(cluster, pick)
        faults = Faults(world, pick)
        names = words.faults.split(",") if words.faults else faults.names()
        # Each fault once before any is repeated.
        order = []
        while len(order) < words.rounds:
            order += pick.sample(names, len(names))
        for name in order[:words.rounds]:
            failures = one_round(world, faults, name)
            if failures:
                keeps = True
                pathlib.Path(home, "history").write_text("\n\n".join(failures) + "\n")
                print("\n\n".join(failures[:5]), file=sys.stderr)
                print(f"rounds: {len(failures)} failures in \"{name}\" (seed {words.seed}); all of them, and the logs: {home}",
                      file=sys.stderr)
                return 1
        print(f"ok {words.rounds} rounds, seed {words.seed}")
        return 0
    except BaseException:
        keeps = True
        print(f"rounds: seed {words.seed}, the logs: {home}", file=sys.stderr)
        raise
    finally:
        if cluster:
            cluster.stop()
        if not keeps:
            shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
