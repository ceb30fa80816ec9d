"""Programs under callgrind and their counts, and a connection that adds nothing to a request."""

import base64
import hashlib
import hmac
import os
import pathlib
import re
import socket
import subprocess
import time

SECONDS = 120


def fail(sentence):
    raise SystemExit(f"instructions: {sentence}")


class Counted:
    """Programs that run under callgrind, with their files in a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def words(self, name):
        return ["valgrind", "--quiet", "--tool=callgrind", "--collect-systime=yes", "--compress-strings=no",
                f"--callgrind-out-file={self.folder}/{name}"]

    @staticmethod
    def read(file):
        """The instructions, system calls and allocations of one dump."""
        text = pathlib.Path(file).read_text(errors="replace")
        events = re.search(r"^events: (.*)$", text, re.M)
        total = re.search(r"^(?:totals|summary): (.*)$", text, re.M)
        if not events or not total:
            fail(f"{file} is no dump of callgrind")
        counts = dict(zip(events[1].split(), map(int, total[1].split())))
        made = re.findall(
            r"^cfn=(?:malloc|calloc|realloc|posix_memalign|aligned_alloc)(?:'\d+)?\ncalls=(\d+)", text, re.M)
        return [counts["Ir"], counts.get("sysCount", 0), sum(map(int, made))]


class Running:
    """A program under callgrind that continues to run; its cost is read between two requests."""

    def __init__(self, counted, name, pid):
        self.counted, self.name, self.pid, self.dumps = counted, name, pid, 0

    def count(self):
        """The counts since the last call."""
        # Without TMPDIR, because the pipe of vgdb is in the temporary folder of the program's environment, not of ours.
        done = subprocess.run(
            ["vgdb", f"--pid={self.pid}", "dump"], env={"PATH": os.environ["PATH"]}, capture_output=True, text=True,
            timeout=SECONDS)
        self.dumps += 1
        file = self.counted.folder / f"{self.name}.{self.dumps}"
        if done.returncode or not file.exists():
            fail(f"vgdb could not ask {self.name}: {done.stdout}{done.stderr}")
        found = Counted.read(file)
        file.unlink()
        return found

    def written(self):
        """The bytes that it has written to files; bytes sent over sockets do not count."""
        return int(re.search(r"^wchar: (\d+)$", pathlib.Path(f"/proc/{self.pid}/io").read_text(), re.M)[1])


class Connection:
    """A connection for one request after another, without a library that adds headers."""

    def __init__(self, address):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family)
        self.socket.settimeout(SECONDS)
        self.socket.connect(address)
        if family == socket.AF_INET:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def send(self, head, body=b""):
        self.socket.sendall(head.encode() + body)

    def answer(self):
        while b"\r\n\r\n" not in self.rest:
            self.more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        length = int((re.search(rb"(?i)\ncontent-length: *(\d+)", head) or [0, 0])[1])
        while len(self.rest) < length:
            self.more()
        body, self.rest = self.rest[:length], self.rest[length:]
        return int(head.split()[1]), body

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            fail("the service closed a connection")
        self.rest += data

    def ask(self, head, status, body=b""):
        self.send(head, body)
        found, body = self.answer()
        if found != status:
            fail(f"{found} instead of {status} for {head.splitlines()[0]}: {body[:300]}")
        return body


def signed(key, host, number, method, path, query, *more):
    """The head of a signed call of a box, with the number as its nonce; all heads are equally long."""
    text = (f"{method} requestor_id={key['requestor']}, nonce=00000000-0000-4000-8000-{number:012}, "
            f"signature_method=HMAC-SHA256, request_time={int(time.time() * 1000)}, request_uri={path}")
    mac = base64.b64encode(hmac.new(key["secret"].encode(), text.encode(), hashlib.sha256).digest()).decode()
    lines = [f"{method} {path}?{query}&format=json HTTP/1.1", f"Host: {host}",
             f"Authorization: {text}, public_key={key['publicKey']}, signature={mac}", *more]
    return "\r\n".join(lines) + "\r\n\r\n"
