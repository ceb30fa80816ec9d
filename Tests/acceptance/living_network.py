"""Rows of living_room.py: IPv6, a sleep past the end of a code, and two hundred boxes behind one address."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
import urllib.parse

from service import PATIENCE, until

# An address beyond the router, one that it drops, and two prefixes that an internet provider gives the house one after the other.
FAR, PREFIXES = "fd00:99::1", ("fd00:7:", "fd00:8:")
NOWHERE = "fd00:98::1"
# WINDOW: the seconds over which the peak is measured. Linux sends a lost SYN again every second, so that nearly all boxes
# that are connecting when the network returns arrive within one second of it.
BOXES, AWAY, WINDOW = 200, 20, 2

# Forwards a port of every address of the router to the service, which has IPv4 only.
RELAY = """
import socket, sys, threading
port, host = int(sys.argv[1]), sys.argv[2]
def copy(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        pass
listener = socket.create_server(("::", port), family=socket.AF_INET6, backlog=512)
print("listening", flush=True)
while True:
    near, _ = listener.accept()
    far = socket.create_connection((host, port))
    for pair in ((near, far), (far, near)):
        threading.Thread(target=copy, args=pair, daemon=True).start()
"""


@contextlib.contextmanager
def relay(box, service):
    """The service behind the router's IPv6 addresses; gives the link-local one on the box's side."""
    network = box.network
    port = str(urllib.parse.urlsplit(box.house.url).port)
    for where in (network.router, network.box):
        where.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0", "net.ipv6.conf.all.accept_dad=0",
                  "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.all.accept_ra=0")
    network.router.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
    network.router.run("ip", "-6", "address", "replace", f"{FAR}/128", "dev", "lo")

    def link_local():
        lines = network.router.run("ip", "-6", "-o", "address", "show", "dev", "lan", "scope", "link").split()
        return lines[3].split("/")[0] if len(lines) > 3 and "tentative" not in lines else None

    near = until("a link-local address", link_local)
    process = subprocess.Popen(
        [*network.router.enter, "python3", "-c", RELAY, port, service], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        yield near
    finally:
        process.kill()
        process.communicate()


def prefix(box, number, near):
    """The box has an address of this prefix, with the router's link-local address as its way out."""
    network = box.network
    network.router.run("ip", "-6", "address", "replace", f"{PREFIXES[number]}:1/64", "dev", "lan")
    network.box.run("ip", "-6", "address", "replace", f"{PREFIXES[number]}:2/64", "dev", "home", "nodad")
    network.box.run("ip", "-6", "route", "replace", "default", "via", near, "dev", "home")


def without(box, number):
    for where, last, device in ((box.network.box, 2, "home"), (box.network.router, 1, "lan")):
        where.run("ip", "-6", "address", "del", f"{PREFIXES[number]}:{last}/64", "dev", device)


@contextlib.contextmanager
def on_ipv6(box, service):
    with relay(box, service) as near:
        prefix(box, 0, near)
        box.uses_names([])
        box.network.names.addresses6 = [FAR]
        try:
            yield near
        finally:
            box.network.names.addresses6 = []
            for number in (0, 1):
                with contextlib.suppress(SystemExit):
                    without(box, number)


def prefix_replaced(box, service):
    with on_ipv6(box, service) as near:
        def change():
            prefix(box, 1, near)
            without(box, 0)
        return box.signed_in(change)


def prefix_dropped(box, service):
    """The router has another prefix and drops the old one; the box keeps its old address, which is not used any more."""
    with on_ipv6(box, service) as near:
        rules = [("ip", "-6", "rule", word, "blackhole", side, f"{PREFIXES[0]}:/64")
                 for word in ("add", "del") for side in ("from", "to")]

        def change():
            prefix(box, 1, near)
            box.network.box.run(
                "ip", "-6", "address", "change", f"{PREFIXES[0]}:2/64", "dev", "home", "preferred_lft", "0")
            for rule in rules[:2]:
                box.network.router.run(*rule)
        try:
            return box.signed_in(change)
        finally:
            for rule in rules[2:]:
                with contextlib.suppress(SystemExit):
                    box.network.router.run(*rule)


def black_hole(box, service):
    """The seconds that an unreachable IPv6 address costs: the best of three codes with it, minus the best of three without."""
    with on_ipv6(box, service):
        names = box.network.names
        names.addresses = [service]
        box.network.router.run("ip", "-6", "route", "replace", "blackhole", NOWHERE)
        best = {}
        for addresses in ([], [NOWHERE]):
            names.addresses6 = addresses
            best[len(addresses)] = min(box.code() for _ in range(3))
        return best[1] - best[0]


def link_local(box, service):
    """The service by a link-local address with a zone. No certificate has such a name, so with https there is no row."""
    if box.house.authority:
        return 0
    with relay(box, service) as near:
        port = urllib.parse.urlsplit(box.house.url).port
        box.environment |= {
            "REGENT_SERVICE": f"http://[{near}%25home]:{port}", "REGENT_PUBLIC_HOST": service,
            "XDG_RUNTIME_DIR": f"{box.path}/other", "REGENT_STATE": f"{box.path}/other"}
        os.mkdir(f"{box.path}/other", 0o700)
        return box.code()


# Answers queries for _regent._tcp and den.local as a machine beside the box does, with the service's address.
ANNOUNCER = """
import socket, struct, sys
port, host, own = int(sys.argv[1]), sys.argv[2], sys.argv[3]
def name(text):
    return b"".join(bytes([len(part)]) + part.encode() for part in text.split(".")) + b"\\0"
def record(owner, kind, data):
    return name(owner) + struct.pack(">HHIH", kind, 1, 120, len(data)) + data
kind = "_regent._tcp.local"
texts = b"".join(bytes([len(text)]) + text.encode() for text in ("txtvers=1", "tls=0", f"host={host}", "path=/"))
answer = (record(kind, 12, name("den." + kind)) + record("den." + kind, 16, texts)
    + record("den." + kind, 33, struct.pack(">HHH", 0, 0, port) + name("den.local"))
    + record("den.local", 1, socket.inet_aton(host)))
hearing = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
hearing.bind(("", 5353))
group = socket.inet_aton("224.0.0.251") + socket.inet_aton(own)
hearing.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
print("listening", flush=True)
while True:
    query, sender = hearing.recvfrom(9000)
    hearing.sendto(query[:2] + struct.pack(">HHHHH", 0x8400, 0, 4, 0, 0) + answer, sender)
"""


@contextlib.contextmanager
def announced(box, service):
    """A machine beside the box that answers multicast DNS queries; gives its address."""
    port = str(urllib.parse.urlsplit(box.house.url).port)
    home = box.network.router.run("ip", "-4", "-o", "address", "show", "dev", "lan").split()[3].split("/")[0]
    box.network.box.run("ip", "route", "replace", "224.0.0.0/4", "dev", "home")
    process = subprocess.Popen(
        [*box.network.router.enter, "python3", "-c", ANNOUNCER, port, service, home], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        yield home
    finally:
        process.kill()
        process.communicate()


def local_name(box, service):
    """A service under .local, on a machine without libnss-mdns. No certificate has the name, so with https there is no row."""
    if box.house.authority:
        return 0
    port = urllib.parse.urlsplit(box.house.url).port
    box.environment |= {
        "REGENT_SERVICE": f"http://den.local:{port}", "REGENT_PUBLIC_HOST": service,
        "XDG_RUNTIME_DIR": f"{box.path}/other", "REGENT_STATE": f"{box.path}/other"}
    os.mkdir(f"{box.path}/other", 0o700)
    with announced(box, service):
        return box.code()


def moved(box, service):
    """The service does not answer at its old address, and announces the new one. With https a box goes by the name."""
    if box.house.authority:
        return 0
    with announced(box, service) as home:
        return found_again(box, home)


def found_again(box, home):
    port = urllib.parse.urlsplit(box.house.url).port
    os.makedirs(f"{box.path}/.config/regent", 0o700)
    with open(f"{box.path}/.config/regent/agent.conf", "w") as file:
        file.write("find-again = yes\n")
    box.environment |= {
        "REGENT_SERVICE": f"http://{home}:{port}", "XDG_RUNTIME_DIR": f"{box.path}/other",
        "REGENT_STATE": f"{box.path}/other"}
    os.mkdir(f"{box.path}/other", 0o700)
    took = box.code()
    if (again := box.code()) > 1:
        raise SystemExit(f"the address was not kept: the next code took {again:.1f} s")
    return took


def codes(process):
    """The moments at which a box shows its codes."""
    for line in process.stdout:
        if json.loads(line)["event"] == "code":
            yield time.monotonic()


def slept(box, service):
    """A box that stands still past the end of its code, while the router forgets its connections."""
    words = [box.regent, "pair", "--json", "--force", "--unattended", "--lifetime", "30s"]
    with box.started(words) as process:
        moments = codes(process)
        first = next(moments)
        time.sleep(2)
        process.send_signal(signal.SIGSTOP)
        box.network.forget()
        time.sleep(max(0, first + 34 - time.monotonic()))
        woken = time.monotonic()
        process.send_signal(signal.SIGCONT)
        return next(moments) - woken


def absence(box, service):
    """Two hundred boxes that begin while the router drops all; gives the time to the last code after its return."""
    if box.house.authority:
        return 0
    port = str(urllib.parse.urlsplit(box.house.url).port)
    rule = ("ip", "rule", "add", "blackhole", "ipproto", "tcp", "dport", port)
    box.network.router.run(*rule)
    chooser, boxes, came = selectors.DefaultSelector(), [], {}
    try:
        for number in range(BOXES):
            state = f"{box.path}/box{number}"
            os.mkdir(state, 0o700)
            process = subprocess.Popen(
                [*box.network.box.enter, box.regent, "pair", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, bufsize=0,
                env=box.environment | {"XDG_RUNTIME_DIR": state, "REGENT_STATE": f"{state}/state"})
            boxes.append(process)
            chooser.register(process.stdout, selectors.EVENT_READ, number)
        time.sleep(AWAY)
        box.network.router.run(*["del" if word == "add" else word for word in rule])
        back = time.monotonic()
        while len(came) < BOXES and time.monotonic() < back + PATIENCE:
            for key, _ in chooser.select(1):
                line = os.read(key.fd, 65536)
                if b'"event":"code"' in line.replace(b" ", b""):
                    came.setdefault(key.data, time.monotonic() - back)
                if not line:
                    chooser.unregister(key.fileobj)
    finally:
        for process in boxes:
            process.kill()
            process.communicate()
        with contextlib.suppress(SystemExit):
            box.network.router.run(*["del" if word == "add" else word for word in rule])
    moments = sorted(came.values())
    if len(moments) < BOXES:
        raise SystemExit(f"only {len(moments)} of {BOXES} boxes got a code")
    peak = max(sum(start <= one < start + WINDOW for one in moments) for start in moments) / WINDOW
    mean = BOXES / moments[-1]
    print(f"  {BOXES} boxes: the first code after {moments[0]:.1f} s, at most {peak:.0f} a second, mean {mean:.0f}", flush=True)
    if peak > 4 * mean:
        raise SystemExit(f"a peak of {peak:.0f} codes a second, more than four times the mean of {mean:.0f}")
    return moments[-1]


# The row, and its bar in seconds.
ROWS = {
    "approve after the IPv6 prefix was replaced": (prefix_replaced, 3.0),
    "approve after the router dropped the IPv6 prefix": (prefix_dropped, 8.0),
    "what an IPv6 address that leads nowhere costs a code": (black_hole, 0.3),
    "code from a link-local address with a zone": (link_local, 1.0),
    "code from a name under .local": (local_name, 1.0),
    "code after the service moved to another address": (moved, 5.0),
    "code after a sleep past the end of the last": (slept, 2.0),
    "200 boxes after an absence of 20 s": (absence, 12.0),
}
