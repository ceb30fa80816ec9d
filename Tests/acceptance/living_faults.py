"""Faults between a box and its service, and the box's message about each, which must name the fault.

These are rows of living_room.py. Each fault is real: a certificate of another authority, an expired one, a box with a
wrong year. `regent pair` must name it in an event's `code` and `message` and on screens of two sizes in four languages,
`regent doctor` in a finding.
"""

import concurrent.futures
import contextlib
import fcntl
import http.server
import json
import os
import pathlib
import pty
import re
import select
import signal
import ssl
import struct
import subprocess
import tempfile
import termios
import threading
import time

FAKETIME = next(map(str, pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), "libfaketime.so.1")
# The seconds after which a missing message counts as a failure.
PATIENCE = 30


class Answering(http.server.BaseHTTPRequestHandler):
    """Redirects to the login page of a guest network; over TLS the box only reads the time from the response."""

    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", "http://portal.example/login")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_POST = do_GET

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    """A server in the service's place, with its own certificate or without TLS."""

    daemon_threads = True

    def __init__(self, address, files=None):
        super().__init__((address, 0), Answering)
        self.scheme = "https" if files else "http"
        self.context = None
        if files:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*files)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()

    def finish_request(self, request, address):
        try:
            if self.context:
                request = self.context.wrap_socket(request, server_side=True)
            super().finish_request(request, address)
        except OSError:
            pass

    @property
    def url(self):
        return f"{self.scheme}://{self.server_address[0]}:{self.server_address[1]}"


def certificate(folder, name, address, begins=None):
    """A self-signed certificate, valid for two days from `begins` (now)."""
    files = f"{folder}/{name}.pem", f"{folder}/{name}.key"
    environment = {"PATH": "/usr/bin:/bin"}
    if begins:
        environment |= {"LD_PRELOAD": FAKETIME, "FAKETIME": begins}
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
         f"/CN={name}", "-addext", f"subjectAltName={address}", "-days", "2", "-out", files[0], "-keyout", files[1]],
        check=True, capture_output=True, env=environment, timeout=PATIENCE)
    return files


# Certificate, authority that the box knows, the box's clock, phrase on the screen, `code` of the event, words in the
# event, words of doctor.
FAULTS = {
    "unknown authority":
        ("good", "other", None, "certificateUntrusted", "certificate", "is from an unknown authority", "--ca-file"),
    "other name":
        ("elsewhere", "elsewhere", None, "certificateOtherName", "certificate", "for another host", "host name"),
    "no CA file":
        ("good", "missing", None, "noAuthorities", "certificate", "cannot read the file with the certificate authorities", "ca-certificates"),
    "expired": ("expired", "expired", None, "certificateExpired", "certificate", "has expired", "must be renewed"),
    "not yet valid":
        ("future", "future", None, "certificateNotYetValid", "certificate", "is not valid yet", "valid now"),
    "handshake": (None, "good", None, "handshakeFailed", "certificate", "handshake failed", "http://"),
    "a box in 2040":
        ("good", "good", "2040-06-01 00:00:00", "problemClock", "clock", "clock is ahead", "set this machine's clock"),
    "a box in 1970":
        ("good", "good", "1970-01-02 00:00:00", "problemClock", "clock", "clock is behind", "set this machine's clock"),
    "captive portal": (None, "good", None, "problemPortal", "captive-portal", "sign in to", "sign-in page"),
}
# How the disk of the state folder is prepared before the box starts, the phrase, and how it is repaired.
DISKS = {
    "a state that is full": ("mount -t tmpfs -o size=64k,mode=700 state {0} && head -c 1m /dev/zero > {0}/full", "problemStorage",
                             "rm {0}/full"),
    "a state that is read-only": ("mount -t tmpfs -o ro,size=1m,mode=700 state {0}", "problemReadOnly", "mount -o remount,rw {0}"),
}
LANGUAGES = {"en": "English", "it": "Italian", "es": "Spanish", "ko": "Korean"}
SIZES = (15, 40), (25, 80)
TEXTS = pathlib.Path(__file__).resolve().parents[2] / "Sources/DeviceAgent/Texts"


def sentence(language, phrase):
    """The text that the screen must show, without white space, because the screen wraps lines."""
    text = (TEXTS / f"{LANGUAGES[language]}.swift").read_text()
    found = re.search(rf'case \.{phrase}:\s*"(.*)"', text)
    return re.sub(r"\s", "", found.group(1)) if found else phrase


