"""A real Kodi on a virtual screen: Debian's package in a root made by mmdebstrap, run as an ordinary user under Xvfb.

The process that uses this module has its own mount and network namespaces (`enter`): Kodi's JSON-RPC listens on port
9090 there, and the mounts end with the process.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

from service import until

PACKAGES = ("kodi", "kodi-bin", "xvfb", "imagemagick", "zbar-tools", "python3", "libgl1-mesa-dri", "procps", "openssl",
            "ca-certificates", "fonts-dejavu-core")
USER, DISPLAY = 1500, ":77"
SECONDS = 60


def enter():
    """Runs this program again in new namespaces with a loopback interface."""
    if os.environ.get("REGENT_KODI_INSIDE"):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    os.environ["REGENT_KODI_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--net", "--", sys.executable, "-B", *sys.argv])


def make_root(root, suite):
    """Makes a Debian with Kodi, once and before `enter`, because the new namespace has no network."""
    mark = root.with_name(root.name + ".made-of")
    wanted = " ".join((suite, *PACKAGES))
    if not (mark.exists() and mark.read_text() == wanted):
        shutil.rmtree(root, ignore_errors=True)
        root.parent.mkdir(parents=True, exist_ok=True)
        print("   making a Debian with Kodi, once (some minutes)", flush=True)
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(PACKAGES)}", suite, str(root)],
            check=True, stdin=subprocess.DEVNULL, timeout=1500)
        # Kodi 20 resolves localhost before it listens.
        (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
        mark.write_text(wanted)


def mount_root(root):
    for kind, place in (("proc", "proc"), (None, "dev"), ("tmpfs", "tmp"), ("tmpfs", "home")):
        words = ["-t", kind, kind] if kind else ["--rbind", "/dev"]
        subprocess.run(["mount", *words, root / place], check=True)
    os.chmod(root / "tmp", 0o1777)
    (root / "tmp/.X11-unix").mkdir()
    os.chmod(root / "tmp/.X11-unix", 0o1777)


class Screen:
    """Xvfb, 1280 by 720."""

    def __init__(self, root):
        self.process = subprocess.Popen(
            ["chroot", root, "Xvfb", DISPLAY, "-screen", "0", "1280x720x24", "-nolisten", "tcp"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        until("Xvfb listens", lambda: (root / f"tmp/.X11-unix/X{DISPLAY[1:]}").exists())

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)


class Kodi:
    """A Kodi with its own home folder, which survives a kill."""

    def __init__(self, root, name="viewer"):
        self.root, self.home = root, root / "home" / name
        self.data = self.home / ".kodi"
        (self.data / "addons").mkdir(parents=True)
        (self.data / "userdata").mkdir()
        (self.home / ".asoundrc").write_text("pcm.!default { type null }\nctl.!default { type null }\n")
        # As after "Settings, System, Add-ons, Unknown sources". Kodi ignores the file without the last two elements.
        (self.data / "userdata/guisettings.xml").write_text(
            '<settings version="2"><setting id="addons.unknownsources">true</setting>'
            '<resolutions/><viewstates/></settings>')
        self.process, self.line, self.runs, self.calls = None, None, 0, 0

    def own(self):
        subprocess.run(["chown", "-R", f"{USER}:{USER}", self.home], check=True)

    def start(self):
        self.own()
        self.log = open(f"{self.root}/tmp/kodi.out", "ab")
        inside = str(self.home)[len(str(self.root)):]
        program = "/" + str(next(pathlib.Path(self.root).glob("usr/lib/*/kodi/kodi.bin")).relative_to(self.root))
        self.process = subprocess.Popen(
            ["chroot", f"--userspec={USER}:{USER}", self.root, "/usr/bin/env", "-i", f"HOME={inside}", f"DISPLAY={DISPLAY}",
             "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "LIBGL_ALWAYS_SOFTWARE=1", "KODI_HOME=/usr/share/kodi",
             program, "--standalone", "--windowing=x11"],
            stdout=self.log, stderr=self.log, start_new_session=True)
        until("Kodi answers", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise SystemExit(f"Kodi ended with {self.process.returncode}: {pathlib.Path(self.log.name).read_text()[-2000:]}")
        try:
            return self.rpc("JSONRPC.Ping") == "pong"
        except OSError:
            return False

    def rpc(self, method, **params):
        """Makes a call over one connection. Kodi 21 sometimes crashes if a connection ends during a notification."""
        if self.line is None:
            self.line, self.heard = socket.create_connection(("127.0.0.1", 9090), timeout=SECONDS), ""
        self.calls += 1
        try:
            self.line.sendall(json.dumps({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}).encode())
            while True:
                document = self.next_document()
                if document.get("id") == self.calls:
                    break
        except OSError:
            self.hang_up()
            raise
        if "error" in document:
            raise SystemExit(f"{method} {params}: {document['error']}")
        return document["result"]

    def next_document(self):
        """A response or a notification."""
        while True:
            try:
                document, end = json.JSONDecoder().raw_decode(self.heard)
                self.heard = self.heard[end:].lstrip()
                return document
            except ValueError:
                data = self.line.recv(65536)
                if not data:
                    raise OSError("Kodi closed the connection") from None
                self.heard += data.decode("utf-8", "replace")

    def hang_up(self):
        if self.line:
            self.line.close()
        self.line = None

    def text(self, control):
        """The text of a control in the window."""
        name = f"Control.GetLabel({control})"
        return self.rpc("XBMC.GetInfoLabels", labels=[name])[name]

    def window(self):
        return self.rpc("GUI.GetProperties", properties=["currentwindow", "currentcontrol"])

    def press(self, *keys):
        """Presses keys of the remote control: Up, Down, Left, Right, Select, Back."""
        for key in keys:
            self.rpc(f"Input.{key}")
            time.sleep(0.15)

    def screenshot(self, name):
        """Takes a screenshot; returns its path outside of the root."""
        subprocess.run(
            ["chroot", self.root, "env", f"DISPLAY={DISPLAY}", "import", "-silent", "-window", "root", f"/tmp/{name}.png"], check=True,
            timeout=SECONDS)
        return self.root / f"tmp/{name}.png"

    def focus(self, label, key="Down"):
        """Moves until the control with this label has the focus."""
        for _ in range(20):
            if label in self.window()["currentcontrol"]["label"]:
                return
            self.press(key)
        raise SystemExit(f"nothing is called {label!r}: {self.window()}")

    def wait_for(self, window, seconds=20):
        until(f"the window {window}", lambda: self.window()["currentwindow"]["label"] == window, seconds)

    def begin(self, *words, addon="script.regent.test"):
        """Runs one of the test's add-ons; `ended` returns its result."""
        self.runs += 1
        answer = f"/tmp/{self.home.name}-{self.runs}"
        self.rpc("Addons.ExecuteAddon", addonid=addon, params=[answer, *words])
        return self.root / answer[1:]

    @staticmethod
    def ended(answer, seconds=SECONDS):
        until("the add-on's answer", answer.exists, seconds)
        return json.loads(answer.read_text())

    def run(self, *words):
        return self.ended(self.begin(*words))

    def builtin(self, command):
        self.run("builtin", command)

    def kodi_log(self):
        return (self.data / "temp/kodi.log").read_text(errors="replace")

    def addon(self, name):
        """The add-on as Kodi lists it, or None."""
        listed = self.rpc("Addons.GetAddons", properties=["version", "enabled", "broken"], installed=True).get("addons", [])
        return next((one for one in listed if one["addonid"] == name), None)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.hang_up()
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.kill()
                raise SystemExit("Kodi did not end within 20 s") from None

    def kill(self):
        self.hang_up()
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
