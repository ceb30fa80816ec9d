"""A small reader of deploy/compose.yaml that starts its services in namespaces, without a container engine.

It uses these keys of a service: image, user, group_add, read_only, tmpfs, cap_drop, cap_add, security_opt, sysctls,
environment, secrets, configs, volumes, networks, ports, hostname, depends_on, healthcheck, stop_signal,
stop_grace_period. Any other key ends the test. Needs root and its own network namespace.
"""

import ipaddress
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading

import yaml

from service import until

KNOWN = {
    "image", "user", "group_add", "read_only", "tmpfs", "cap_drop", "cap_add", "security_opt", "sysctls", "environment", "secrets",
    "configs", "volumes", "networks", "ports", "hostname", "depends_on", "healthcheck", "stop_signal", "stop_grace_period", "restart",
    "profiles"}
INSIDE = str(pathlib.Path(__file__).with_name("compose_inside.py"))
VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)(?::([-?])([^}]*))?\})")


def interpolated(value, variables):
    if isinstance(value, dict):
        return {name: interpolated(part, variables) for name, part in value.items()}
    if isinstance(value, list):
        return [interpolated(part, variables) for part in value]
    if not isinstance(value, str):
        return value

    def one(found):
        escaped, name, kind, rest = found.groups()
        if escaped:
            return "$"
        if not variables.get(name) and kind == "?":
            raise ValueError(f"{name} is missing: {rest}")
        return variables.get(name) or (rest if kind == "-" else "")

    return VARIABLE.sub(one, value)


def seconds(text):
    return int(text.removesuffix("s"))


