"""Replaces one `Regentd` by several on one database, so that the acceptance tests run with either (REGENT_NODES=3)."""

import atexit
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from nodes.cluster import Balancer, Server
from regentd import Regentd, free_port
from service import until

# The databases of this process by the folder of the service; they outlive a restart of the service.
databases = {}


def database(folder):
    if folder not in databases:
        server = Server(folder / "database", free_port())
        folder.chmod(0o711)
        server.make()
        server.start()
        server.ask("CREATE DATABASE regent")
        databases[folder] = server
        atexit.register(server.kill)
    return databases[folder]


class Member:
    """One of the nodes, as the balancer needs it."""

    def __init__(self, name, regentd):
        self.name, self.regentd = name, regentd
        self.port = int(regentd.url.rsplit(":", 1)[1])


class Several:
    """Runs `regentd serve` several times with these options, behind a balancer that sends each request, or over TLS
    each connection, to another node. The first node has the folders of a single service, so that `regentctl` finds
    it."""

    def __init__(self, count, programs, folder, *options, listen="127.0.0.1:0", environment=None):
        folder = pathlib.Path(folder)
        server = database(folder)
        address, port = listen.rsplit(":", 1)
        speaks_tls = "--tls-certificate" in options
        port = int(port) or free_port()
        self.url = f"http{'s' if speaks_tls else ''}://{address}:{port}"
        options = [*options, "--database", f"postgresql://regent@127.0.0.1:{server.port}/regent",
                   "--master-key", str(folder / "the-master-key"), "--trust-proxy", "127.0.0.1"]
        # Otherwise a node would send phones to its own address.
        if "--public-url" not in options:
            options += ["--public-url", self.url]
        self.members = []
        for name in "abcdefgh"[:count]:
            own, more = folder, dict(environment or {})
            if name != "a":
                own = folder / f"node-{name}"
                own.mkdir(mode=0o700, exist_ok=True)
                more |= {"STATE_DIRECTORY": str(own)}
            self.members.append(Member(name, Regentd(programs, own, *options, "--node", name, environment=more)))
        self.process, self.log_file = self.members[0].regentd.process, self.members[0].regentd.log_file
        self.balancer = Balancer(folder, self.members, f"{address}:{port}", speaks_tls)
        until("the balancer to see the nodes", self.balancer.is_ready)

    def log(self):
        return "".join(member.regentd.log() for member in self.members)

    def stop(self):
        self.balancer.stop()
        return max(member.regentd.stop() for member in self.members)

    def kill(self):
        self.balancer.stop()
        for member in self.members:
            member.regentd.kill()
