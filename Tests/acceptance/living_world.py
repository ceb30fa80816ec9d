"""The networks of living_room.py: a service, a router and a box behind it, each in a network namespace of its own."""

import contextlib
import ipaddress
import os
import shutil
import socket
import struct
import subprocess
import threading
import time

from quick_viewer import Home, event
from service import PATIENCE, until

SERVICE, GATEWAY, HOME, BOX, OTHER = "10.9.0.1", "10.9.0.254", "192.168.7.1", "192.168.7.2", "192.168.7.3"
DEAD = "10.9.0.98", "10.9.0.99"


class NameServer:
    """A DNS server for one name with these addresses."""

    NAME = "service.example"

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((SERVICE, 53))
        self.addresses, self.addresses6 = [SERVICE], []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            self.answer(*self.socket.recvfrom(512))

    def answer(self, question, sender):
        end = question.index(b"\0", 12) + 5
        kind = question[end - 4:end - 2]
        addresses = {b"\0\x01": self.addresses, b"\0\x1c": self.addresses6}.get(kind, [])
        head = question[:2] + struct.pack(">HHHHH", 0x8180, 1, len(addresses), 0, 0)
        records = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", kind[1], 1, 0, len(packed)) + packed
            for packed in (ipaddress.ip_address(address).packed for address in addresses))
        self.socket.sendto(head + question[12:end] + records, sender)


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


class Space:
    """A network namespace that exists while this program runs."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "-n", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.enter = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"]
        own = os.readlink("/proc/self/ns/net")
        until("a namespace", lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != own)
        self.run("ip", "link", "set", "lo", "up")

    def run(self, *words):
        return run(*self.enter, *words)

    def close(self):
        self.holder.kill()
        self.holder.wait()


class Network:
    """The service here, a router, and a box behind it."""

    def __init__(self):
        run("ip", "link", "set", "lo", "up")
        self.router, self.box = Space(), Space()
        router, box = self.router.holder.pid, self.box.holder.pid
        run("ip", "link", "add", "outside", "type", "veth", "peer", "name", "wan", "netns", router)
        run("ip", "link", "add", "lan", "netns", router, "type", "veth", "peer", "name", "home", "netns", box)
        run("ip", "address", "add", f"{SERVICE}/24", "dev", "outside")
        run("ip", "link", "set", "outside", "up")
        run("ip", "route", "add", "192.168.7.0/24", "via", GATEWAY)
        self.router.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        for name, address in (("wan", GATEWAY), ("lan", HOME)):
            self.router.run("ip", "address", "add", f"{address}/24", "dev", name)
            self.router.run("ip", "link", "set", name, "up")
        self.box.run("ip", "link", "set", "home", "up")
        for dead in DEAD:
            self.router.run("ip", "route", "add", "blackhole", dead)
        self.address = None
        self.readdress(BOX)
        self.names = NameServer()

    def readdress(self, address, anew=False):
        """Gives the box another address, as a router does after a restart."""
        if self.address and not anew:
            self.box.run("ip", "address", "del", f"{self.address}/24", "dev", "home")
        self.box.run("ip", "address", "add", f"{address}/24", "dev", "home")
        self.box.run("ip", "route", "replace", "default", "via", HOME)
        self.address = address

    def forget(self):
        """Makes the router drop all packets of the box's connections silently."""
        lines = self.box.run("ss", "-Htn", "state", "established", "dst", SERVICE).splitlines()
        ports = {line.split()[2].rsplit(":", 1)[1] for line in lines}
        for port in ports:
            for side in ("sport", "dport"):
                self.router.run("ip", "rule", "add", "blackhole", "ipproto", "tcp", side, port)
        return len(ports)

    def close(self):
        self.router.close()
        self.box.close()


