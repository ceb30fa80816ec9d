#!/usr/bin/env python3
"""Debian's PgBouncer before the database: in session mode the service works, in transaction mode it names the reason.

usage: pooler.py FOLDER_OF_PROGRAMS
"""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

from cluster import PATH, Server, as_server_user
from regentd import Regentd, free_port
from service import until


class Pooler:
    def __init__(self, folder, server, mode):
        self.port = free_port()
        folder = pathlib.Path(folder, mode)
        folder.mkdir()
        (folder / "users").write_text('"regent" ""\n')
        (folder / "ini").write_text(f"""
            [databases]
            regent = host=127.0.0.1 port={server.port} dbname=regent
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = {self.port}
            unix_socket_dir =
            auth_type = trust
            auth_file = {folder}/users
            pool_mode = {mode}
            """)
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                as_server_user(shutil.which("pgbouncer", path=PATH), str(folder / "ini")), stdout=log, stderr=log)
        until("PgBouncer to listen", self.listens)

    def listens(self):
        assert self.process.poll() is None, "PgBouncer has ended"
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            return True
        except OSError:
            return False


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    home = pathlib.Path(tempfile.mkdtemp(prefix="regent-pooler-"))
    home.chmod(0o711)
    server, started = Server(home / "database", free_port()), []
    try:
        server.make()
        server.start()
        server.ask("CREATE DATABASE regent")
        own = home / "service"
        own.mkdir(mode=0o700)
        environment = {"HOME": str(own), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "STATE_DIRECTORY": str(own)}

        def options(pooler):
            return ["--database", f"postgresql://regent@127.0.0.1:{pooler.port}/regent", "--master-key", f"{own}/key",
                    "--admin-socket", f"{own}/admin.sock"]

        def control(*words):
            done = subprocess.run([programs / "regentctl", "--socket", f"{own}/admin.sock", *words], capture_output=True,
                                  text=True, timeout=60, env=environment)
            return done.stdout + done.stderr

        # Refused with notifications and with polling, because the pooler breaks prepared statements in both.
        started.append(Pooler(home, server, "transaction"))
        for more in ([], ["--wakeups", "poll"]):
            done = subprocess.run(
                [programs / "regentd", "serve", "--listen", "127.0.0.1:0", *options(started[0]), *more], capture_output=True,
                text=True, timeout=60, env=environment)
            said = done.stdout + done.stderr
            assert done.returncode != 0 and "is a pooler that gives each transaction another connection" in said, said
            assert "name the port of the server itself" in said and "pool_mode = session" in said and "--wakeups poll" in said, said
        assert server.ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", "regent") == "0"
        started.append(Pooler(home, server, "session"))
        service = Regentd(programs, own, *options(started[1]), environment=environment)
        started.append(service)
        control("requestor", "add", "cinema")
        for number in range(10):
            control("requestor", "set", "cinema", "--name", f"name {number}")
        assert json.loads(control("requestor", "show", "cinema", "--json"))["name"] == "name 9"
        assert "there is a connection pooler between this service and the server" in control("doctor")
        assert service.stop() == 0
        print("ok the service refuses a pooler in transaction mode and works with one in session mode")
    finally:
        for one in started:
            if one.process.poll() is None:
                one.process.kill()
                one.process.wait()
        server.kill()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
