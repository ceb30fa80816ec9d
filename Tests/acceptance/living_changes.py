"""Rows of living_room.py: a cable that is out, a service on another machine, a clock that is set, and OAuth's client."""

import contextlib
import json
import os
import subprocess
import threading
import time
import urllib.parse

from living_faults import FAKETIME
from living_world import DEAD
from quick_viewer import event
from regentd import Regentd
from service import PATIENCE


def unplugged(box, service):
    """The seconds until a box that shows a code says that its cable is out."""
    words = [box.regent, "pair", "--json", "--force"]
    with box.started(words) as process:
        moments = ((json.loads(line)["event"], time.monotonic()) for line in process.stdout)
        next(moment for name, moment in moments if name == "code")
        time.sleep(5)
        box.network.router.run("ip", "link", "set", "lan", "down")
        out = time.monotonic()
        try:
            said = next(moment for name, moment in moments if name == "error")
        finally:
            box.network.router.run("ip", "link", "set", "lan", "up")
        return said - out


def no_names(box, service):
    """The seconds until a box reports that none of its name servers answers."""
    box.uses_names([service])
    box.names_file(*DEAD, DEAD[0])
    begun = time.monotonic()
    with box.started([box.regent, "pair", "--json", "--force"]) as process:
        for line in process.stdout:
            if json.loads(line)["event"] == "error":
                return time.monotonic() - begun
    raise SystemExit(f"the box has ended: {box.log()}")


def moved_machine(box, service):
    """Another machine has taken over the service with its address, and knows none of its connections."""
    place = urllib.parse.urlsplit(box.house.url)
    rule = ("ip", "rule", "add", "blackhole", "ipproto", "tcp", "sport", str(place.port))
    signing_in = box.pair()
    code = next(signing_in, None)
    heard = []
    listening = threading.Thread(target=lambda: heard.extend(signing_in), daemon=True)
    listening.start()
    time.sleep(1)
    # The old machine's packets do not arrive any more: neither the RST of a closed connection nor a FIN.
    box.network.router.run(*rule)
    try:
        subprocess.run(
            ["ss", "-K", "sport", "=", f":{place.port}", "and", "dst", box.network.address], check=True,
            capture_output=True, timeout=PATIENCE)
        old = box.house.service.regentd
        words = [str(word) for word in old.process.args]
        old.kill()
        box.house.service.regentd = Regentd(
            words[0].rsplit("/", 1)[0], old.log_file.parent, *words[4:], listen=place.netloc,
            environment=box.house.service.environment)
    finally:
        box.network.router.run(*["del" if word == "add" else word for word in rule])
    sent = box.house.approve(code, 0.5)
    listening.join(PATIENCE)
    if not heard:
        raise SystemExit(f"approved, and the box has not heard: {box.log()}")
    return heard[0] - sent


def clock_set(box, service):
    """A box in the year 2040 whose clock is set. Only the kernel tells the box. Without TLS no clock is needed.

    libfaketime sets the year. The machine's clock is set to the time that it has, which wakes the box.
    """
    if not box.house.authority:
        return 0
    with open(f"{box.path}/clock", "w") as file:
        file.write("@2040-06-01 00:00:00\n")
    box.environment |= {
        "LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": f"{box.path}/clock", "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1", "XDG_RUNTIME_DIR": f"{box.path}/other", "REGENT_STATE": f"{box.path}/other"}
    os.mkdir(f"{box.path}/other", 0o700)

    def change():
        with open(f"{box.path}/new", "w") as file:
            file.write("+0\n")
        os.replace(f"{box.path}/new", f"{box.path}/clock")
        time.clock_settime(time.CLOCK_REALTIME, time.time())

    return box.back(20, change)


def oauth_added(box):
    """The command that pairs the box as an OAuth client of the service, with another state folder."""
    box.environment |= {"XDG_RUNTIME_DIR": f"{box.path}/other", "REGENT_STATE": f"{box.path}/other"}
    os.mkdir(f"{box.path}/other", 0o700)
    client = box.house.client
    subprocess.run(
        [*box.enter, box.regent, "oauth", "add", "tv", "--issuer", client["issuer"], "--client-id", client["id"]],
        env=box.environment, check=True, capture_output=True, timeout=PATIENCE)
    return [box.regent, "oauth", "pair", "tv", "--json", "--force"]


def oauth(box, service):
    """`regent oauth pair` when the box gets an address. It refuses issuers without TLS."""
    if not box.house.authority:
        return 0
    words, network = oauth_added(box), box.network
    network.box.run("ip", "-4", "address", "flush", "dev", "home")
    return box.back(
        25, lambda: network.readdress(network.address, anew=True), box.lines(words, event("code", "code"), lambda _: False))


def oauth_1970(box, service):
    """`regent oauth pair` without a clock battery. The certificate is newer than the program, the client's file newer still."""
    if not box.house.authority:
        return 0
    words = oauth_added(box)
    box.environment |= {
        "LD_PRELOAD": FAKETIME, "FAKETIME": "@1970-01-02 00:00:00", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # The files have the times at which they were written.
        "NO_FAKE_STAT": "1"}
    return box.code(box.lines(words, event("code", "code"), lambda _: False))


# The row, and its bar in seconds.
ROWS = {
    "a cable that is out is said": (unplugged, 10.0),
    # Look-up, connection and TLS have 15 s together.
    "dead name servers are said": (no_names, 16.0),
    "approve after the service moved to another machine": (moved_machine, 8.0),
    "code when the clock is set": (clock_set, 1.0),
    "code of regent oauth pair on a box in 1970": (oauth_1970, 1.0),
    "code of regent oauth pair when an address comes after 25 s": (oauth, 1.0),
}