class BoxAtHome(Home):
    """A box in its namespace: its daemon, and `regent` as an app."""

    def __init__(self, house, network):
        super().__init__(house)
        self.network = network
        self.enter = network.box.enter
        if house.authority:
            self.environment["REGENT_CA_FILE"] = house.authority
        self.daemon = subprocess.Popen(
            [*network.box.enter, self.regent, "daemon"], env=self.environment, stdout=subprocess.DEVNULL,
            stderr=open(f"{self.path}/log", "wb"))
        until("the daemon listens", lambda: os.path.exists(f"{self.path}/regent/agent.sock"))

    def close(self):
        self.daemon.terminate()
        self.daemon.wait(timeout=PATIENCE)
        super().close()

    def started(self, words, stderr=None):
        return super().started([*self.enter, *words], stderr or open(f"{self.path}/log", "ab"))

    def uses_names(self, addresses, *servers):
        """Uses the service by its name, with another state folder and without the daemon."""
        self.network.names.addresses = addresses
        # A separate /etc in which resolv.conf can be replaced by rename, as network programs do it.
        os.mkdir(f"{self.path}/etc")
        for name in ("nsswitch.conf", "hosts", "passwd", "group", "ld.so.cache"):
            shutil.copy(f"/etc/{name}", f"{self.path}/etc/{name}")
        self.names_file(*servers, SERVICE)
        mount = f'mount --bind {self.path}/etc /etc && exec "$@"'
        self.enter = [*self.network.box.enter, "unshare", "-m", "sh", "-c", mount, "-"]
        self.environment["REGENT_SERVICE"] = self.house.url.replace(SERVICE, NameServer.NAME)
        self.environment["REGENT_PUBLIC_HOST"] = SERVICE
        self.environment["XDG_RUNTIME_DIR"] = f"{self.path}/other"
        self.environment["REGENT_STATE"] = f"{self.path}/other"
        os.mkdir(f"{self.path}/other", 0o700)

    def names_file(self, *servers):
        with open(f"{self.path}/new", "w") as file:
            file.writelines(f"nameserver {server}\n" for server in servers)
        os.replace(f"{self.path}/new", f"{self.path}/etc/resolv.conf")

    def log(self):
        with open(f"{self.path}/log") as file:
            return file.read()

    def code(self, pairing=None):
        """The seconds until a code is on the screen."""
        begun = time.monotonic()
        with contextlib.closing(pairing or self.pair()) as pairing:
            if not next(pairing, None):
                raise SystemExit(f"no code: {self.log()}")
        return time.monotonic() - begun

    def pair(self):
        return self.lines([self.regent, "pair", "--json", "--force"], event("code", "code"), event("authenticated"))

    def signed_in(self, change=lambda: None, open_for=2.0):
        """Signs in, with a change of the network before the approval; returns the seconds from approval to the box."""
        signing_in = self.pair()
        code = next(signing_in, None)
        if not code:
            raise SystemExit(f"no code: {self.log()}")
        heard = []
        listening = threading.Thread(target=lambda: heard.extend(signing_in), daemon=True)
        listening.start()
        timer = threading.Timer(open_for - 0.2, change)
        timer.start()
        sent = self.house.approve(code, open_for)
        timer.join()
        listening.join(PATIENCE * 2)
        if not heard:
            raise SystemExit(f"approved, and the box has not heard: {self.log()}")
        return heard[0] - sent

    def play(self):
        """The seconds that a media token takes."""
        begun = time.monotonic()
        done = subprocess.run(
            [*self.network.box.enter, self.regent, "token", "news", "--json"], env=self.environment, capture_output=True,
            text=True, timeout=PATIENCE)
        took = time.monotonic() - begun
        if done.returncode:
            raise SystemExit(f"play failed after {took:.1f} s, exit {done.returncode}: {done.stdout}{done.stderr}")
        return took

    def back(self, away, change, pairing=None):
        """The seconds from a change that repairs the network, which was down for `away` seconds, until a code is shown."""
        with contextlib.closing(pairing or self.pair()) as pairing:
            changed = []

            def mend():
                changed.append(time.monotonic())
                change()

            timer = threading.Timer(away, mend)
            timer.start()
            code = next(pairing, None)
            came = time.monotonic()
            timer.join()
            if not code or not changed or came < changed[0]:
                raise SystemExit(f"no code, or one too soon: {self.log()}")
            return came - changed[0]
