"""The parts of repository.py that journey.py uses, too: throwaway keys, a web server, and the lines of docs/install.md.

As a program it serves a repository: repository_stage.py FOLDER_FOR_CERTIFICATES ROOT
"""
import http.server
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import threading

HOST = "packages.example.org"


class Keys:
    """Throwaway keys. They are older than the packages' oldest release, so that a past release can be signed."""

    def __init__(self, home):
        home.mkdir(mode=0o700)
        self.env = os.environ | {"GNUPGHOME": str(home), "LC_ALL": "C.UTF-8"}

    def made(self, name, kind="ed25519", expires="never", more=()):
        self.gpg("--faked-system-time", "20250101T000000", "--passphrase", "", *more, "--quick-gen-key", f"{name} <{name}@example.org>",
                 kind, "sign", expires)
        listed = self.gpg("--with-colons", "--list-secret-keys", f"{name}@example.org")
        return re.search(r"^fpr:+([0-9A-F]{40}):", listed, re.M)[1]

    def gpg(self, *words):
        return subprocess.run(["gpg", "--batch", "--quiet", *words], env=self.env, check=True, capture_output=True, text=True).stdout

    def end(self):
        subprocess.run(["gpgconf", "--kill", "all"], env=self.env, check=True)


class Server:
    """https://packages.example.org, with a certificate authority that only the machines under test trust."""

    def __init__(self, folder):
        folder.mkdir()
        for name, more in (("ca", ["-x509", "-subj", "/CN=Test authority"]), (
                "server", ["-x509", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-addext",
                           "basicConstraints=critical,CA:FALSE", "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key"])):
            subprocess.run(
                ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", *more,
                 "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt"], check=True, capture_output=True)
        self.certificate = folder / "ca.crt"
        self.root, server = None, self

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def __init__(self, *words, **more):
                super().__init__(*words, directory=str(server.root), **more)

            def do_GET(self):
                # Like an attacker's server, it never answers "not modified".
                del self.headers["If-Modified-Since"]
                super().do_GET()

            def log_message(self, *_):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.crt", folder / "server.key")
        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", 443), Handler)
        self.listener.socket = context.wrap_socket(self.listener.socket, server_side=True)
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()


def lines_of_the_page():
    """The lines with which an operator uses a repository."""
    found = re.search(r"^```\n(.*?)^```$", (pathlib.Path(__file__).parents[2] / "docs/install.md").read_text(), re.M | re.S)[1].splitlines()
    assert len(found) <= 4 and HOST in found[0], found
    return found


if __name__ == "__main__":
    Server(pathlib.Path(sys.argv[1])).root = pathlib.Path(sys.argv[2])
    signal.pause()
