"""One interface to a browser; `browsers.py` has WebKitGTK (the engine of an iPhone), Firefox and Chromium.

Taps and keys are input events, not calls of `click()`. Chromium gets touches from its driver. WebKitGTK and Firefox get
clicks from the X server: their drivers do not answer, or fail, when a page ends between two taps. The page is 390 CSS
pixels wide in all three. The drivers' commands also work when the script of pages is off.
"""

import os
import signal
import subprocess
import tempfile
import time

from engines.display import Display
from engines.wire import CommandFailed, WebDriver
from service import Failure, until

WIDTH, HEIGHT = 390, 844
# The pause of a viewer who looks first: a page ignores taps in its first second.
DELIBERATE = 1.2
# Needs no script of the page: which page it is, and which document. The heading is the visible one.
LOOK = """
const shown = [...document.querySelectorAll("h1")].find((one) => one.getClientRects().length > 0);
return {document: performance.timeOrigin, whole: document.readyState === "complete", address: location.href,
        heading: shown ? shown.innerText.trim() : "", text: document.body ? document.body.innerText : "",
        age: performance.now()};
"""
RECTANGLES = """
const shown = (one) => one.getClientRects().length > 0 && (!one.checkVisibility || one.checkVisibility());
return [...document.querySelectorAll(arguments[0])].filter(shown).map((one) => {
  let box = one.getBoundingClientRect();
  if (box.top < 0 || box.bottom > innerHeight) {
    one.scrollIntoView({block: "center"});
    box = one.getBoundingClientRect();
  }
  return [box.left, box.top, box.width, box.height];
});
"""
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "LANGUAGE": "en", "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1",
    "MOZ_CRASHREPORTER_DISABLE": "1"}


class Engine:
    """A browser at phone size, with or without script."""

    # What the driver opens in front: a tab or a window.
    name, tab = "", "tab"

    def __init__(self, script=True):
        self.script, self.process = script, None
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

    # What a page is

    def look(self):
        """The current page; None between two pages."""
        try:
            return self.run(LOOK)
        except CommandFailed:
            return None

    def at(self, *headings, seconds=15, other_than=None):
        """Waits for a complete page with one of these headings, and returns it."""
        last = None
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            last = self.look() or last
            if last and last["whole"] and last["heading"] in headings and last["document"] != other_than:
                return last
            time.sleep(0.03)
        found = last and f"{last['heading']!r} on {last['address']}"
        raise Failure(f"no page {' or '.join(map(repr, headings))}: {found}")

    def still(self, seconds=0.6):
        """The page, once no other has come for this long; it may be an error page of the browser."""
        page, since, end = self.look(), time.monotonic(), time.monotonic() + 20
        while time.monotonic() < min(since + seconds, end):
            time.sleep(0.05)
            now = self.look()
            if not now or not now["whole"] or not page or now["document"] != page["document"]:
                page, since = now, time.monotonic()
        return page

    def arrive(self, address):
        """Waits for the complete page at this address."""
        def found():
            page = self.look()
            return page if page and page["whole"] and page["address"] == address else None
        return until(f"{self.name} is at {address}", found)

    def leaves(self, page):
        """Waits for another document."""
        def is_gone():
            now = self.look()
            return now and now["whole"] and now["document"] != page["document"]
        until(f"{self.name} shows another page than {page['heading']!r}", is_gone, 15)

    def settled_heading(self, wanted, seconds=4):
        """The heading, as soon as it is one of these, otherwise that at the end of this time."""
        wanted, end = list(wanted), time.monotonic() + seconds
        while True:
            shown = (self.look() or {}).get("heading")
            if shown in wanted or time.monotonic() > end:
                return shown
            time.sleep(0.1)

    def words(self):
        """The text below the page's heading."""
        page = self.look() or {"text": "", "heading": ""}
        return " ".join(page["text"].partition(page["heading"])[2].split())[:160]

    def rectangles(self, selector):
        return self.run(RECTANGLES, selector)

    def rectangle(self, selector):
        """The position of the element; what opens at a tap, such as details, may take a moment to be drawn."""
        end = time.monotonic() + 5
        while not (found := self.rectangles(selector)):
            if time.monotonic() > end:
                raise Failure(f"no {selector} on the page {self.look()}")
            time.sleep(0.05)
        return found[0]

    def source(self):
        return self.driver.command("source")

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
        """The position of the page in the coordinates of `send_taps`."""
        return 0, 0

    def taps(self, points, gap):
        """Taps these points, with `gap` seconds from a release to the next press; returns the additional time."""
        left, top = self.corner()
        points = [(left + x, top + y) for x, y in points]
        began = time.monotonic()
        self.send_taps(points, gap)
        return time.monotonic() - began - gap * (len(points) - 1) - 0.03 * len(points)

    def send_taps(self, points, gap):
        """Uses the mouse of the display, so that no driver waits for a page in between."""
        for place, point in enumerate(points):
            time.sleep(gap if place else 0)
            self.display.click(*point)

    def tap(self, selector, share=0.5):
        left, top, width, height = self.rectangle(selector)
        self.taps([(left + width * share, top + height / 2)], 0)

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