class Project:
    """The services of a file with the variables of an .env file; `images` has each image's root and settings."""

    def __init__(self, file, variables, images, scratch):
        self.document = interpolated(yaml.safe_load(file.read_text()), variables)
        self.profiles = set(variables.get("COMPOSE_PROFILES", "").split(",")) - {""}
        self.folder, self.images, self.scratch = file.parent, images, scratch
        self.services = {
            name: service for name, service in self.document["services"].items()
            if not service.get("profiles") or self.profiles & set(service["profiles"])}
        for name, service in self.services.items():
            assert service.keys() <= KNOWN, (name, service.keys() - KNOWN)
        self.running, self.listeners, self.networks, self.addresses = {}, [], {}, {}
        for number, (name, network) in enumerate(self.document["networks"].items()):
            network = network or {}
            given = network.get("ipam", {}).get("config", [{}])[0].get("subnet", f"10.99.{number}.0/24")
            self.networks[name] = ipaddress.ip_network(given)

    # Names and addresses.

    def plan(self):
        for name, service in self.services.items():
            wanted = service["networks"]
            wanted = wanted if isinstance(wanted, dict) else {network: {} for network in wanted}
            self.addresses[name] = {}
            for network, details in wanted.items():
                # Fixed addresses are in the file; the others begin at 20.
                free = ipaddress.ip_address(int(self.networks[network][20]) + len(self.addresses))
                self.addresses[name][network] = (details or {}).get("ipv4_address", str(free))

    def hosts_of(self, name):
        lines = ["127.0.0.1 localhost", *(f"{address} {name}" for address in self.addresses[name].values())]
        for other, addresses in self.addresses.items():
            lines += [f"{address} {other}" for network, address in addresses.items() if network in self.addresses[name] and other != name]
        return "\n".join(lines) + "\n"

    def up(self):
        self.plan()
        for name, network in self.networks.items():
            run("ip", "link", "add", f"br-{name}", "type", "bridge")
            run("ip", "address", "add", f"{network[1]}/{network.prefixlen}", "dev", f"br-{name}")
            run("ip", "link", "set", f"br-{name}", "up")
        waiting = dict(self.services)
        while waiting:
            for name, service in list(waiting.items()):
                needed = service.get("depends_on", {})
                missing = {
                    other for other, details in needed.items() if other not in self.services and details.get("required", True)}
                assert not missing, f"{name} needs {missing}, whose profile is off"
                if all(other not in self.services or other in self.running for other in needed):
                    for other, details in needed.items():
                        if other in self.services and details["condition"] == "service_healthy":
                            self.until_healthy(other)
                    self.start(name)
                    del waiting[name]
        for name in self.services:
            self.until_healthy(name)

    # One service.

    def volume(self, name, image, target):
        """The folder of a volume. A new one gets owner and mode from the image, as in container engines."""
        folder = self.scratch / "volumes" / name
        if not folder.exists():
            folder.mkdir(parents=True)
            owner, mode = image["folders"].get(target) or (0, 0o755)
            os.chown(folder, owner, owner)
            folder.chmod(mode)
        return folder

    def start(self, name):
        service = self.services[name]
        image = self.images[service["image"]]
        at = self.scratch / "containers" / name
        shutil.rmtree(at, ignore_errors=True)
        at.mkdir(parents=True)
        (at / "hosts").write_text(self.hosts_of(name))
        binds = [(str(at / "hosts"), "/etc/hosts", True), *image.get("binds", [])]
        for entry in service.get("volumes", []):
            source, target, *options = entry.split(":")
            assert source in self.document["volumes"], source
            binds.append((str(self.volume(source, image, target)), target, "ro" in options))
        for secret in service.get("secrets", []):
            binds.append((str((self.folder / self.document["secrets"][secret]["file"]).resolve()), f"/run/secrets/{secret}", True))
        for config in service.get("configs", []):
            (at / config["source"]).write_text(self.document["configs"][config["source"]]["content"])
            binds.append((str(at / config["source"]), config["target"], True))
        user, group = (int(part) for part in service["user"].split(":"))
        settings = {
            "root": str(image["root"]), "scratch": str(at), "binds": binds, "tmpfs": service.get("tmpfs", []), "user": user, "group": group,
            "groups": [int(number) for number in service.get("group_add", [])], "read_only": service.get("read_only", False),
            "keeps": service.get("cap_add", []), "drops": service["cap_drop"], "hostname": service.get("hostname", name),
            "sysctls": service.get("sysctls", {}), "no_new_privileges": "no-new-privileges:true" in service["security_opt"],
            # Container engines set these two; HOME is that of the image's user, if the image knows that user.
            "environment": {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": image.get("home", "/")} | image["environment"]
            | {key: str(value) for key, value in service.get("environment", {}).items()},
            "words": image["words"]}
        log = open(at / "log", "wb")
        process = subprocess.Popen(
            ["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--propagation", "private", "--",
             sys.executable, INSIDE, json.dumps(settings)], stdin=subprocess.PIPE, stdout=log, stderr=log)
        inside = until("the container's first process", lambda: children(process.pid))[0]
        for number, (network, address) in enumerate(self.addresses[name].items()):
            outer = f"v{len(self.running)}{number}-{name}"[:15]
            run("ip", "link", "add", outer, "type", "veth", "peer", "name", f"eth{number}", "netns", str(inside))
            run("ip", "link", "set", outer, "master", f"br-{network}", "up")
            within = ("nsenter", "-t", str(inside), "-n", "ip")
            run(*within, "address", "add", f"{address}/{self.networks[network].prefixlen}", "dev", f"eth{number}")
            run(*within, "link", "set", f"eth{number}", "up")
        run("nsenter", "-t", str(inside), "-n", "ip", "link", "set", "lo", "up")
        for port in service.get("ports", []):
            host, published, target = (["0.0.0.0"] + port.split(":"))[-3:]
            self.listeners.append(published_port(host, int(published), next(iter(self.addresses[name].values())), int(target)))
        process.stdin.write(b"go\n")
        process.stdin.close()
        self.running[name] = (process, inside, settings)

    def execute(self, name, *words, text=None, limit=60):
        """Runs a command in a running container, as its user."""
        _, inside, settings = self.running[name]
        return subprocess.run(
            ["nsenter", "-t", str(inside), "-m", "-n", "-u", "-i", "-p", "-r", "-w", "-S", str(settings["user"]),
             "-G", str(settings["group"]), "--", *words],
            env=settings["environment"], input=text, capture_output=True, text=True, timeout=limit)

    def is_healthy(self, name):
        check = self.services[name]["healthcheck"]
        kind, *words = check["test"]
        assert kind == "CMD", kind
        try:
            return self.execute(name, *words, limit=seconds(check["timeout"])).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def until_healthy(self, name):
        limit = seconds(self.services[name]["healthcheck"]["start_period"])
        try:
            until(f"{name} is healthy", lambda: self.is_healthy(name), limit)
        except TimeoutError:
            print(self.log(name)[-4000:], file=sys.stderr)
            raise

    def log(self, name):
        return (self.scratch / "containers" / name / "log").read_text(errors="replace")

    def stop(self, name):
        process, inside, _ = self.running.pop(name)
        service = self.services[name]
        os.kill(inside, signal.Signals[service.get("stop_signal", "SIGTERM")])
        status = process.wait(timeout=seconds(service.get("stop_grace_period", "10s")))
        assert status == 0, (name, status, self.log(name)[-2000:])

    def down(self):
        for listener in self.listeners:
            # Otherwise the thread that waits for a connection would keep the port open.
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.listeners.clear()
        for name in reversed(list(self.running)):
            self.stop(name)
        for name in self.networks:
            run("ip", "link", "delete", f"br-{name}")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def published_port(host, port, to, target):
    """Forwards connections, as an engine's proxy does for a published port."""
    listener = socket.create_server((host, port))

    def pump(source, drain):
        try:
            while data := source.recv(65536):
                drain.sendall(data)
            drain.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()
            drain.close()

    def accept():
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection((to, target), timeout=5)
                server.settimeout(None)
            except OSError:
                client.close()
                continue
            for pair in ((client, server), (server, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener
