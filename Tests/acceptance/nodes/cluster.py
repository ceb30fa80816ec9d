"""Several `regentd` on one PostgreSQL database: a primary with a synchronous standby, a link for each node that can be
cut, and haproxy that sends each request to another node. All of it is on loopback, below one folder."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from regentd import Regentd, control, free_port
from service import until

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def newest(name):
    """A program of the newest installed PostgreSQL; Debian keeps these programs out of PATH."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise SystemExit("nodes: no PostgreSQL here; type: deploy/bootstrap --test")
    return str(found[-1])


def as_server_user(*words):
    """Changes the user, because PostgreSQL refuses to run as root."""
    if os.geteuid():
        return list(words)
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--", *words]


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60, **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


class Server:
    """One PostgreSQL server."""

    def __init__(self, folder, port):
        self.folder, self.port, self.process = pathlib.Path(folder), port, None
        self.data = self.folder / "data"

    def prepare(self):
        self.folder.mkdir(parents=True)
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")

    def make(self):
        self.prepare()
        run(*as_server_user(newest("initdb"), "-D", self.data, "-U", "regent", "--no-sync", "--encoding=UTF8",
                            "--locale=C.UTF-8", "--auth=trust"))
        self.write_settings()

    def copy_of(self, primary):
        """Makes this server a standby of the primary, which must run."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.prepare()
        run(*as_server_user(newest("pg_basebackup"), "-D", self.data, "-h", "127.0.0.1", "-p", primary.port, "-U", "regent",
                            "-R", "-X", "stream", "-c", "fast"))
        # Settings that the primary got while it ran are not for its successor.
        (self.data / "postgresql.auto.conf").write_text(
            "".join(line for line in open(self.data / "postgresql.auto.conf") if "synchronous" not in line))
        self.write_settings()

    def write_settings(self):
        (self.data / "regent.conf").write_text(f"""
            listen_addresses = '127.0.0.1'
            port = {self.port}
            unix_socket_directories = '{self.folder}'
            max_connections = 100
            shared_buffers = 32MB
            deadlock_timeout = 100ms
            wal_retrieve_retry_interval = 100ms
            wal_receiver_status_interval = 1s
            wal_keep_size = 256MB
            log_line_prefix = '%m [%p] '
            """)
        settings = self.data / "postgresql.conf"
        text = settings.read_text()
        if "include 'regent.conf'" not in text:
            settings.write_text(text + "\ninclude 'regent.conf'\n")
        for file in (settings, self.data / "regent.conf"):
            if os.geteuid() == 0:
                shutil.chown(file, "postgres", "postgres")

    def start(self, waits=True):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                as_server_user(newest("postgres"), "-D", str(self.data)), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        if waits:
            until(f"the server on port {self.port}", self.is_ready)

    def is_ready(self):
        if self.process.poll() is not None:
            raise SystemExit(f"the server on port {self.port} has ended: {(self.folder / 'log').read_text()[-2000:]}")
        return subprocess.run([newest("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode == 0

    def ask(self, text, database="postgres"):
        return run("psql", "-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-p", self.port, "-U", "regent", "-d", database, "-c", text,
                   env={"PATH": PATH, "PGCONNECT_TIMEOUT": "10"}).strip()

    def tell(self, *settings):
        for setting in settings:
            self.ask(f"ALTER SYSTEM SET {setting}")
        self.ask("SELECT pg_reload_conf()")

    def processes(self):
        """The process ids of the server and its children."""
        pid = self.process.pid
        try:
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            children = []
        return [pid, *map(int, children)]

    def signal(self, number):
        for pid in self.processes():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """Kills the server and all its children with SIGKILL, also when they are stopped."""
        if self.process and self.process.poll() is None:
            # Stopped first, because a child that it forks meanwhile would survive and keep the next server from
            # starting.
            self.process.send_signal(signal.SIGSTOP)
            children = self.processes()[1:]
            self.signal(signal.SIGKILL)
            self.process.wait()
            until("the server's children to end", lambda: not any(map(is_alive, children)))

    def start_again(self):
        """Kills the server and starts it again with what it had written."""
        self.kill()
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self.start()

    def promote(self):
        run(*as_server_user(newest("pg_ctl"), "promote", "-D", self.data, "-w", "-t", "30"))


def is_alive(pid):
    try:
        # The state is after the name, which may contain brackets.
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Link:
    """A link from one node to one server that can be open, cut (connections end), frozen, or slow."""

    def __init__(self, target):
        self.target, self.mode, self.pairs, self.lock = target, "open", set(), threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.mode == "cut":
                near.close()
                continue
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        try:
            far = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        for side in (near, far):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = (near, far)
        with self.lock:
            self.pairs.add(pair)
        other = threading.Thread(target=self.copy, args=(far, near), daemon=True)
        other.start()
        self.copy(near, far)
        other.join()
        with self.lock:
            self.pairs.discard(pair)
        near.close()
        far.close()

    def copy(self, source, sink):
        try:
            while piece := source.recv(65536):
                while self.mode == "frozen":
                    time.sleep(0.01)
                if isinstance(self.mode, float):
                    time.sleep(self.mode)
                sink.sendall(piece)
        except OSError:
            pass
        for side in (source, sink):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def set(self, mode):
        """Sets the mode: "open", "cut", "frozen", or the seconds by which data are delayed."""
        self.mode = mode
        if mode == "cut":
            with self.lock:
                pairs = list(self.pairs)
            for pair in pairs:
                for side in pair:
                    try:
                        side.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass

    def close(self):
        self.listener.close()
        self.set("cut")


class Node:
    """One `regentd`, with its own links to all servers."""

    def __init__(self, programs, folder, name, servers, master_key, options=()):
        self.programs, self.name, self.folder = programs, name, pathlib.Path(folder)
        self.folder.mkdir(mode=0o700)
        self.links = [Link(server.port) for server in servers]
        self.port = free_port()
        hosts = ",".join(f"127.0.0.1:{link.port}" for link in self.links)
        self.admin = f"{self.folder}/admin.sock"
        self.plain = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        self.options = [
            "--database", f"postgresql://regent@{hosts}/regent", "--master-key", str(master_key), "--node", name,
            "--trust-proxy", "127.0.0.1", "--admin-socket", self.admin, *options]
        self.running = None

    def start(self, *words):
        """Starts it with these additional environment variables, such as those of a wrong clock."""
        environment = self.plain | {"STATE_DIRECTORY": str(self.folder)} | dict(word.split("=", 1) for word in words)
        self.running = Regentd(
            self.programs, self.folder, *self.options, listen=f"127.0.0.1:{self.port}", environment=environment)

    @property
    def is_up(self):
        return self.running is not None and self.running.process.poll() is None

    def kill(self):
        if self.running:
            self.running.kill()

    def set_links(self, mode):
        for link in self.links:
            link.set(mode)

    def control(self, *words, text=None):
        return control(self.programs, self.plain, "--socket", self.admin, *words, text=text)


class Balancer:
    """haproxy, which sends each request to another node; if the nodes speak TLS, each connection."""

    def __init__(self, folder, nodes, listen=None, passes_tls=False, is_sample=False):
        self.listen = listen or f"127.0.0.1:{free_port()}"
        self.port = int(self.listen.rsplit(":", 1)[1])
        settings = pathlib.Path(folder, "haproxy.cfg")
        settings.write_text(self.sample(nodes) if is_sample else self.settings(nodes, passes_tls))
        with open(f"{folder}/haproxy.log", "ab") as log:
            self.process = subprocess.Popen(
                [shutil.which("haproxy", path=PATH), "-db", "-f", str(settings)], stdout=log, stderr=log)

    def settings(self, nodes, passes_tls):
        check = "check check-ssl verify none" if passes_tls else "check"
        servers = "".join(
            f"  server {node.name} 127.0.0.1:{node.port} {check} inter 200ms fall 1 rise 1\n" for node in nodes)
        words = "mode tcp" if passes_tls else "mode http\n  option forwardfor if-none\n  timeout http-request 10s"
        return f"""
