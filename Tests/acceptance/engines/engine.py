"""One interface to a browser; `browsers.py` has WebKitGTK (the engine of an iPhone), Firefox and Chromium.

Taps and keys are input events of the X server, not calls of `click()`: drivers do not answer, or fail, when a page ends
between two taps. Chromium makes touches of them. The page is 390 CSS pixels wide in all three. The drivers' commands
also work when the script of pages is off.
"""

import os
import signal
import subprocess
import tempfile
import time

from engines.display import Display
from engines.window import DELIBERATE, Window
from engines.wire import CommandFailed, WebDriver
from service import Failure, until

WIDTH, HEIGHT = 390, 844
# Seconds from a press to its release.
HELD = 0.03
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "LANGUAGE": "en", "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1",
    "MOZ_CRASHREPORTER_DISABLE": "1",
    # Halves the processor time of WebKitGTK, which has no graphics card here.
    "WEBKIT_DISABLE_COMPOSITING_MODE": "1"}


class Engine(Window):
    """A browser at phone size, with or without script."""

    # What the driver opens in front: a tab or a window.
    name, tab = "", "tab"

    def __init__(self, script=True, calm=False):
        """`calm` is a viewer who has asked the system for less motion."""
        self.script, self.calm, self.process = script, calm, None
        # The heading of the page that follows a case's button, in this engine.
        self.following = {}
        self.folder = tempfile.TemporaryDirectory(prefix="regent-engine-", ignore_cleanup_errors=True)
        self.display = Display()
        try:
            self.driver = self.start()
            self.begin_tab()
        except BaseException:
            self.quit()
            raise

    def begin_tab(self):
        """Prepares a new tab."""

    def launch(self, *command):
        home = self.folder.name
        environment = dict(ENVIRONMENT, HOME=home, DISPLAY=self.display.name, XDG_RUNTIME_DIR=home)
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)

    def session(self, port, capabilities):
        """Starts a session when the driver listens. No command waits for a page, so that taps can come early."""
        def connect():
            if self.process.poll() is not None:
                raise Failure(f"the driver of {self.name} ended with {self.process.returncode}")
            try:
                return WebDriver(port, {"pageLoadStrategy": "none", "acceptInsecureCerts": True, **capabilities})
            except ConnectionRefusedError:
                return None
        return until(f"the driver of {self.name} listens", connect)

    def run(self, script, *arguments):
        return self.driver.command("run", script=script, args=list(arguments))

    # Actions of a viewer

    def open(self, address):
        self.driver.command("navigate", url=address)

    def back(self):
        self.driver.command("back")

    def reload(self):
        """Reloads the page, and confirms if the browser asks whether to send a form again."""
        self.driver.command("reload")
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            try:
                return self.driver.command("accept")
            except CommandFailed:
                time.sleep(0.1)

    def new_tab(self):
        """Opens a new tab in front; returns the handles of the old one and the new one, for `switch`."""
        before = set(self.driver.command("tabs"))
        made = self.driver.command("new tab", type=self.tab)["handle"]
        self.switch(made)
        self.begin_tab()
        return (before - {made}).pop(), made

    def switch(self, handle):
        self.driver.command("switch", handle=handle)

    def close_tab(self, back_to):
        self.driver.command("close")
        self.switch(back_to)

    def corner(self):
        """The position of the page on the display."""
        return 0, 0

    def taps(self, x, y, moments=()):
        """Taps here, and again at these moments, in seconds after the first release.

        Returns the moments at which they really happened, by the display's clock.
        """
        left, top = self.corner()
        _, first = self.display.click(left + x, top + y, HELD)
        presses = []
        for moment in moments:
            time.sleep(max(0, first + moment - time.time()))
            pressed, released = self.display.click(left + x, top + y, HELD)
            # The release counts, because a browser may look for what was tapped only then.
            presses.append(max(pressed, released - HELD) - first)
        return presses

    def tap(self, selector, share=0.5):
        left, top, width, height = self.rectangle(selector)
        self.taps(left + width * share, top + height / 2)

    def press(self, selector):
        """Taps after 1.2 s, as a viewer who has looked at the page."""
        self.rectangle(selector)
        time.sleep(DELIBERATE)
        self.tap(selector)

    def type(self, selector, text):
        self.tap(selector)
        self.run("document.querySelector(arguments[0]).select();", selector)
        actions = [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]
        self.driver.command("act", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def become(self, service, cookies):
        """Replaces the browser's cookies by these."""
        if self.cookies() == {cookie["name"]: cookie["value"] for cookie in cookies}:
            return
        self.open(service.url + "/static/favicon.svg")
        self.arrive(service.url + "/static/favicon.svg")
        if self.cookies():
            # WebKit responds before they are deleted; the first cookie of the next page would be deleted with them.
            self.driver.command("delete cookies")
            until("the cookies are deleted", lambda: not self.cookies())
        for cookie in cookies:
            self.driver.command("add cookie", cookie=cookie)

    def cookies(self):
        return {cookie["name"]: cookie["value"] for cookie in self.driver.command("cookies")}

    def quit(self):
        try:
            if self.process:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(timeout=20)
        except ProcessLookupError:
            pass
        finally:
            self.display.stop()
            self.folder.cleanup()