class Faults:
    """A folder of certificates, and a box in the network of living_room.py that gets these faults."""

    def __init__(self, programs, network, service):
        self.regent, self.network, self.service = programs / "regent", network, service
        self.folder = tempfile.TemporaryDirectory(prefix="regent-faults-")
        home = self.folder.name
        names = {
            "good": (f"IP:{service}", None), "elsewhere": ("DNS:elsewhere.example", None),
            "other": (f"IP:{service}", None), "expired": (f"IP:{service}", "2020-01-01 00:00:00"),
            "future": (f"IP:{service}", "2035-01-01 00:00:00")}
        self.files = {name: certificate(home, name, *about) for name, about in names.items()}
        pathlib.Path(home, "secret").write_text("0123456789abcdef0123456789abcdef\n")
        os.chmod(f"{home}/secret", 0o600)

    def close(self):
        self.folder.cleanup()

    def problems(self, name):
        """The errors in the box's messages."""
        served, known, clock, phrase, code, words, hint = FAULTS[name]
        problems = []
        with contextlib.closing(Server(self.service, self.files.get(served))) as server:
            environment = self.environment(server, name, known, clock)
            said, found = self.pair(environment), self.doctor(environment)
            if said.get("code") != code or words not in f"{said.get('message')} {said.get('hint')}":
                problems.append(f"regent pair says {said}")
            if hint not in found or phrase != "problemPortal" and words not in found:
                problems.append(f"regent doctor says {found}")
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                for one in [pool.submit(self.screen, environment, [phrase], *about)
                            for about in ((size, language) for size in SIZES for language in LANGUAGES)]:
                    problems += one.result()
        return problems

    def screen(self, environment, phrases, size, language, state=None, between=lambda: None):
        """An empty list if a screen of this size shows the texts one after another in this language."""
        wanted = [sentence(language, phrase) for phrase in phrases]
        process, terminal = pty.fork()
        if process == 0:
            words = [*self.network.box.enter, str(self.regent), "pair", "--language", language]
            state = state or f"{environment['REGENT_STATE']}-{language}-{size[0]}"
            os.execvpe(words[0], words, environment | {"TERM": "xterm-256color", "REGENT_STATE": state})
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        os.kill(process, signal.SIGWINCH)
        drawn, end = "", time.monotonic() + 25
        try:
            while time.monotonic() < end:
                if select.select([terminal], [], [], 0.2)[0]:
                    drawn += os.read(terminal, 65536).decode(errors="replace")
                    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b.|[\s|│]", "", drawn)
                    if wanted[0] in text:
                        shown, drawn, wanted = wanted[0], "", wanted[1:]
                        if not wanted:
                            return []
                        # Where both texts begin with the same letters, the terminal gets only what differs.
                        wanted[0] = wanted[0][len(os.path.commonprefix([shown, wanted[0]])):]
                        between()
        except OSError:
            pass
        finally:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(terminal)
        return [f"the screen in {language} at {size} does not say one of {phrases}: {drawn[-300:]!r}"]

    def disk_problems(self, name):
        """Checks that the screen names the disk's fault, and that the box continues when the disk is repaired."""
        spoil, phrase, mend = DISKS[name]
        state = f"{self.folder.name}/disk"
        os.makedirs(state, exist_ok=True)
        subprocess.run(["sh", "-c", spoil.format(state) + "; true"], check=True, capture_output=True, timeout=PATIENCE)
        try:
            with contextlib.closing(Server(self.service)) as server:
                environment = self.environment(server, name, "good", None) | {"REGENT_STATE": state}
                doctor = self.doctor(environment)
                words = "on a full disk" if phrase == "problemStorage" else "on a read-only disk"
                problems = [] if words in doctor else [f"regent doctor says {doctor}"]
                mended = lambda: subprocess.run(["sh", "-c", mend.format(state)], check=True, timeout=PATIENCE)
                return problems + self.screen(environment, [phrase, "problemPortal"], (15, 40), "en", state, mended)
        finally:
            subprocess.run(["umount", "-l", state], check=True, timeout=PATIENCE)

    def environment(self, server, name, known, clock):
        home = self.folder.name
        url = server.url.replace("http:", "https:") if name == "handshake" else server.url
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": home, "LC_ALL": "C.UTF-8", "XDG_RUNTIME_DIR": home,
            "REGENT_SERVICE": url, "REGENT_REQUESTOR": "cinema", "REGENT_PUBLIC_KEY": "key",
            "REGENT_SECRET_FILE": f"{home}/secret", "REGENT_STATE": f"{home}/state",
            "REGENT_CA_FILE": self.files.get(known, (f"{home}/missing.pem",))[0]}
        if clock:
            environment |= {"LD_PRELOAD": FAKETIME, "FAKETIME": f"@{clock}", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        return environment

    def pair(self, environment):
        """The first event that the box prints."""
        process = subprocess.Popen(
            [*self.network.box.enter, self.regent, "pair", "--json"], env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        try:
            line = process.stdout.readline()
            return json.loads(line) if line.startswith("{") else {"message": line}
        finally:
            timer.cancel()
            process.kill()
            process.communicate()

    def doctor(self, environment):
        return subprocess.run(
            [*self.network.box.enter, self.regent, "doctor"], env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE).stdout