global
  maxconn 4000
defaults
  {words}
  timeout connect 2s
  timeout client 75s
  timeout server 75s
  retries 0
frontend tv
  bind {self.listen}
  default_backend nodes
backend nodes
  balance roundrobin
  {"" if passes_tls else "http-reuse safe"}
  option httpchk GET /readyz
{servers}"""

    def sample(self, nodes):
        """The example configuration without TLS, with these three nodes."""
        text = pathlib.Path(__file__).resolve().parents[3].joinpath("deploy/proxy/haproxy-nodes.cfg").read_text()
        text = re.sub(r"(?m)^ *(bind :443|http-request redirect).*\n", "", text).replace("bind :80\n", f"bind {self.listen}\n")
        text = text.replace("maxconn 50000", "maxconn 4000")
        for place, node in zip(("10.0.0.1", "10.0.0.2", "10.0.0.3"), nodes, strict=True):
            text = text.replace(f"{place}:8787", f"127.0.0.1:{node.port}")
        return text

    def is_ready(self):
        if self.process.poll() is not None:
            raise SystemExit("nodes: haproxy has ended")
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            return True
        except OSError:
            return False

    def stop(self):
        self.process.kill()
        self.process.wait()


class Cluster:
    """Two servers, nodes, and a balancer before the nodes."""

    def __init__(self, programs, folder, names=("a", "b", "c"), options=(), has_standby=True, is_sample=False):
        self.folder = pathlib.Path(folder)
        os.chmod(folder, 0o711)
        self.servers = [Server(self.folder / "database-1", free_port()), Server(self.folder / "database-2", free_port())]
        self.primary, self.standby = self.servers
        self.is_synchronous = has_standby
        self.primary.make()
        self.primary.start()
        self.primary.ask("CREATE DATABASE regent")
        if has_standby:
            self.follow()
        key = self.folder / "master-key"
        self.nodes = [Node(programs, self.folder / name, name, self.servers, key, options) for name in names]
        for node in self.nodes:
            node.start()
        self.balancer = Balancer(self.folder, self.nodes, is_sample=is_sample)

    def follow(self):
        """Makes the standby again; from then on each COMMIT waits for it."""
        self.standby.kill()
        self.standby.copy_of(self.primary)
        self.standby.start()
        until("the standby to stream", lambda: self.primary.ask("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "1")
        if self.is_synchronous:
            self.primary.tell("synchronous_standby_names = '*'")
            until("the standby to be synchronous", lambda: self.primary.ask(
                "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1")

    def fail_over(self):
        """Kills the primary and promotes the standby."""
        self.primary.kill()
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    def stop(self):
        for node in getattr(self, "nodes", []):
            node.kill()
            for link in node.links:
                link.close()
        if hasattr(self, "balancer"):
            self.balancer.stop()
        for server in self.servers:
            if server.process and server.process.poll() is None:
                server.signal(signal.SIGCONT)
            server.kill()
