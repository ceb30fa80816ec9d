"""The setting of kodi_real.py: a web server with the repository and a stream, a service, a screen and a running
Kodi."""

import contextlib
import functools
import http.server
import pathlib
import re
import shutil
import subprocess
import threading
import time
import wave

from kodi_house import HERE, ROOT, House, verified
from kodi_machine import Kodi, Screen, mount_root
from service import PATIENCE, Service, until

ADDRESS = "http://127.0.0.1:8000"


class Web(http.server.SimpleHTTPRequestHandler):
    """The repository, and a stream server that records the tokens that it gets."""

    def do_GET(self):
        if self.path.startswith("/channel"):
            self.server.tokens.append(self.headers.get("X-Media-Token"))
        with contextlib.suppress(OSError):  # Kodi stops reading when it stops playing.
            super().do_GET()

    def log_message(self, *_):
        pass


class Stage:
    """Everything together: `house` is the service and its phone (kodi.py), `box` the running Kodi."""

    def __init__(self, programs, home, kept, suite):
        self.home, self.kept, self.pages = pathlib.Path(home), kept, pathlib.Path(home, "pages")
        self.root = ROOT / f".build/kodi-{suite}"
        mount_root(self.root)
        # Debian's python3-regent, which Debian's Kodi can import, too.
        shutil.copy(ROOT / "deploy/python/regent.py", self.root / "usr/lib/python3/dist-packages")
        self.build("0.1.0")
        with wave.open(str(self.pages / "channel-1.wav"), "wb") as file:
            file.setnchannels(1), file.setsampwidth(2), file.setframerate(8000)
            file.writeframes(bytes(16000 * 60))
        self.web = http.server.ThreadingHTTPServer(("127.0.0.1", 8000), functools.partial(Web, directory=str(self.pages)))
        self.web.tokens = []
        threading.Thread(target=self.web.serve_forever, daemon=True).start()
        self.house = House.__new__(House)
        self.house.home, self.house.count, self.house.context = self.home, 0, None
        self.house.service = Service(programs)
        self.house.url, self.house.control = self.house.service.url, self.house.service.control
        self.house.control("entitle", "add", "aurora", "--allow", "channel-*")
        self.screen = Screen(self.root)
        self.box = None

    def build(self, version):
        self.pages.mkdir(exist_ok=True)
        subprocess.run([ROOT / "deploy/kodi/build", f"{ADDRESS}/kodi", "--version", version, "--out", self.pages / "kodi"],
                       check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)

    def new_box(self, name):
        """Starts a new Kodi with the test's add-on, and with the repository's zip on a USB stick."""
        if self.box:
            self.box.stop()
        self.box = Kodi(self.root, name)
        shutil.copytree(HERE.parent / "fixtures/kodi-addons/script.regent.test", self.box.data / "addons/script.regent.test")
        stick = self.root / "home/stick"
        shutil.rmtree(stick, ignore_errors=True)
        stick.mkdir()
        shutil.copy(next((self.pages / "kodi/repository.regent").glob("*.zip")), stick)
        (self.box.data / "userdata/sources.xml").write_text(
            '<sources><files><source><name>stick</name><path pathversion="1">/home/stick/</path></source></files></sources>')
        self.box.start()
        self.box.rpc("Addons.SetAddonEnabled", addonid="script.regent.test", enabled=True)
        return self.box

    def add(self, addon):
        """Copies one of the test's add-ons into the running Kodi."""
        shutil.copytree(HERE.parent / "fixtures/kodi-addons" / addon, self.box.data / "addons" / addon)
        self.box.own()
        self.box.builtin("UpdateLocalAddons")
        until(addon, lambda: self.box.addon(addon))
        self.box.rpc("Addons.SetAddonEnabled", addonid=addon, enabled=True)
        close_dialogs(self.box)

    def install(self, addon, yes="Yes"):
        self.box.builtin(f"InstallAddon({addon})")
        self.box.wait_for("Yes / No dialog")
        self.box.focus(yes, "Left")
        self.box.press("Select")

    def enrol(self):
        self.box.run("setting", "code", self.house.invite())

    def set_up(self, name, enrolled=True):
        """A Kodi with the add-ons, enrolled, not signed in."""
        box = self.new_box(name)
        stick = next((self.root / "home/stick").glob("*.zip")).name
        box.builtin("InstallFromZip")
        box.wait_for("File browser")
        box.focus("[stick]")
        box.press("Select")
        until("the stick's list", lambda: box.window()["currentcontrol"]["label"] == "[..]")
        box.focus(stick)
        box.press("Select")
        until("the repository", lambda: box.addon("repository.regent"))
        close_dialogs(box)
        box.builtin("UpdateAddonRepos")
        until("the repository's index is known", lambda: offered(box, self))
        self.install("script.regent")
        until("the add-on", lambda: box.addon("script.regent"))
        self.add("script.regent.player")
        if enrolled:
            self.enrol()
        return box

    def shot(self, name):
        path = self.box.screenshot(name)
        if self.kept:
            shutil.copy(path, self.kept)
        return path

    def shown(self, name="code", scale=100):
        """The text that zbar reads from a screenshot."""
        path = self.shot(name)
        if scale != 100:
            small = path.with_name(f"{name}-{scale}.png")
            subprocess.run(["chroot", self.root, "convert", f"/tmp/{path.name}", "-resize", f"{scale}%", f"/tmp/{small.name}"],
                           check=True, timeout=PATIENCE)
            path = small
        done = subprocess.run(["chroot", self.root, "zbarimg", "-q", "--raw", f"/tmp/{path.name}"], capture_output=True, text=True,
                              timeout=PATIENCE)
        return done.stdout.strip()

    def code(self):
        """The code that a phone reads from the screen."""
        def read():
            found = re.search(r"/D/([A-Z]{8})(\.[0-9A-Z]{8})?$", self.shown())
            return found and found.group(1)
        return until("a QR code on the screen", read)

    def play(self):
        return self.box.begin("channel-1", f"{ADDRESS}/channel-1.wav", addon="script.regent.player")

    def is_playing(self):
        return self.box.rpc("Player.GetActivePlayers")

    def played(self, answer):
        """Checks that the add-on got a token that openssl verifies, and that the stream server got it."""
        said = self.box.ended(answer)
        assert "token" in said, said
        until("Kodi plays", self.is_playing)
        assert verified(self.house, said["token"], "channel-1")
        until("the stream server sees the token", lambda: said["token"] in self.web.tokens)
        self.box.rpc("Player.Stop", playerid=self.is_playing()[0]["playerid"])
        return said

    def stop(self):
        if self.box:
            self.box.stop()
        self.screen.stop()
        self.house.service.stop()


def fails(box, answer, code):
    said = box.ended(answer)
    assert said.get("error") == code, said


def close_dialogs(box):
    """Closes Kodi's questions about the test's add-on, which is disabled at first."""
    time.sleep(1)
    while box.window()["currentwindow"]["label"] not in ("Home", "File browser"):
        box.press("Back")
        time.sleep(0.5)


def offered(box, stage):
    log = box.kodi_log()
    listed = box.rpc("Addons.GetAddons", installed=False, properties=["version"]).get("addons") or []
    return any(one["addonid"] == "script.regent" for one in listed) or "script.regent" in log
